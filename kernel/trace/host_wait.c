/*
 * The readers that wait of trace/host_wait.h: a wait queue, and how it is woken from wherever an
 * event may be recorded. Waiting and freeing: task context; host_wake(): any.
 */
/* hot: runs with each event */
#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"
#include "kernel/trace/tracing.h"
#include "trace/host_wait.h"

#define WAKE_CHECK_NS 20000000UL /* the longest delay of a wake-up that no writer could make */

/*
 * Who records an event may hold any lock of the scheduler's, or be an NMI. From an interrupt the
 * wake-up is left to irq_work, which runs when interrupts are on again. From a task that has
 * interrupts or preemption off nobody is woken: it may be the scheduler with an event about the
 * very task that would be woken, and each look at it would make the next. Such events are found by
 * the waiter's alarm.
 *
 * `armed`: somebody is about to sleep, or sleeps, and nobody has woken it since. It is set before
 * the last look at the condition and taken, by an exchange, after the condition was made true; so
 * one of the two sees the other.
 */
struct host_waiters {
	struct wait_queue wq;
	struct irq_work work;
	u32 armed; /* [A] */
};

u64 trace_glue_late_wakes;

/* A waiter's alarm, on its stack. */
struct wake_check {
	struct timer timer;
	struct host_waiters *w;
	bool due;
};

static void host_wake_from_irq(struct irq_work *work)
{
	wake_up(&container_of(work, struct host_waiters, work)->wq);
}

struct host_waiters *host_waiters_alloc(void)
{
	struct host_waiters *w = kzalloc(sizeof(*w));

	if (!w)
		return NULL;
	wait_queue_init(&w->wq);
	w->work.fn = host_wake_from_irq;
	return w;
}

void host_waiters_free(struct host_waiters *w)
{
	irq_work_sync(&w->work);
	kfree(w);
}

static void host_wait_check_is_due(struct timer *t)
{
	struct wake_check *c = container_of(t, struct wake_check, timer);

	WRITE_ONCE(c->due, true);
	wake_up(&c->w->wq);
}

static bool arm_and_look(struct host_waiters *w, bool (*cond)(void *), void *arg)
{
	atomic_xchg(&w->armed, 1);
	return cond(arg);
}

/* Sleeps until woken, but looks by itself now and then. */
int host_wait(struct host_waiters *w, bool (*cond)(void *), void *arg)
{
	struct wake_check check = {.w = w};
	int err = 0;

	timer_setup(&check.timer, host_wait_check_is_due);
	while (!err && !cond(arg)) {
		check.due = false;
		timer_start(&check.timer, clock_ns() + WAKE_CHECK_NS);
		err = wait_event_interruptible(
		    &w->wq, READ_ONCE(check.due) || arm_and_look(w, cond, arg));
		timer_cancel(&check.timer);
		if (check.due && READ_ONCE(w->armed) && cond(arg))
			atomic_add(&trace_glue_late_wakes, 1);
	}
	return err;
}

void host_wake(struct host_waiters *w)
{
	u32 count = this_cpu_read(preempt_count);
	bool interrupt = count & ~PREEMPT_MASK;

	if (!interrupt && (!irqs_enabled() || (count & PREEMPT_MASK) > 1))
		return;
	if (!atomic_xchg(&w->armed, 0))
		return;
	if (interrupt)
		irq_work_queue(&w->work);
	else
		wake_up(&w->wq);
}
