/*
 * Inline reserve, commit and discard for the event core, which knows its CPU from host_enter(), and
 * mostly the length at compile time. Other callers use the functions ring_buffer_lock_reserve() and
 * ring_buffer_unlock_commit(), which have the same contract. The head of ring.c lists the steps.
 */
#pragma once

#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/ring/priv.h"

#define RB_DELTA_BITS 27
#define RB_SMALL_MAX  28 /* largest payload that `len` can encode */

/* Payload as it is stored, and the whole event. length >= 1. */
static inline u64 rb_payload(size_t length)
{
	return ALIGN_UP(length, 4UL);
}

static inline u64 rb_size_of(u64 payload)
{
	return payload + (payload <= RB_SMALL_MAX ? 4 : 8);
}

static inline u64 rb_size(size_t length)
{
	return rb_size_of(rb_payload(length));
}

static inline struct ring_buffer_page *rb_page_of(const struct ring_buffer_event *ev, u64 mask)
{
	return (void *)((u64)ev & mask);
}

static inline void rb_put_header(struct ring_buffer_event *ev, u32 type, u32 len, u64 delta)
{
	*(u32 *)ev = type | len << 2 | (u32)delta << 5;
}

/* `len` is the payload in words, at bit 2: the payload itself. */
static inline struct ring_buffer_event *rb_put_data(
    struct ring_buffer_event *ev, u64 payload, u64 delta)
{
	if (likely(payload <= RB_SMALL_MAX)) {
		*(u32 *)ev = RINGBUF_TYPE_DATA + (u32)payload + ((u32)delta << 5);
	} else {
		*(u32 *)ev = RINGBUF_TYPE_DATA | (u32)delta << 5;
		ev->array[0] = payload;
	}
	return ev;
}

/* W6 for the bytes of an event. */
static inline void rb_commit_add(
    const struct rb_cpu_buffer *cpu_buffer, struct ring_buffer_event *ev, u64 size)
{
	local_add(&rb_page_of(ev, cpu_buffer->page_mask)->commit, size + RB_COMMIT_EVENT);
}

/*
 * Handles what the fast path does not, from W2 on: unusual lengths, slow CPU buffers, moving the
 * tail to the next sub-buffer, long deltas, nested writers.
 */
struct ring_buffer_event *rb_reserve_slow(struct rb_cpu_buffer *cpu_buffer, size_t length);
/* The same for an event that does not fit after `tail`; returns early if the ring is full. */
struct ring_buffer_event *rb_reserve_next(
    struct rb_cpu_buffer *cpu_buffer, size_t length, u64 tail);

/*
 * After W1: true if the fast path is allowed. Any flag or count in `slow` exceeds every depth
 * (RB_SLOW_ONE). The read of `depth` is plain: local_inc() prevents the compiler from reading it
 * earlier.
 */
static inline bool rb_is_plain(const struct rb_cpu_buffer *cpu_buffer)
{
	return READ_ONCE(cpu_buffer->slow) + cpu_buffer->depth <= RB_MAX_DEPTH;
}

static inline bool rb_fits_record(size_t length)
{
	return length - 1 < RB_MAX_DATA;
}

/*
 * Tries W2 to W5 once for an event that fits after the tail, with the time of W3. False: the delta
 * does not fit, or a nested writer moved the tail.
 */
static inline __attribute__((always_inline)) bool rb_reserve_fitting_at(
    struct rb_ring *ring, u64 tail, u64 payload, u64 size, u64 now, struct ring_buffer_event **ev)
{
	u64 last = READ_ONCE(ring->tail.b); /* W2, its other half */
	u64 delta = now - last;

	if (unlikely(delta >= 1UL << RB_DELTA_BITS ||
		     !local_cmpxchg_pair(&ring->tail, &tail, &last, tail + size, now))) /* W4 */
		return false;
	/* `last` is what it was. With the size in a register, none is left for the difference. */
	if (!__builtin_constant_p(size))
		delta = now - last;
	*ev = rb_put_data(rb_tail_event(tail), payload, delta); /* W5 */
	return true;
}

static inline __attribute__((always_inline)) bool rb_reserve_fitting(
    struct rb_ring *ring, u64 tail, u64 payload, u64 size, struct ring_buffer_event **ev)
{
	return rb_reserve_fitting_at(ring, tail, payload, size, host_cycles(), ev); /* W3 */
}

static inline __attribute__((always_inline)) struct ring_buffer_event *rb_reserve(
    struct ring_buffer *rb, unsigned long cpu, size_t length)
{
	struct rb_cpu_buffer *cpu_buffer = rb_cpu_buffer_of(rb, cpu);
	struct ring_buffer_event *ev;
	struct rb_ring *ring;
	u64 tail, payload;

	local_inc(&cpu_buffer->depth); /* W1 */
	if (unlikely(!rb_fits_record(length) || !rb_is_plain(cpu_buffer)))
		return rb_reserve_slow(cpu_buffer, length);
	payload = rb_payload(length);
	ring = READ_ONCE(cpu_buffer->ring);
	tail = READ_ONCE(ring->tail.a); /* W2 */
	if (unlikely(!rb_tail_fits(tail, rb_size_of(payload), cpu_buffer->page_mask)))
		return rb_reserve_next(cpu_buffer, payload, tail);
	if (unlikely(!rb_reserve_fitting(ring, tail, payload, rb_size_of(payload), &ev)))
		return rb_reserve_slow(cpu_buffer, payload);
	return ev;
}

/* rb_try_reserve() for a caller that knows rb_size_of(payload) already. */
static inline __attribute__((always_inline)) struct ring_buffer_event *rb_try_reserve_sized(
    struct ring_buffer *rb, unsigned long cpu, u64 payload, u64 size)
{
	struct rb_cpu_buffer *cpu_buffer = rb_cpu_buffer_of(rb, cpu);
	struct ring_buffer_event *ev;
	struct rb_ring *ring;
	u64 tail;

	local_inc(&cpu_buffer->depth); /* W1 */
	if (likely(rb_is_plain(cpu_buffer))) {
		ring = READ_ONCE(cpu_buffer->ring);
		tail = READ_ONCE(ring->tail.a); /* W2 */
		if (likely(rb_tail_fits(tail, size, cpu_buffer->page_mask) &&
			   rb_reserve_fitting(ring, tail, payload, size, &ev))) {
			if (!ev)
				__builtin_unreachable(); /* callers need not look again */
			return ev;
		}
	}
	local_dec(&cpu_buffer->depth);
	return NULL;
}

/*
 * As rb_reserve(), but if the fast path does not suffice, it returns NULL without changing or
 * counting anything. Calls no function. `payload` is a multiple of 4, from 4 to RB_MAX_DATA.
 */
static inline __attribute__((always_inline)) struct ring_buffer_event *rb_try_reserve(
    struct ring_buffer *rb, unsigned long cpu, u64 payload)
{
	return rb_try_reserve_sized(rb, cpu, payload, rb_size_of(payload));
}

/*
 * The same for a caller that has read the clock: W3 comes before W1. If a nested writer comes in
 * between, its time is later, and the fast path fails.
 */
static inline __attribute__((always_inline)) struct ring_buffer_event *rb_try_reserve_at(
    struct rb_cpu_buffer *cpu_buffer, u64 payload, u64 now)
{
	const u64 size = rb_size_of(payload);
	struct ring_buffer_event *ev;
	struct rb_ring *ring;
	u64 tail;

	local_inc(&cpu_buffer->depth); /* W1 */
	if (likely(rb_is_plain(cpu_buffer))) {
		ring = READ_ONCE(cpu_buffer->ring);
		tail = READ_ONCE(ring->tail.a); /* W2 */
		if (likely(rb_tail_fits(tail, size, cpu_buffer->page_mask) &&
			   rb_reserve_fitting_at(ring, tail, payload, size, now, &ev))) {
			if (!ev)
				__builtin_unreachable();
			return ev;
		}
	}
	local_dec(&cpu_buffer->depth);
	return NULL;
}

/*
 * True if the ring is as it was when C2 last refused an event. It is then still full for every
 * event that does not fit after the tail: the slot's word is the same, so no writer has crossed
 * into the slot, and the tail, read before, is in the same sub-buffer as then. C2 stores its
 * finding in three parts, and a nested writer may store its own in between. A mixed finding does
 * not match the ring: no word of a slot comes again, and a tail says which sub-buffer it is in.
 */
static inline bool rb_still_full(const struct rb_ring *ring, u64 tail)
{
	return tail == READ_ONCE(ring->full_tail) &&
	       READ_ONCE(*READ_ONCE(ring->full_slot)) == READ_ONCE(ring->full_word) &&
	       !READ_ONCE(ring->overwrite);
}

/*
 * After rb_try_reserve() returned NULL: if the ring is as full as when it last refused an event,
 * counts this one as dropped and returns true.
 */
static inline __attribute__((always_inline)) bool rb_refuse_full(
    struct ring_buffer *rb, unsigned long cpu, size_t length)
{
	const struct rb_cpu_buffer *cpu_buffer = rb_cpu_buffer_of(rb, cpu);
	struct rb_ring *ring = READ_ONCE(cpu_buffer->ring);

	if (unlikely(READ_ONCE(cpu_buffer->slow)) || unlikely(!rb_fits_record(length)))
		return false;
	u64 tail = READ_ONCE(ring->tail.a); /* W2 */
	if (rb_tail_fits(tail, rb_size(length), cpu_buffer->page_mask) ||
	    !rb_still_full(ring, tail))
		return false;
	local_inc(&ring->dropped);
	return true;
}

/* After rb_try_reserve_at(). `size` is the event's size in the ring, rb_size(length). */
static inline __attribute__((always_inline)) void rb_commit_at(
    struct rb_cpu_buffer *cpu_buffer, struct ring_buffer_event *ev, u64 size)
{
	rb_commit_add(cpu_buffer, ev, size); /* W6 */
	local_dec(&cpu_buffer->depth);	     /* W7 */
}

/*
 * The same. W1 has left the address of `depth` in a register; the compiler would compute that of
 * the mask beside it anew.
 */
static inline __attribute__((always_inline)) void rb_commit(
    struct ring_buffer *rb, unsigned long cpu, struct ring_buffer_event *ev, u64 size)
{
	u64 *depth = &rb_cpu_buffer_of(rb, cpu)->depth;

	__asm__("" : "+r"(depth));
	rb_commit_at(container_of(depth, struct rb_cpu_buffer, depth), ev, size);
}

/* Turns the event into padding, and W6 and W7. */
void rb_discard_slow(struct rb_cpu_buffer *cpu_buffer, struct ring_buffer_event *ev, u64 size);

/*
 * If the event is the last one, moves the tail back before it and restores the time. If the event's
 * own delta is 0 (the first of a sub-buffer, or after a TIME_EXTENT), the time stays: so does the
 * header or extent that holds it.
 */
static inline bool rb_take_back(struct rb_ring *ring, struct ring_buffer_event *ev, u64 size)
{
	u64 tail = READ_ONCE(ring->tail.a), last = READ_ONCE(ring->tail.b), to = tail - size;

	return !(((u64)ev ^ to) << 16) && /* the address alone, without the crossings */
	       local_cmpxchg_pair(&ring->tail, &tail, &last, to, last - (*(u32 *)ev >> 5));
}

/* As rb_commit(), but removes the event. */
static inline __attribute__((always_inline)) void rb_discard(
    struct ring_buffer *rb, unsigned long cpu, struct ring_buffer_event *ev, u64 size)
{
	struct rb_cpu_buffer *cpu_buffer = rb_cpu_buffer_of(rb, cpu);
	struct rb_ring *ring = cpu_buffer->ring;

	local_inc(&ring->discarded);
	if (likely(rb_take_back(ring, ev, size)))
		local_dec(&cpu_buffer->depth);
	else
		rb_discard_slow(cpu_buffer, ev, size);
}

/* Counts an event that occurred while recording was off and was never reserved. */
static inline void rb_count_disabled(struct ring_buffer *rb, unsigned long cpu)
{
	struct rb_cpu_buffer *cpu_buffer = rb_cpu_buffer_of(rb, cpu);

	local_inc(cpu_buffer->slow & RB_SLOW_NO_RING ? &cpu_buffer->no_ring
						     : &cpu_buffer->ring->disabled);
}

/* The payload of an event whose length the caller knows. */
static inline void *rb_data(struct ring_buffer_event *ev, size_t length)
{
	return rb_payload(length) <= RB_SMALL_MAX ? &ev->array[0] : &ev->array[1];
}
