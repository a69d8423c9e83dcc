/*
 * Swaps rings between two buffers. ring_buffer_swap_cpu() swaps one CPU's, from task context, while
 * that CPU is between events and has no reader. ring_buffer_swap() swaps all CPUs', from any
 * context between host_enter() and host_preempt_enable(), even an NMI in the middle of a writer.
 *
 * ring_buffer_swap() does not wait for writers. A ring belongs to its CPU whatever buffer it is in:
 * a writer that has read cpu_buffer.ring (W1) continues in that ring, now in the other buffer, and
 * commits by the event's address alone; the next writer finds the new ring. Readers must not run
 * meanwhile: they follow the CPU buffer to its ring under the reader lock. So the swap first takes
 * all reader locks, or does nothing. It never waits for a lock held by the code that it
 * interrupted.
 *
 * No swap may happen while other code has stopped a CPU buffer and works on its ring (reset,
 * resize, free, iterators). Callers ensure this (trace_snapshot_hold()), except for iterators,
 * which the swap checks for.
 */
#include "kernel/lib/errno.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/ring/priv.h"

#define SWAP_TRIES 1000
#define LOCK_SPINS 100000 /* a reader on another CPU lets go after one event, or a page */

/* ---- One CPU's ---- */

struct swap {
	struct ring_buffer *a, *b;
	unsigned cpu;
	int result;
};

/* Both reader locks are held. The order of the two stores does not matter: an NMI between them
 * writes to a whole ring. */
static int swap_locked(struct rb_cpu_buffer *a, struct rb_cpu_buffer *b, const struct swap *s)
{
	struct rb_ring *ra = a->ring, *rb = b->ring;

	if (ra->count != rb->count || ra->page_mask != rb->page_mask)
		return -EINVAL;
	if (ra->iterators || rb->iterators || ra->map || rb->map)
		return -EBUSY;
	ra->overwrite = s->b->overwrite;
	rb->overwrite = s->a->overwrite;
	WRITE_ONCE(a->ring, rb);
	WRITE_ONCE(b->ring, ra);
	return 0;
}

/*
 * On the CPU whose rings are swapped, interrupts off. A writer that was interrupted between W1 and
 * W7 must find its ring where it was, and a reader that was interrupted keeps its lock: come back
 * later then.
 */
static void rb_swap_this_cpu(void *arg)
{
	struct swap *s = arg;
	struct rb_cpu_buffer *a = &s->a->cpu_buffers[s->cpu], *b = &s->b->cpu_buffers[s->cpu];

	s->result = -EAGAIN;
	if (a->depth || b->depth || !rb_trylock_reader(a, s->cpu))
		return;
	if (rb_trylock_reader(b, s->cpu)) {
		s->result = swap_locked(a, b, s);
		atomic_store_release(&b->lock, 0);
	}
	atomic_store_release(&a->lock, 0);
}

int ring_buffer_swap_cpu(struct ring_buffer *a, struct ring_buffer *b, int cpu)
{
	struct swap s = {.a = a, .b = b, .cpu = cpu, .result = -EAGAIN};

	if (cpu < 0 || cpu >= (int)MIN(a->cpus, b->cpus) || a == b)
		return -EINVAL;
	for (unsigned tries = 0; tries < SWAP_TRIES && s.result == -EAGAIN; tries++)
		host_on_cpu(cpu, rb_swap_this_cpu, &s);
	return s.result == -EAGAIN ? -EBUSY : s.result;
}

/* ---- All CPUs' ---- */

static bool lock_lane(struct rb_cpu_buffer *cpu_buffer, unsigned cpu)
{
	for (unsigned i = 0; i < LOCK_SPINS; i++) {
		if (rb_trylock_reader(cpu_buffer, cpu))
			return true;
		if (atomic_load(&cpu_buffer->lock) == cpu + 1)
			return false;
		host_relax();
	}
	return false;
}

static void rb_unlock_cpus(struct ring_buffer *rb, unsigned n)
{
	while (n--)
		atomic_store_release(&rb->cpu_buffers[n].lock, 0);
}

static bool rb_lock_cpus(struct ring_buffer *rb, unsigned n, unsigned cpu)
{
	for (unsigned i = 0; i < n; i++) {
		if (lock_lane(&rb->cpu_buffers[i], cpu))
			continue;
		rb_unlock_cpus(rb, i);
		return false;
	}
	return true;
}

static int may_swap(const struct rb_ring *a, const struct rb_ring *b)
{
	if (a->count != b->count || a->page_mask != b->page_mask)
		return -EINVAL;
	return a->iterators || b->iterators || a->map || b->map ? -EBUSY : 0;
}

static int rb_swap_cpus(struct ring_buffer *a, struct ring_buffer *b, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++)
		err = may_swap(a->cpu_buffers[i].ring, b->cpu_buffers[i].ring);
	for (unsigned i = 0; i < n && !err; i++) {
		struct rb_ring *ring = a->cpu_buffers[i].ring;

		WRITE_ONCE(a->cpu_buffers[i].ring, b->cpu_buffers[i].ring);
		WRITE_ONCE(b->cpu_buffers[i].ring, ring);
	}
	return err;
}

int ring_buffer_swap(struct ring_buffer *a, struct ring_buffer *b)
{
	unsigned cpu = host_cpu(), n = a->cpus;
	int err = -EBUSY;

	if (n != b->cpus || a == b)
		return -EINVAL;
	if (!rb_lock_cpus(a, n, cpu))
		return err;
	if (rb_lock_cpus(b, n, cpu)) {
		err = rb_swap_cpus(a, b, n);
		rb_unlock_cpus(b, n);
	}
	rb_unlock_cpus(a, n);
	return err;
}
