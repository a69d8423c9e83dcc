/*
 * The boot sequence, in order. Runs on the boot CPU with interrupts off until said otherwise, then
 * as the idle task.
 */
#include "arch/arch.h"
#include "boot/boot_info.h"
#include "kernel/base/cmdline.h"
#include "kernel/console/choice.h"
#include "kernel/fs/vfs.h"
#include "kernel/console/hvc.h"
#include "kernel/init.h"
#include "kernel/console/keyboard.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/machine/machine.h"
#include "kernel/mem/mem.h"
#include "kernel/process/futex_queue.h"
#include "kernel/process/process.h"
#include "kernel/base/printk.h"
#include "kernel/console/screen.h"
#include "kernel/console/serial.h"
#include "kernel/console/sysrq.h"
#include "kernel/task/task.h"
#include "kernel/trace/tracefs.h"
#include "kernel/trace/tracing.h"
#include "kernel/syscall/syscall.h"
#include "kernel/console/tty.h"
#include "kernel/base/watchdog.h"

void kernel_main(const struct boot_info *bi)
{
	cmdline_init(bi->cmdline); /* first: everything below may ask it */
	printk_init();		   /* which lines go to the consoles */
	console_choice_init();	   /* console= */
	serial_init_early();	   /* from here on there are last words */
	kernel_boot_step("console");
	mem_init(bi); /* page frames, kmalloc */
	kernel_boot_step("memory");
	sched_init();	     /* this stack becomes the idle task */
	trace_glue_init(bi); /* events exist, earlier ones are recorded; trace_event= works */
	kernel_boot_step("tracer");
	serial_init_mapped(); /* consoles whose registers are memory */
	screen_init(bi);      /* the loader's framebuffer */
	machine_init(bi);     /* ACPI, interrupt controllers, clock of the boot CPU */
	kernel_boot_step("machine");
	smp_init();	      /* the other CPUs, each into its idle loop; skew measured */
	trace_glue_cpus_up(); /* rings for them */
	kernel_boot_step("cpus");
	irq_enable();
	futex_init();
	vfs_init();		    /* ramfs, /dev, /proc */
	tracefs_init();		    /* /sys/kernel/tracing */
	explore_files_init();	    /* chosen schedules */
	syscall_count_init();	    /* what programs call, and how it went */
	machine_proc_init(bi);	    /* what is known of the machine, as files */
	machine_walls_init();	    /* whether the kernel's memory is protected */
	kprobe_files_init();	    /* the list of probes */
	hook_files_init();	    /* the functions without a hook */
	trace_files_init();	    /* the tracer's files below /proc */
	sysrq_files_init();	    /* keys for when it does not listen */
	crash_trigger_files_init(); /* ends, for trying them */
	watchdog_init();	    /* whether the CPUs still run */
	tty_init();		    /* the console terminal */
	serial_start();		    /* serial ports: devices, and input */
	hvc_init();		    /* virtio consoles: ways out */
	keyboard_init();	    /* the other input */
	kernel_boot_step("files");
	kthread_run_init(init_main, (void *)bi); /* pid 1: archives, tests or shell */
	sched_idle();
	__builtin_trap();
}

void kernel_ap_main(void)
{
	sched_init_ap();
	irq_enable();
	sched_idle();
}
