/*
 * Resizes rings. It first allocates all memory, then keeps writers and readers out of the CPU
 * buffers (rb_stop_cpus()), and moves the unread sub-buffers to new arrays of slots, the newest
 * ones if not all fit. Task context, may sleep; one control call at a time on a buffer.
 */
#include "kernel/lib/errno.h"
#include "trace/host_memory.h"
#include "trace/ring/pages.h"

/* Drops the oldest unread sub-buffers until at most `count` are left; how many are left. Writers
 * are stopped. */
static size_t keep_newest(struct rb_ring *ring, size_t count)
{
	u64 overrun = rb_overrun_from_next(ring);
	s64 unread;

	while (overrun) { /* what the reader has not noticed yet */
		rb_reader_skip(ring, overrun);
		overrun = rb_overrun_from_next(ring);
	}
	unread = rb_ring_distance(ring, ring->next, ring->number) + 1;
	for (; unread > (s64)count; unread--) {
		u64 *slot = &ring->slots[rb_number_index(ring->next)];

		ring->overrun_events += rb_commit_events(rb_slot_page(*slot)->commit);
		ring->overrun_pages++;
		*slot = rb_slot_make(
		    rb_slot_page(*slot), (rb_number_gen(ring->next) + 1) & RB_GEN_MASK);
		rb_reader_skip(ring, 1);
	}
	return unread;
}

/*
 * Lays the unread sub-buffers into `slots`, from index 0 on, and fills it up with free pages; what
 * is left over comes back in *pages. The ring begins a new count of laps. Writers are stopped, the
 * reader lock is held.
 */
static u64 *lay_out(struct rb_ring *ring, u64 *slots, size_t count, struct rb_chain **pages)
{
	size_t keep = keep_newest(ring, count), index = rb_number_index(ring->next);
	u64 *old = ring->slots;

	for (size_t i = 0; i < ring->count; i++, index = (index + 1) % ring->count) {
		struct ring_buffer_page *page = rb_slot_page(old[index]);

		if (i >= keep) {
			rb_chain_push(pages, page);
			continue;
		}
		page->commit &= rb_commit_fresh(1) - 1;
		page->commit |= rb_commit_fresh(RB_FIRST_GEN);
		slots[i] = rb_slot_make(page, RB_FIRST_GEN);
	}
	for (size_t i = keep; i < count; i++)
		rb_put_free_page(slots, i, rb_chain_pop(pages));
	ring->slots = slots;
	ring->count = count;
	ring->next = rb_number_make(RB_FIRST_GEN, 0);
	ring->number = keep ? rb_number_make(RB_FIRST_GEN, keep - 1)
			    : rb_number_make(RB_FIRST_GEN - 1, count - 1);
	ring->unsure = ring->number; /* the new array has no sums yet */
	ring->full_tail = RB_NO_TAIL;
	if (!rb_tail_room(ring->tail.a,
		ring->page_mask)) /* the page may be gone by now, and come back as another */
		ring->tail.a = 0;
	return old;
}

/* What one lane's resizing needs, before anything is changed; and what is left over after. */
struct resize {
	u64 *slots; /* NULL: this lane has that size already */
	size_t count;
	struct rb_chain *pages;
};

static int resize_prepare(struct resize *r, const struct rb_ring *ring, size_t count)
{
	unsigned order = rb_order_of(ring->page_mask);

	if (count == ring->count)
		return 0;
	r->slots = rb_slots_get(count, ring->kept);
	r->count = count;
	if (!r->slots)
		return -ENOMEM;
	return count > ring->count
		   ? rb_chain_fill(&r->pages, count - ring->count, ring->kept, order)
		   : 0;
}

/* Lanes `from` to `to` are stopped. */
static int resize_stopped(struct ring_buffer *rb, struct resize *r, int from, int to, size_t count)
{
	for (int cpu = from; cpu <= to; cpu++) {
		const struct rb_ring *ring = rb->cpu_buffers[cpu].ring;

		if (r[cpu - from].slots && (ring->iterators || ring->map))
			return -EBUSY;
	}
	for (int cpu = from; cpu <= to; cpu++, r++) {
		struct rb_ring *ring = rb->cpu_buffers[cpu].ring;
		size_t old = ring->count;

		if (!r->slots)
			continue;
		r->slots = lay_out(ring, r->slots, count, &r->pages);
		r->count = old;
	}
	return 0;
}

/* Lanes `from` to `to`, all or none. */
static int rb_resize_cpus(struct ring_buffer *rb, struct resize *r, int from, int to, size_t count)
{
	bool any = false;
	int result;

	for (int cpu = from; cpu <= to; cpu++) {
		result = resize_prepare(&r[cpu - from], rb->cpu_buffers[cpu].ring, count);
		if (result)
			return result;
		any |= r[cpu - from].slots != NULL;
	}
	if (!any)
		return 0;
	rb_stop_cpus(rb, from, to);
	result = resize_stopped(rb, r, from, to, count);
	rb_start_cpus(rb, from, to);
	return result;
}

int ring_buffer_resize(struct ring_buffer *rb, size_t size, int cpu)
{
	int from = cpu < 0 ? 0 : cpu, to = cpu < 0 ? (int)rb->cpus - 1 : cpu;
	size_t count = rb_pages_for(size, rb->order);
	struct resize *r;
	int result;

	if (to >= (int)rb->cpus)
		return -EINVAL;
	r = host_alloc((to - from + 1) * sizeof(*r));
	if (!r)
		return -ENOMEM;
	result = rb_resize_cpus(rb, r, from, to, count);
	for (int i = 0; i <= to - from; i++) {
		rb_chain_free(&r[i].pages, rb->order);
		rb_slots_put(r[i].slots, r[i].count);
	}
	host_free(r);
	if (!result && cpu < 0)
		rb->count = count;
	return result;
}
