/*
 * Changing the size of sub-buffers. Task context, may sleep; one control call at a time on a
 * buffer.
 *
 *   O1 get new sub-buffers and arrays of slots for all CPUs, of both buffers.
 *   O2 keep writers and readers out of all CPU buffers, as rb_stop_cpus() does, and see that nobody
 *      stands in a ring: no iterator, no program that maps it.
 *   O3 empty each ring, and give it the new memory; the masks of its CPU buffer and its own say
 *      from now on where a sub-buffer begins.
 *   O4 let them in again, and free the old memory.
 *
 * Times, counts and the reader begin anew as with any reset, so what was in the ring is counted as
 * cleared. Nobody holds a page of it: who was given one has taken it out of the ring.
 *
 * The store has pages of the smallest size alone. So what a ring of it records in larger ones does
 * not outlive the kernel: recover.c sees the mask, and lets the ring alone. With the smallest size
 * its pages come from the store again.
 */
#include "kernel/lib/errno.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/ring/pages.h"

/* What a CPU's ring is to get, and after O3 what it had. */
struct rb_reorder {
	u64 *slots;
	size_t count;
	struct rb_chain *pages;
};

/* A buffer's, and the order of the pages therein. */
struct rb_order_change {
	struct ring_buffer *rb;
	unsigned order;
	struct rb_reorder of[MAX_CPUS];
};

/* As many as hold the same bytes. */
static size_t rb_count_in(size_t count, unsigned from, unsigned to)
{
	return rb_pages_for(count * rb_page_data(rb_mask_of(from)), to);
}

/* O1. */
static int rb_order_prepare(struct rb_order_change *c)
{
	const struct ring_buffer *rb = c->rb;

	for (unsigned cpu = 0; cpu < rb->cpus; cpu++) {
		const struct rb_ring *ring = rb->cpu_buffers[cpu].ring;
		struct rb_reorder *r = &c->of[cpu];

		r->count = rb_count_in(ring->count, rb->order, c->order);
		r->slots = rb_slots_get(r->count, ring->kept);
		if (!r->slots || rb_chain_fill(&r->pages, r->count + 2, ring->kept, c->order))
			return -ENOMEM;
	}
	return 0;
}

/* O2; the CPU buffers are stopped. */
static bool rb_is_in_use(const struct ring_buffer *rb)
{
	for (unsigned cpu = 0; cpu < rb->cpus; cpu++) {
		const struct rb_ring *ring = rb->cpu_buffers[cpu].ring;

		if (ring->iterators || ring->map)
			return true;
	}
	return false;
}

/* O3 for a ring. */
static void rb_exchange_pages(struct rb_ring *ring, struct rb_reorder *r, unsigned order)
{
	u64 *slots = ring->slots;
	size_t count = ring->count;
	struct rb_chain *old = NULL;

	rb_reset_ring(ring);
	for (size_t i = 0; i < count; i++)
		rb_chain_push(&old, rb_slot_page(slots[i]));
	rb_chain_push(&old, ring->page);
	rb_chain_push(&old, ring->spare);
	ring->slots = r->slots;
	ring->count = r->count;
	ring->page_mask = rb_mask_of(order);
	for (size_t i = 0; i < ring->count; i++)
		rb_put_free_page(ring->slots, i, rb_chain_pop(&r->pages));
	rb_ring_tail_init(ring);
	rb_reader_init(ring, rb_chain_pop(&r->pages), rb_chain_pop(&r->pages));
	r->slots = slots;
	r->count = count;
	r->pages = old;
}

/* O3; from here on `order` is that of the old pages. */
static void rb_order_exchange(struct rb_order_change *c)
{
	struct ring_buffer *rb = c->rb;
	unsigned old = rb->order;

	for (unsigned cpu = 0; cpu < rb->cpus; cpu++)
		rb_exchange_pages(rb->cpu_buffers[cpu].ring, &c->of[cpu], c->order);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		rb->cpu_buffers[cpu].page_mask = rb_mask_of(c->order);
	rb->count = rb_count_in(rb->count, old, c->order);
	rb->order = c->order;
	c->order = old;
}

static void rb_order_end(struct rb_order_change *c)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		rb_chain_free(&c->of[cpu].pages, c->order);
		rb_slots_put(c->of[cpu].slots, c->of[cpu].count);
	}
}

/* Buffers that have the order already are left alone. */
static int rb_order_change(struct rb_order_change *c, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++)
		err = rb_order_prepare(&c[i]);
	if (err)
		return err;
	for (unsigned i = 0; i < n; i++)
		rb_refuse_cpus(c[i].rb, 0, (int)c[i].rb->cpus - 1);
	host_synchronize();
	for (unsigned i = 0; i < n; i++)
		rb_lock_readers(c[i].rb, 0, (int)c[i].rb->cpus - 1);
	for (unsigned i = 0; i < n && !err; i++)
		err = rb_is_in_use(c[i].rb) ? -EBUSY : 0;
	for (unsigned i = 0; i < n && !err; i++)
		rb_order_exchange(&c[i]);
	for (unsigned i = 0; i < n; i++)
		ring_buffer_unlock(c[i].rb);
	return err;
}

int ring_buffer_set_order(struct ring_buffer *rb, struct ring_buffer *other, unsigned order)
{
	struct ring_buffer *both[2] = {rb, other};
	struct rb_order_change *c;
	unsigned n = 0;
	int err;

	c = host_alloc(2 * sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (unsigned i = 0; i < 2; i++) {
		if (!both[i] || both[i]->order == order)
			continue;
		c[n].rb = both[i];
		c[n++].order = order;
	}
	err = rb_order_change(c, n);
	for (unsigned i = 0; i < n; i++)
		rb_order_end(&c[i]);
	host_free(c);
	return err;
}

unsigned ring_buffer_order(const struct ring_buffer *rb)
{
	return rb->order;
}

size_t ring_buffer_page_size(const struct ring_buffer *rb)
{
	return PAGE_SIZE << READ_ONCE(rb->order);
}

size_t ring_buffer_max_data(const struct ring_buffer *rb)
{
	return rb_max_data(rb_mask_of(READ_ONCE(rb->order)));
}
