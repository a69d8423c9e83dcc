/*
 * The machine as this kernel has it: arch/ gets what the drivers find, and files show it. Each
 * function is called once at boot, by kernel/main.c or by another of them.
 */
#pragma once

#include "kernel/lib/types.h"

struct boot_info;

/* ACPI and clocks (drivers/), then arch_machine_init(). */
void machine_init(const struct boot_info *bi);
/* arch_smp_boot(), limited by maxcpus=. */
void smp_init(void);
/* proc.c: /proc/interrupts, /proc/trapline/clock, and the following */
void machine_proc_init(const struct boot_info *bi);
void cpuinfo_init(void);   /* cpuinfo.c: /proc/cpuinfo */
void dev_cpu_init(void);   /* dev_cpu.c: /dev/cpu/N/msr */
void dev_mem_init(void);   /* dev_mem.c: /dev/mem */
void pci_files_init(void); /* pci.c: /proc/bus/pci */
/* walls.c: /proc/trapline/walls, and a look at boot if it is asked for. */
void machine_walls_init(void);
/* Where the boot word `walls` asks for it: a breach is a panic that says `when`. Task context. */
void machine_walls_check(const char *when);
/*
 * Is any byte of [pa, pa + n) PCI's configuration space, as memory shows it? May it be written, as
 * pci_write=all says?
 */
bool pci_config_holds(u64 pa, size_t n);
bool pci_may_move_memory(void);
void acpi_files_init(void); /* acpi.c: /sys/firmware/acpi */
