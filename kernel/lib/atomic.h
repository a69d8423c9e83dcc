/*
 * Memory shared between CPUs, and words that belong to one CPU. Any context.
 *
 * atomic_*: seen by all CPUs, ordered (seq_cst unless the name says otherwise). local_*: one
 * instruction without a lock prefix: atomic against whatever interrupts this CPU (irq, int3, NMI),
 * not against other CPUs. Only the owning CPU may use them, with preemption off.
 */
#pragma once

#include "kernel/lib/types.h"

#define atomic_load(p)		   __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define atomic_load_acquire(p)	   __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define atomic_load_relaxed(p)	   __atomic_load_n(p, __ATOMIC_RELAXED)
#define atomic_store(p, v)	   __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define atomic_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define atomic_store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define atomic_xchg(p, v)	   __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define atomic_add(p, v)	   __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST)
#define atomic_sub(p, v)	   __atomic_sub_fetch(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(p, v)	   __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define atomic_or(p, v)		   __atomic_or_fetch(p, v, __ATOMIC_SEQ_CST)
#define atomic_and(p, v)	   __atomic_and_fetch(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_or(p, v)	   __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_and(p, v)	   __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST)
/* True if *p was `old` and is now `new_`. */
#define atomic_cas(p, old, new_)                                                                   \
	({                                                                                         \
		typeof(*(p)) old_ = (old);                                                         \
		__atomic_compare_exchange_n(                                                       \
		    p, &old_, new_, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
	})
#define smp_mb()  __atomic_thread_fence(__ATOMIC_SEQ_CST)
/*
 * x86 keeps loads in order among themselves and stores among themselves: only the compiler is held.
 */
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)

/* Two words that change together. */
struct local_pair {
	u64 a, b;
} __aligned(16);

#ifdef WATCH_THREADS
#include "kernel/lib/atomic_watched.h"
#else

/* Returns what *p held; it was replaced if that equals `old`. */
static inline u64 local_cmpxchg(u64 *p, u64 old, u64 new_)
{
	__asm__ volatile("cmpxchgq %2, %1" : "+a"(old), "+m"(*p) : "r"(new_) : "memory", "cc");
	return old;
}

/*
 * Adds v times v to a sum of 128 bits, whose low half comes first. What interrupts it between the
 * halves brings the carry back.
 */
static inline void local_add_square(u64 sum[2], u64 v)
{
	__asm__ volatile("mulq %0\n\taddq %0, %1\n\tadcq %%rdx, %2"
			 : "+a"(v), "+m"(sum[0]), "+m"(sum[1])::"rdx", "memory", "cc");
}

static inline void local_add(u64 *p, u64 v)
{
	__asm__ volatile("addq %1, %0" : "+m"(*p) : "er"(v) : "memory", "cc");
}

static inline void local_inc(u64 *p)
{
	__asm__ volatile("incq %0" : "+m"(*p)::"memory", "cc");
}

/*
 * True if *p was {*a, *b} and is now {new_a, new_b}; else *a and *b say what it is. The clc is for
 * QEMU: its cmpxchg16b (TCG, 7.2) makes the flags anew of what it believes to be the last
 * operation, which is a wrong one when an interrupt came just before; an interrupt right behind
 * then saves, and brings back, flags that are some register's bits, TF and VM among them. clc has
 * the flags settled, whatever was before it.
 */
static inline bool local_cmpxchg_pair(struct local_pair *p, u64 *a, u64 *b, u64 new_a, u64 new_b)
{
	bool done;
	__asm__ volatile("clc; cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*p), "+a"(*a), "+d"(*b)
			 : "b"(new_a), "c"(new_b)
			 : "memory");
	return done;
}

static inline void local_dec(u64 *p)
{
	__asm__ volatile("decq %0" : "+m"(*p)::"memory", "cc");
}

#endif
