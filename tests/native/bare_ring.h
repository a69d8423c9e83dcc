/*
 * The least that a ring buffer can cost: rdtsc, a compare-exchange without lock prefix on the tail,
 * 24 bytes (a word with the time's delta, 16 of data) into sub-buffers of 4 KiB. It cannot be read
 * while it is written, does not say what it overwrote, and an interrupt in the wrong place spoils
 * it. The measure for the real one, after the one of Linux' figures.
 */
#pragma once

#include "kernel/lib/atomic.h"

#define BARE_RECORD 24
#define BARE_HEADER 16

struct bare_ring {
	u64 tail, last; /* bytes written, for ever; time of the last record */
	u64 mask;
	u8 *data;
};

static inline __attribute__((always_inline)) void bare_write(struct bare_ring *r, u64 a)
{
	u64 tail, at, now, *record;

	do {
		tail = READ_ONCE(r->tail);
		now = __builtin_ia32_rdtsc();
		at = tail;
		if (unlikely((tail & (PAGE_SIZE - 1)) + BARE_RECORD > PAGE_SIZE))
			at = ALIGN_UP(tail, PAGE_SIZE);
		if (unlikely(!(at & (PAGE_SIZE - 1)))) {
			*(u64 *)(r->data + (at & r->mask)) = now;
			at += BARE_HEADER;
		}
	} while (local_cmpxchg(&r->tail, tail, at + BARE_RECORD) != tail);
	record = (u64 *)(r->data + (at & r->mask));
	record[0] = (now - r->last) << 5 | 16;
	r->last = now;
	record[1] = a;
	record[2] = a;
}
