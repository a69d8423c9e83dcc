/*
 * Shared by the cases of the ring buffer: a buffer with a clock of ours, writers that enter and
 * leave as they must. Each acts on the CPU it is called on; a case stays on one CPU.
 */
#pragma once

#include "trace/ring/ring.h"

extern u64 ring_now; /* what the clock of ring_make() says */

struct ring_buffer *ring_make(size_t pages, unsigned flags);
int ring_cpu(void);
struct ring_buffer_event *ring_reserve(struct ring_buffer *rb, size_t length);
void ring_commit(struct ring_buffer *rb, struct ring_buffer_event *ev);
void ring_discard(struct ring_buffer *rb, struct ring_buffer_event *ev);
int ring_put(struct ring_buffer *rb, const void *data, size_t length);
/*
 * Writes events of `bytes` in all (a multiple of 4, at least 8), in an empty sub-buffer; and
 * consumes them.
 */
void ring_fill(struct ring_buffer *rb, u64 bytes);
void ring_skip(struct ring_buffer *rb, u64 bytes);
/* The entries by the sums are those that a look at each sub-buffer finds; nobody writes. */
void ring_counts_agree(struct ring_buffer *rb);
struct ring_buffer_stats ring_stats(struct ring_buffer *rb); /* of the CPU this runs on; and that */
/* Fails the case unless every one of `hits` is accounted for. */
void ring_balanced(struct ring_buffer *rb, u64 hits);
/*
 * Consumes an event whose first word must be *expected, after what was lost; false: there is none.
 */
bool ring_consume_checked(struct ring_buffer *rb, u32 *expected, u64 *lost);
/* Events of a page that was read, whose first words must count up from `first`; how many. */
u64 page_events_from(struct ring_buffer_page *page, u32 first);
