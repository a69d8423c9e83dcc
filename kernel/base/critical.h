/*
 * Critical sections: stretches of code that a CPU runs with interrupts off, or with preemption off.
 * The toggles of arch/this_cpu.h begin and end most of them; these calls are for the others: of an
 * interrupt, and of the idle loop, which is not critical while it sleeps. They are for functions
 * with interrupts off (critical_idle_end(): on), and cost a nop while nobody watches.
 */
#pragma once

#include "arch/arch.h"

extern struct static_key critical_key;
void critical_irq_entered(const struct regs *r), critical_irq_left(const struct regs *r),
    critical_irq_returns(const struct regs *r);
void critical_idle(bool begins);

/*
 * The tracer hears of sections of these kinds, HOST_CRITICAL_* bits, from now on; 0: of none. Task
 * context, one at a time.
 */
void critical_watch(u32 which);

/* Around an interrupt's handlers: it is counted in preempt_count in between. */
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

/* The last of an interrupt: after this it turns interrupts on. */
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
