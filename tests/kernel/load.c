/*
 * tests/unit/load.h in the guest. One case at a time; one task of a case on each CPU. Task context.
 */
#include "tests/unit/load.h"

#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/interrupt.h"
#include "tests/kernel/threads.h"

static struct threads tasks[MAX_CPUS];
static void (*irq_handler)(void), (*nmi_handler)(void); /* [A] */
static bool listening;
static u64 hit_by_nmi; /* CPUs, since the handlers were set */

void machine_run(unsigned cpu, void (*fn)(void *), void *arg)
{
	thread_start(&tasks[cpu], fn, arg, cpu);
}

void machine_join(unsigned cpu)
{
	threads_join(&tasks[cpu]);
}

static bool on_nmi(struct regs *r)
{
	void (*fn)(void) = atomic_load(&nmi_handler);

	(void)r;
	if (fn)
		fn();
	return true;
}

static void on_irq(void *unused)
{
	void (*fn)(void) = atomic_load(&irq_handler);

	(void)unused;
	if (fn)
		fn();
}

/* A call that was sent after an NMI comes after it. */
static void let_nmis_come(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (hit_by_nmi >> cpu & 1)
			cpu_call(cpu, on_irq, NULL);
	hit_by_nmi = 0;
}

void machine_handlers(void (*irq)(void), void (*nmi)(void))
{
	atomic_store(&irq_handler, irq);
	if (nmi && !listening)
		EXPECT_EQ(nmi_handler_add(on_nmi), 0);
	if (!nmi)
		let_nmis_come();
	atomic_store(&nmi_handler, nmi);
	if (!nmi && listening)
		nmi_handler_remove(on_nmi);
	listening = nmi;
}

void machine_irq(unsigned cpu)
{
	cpu_call(cpu, on_irq, NULL);
}

void machine_nmi(unsigned cpu)
{
	hit_by_nmi |= 1UL << cpu;
	nmi_send(cpu);
}
