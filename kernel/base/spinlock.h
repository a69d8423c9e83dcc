/*
 * Spinlocks: any context but NMI (irqsave where irqs take them). Lock order is stated where a file
 * takes two.
 */
#pragma once

#include "arch/arch.h"
#include "kernel/lib/atomic.h"

struct spinlock {
	u32 next, owner; /* ticket lock */
};
#define SPINLOCK_INIT                                                                              \
	{                                                                                          \
		0, 0                                                                               \
	}

/* Until the ticket's turn has come. kernel/base/rescue.c */
void spin_wait(struct spinlock *l, u32 ticket);

static inline __attribute__((always_inline)) void spin_lock_raw(struct spinlock *l)
{
	u32 me = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
	if (unlikely(atomic_load_acquire(&l->owner) != me))
		spin_wait(l, me);
}

static inline __attribute__((always_inline)) void spin_unlock_raw(struct spinlock *l)
{
	atomic_store_release(&l->owner, l->owner + 1);
}

static inline bool spin_trylock_raw(struct spinlock *l)
{
	u32 owner = atomic_load_relaxed(&l->owner);
	return atomic_cas(&l->next, owner, owner + 1);
}

static inline __attribute__((always_inline)) void spin_lock(struct spinlock *l)
{
	preempt_disable();
	spin_lock_raw(l);
}

static inline __attribute__((always_inline)) void spin_unlock(struct spinlock *l)
{
	spin_unlock_raw(l);
	preempt_enable();
}

static inline __attribute__((always_inline)) u64 spin_lock_irqsave(struct spinlock *l)
{
	u64 flags = irq_save();
	spin_lock(l);
	return flags;
}

static inline __attribute__((always_inline)) void spin_unlock_irqrestore(
    struct spinlock *l, u64 flags)
{
	spin_unlock_raw(l);
	irq_restore(flags);
	preempt_enable();
}
