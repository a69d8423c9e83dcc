/*
 * Critical sections: stretches of code that a CPU runs with interrupts off, or with preemption off.
 * The toggles of arch/this_cpu.h begin and end most of them. The functions below report the others:
 * interrupts, and the idle loop, which is not critical while it sleeps. Their callers have
 * interrupts off (critical_idle_end(): on). A call costs a nop while no tracer watches.
 */
#pragma once

#include "arch/arch.h"

extern struct static_key critical_key;
void critical_irq_entered(const struct regs *r), critical_irq_left(const struct regs *r),
    critical_irq_returns(const struct regs *r);
void critical_idle(bool begins);

/*
 * Reports sections of these kinds (HOST_CRITICAL_* bits) to the tracer from now on; 0: none. Task
 * context, one at a time.
 */
void critical_watch(u32 which);
/*
 * From now on the CPU that makes preemption possible again calls fn just before it does; `ip` is
 * the place. fn may run in any context but NMI. NULL ends it. Callers: as above.
 */
void critical_follow_preempt_on(void (*fn)(u64 ip));
/* The keys of the events preemptirq:* have changed. The same. */
void critical_events_changed(void);

/*
 * Called before and after an interrupt's handlers. preempt_count counts the interrupt in between.
 */
static inline void critical_irq_enter(const struct regs *r)
{
	if (static_branch(&critical_key))
		critical_irq_entered(r);
}

static inline void critical_irq_exit(const struct regs *r)
{
	if (static_branch(&critical_key))
		critical_irq_left(r);
}

/* The last call of an interrupt, which turns interrupts on after it. */
static inline void critical_irq_return(const struct regs *r)
{
	if (static_branch(&critical_key))
		critical_irq_returns(r);
}

static inline void critical_idle_begin(void)
{
	if (static_branch(&critical_key))
		critical_idle(true);
}

static inline void critical_idle_end(void)
{
	if (static_branch(&critical_key))
		critical_idle(false);
}
