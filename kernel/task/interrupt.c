/*
 * What the machine's entry code calls around and inside interrupts: the nesting count that tracing and the scheduler go by,
 * the timer, messages between CPUs, NMIs. Interrupt or NMI context. The table of NMI handlers is written by single stores.
 */
#include "kernel/task/interrupt.h"
#include "kernel/events.h"
#include "kernel/lib/errno.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/sched.h"
#include "kernel/watchdog.h"
#include "trace/hwlat.h"

/*
 * Nearly always long enough. It need not be: a string instruction takes its time, and the tick would meet nothing else. Nor should
 * this, so it is now longer and now shorter.
 */
#define LEAVES_SLOT_NS 20000

void kernel_irq_enter(struct regs *r, unsigned vector)
{
	(void)r;
	(void)vector;
	preempt_count_add(HARDIRQ_UNIT);
}

void kernel_irq_exit(struct regs *r, unsigned vector)
{
	(void)vector;
	preempt_count_sub(HARDIRQ_UNIT);
	if (likely(!this_cpu_read(need_resched)) || this_cpu_read(preempt_count) != 0)
		return;
	/* Who stands in the copy of a probed instruction leaves it first: it may be taken away (arch_probe_sync()). */
	if (unlikely(arch_probe_in_slot(r->rip)))
		timers_interrupt_in(LEAVES_SLOT_NS + cycles() % LEAVES_SLOT_NS);
	else
		sched_preempt_irq(r->rip);
}

void kernel_timer_tick(struct regs *r)
{
	(void)r;
	timers_interrupt();
}

void kernel_ipi(enum ipi what)
{
	/* IPI_RESCHEDULE: need_resched is set, and the end of this interrupt acts on it. */
	if (what == IPI_CALL)
		irq_work_run();
}

/* ---- NMI ------------------------------------------------------------------------------------------------------------- */

static nmi_handler_fn nmi_handlers[4]; /* [A] */

int nmi_handler_add(nmi_handler_fn fn)
{
	for (unsigned i = 0; i < ARRAY_SIZE(nmi_handlers); i++)
		if (atomic_cas(&nmi_handlers[i], NULL, fn))
			return 0;
	return -EBUSY;
}

static void nothing(void *unused)
{
	(void)unused;
}

void nmi_handler_remove(nmi_handler_fn fn)
{
	for (unsigned i = 0; i < ARRAY_SIZE(nmi_handlers); i++)
		atomic_cas(&nmi_handlers[i], fn, NULL);
	cpu_call_all(nothing,
	    NULL); /* no CPU takes an interrupt inside an NMI: each has left those that saw it */
}

void kernel_nmi(struct regs *r)
{
	bool mine = false;

	preempt_count_add(NMI_UNIT + HARDIRQ_UNIT);
	trace_hwlat_nmi(true);
	for (unsigned i = 0; i < ARRAY_SIZE(nmi_handlers); i++) {
		nmi_handler_fn fn = atomic_load(&nmi_handlers[i]);
		if (!fn)
			continue;
		u64 start = clock_ns();
		bool handled = fn(r);
		trace_nmi_handler(fn, clock_ns() - start, handled);
		mine |= handled;
	}
	if (!mine)
		watchdog_unknown_nmi(r);
	trace_hwlat_nmi(false);
	preempt_count_sub(NMI_UNIT + HARDIRQ_UNIT);
}
