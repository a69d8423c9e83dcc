/* The steps of kernel/main.c that have no header of their own. Each is called once, by main.c. */
#pragma once

struct boot_info;

/* kernel/printk.c: finds the serial port (drivers/), sets log levels */
void console_init(void);
/* kernel/machine.c: ACPI and clocks (drivers/), then arch_machine_init() */
void machine_init(const struct boot_info *bi);
/* kernel/machine.c: arch_smp_boot(), limited by maxcpus= */
void smp_init(void);
/* kernel/machine_proc.c: /proc/interrupts, /proc/trapline/clock, and the following */
void machine_proc_init(const struct boot_info *bi);
void cpuinfo_init(void);    /* kernel/cpuinfo.c: /proc/cpuinfo */
void dev_cpu_init(void);    /* kernel/dev_cpu.c: /dev/cpu/N/msr */
void dev_mem_init(void);    /* kernel/dev_mem.c: /dev/mem */
void pci_files_init(void);  /* kernel/pci_files.c: /proc/bus/pci */
void acpi_files_init(void); /* kernel/acpi_files.c: /sys/firmware/acpi */
/* kernel/trace_setup.c; kernel/boot_events.c tells what happened before */
void trace_glue_init(const struct boot_info *bi);
/* kernel/provoke.c: /proc/trapline/crash */
void provoke_files_init(void);
/* kernel/init.c: pid 1 */
void init_main(void *boot_info);
/* tests/kernel/main.c, in the test kernel only: runs the cases whose names begin so ("all": every one); returns the failures. */
int ktest_main(const char *pattern);
/* tests/bench: measures in a thread of its own, then ends the machine. Pid 1 calls it for bench=. */
void bench_start(const char *pattern);
