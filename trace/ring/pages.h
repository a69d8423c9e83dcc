/*
 * Allocating, freeing and replacing the pages of rings, for control.c and resize.c. Task context,
 * one control call at a time on a buffer.
 */
#pragma once

#include "trace/ring/priv.h"

/* Unused pages, chained through their first word. */
struct rb_chain {
	struct rb_chain *next;
};

static inline void *rb_chain_pop(struct rb_chain **head)
{
	struct rb_chain *page = *head;

	*head = page->next;
	return page;
}

static inline void rb_chain_push(struct rb_chain **head, void *page)
{
	struct rb_chain *link = page;

	link->next = *head;
	*head = link;
}

void rb_chain_free(struct rb_chain **head, unsigned order);
/*
 * Adds `count` pages of PAGE_SIZE << order bytes. With `kept` and order 0, pages come from the
 * store while it has room. Returns 0, or -ENOMEM with the chain empty.
 */
int rb_chain_fill(struct rb_chain **head, size_t count, bool kept, unsigned order);

/* Allocates a ring's slots, zeroed. NULL: no memory, or more slots than a ring can have. */
u64 *rb_slots_get(size_t count, bool kept);
void rb_slots_put(u64 *slots, size_t count);

/* Enters a page into its slot as never written. */
void rb_put_free_page(u64 *slots, size_t index, struct ring_buffer_page *page);

/* Allocates an empty ring for this CPU of the buffer. NULL: no memory. */
struct rb_ring *rb_ring_alloc(const struct ring_buffer *rb, unsigned cpu);
void rb_ring_free(struct rb_ring *ring, unsigned cpu);

/* The number of sub-buffers of this order that hold `size` bytes. */
size_t rb_pages_for(size_t size, unsigned order);

/* Empties the ring of a stopped CPU buffer (in control.c). */
void rb_reset_ring(struct rb_ring *ring);

/*
 * Keeps writers and readers out of CPU buffers `from` to `to`, waiting once for all. The caller
 * must not sleep until rb_start_cpus(). These functions are in control.c.
 */
void rb_stop_cpus(struct ring_buffer *rb, int from, int to);
void rb_start_cpus(struct ring_buffer *rb, int from, int to);
/* The two halves of rb_stop_cpus(), for several buffers: call host_synchronize() between them. */
void rb_refuse_cpus(struct ring_buffer *rb, int from, int to);
void rb_lock_readers(struct ring_buffer *rb, int from, int to);
