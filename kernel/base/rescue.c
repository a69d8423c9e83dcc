/*
 * Leaving code half way, and the wait for a spinlock, which must know of it. Rescue: the panicking
 * CPU. spin_wait(): any context but NMI.
 */
#include "kernel/base/rescue.h"
#include "arch/arch.h"
#include "kernel/base/spinlock.h"

bool rescue_on;
static void *way_back[5]; /* __builtin_setjmp's; valid while `trying` */
static bool trying;
static const char *reason;

void rescue_begin(void)
{
	rescue_on = true;
}

const char *rescue_try(void (*fn)(void *), void *arg)
{
	reason = NULL;
	/*
	 * Not in an interrupt, whatever the panic came upon; preemption off, as there is nobody to
	 * switch to.
	 */
	this_cpu_write(preempt_count, 1);
	trying = true;
	if (!__builtin_setjmp(way_back))
		fn(arg);
	trying = false;
	irq_disable();
	return reason;
}

void __noprobe rescue_give_up(const char *why)
{
	if (!trying)
		return;
	trying = false;
	reason = why;
	__builtin_longjmp(way_back, 1);
}

void __noprobe spin_wait(struct spinlock *l, u32 ticket)
{
	while (atomic_load_acquire(&l->owner) != ticket) {
		if (rescue_active())
			rescue_give_up("a lock is held");
		cpu_relax();
	}
}
