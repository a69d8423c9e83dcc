/*
 * Called by the machine's entry code around and inside interrupts: the nesting count that tracing
 * and the scheduler go by, the timer, messages between CPUs, NMIs. Interrupt or NMI context. The
 * table of NMI handlers is written by single stores.
 */
/* hot: runs with each event */
#include "kernel/task/interrupt.h"
#include "kernel/base/critical.h"
#include "kernel/base/events.h"
#include "kernel/base/watchdog.h"
#include "kernel/lib/errno.h"
#include "kernel/task/explore.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/sched.h"

/*
 * Nearly always long enough. It need not be: a string instruction takes its time, and the tick
 * would meet nothing else. Nor should this, so it is now longer and now shorter.
 */
#define LEAVES_SLOT_NS 20000

__notrace void kernel_irq_enter(struct regs *r, unsigned vector)
{
	(void)vector;
	preempt_count_add(HARDIRQ_UNIT);
	critical_irq_enter(r);
	explore_irq_enter(r);
}
NOTRACE(kernel_irq_enter, "it begins an interrupt, whose functions are told by its count");

/*
 * Does not preempt a task in the copy of a probed instruction, which arch_probe_sync() may take
 * away, or in a hook's entry, whose user may be removed. The task leaves it first.
 */
static __notrace void kernel_irq_preempt(const struct regs *r)
{
	if (unlikely(arch_probe_in_slot(r->rip) || arch_hook_in_entry(r->rip)))
		timers_interrupt_in(LEAVES_SLOT_NS + cycles() % LEAVES_SLOT_NS);
	else
		sched_preempt_irq(r->rip);
}
NOTRACE(kernel_irq_preempt, "it ends an interrupt, whose functions are told by its count");

__notrace void kernel_irq_exit(struct regs *r, unsigned vector)
{
	(void)vector;
	critical_irq_exit(r);
	preempt_count_sub(HARDIRQ_UNIT);
	explore_irq_exit(r);
	if (unlikely(this_cpu_read(need_resched)) && this_cpu_read(preempt_count) == 0)
		kernel_irq_preempt(r);
	critical_irq_return(r);
}
NOTRACE(kernel_irq_exit, "it ends an interrupt, whose functions are told by its count");

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

/* ---- NMI ---- */

static nmi_handler_fn nmi_handlers[4]; /* [A] */
static void nmi_handler_nobody(bool enter)
{
	(void)enter;
}
static void (*nmi_observer)(bool enter) = nmi_handler_nobody;

void nmi_observer_set(void (*fn)(bool enter))
{
	nmi_observer = fn;
}

int nmi_handler_add(nmi_handler_fn fn)
{
	for (unsigned i = 0; i < ARRAY_SIZE(nmi_handlers); i++)
		if (atomic_cas(&nmi_handlers[i], NULL, fn))
			return 0;
	return -EBUSY;
}

static void nmi_handler_nothing(void *unused)
{
	(void)unused;
}

void nmi_handler_remove(nmi_handler_fn fn)
{
	for (unsigned i = 0; i < ARRAY_SIZE(nmi_handlers); i++)
		atomic_cas(&nmi_handlers[i], fn, NULL);
	cpu_call_all(nmi_handler_nothing,
	    NULL); /* no CPU takes an interrupt inside an NMI: each has left those that saw it */
}

__notrace void kernel_nmi(struct regs *r)
{
	bool mine = false;

	preempt_count_add(NMI_UNIT + HARDIRQ_UNIT);
	nmi_observer(true);
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
	nmi_observer(false);
	preempt_count_sub(NMI_UNIT + HARDIRQ_UNIT);
}
NOTRACE(kernel_nmi, "it begins an NMI, whose functions are told by its count");
