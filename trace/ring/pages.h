/*
 * Pages of rings, for who makes rings and changes them: control.c and resize.c. Task context, one
 * control call at a time on a buffer.
 */
#pragma once

#include "trace/ring/priv.h"

/* Pages in a chain through their first word, while nobody uses them. */
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
 * Adds `count` pages of PAGE_SIZE << order bytes; kept: from the store, as far as it has room, with
 * order 0. 0, or -ENOMEM and the chain is empty.
 */
int rb_chain_fill(struct rb_chain **head, size_t count, bool kept, unsigned order);

/* The array of a ring's slots, zeroed. NULL: no memory, or more than a ring can have. */
u64 *rb_slots_get(size_t count, bool kept);
void rb_slots_put(u64 *slots, size_t count);

/* Enters a page into its slot as one that nothing was written to yet. */
void rb_put_free_page(u64 *slots, size_t index, struct ring_buffer_page *page);

/* The ring that the buffer is to have for that CPU, empty; NULL: no memory. */
struct rb_ring *rb_ring_alloc(const struct ring_buffer *rb, unsigned cpu);
void rb_ring_free(struct rb_ring *ring, unsigned cpu);

/* Sub-buffers of that order for so many bytes. */
size_t rb_pages_for(size_t size, unsigned order);

/* Empties the ring of a CPU buffer that is stopped, in control.c. */
void rb_reset_ring(struct rb_ring *ring);

/*
 * Keeps writers and readers out of CPU buffers `from` to `to`, with one wait for all. The caller
 * may not sleep until rb_start_cpus(). All are in control.c.
 */
void rb_stop_cpus(struct ring_buffer *rb, int from, int to);
void rb_start_cpus(struct ring_buffer *rb, int from, int to);
/* The two halves of rb_stop_cpus(), for several buffers: host_synchronize() comes between them. */
void rb_refuse_cpus(struct ring_buffer *rb, int from, int to);
void rb_lock_readers(struct ring_buffer *rb, int from, int to);
