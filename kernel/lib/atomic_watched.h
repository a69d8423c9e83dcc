/*
 * The local_* operations of atomic.h in words that ThreadSanitizer follows: it does not look into
 * assembler. What x86 does by itself, stores in order and loads in order, is said here as release
 * and acquire; nothing stronger, so that an order that the code needs and does not have is still
 * found. Only atomic.h includes it, on the host.
 */
#pragma once

#include "kernel/lib/types.h"

static inline u64 local_cmpxchg(u64 *p, u64 old, u64 new_)
{
	__atomic_compare_exchange_n(p, &old, new_, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return old;
}

static inline void local_add(u64 *p, u64 v)
{
	__atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}

static inline void local_add_square(u64 sum[2], u64 v)
{
	unsigned __int128 square = (unsigned __int128)v * v;
	u64 low = square;

	local_add(&sum[1],
	    (u64)(square >> 64) + (__atomic_fetch_add(&sum[0], low, __ATOMIC_ACQ_REL) + low < low));
}

static inline void local_inc(u64 *p)
{
	local_add(p, 1);
}

static inline void local_dec(u64 *p)
{
	local_add(p, -1UL);
}

static inline bool local_cmpxchg_pair(struct local_pair *p, u64 *a, u64 *b, u64 new_a, u64 new_b)
{
	union {
		struct local_pair pair;
		unsigned __int128 word;
	} old = {.pair = {*a, *b}}, to = {.pair = {new_a, new_b}};
	bool done = __atomic_compare_exchange_n(
	    (unsigned __int128 *)p, &old.word, to.word, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);

	*a = old.pair.a;
	*b = old.pair.b;
	return done;
}
