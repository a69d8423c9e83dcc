/*
 * The way of an event into the ring buffer, inline: for the event core, which knows its CPU from host_enter(), and mostly the
 * length when it is compiled. Same contract as ring_buffer_lock_reserve() and ring_buffer_unlock_commit(), which are these
 * functions for everybody else. The steps are those at the head of ring_buffer.c.
 */
#pragma once

#include "trace/ring_buffer_priv.h"

#define RB_DELTA_BITS 27
#define RB_SMALL_MAX  28 /* payload that `len` can say */

/* Payload as it is stored, and the whole event. length >= 1. */
static inline u64 rb_payload(size_t length)
{
	return ALIGN_UP(length, 4UL);
}

static inline u64 rb_size(size_t length)
{
	return rb_payload(length) + (rb_payload(length) <= RB_SMALL_MAX ? 4 : 8);
}

static inline struct ring_buffer_page *rb_page_of(const struct ring_buffer_event *ev)
{
	return (void *)((u64)ev & ~(PAGE_SIZE - 1));
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
		*(u32 *)ev = RINGBUF_TYPE_DATA | (u32)payload | (u32)delta << 5;
	} else {
		*(u32 *)ev = RINGBUF_TYPE_DATA | (u32)delta << 5;
		ev->array[0] = payload;
	}
	return ev;
}

/* W6 for the bytes of an event. */
static inline void rb_account(struct ring_buffer_event *ev, u64 size)
{
	local_add(&rb_page_of(ev)->commit, size + RB_ACCOUNT_EVENT);
}

/* Everything the fast path leaves to it, from W2 on: odd lengths, slow lanes, crossing, long times, nested writers. */
struct ring_buffer_event *rb_reserve_slow(
    struct ring_buffer *rb, struct rb_lane *lane, size_t length);

static inline __attribute__((always_inline)) struct ring_buffer_event *rb_reserve(
    struct ring_buffer *rb, unsigned cpu, size_t length)
{
	struct rb_lane *lane = &rb->lanes[cpu];
	struct rb_ring *ring;
	u64 tail, last, now;

	local_inc(&lane->depth); /* W1 */
	/* Plain reads: local_inc() keeps the compiler from having them earlier. */
	if (unlikely(length - 1 >= RB_MAX_DATA || lane->slow || lane->depth > RB_MAX_DEPTH))
		return rb_reserve_slow(rb, lane, length);
	ring = READ_ONCE(lane->ring);
	tail = READ_ONCE(ring->tail.a); /* W2 */
	last = READ_ONCE(ring->tail.b);
	now = __builtin_ia32_rdtsc(); /* W3 */
	if (likely(
		tail_fits(tail, rb_size(length)) && now - last < 1UL << RB_DELTA_BITS &&
		local_cmpxchg_pair(&ring->tail, tail, last, tail + rb_size(length), now))) /* W4 */
		return rb_put_data(tail_event(tail), rb_payload(length), now - last);	   /* W5 */
	return rb_reserve_slow(rb, lane, length);
}

/* As rb_reserve(), but NULL, nothing done and nothing counted, where that would leave the fast path. Calls no function. */
static inline __attribute__((always_inline)) struct ring_buffer_event *rb_try_reserve(
    struct ring_buffer *rb, unsigned cpu, size_t length)
{
	struct rb_lane *lane = &rb->lanes[cpu];
	struct rb_ring *ring;
	u64 tail, last, now;

	local_inc(&lane->depth); /* W1 */
	if (likely(length - 1 < RB_MAX_DATA && !lane->slow && lane->depth <= RB_MAX_DEPTH)) {
		ring = READ_ONCE(lane->ring);
		tail = READ_ONCE(ring->tail.a); /* W2 */
		last = READ_ONCE(ring->tail.b);
		now = __builtin_ia32_rdtsc(); /* W3 */
		if (likely(tail_fits(tail, rb_size(length)) && now - last < 1UL << RB_DELTA_BITS &&
			   local_cmpxchg_pair(
			       &ring->tail, tail, last, tail + rb_size(length), now))) /* W4 */
			return rb_put_data(
			    tail_event(tail), rb_payload(length), now - last); /* W5 */
	}
	local_dec(&lane->depth);
	return NULL;
}

/* `size`: what the event takes, rb_size(length). */
static inline __attribute__((always_inline)) void rb_commit(
    struct ring_buffer *rb, unsigned cpu, struct ring_buffer_event *ev, u64 size)
{
	rb_account(ev, size);		  /* W6 */
	local_dec(&rb->lanes[cpu].depth); /* W7 */
}

/* Turns the event into padding, and accounts for it. */
void rb_pad_discarded(struct ring_buffer_event *ev, u64 size);

/* Takes the tail back over the event, if it is the last one and not a page's first. */
static inline bool rb_take_back(struct rb_ring *ring, struct ring_buffer_event *ev, u64 size)
{
	u64 tail = READ_ONCE(ring->tail.a), last = READ_ONCE(ring->tail.b);

	return (u64)tail_event(tail) == (u64)ev + size &&
	       ((u64)ev & (PAGE_SIZE - 1)) != RB_PAGE_HEADER &&
	       local_cmpxchg_pair(&ring->tail, tail, last, tail - size, last - ev->time_delta);
}

/* As rb_commit(), for an event that is not to be. */
static inline __attribute__((always_inline)) void rb_discard(
    struct ring_buffer *rb, unsigned cpu, struct ring_buffer_event *ev, u64 size)
{
	struct rb_lane *lane = &rb->lanes[cpu];
	struct rb_ring *ring = lane->ring;

	local_inc(&ring->discarded);
	if (unlikely(!rb_take_back(ring, ev, size)))
		rb_pad_discarded(ev, size);
	local_dec(&lane->depth);
}

/* The payload of an event of this length: no need to look at the event. */
static inline void *rb_data(struct ring_buffer_event *ev, size_t length)
{
	return rb_payload(length) <= RB_SMALL_MAX ? &ev->array[0] : &ev->array[1];
}
