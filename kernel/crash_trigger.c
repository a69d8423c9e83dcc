/*
 * /proc/trapline/crash: ways to crash the kernel, for testing the flight recorder. Task context; a
 * write returns only if its first word is refused.
 */
#include "arch/arch.h"
#include "kernel/base/panic.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/init.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"

static void crash_trigger_panic(void)
{
	panic("asked for");
}

/* Sleeping, so that an emulator's host has its peace; an NMI wakes it. */
static void crash_trigger_hang(void)
{
	irq_disable();
	for (;;)
		__asm__ volatile("hlt");
}

static u32 hanging; /* [A] */

static void crash_trigger_hang_here(void *unused __maybe_unused)
{
	irq_disable();
	atomic_add(&hanging, 1);
	crash_trigger_hang();
}

static void crash_trigger_hang_all(void)
{
	unsigned me = cpu_id();

	task_set_affinity(current(), 1UL << me);
	while (cpu_id() != me)
		sched_yield_current();
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (cpu != me)
			kthread_run(crash_trigger_hang_here, NULL, cpu, "hang");
	while (atomic_load(&hanging) + 1 < cpu_count())
		sched_yield_current();
	crash_trigger_hang();
}

static void crash_trigger_stall(void)
{
	preempt_disable();
	for (;;)
		cpu_idle_wait();
}

static const struct way {
	const char *name, *what;
	void (*fn)(void);
} ways[] = {
    {"panic", "the kernel finds something wrong", crash_trigger_panic},
    {"hang", "this CPU takes no interrupts any more", crash_trigger_hang},
    {"hang-all", "no CPU does", crash_trigger_hang_all},
    {"stall", "this CPU runs no other task any more", crash_trigger_stall},
    {"triple", "a fault that cannot even be told: a PC resets", machine_triple_fault},
};

static int crash_trigger_show(struct seq *s, void *unused __maybe_unused)
{
	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++)
		seq_printf(s, "%-9s %s\n", ways[i].name, ways[i].what);
	return 0;
}

static int crash_trigger_store(char *line, size_t n __maybe_unused, void *unused __maybe_unused)
{
	const char *name = strstrip(line);

	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, name))
			ways[i].fn();
	return -EINVAL;
}

void crash_trigger_files_init(void)
{
	proc_register("trapline/crash", crash_trigger_show, crash_trigger_store, NULL);
}
