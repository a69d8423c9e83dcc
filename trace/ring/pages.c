/*
 * Allocates the memory of rings: pages of the host, or of the store for rings that must outlive the
 * kernel. Task context; one control call at a time on a buffer, as in control.c. rb_may_leave():
 * any.
 */
#include "trace/ring/pages.h"
#include "kernel/lib/errno.h"
#include "trace/host_memory.h"

/* ---- From the store where they are to be kept and it has room ---- */

static const struct ring_buffer_store *store;

void ring_buffer_set_store(const struct ring_buffer_store *s)
{
	store = s;
}

bool rb_may_leave(const struct ring_buffer_page *page)
{
	return !store || !store->holds(page);
}

static void *rb_page_alloc(bool kept, unsigned order)
{
	void *page = kept && store && !order ? store->alloc(1) : NULL;

	if (!page && !host_memory_check("a ring buffer", PAGE_SIZE << order))
		page = host_block_alloc(order);
	return page;
}

static void rb_page_free(void *page, unsigned order)
{
	if (!store || !page || !store->free(page, 1))
		host_block_free(page, order);
}

/* Of the slots and the sums after them. */
static size_t slots_size(size_t count)
{
	return 2 * count * sizeof(u64);
}

static unsigned slots_pages(size_t count)
{
	return (slots_size(count) + PAGE_SIZE - 1) / PAGE_SIZE;
}

u64 *rb_slots_get(size_t count, bool kept)
{
	u64 *slots = NULL;

	if (count > RB_INDEX_MASK)
		return NULL;
	if (kept && store)
		slots = store->alloc(slots_pages(count));
	if (!slots && !host_memory_check("a ring buffer", slots_size(count)))
		slots = host_alloc(slots_size(count));
	return slots;
}

void rb_slots_put(u64 *slots, size_t count)
{
	if (!store || !slots || !store->free(slots, slots_pages(count)))
		host_free(slots);
}

/* ---- Chains ---- */

void rb_chain_free(struct rb_chain **head, unsigned order)
{
	while (*head)
		rb_page_free(rb_chain_pop(head), order);
}

int rb_chain_fill(struct rb_chain **head, size_t count, bool kept, unsigned order)
{
	while (count--) {
		void *page = rb_page_alloc(kept, order);

		if (!page) {
			rb_chain_free(head, order);
			return -ENOMEM;
		}
		rb_chain_push(head, page);
	}
	return 0;
}

/* ---- A ring ---- */

void rb_put_free_page(u64 *slots, size_t index, struct ring_buffer_page *page)
{
	page->time_stamp = 0;
	page->commit = rb_commit_fresh(RB_FIRST_GEN);
	slots[index] = rb_slot_make(page, RB_FIRST_GEN);
}

void rb_ring_free(struct rb_ring *ring, unsigned cpu)
{
	unsigned order = rb_order_of(ring->page_mask);

	if (ring->kept)
		store->ring_at(ring, cpu, false);
	for (size_t i = 0; i < ring->count; i++)
		rb_page_free(rb_slot_page(ring->slots[i]), order);
	rb_page_free(ring->page, order);
	rb_page_free(ring->spare, order);
	rb_slots_put(ring->slots, ring->count);
	rb_page_free(ring, 0);
}

/* All of it, or its struct and slots at least, are in the store, or nothing of it is. */
static struct rb_ring *rb_ring_make(const struct ring_buffer *rb, bool kept, unsigned cpu)
{
	struct rb_ring *ring =
	    rb_page_alloc(kept, 0); /* a page of its own: aligned, shared with nobody */
	struct rb_chain *pages = NULL;
	size_t count = rb->count;

	_Static_assert(sizeof(*ring) <= PAGE_SIZE, "a ring is one page");
	kept = kept && ring && !rb_may_leave((void *)ring);
	u64 *slots = rb_slots_get(count, kept);
	if (kept && slots && rb_may_leave((void *)slots)) {
		rb_slots_put(slots, count);
		rb_page_free(ring, 0);
		return rb_ring_make(rb, false, cpu);
	}
	if (!ring || !slots || rb_chain_fill(&pages, count + 2, kept, rb->order)) {
		rb_page_free(ring, 0);
		rb_slots_put(slots, count);
		return NULL;
	}
	ring->slots = slots;
	ring->count = count;
	ring->page_mask = rb_mask_of(rb->order);
	ring->overwrite = rb->overwrite;
	ring->kept = kept;
	rb_ring_tail_init(ring);
	for (size_t i = 0; i < count; i++)
		rb_put_free_page(slots, i, rb_chain_pop(&pages));
	rb_reader_init(ring, rb_chain_pop(&pages), rb_chain_pop(&pages));
	if (kept)
		store->ring_at(ring, cpu, true);
	return ring;
}

struct rb_ring *rb_ring_alloc(const struct ring_buffer *rb, unsigned cpu)
{
	return rb_ring_make(rb, rb->kept, cpu);
}
