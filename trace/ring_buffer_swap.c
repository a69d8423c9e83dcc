/*
 * Exchanging all rings of two buffers, from any context between host_enter() and host_exit(), an NMI in the middle of a writer
 * included.
 *
 * Writers are not waited for. A ring belongs to its CPU whatever buffer it is in: a writer that has read lane.ring (W1) goes on in
 * that ring, which now lies in the other buffer, and commits there by the event's address alone; the next one finds the new ring.
 * What must stand still are readers, who follow the lane to the ring under the lane's lock: all these locks are taken first, or
 * nothing is done. Nobody waits for a lock held by what it interrupted.
 *
 * Whoever stops a lane and then works on its ring (reset, resize, free, iterators) must not have the ring exchanged in between:
 * callers see to that (trace_snapshot_hold()), but for iterators, which are looked for here.
 */
#include "trace/ring_buffer_priv.h"

#include "kernel/lib/errno.h"
#include "trace/host.h"

#define LOCK_SPINS 100000 /* a reader on another CPU lets go after one event, or a page */

static bool lock_lane(struct rb_lane *lane, unsigned cpu)
{
	for (unsigned i = 0; i < LOCK_SPINS; i++) {
		if (lane_trylock(lane, cpu))
			return true;
		if (atomic_load(&lane->lock) == cpu + 1)
			return false;
		__builtin_ia32_pause();
	}
	return false;
}

static void unlock_lanes(struct ring_buffer *rb, unsigned n)
{
	while (n--)
		atomic_store_release(&rb->lanes[n].lock, 0);
}

static bool lock_lanes(struct ring_buffer *rb, unsigned n, unsigned cpu)
{
	for (unsigned i = 0; i < n; i++) {
		if (lock_lane(&rb->lanes[i], cpu))
			continue;
		unlock_lanes(rb, i);
		return false;
	}
	return true;
}

static int may_swap(const struct rb_ring *a, const struct rb_ring *b)
{
	if (a->count != b->count)
		return -EINVAL;
	return a->iterators || b->iterators || a->map || b->map ? -EBUSY : 0;
}

static int swap_lanes(struct ring_buffer *a, struct ring_buffer *b, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++)
		err = may_swap(a->lanes[i].ring, b->lanes[i].ring);
	for (unsigned i = 0; i < n && !err; i++) {
		struct rb_ring *ring = a->lanes[i].ring;

		WRITE_ONCE(a->lanes[i].ring, b->lanes[i].ring);
		WRITE_ONCE(b->lanes[i].ring, ring);
	}
	return err;
}

int ring_buffer_swap(struct ring_buffer *a, struct ring_buffer *b)
{
	unsigned cpu = host_cpu(), n = a->cpus;
	int err = -EBUSY;

	if (n != b->cpus || a == b)
		return -EINVAL;
	if (!lock_lanes(a, n, cpu))
		return err;
	if (lock_lanes(b, n, cpu)) {
		err = swap_lanes(a, b, n);
		unlock_lanes(b, n);
	}
	unlock_lanes(a, n);
	return err;
}
