/*
 * Nested writers, and events that are discarded: the contents of the ring, and a reader's view of
 * it.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/ring/ring.h"

static void discard_last(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_event *first, *second;
	u64 ts;

	ring_now = 1000;
	ring_put(rb, "abc", 4);
	ring_now = 1100;
	first = ring_reserve(rb, 4);
	ring_discard(rb, first);
	ring_now = 1150;
	second = ring_reserve(rb, 4);
	EXPECT(first == second); /* the room is given back */
	EXPECT_EQ(second->time_delta, 150);
	ring_commit(rb, second);
	EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	EXPECT_EQ(ts, 1150);
	EXPECT_EQ(ring_stats(rb).discarded, 1);
	ring_balanced(rb, 3);
	ring_buffer_free(rb);
}

/* The first of a sub-buffer: the room is given back, the sub-buffer and its time stay. */
static void discard_first(void)
{
	for (unsigned again = 0; again < 3; again++) {
		struct ring_buffer *rb = ring_make(2, 0);
		struct ring_buffer_event *first, *second;
		u64 ts;

		ring_now = 1000;
		ring_fill(rb, RB_PAGE_DATA);
		ring_now = 1100;
		first = ring_reserve(rb, 100);
		EXPECT_EQ((u64)first & (PAGE_SIZE - 1), RB_PAGE_HEADER);
		ring_discard(rb, first);
		for (unsigned i = 0; i < again; i++) {
			ring_now += 1UL << 28; /* a time of its own, which stays */
			ring_discard(rb, ring_reserve(rb, 100));
		}
		ring_now += 50;
		second = ring_reserve(rb, 4);
		EXPECT_EQ((u64)second - (u64)first, again * 8);
		ring_commit(rb, second);
		ring_skip(rb, RB_PAGE_DATA);
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
		EXPECT_EQ(ts, ring_now);
		EXPECT(ring_buffer_empty(rb));
		EXPECT_EQ(ring_stats(rb).discarded, 1 + again);
		ring_buffer_free(rb);
	}
}

/* A sub-buffer whose only event was discarded is empty for whoever reads, and is not closed. */
static void discard_leaves_empty(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	struct ring_buffer_iter *it;

	ring_discard(rb, ring_reserve(rb, RB_MAX_DATA));
	EXPECT(ring_buffer_empty(rb));
	EXPECT_EQ(ring_stats(rb).bytes, 0);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), -EAGAIN);
	it = ring_buffer_read_start(rb, ring_cpu());
	EXPECT(ring_buffer_iter_empty(it));
	ring_buffer_read_finish(it);
	EXPECT_EQ(ring_buffer_resize(rb, 3 * RB_PAGE_DATA, -1), 0);
	ring_fill(rb, RB_PAGE_DATA);
	ring_fill(rb, RB_PAGE_DATA);
	ring_fill(rb, RB_PAGE_DATA);
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_skip(rb, RB_PAGE_DATA);
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/*
 * An event with a nested one after it cannot be taken back: it becomes padding, and times stay
 * right, with a delta of 0 too.
 */
static void discard_nested(void)
{
	for (u64 delta = 0; delta < 3; delta++) {
		struct ring_buffer *rb = ring_make(2, 0);
		struct ring_buffer_event *outer, *inner;
		u64 ts;

		ring_now = 1000;
		ring_put(rb, "abc", 4);
		ring_now += delta;
		outer = ring_reserve(rb, 40);
		ring_now += delta;
		inner = ring_reserve(rb, 4);
		ring_commit(rb, inner);
		EXPECT_EQ(ring_buffer_entries(rb), 2);
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL) ==
		       NULL); /* one is under construction */
		ring_discard(rb, outer);
		EXPECT_EQ(outer->type, RINGBUF_TYPE_PADDING);
		EXPECT(outer->time_delta != 0);
		EXPECT_EQ(outer->array[0], 44);
		EXPECT_EQ(ring_buffer_event_length(outer), 48);
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
		EXPECT_EQ(ts, 1000);
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
		EXPECT_EQ(ts, 1000 + 2 * delta);
		EXPECT(ring_buffer_empty(rb));
		ring_balanced(rb, 3);
		ring_buffer_free(rb);
	}
}

static void nesting_is_bounded(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_event *stack[40];
	unsigned depth = 0;

	while (depth < 40 && (stack[depth] = ring_reserve(rb, 8)))
		depth++;
	EXPECT_EQ(depth, 16);
	EXPECT_EQ(ring_stats(rb).nested, 1);
	while (depth)
		ring_commit(rb, stack[--depth]);
	EXPECT_EQ(ring_put(rb, "abc", 4), 0);
	ring_balanced(rb, 18);
	ring_buffer_free(rb);
}

/* Nested writers that fill the ring: the sub-buffer of the interrupted one is not overwritten. */
static void never_over_uncommitted(void)
{
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	struct ring_buffer_event *outer = ring_reserve(rb, 8);
	unsigned stored = 0;
	struct ring_buffer_stats st;

	memcpy(ring_buffer_event_data(outer), "outerev", 8);
	while (ring_put(rb, "innerev", 8) == 0 && stored < 10000)
		stored++;
	EXPECT_EQ(stored, 2 * (RB_PAGE_DATA / 12) - 1);
	EXPECT_EQ(ring_stats(rb).commit_overrun, 1);
	ring_commit(rb, outer);
	EXPECT_EQ(ring_put(rb, "afterev", 8), 0);
	st = ring_stats(rb);
	EXPECT_EQ(st.overrun, RB_PAGE_DATA / 12);
	ring_balanced(rb, stored + 3);
	ring_buffer_free(rb);
}

/* An event that is committed in a sub-buffer which nested writers have left: the sums miss it. */
static void counted_late_after(unsigned pages)
{
	struct ring_buffer *rb = ring_make(8, RB_FL_OVERWRITE);
	unsigned stored = 1;

	for (; pages; pages--) {
		ring_fill(rb, RB_PAGE_DATA);
		ring_skip(rb, RB_PAGE_DATA);
	}
	ring_fill(rb, RB_PAGE_DATA);
	struct ring_buffer_event *outer = ring_reserve(rb, 8);

	for (; stored < 3 * (RB_PAGE_DATA / 12); stored++)
		EXPECT_EQ(ring_put(rb, "innerev", 8), 0);
	ring_counts_agree(rb);
	ring_commit(rb, outer);
	ring_counts_agree(rb);
	for (; stored < 6 * (RB_PAGE_DATA / 12); stored++)
		EXPECT_EQ(ring_put(rb, "afterev", 8), 0);
	ring_counts_agree(rb);
	ring_skip(rb, RB_PAGE_DATA);
	EXPECT_EQ(ring_buffer_entries(rb), stored);
	for (; stored < 20 * (RB_PAGE_DATA / 12); stored++)
		EXPECT_EQ(ring_put(rb, "overrun", 8), 0);
	ring_counts_agree(rb);
	ring_buffer_free(rb);
}

/* Wherever in the ring that is, so that who looks at each sub-buffer comes round its end. */
static void counted_late(void)
{
	for (unsigned pages = 0; pages < 8; pages++)
		counted_late_after(pages);
}

/* What happens within the clock, that is, between reading the tail and moving it. */
static struct ring_buffer *clock_rb;
static void (*in_clock)(void);

static u64 clock_that_nests(void)
{
	void (*fn)(void) = in_clock;

	in_clock = NULL; /* the nested writers' clock is plain */
	if (fn)
		fn();
	return ++ring_now;
}

static void write_and_read_two(void)
{
	for (unsigned i = 0; i < 2; i++) {
		ring_fill(clock_rb, RB_PAGE_DATA);
		ring_skip(clock_rb, RB_PAGE_DATA);
	}
	ring_fill(clock_rb, 100);
}

/*
 * A writer is interrupted after a tail whose sub-buffer is written full, read and put back for
 * another number, which is the next one when the writer goes on: it must not take that for the
 * sub-buffer its tail is in.
 */
static void stale_tail(void)
{
	static const u8 data[40];
	u32 expected = 0;
	u64 lost = 0;

	clock_rb = ring_buffer_alloc(2 * RB_PAGE_DATA, 0, clock_that_nests);
	ring_fill(clock_rb, RB_PAGE_DATA - 16);
	ring_skip(clock_rb, RB_PAGE_DATA - 16);
	in_clock = write_and_read_two;
	ring_put(clock_rb, data, sizeof(data));
	EXPECT(!in_clock);
	ring_skip(clock_rb, 100);
	EXPECT(ring_buffer_consume(clock_rb, ring_cpu(), NULL, NULL));
	EXPECT(ring_buffer_empty(clock_rb));
	for (u32 seq = 0; seq < 5000; seq++) {
		EXPECT_EQ(ring_put(clock_rb, &seq, 4), 0);
		EXPECT(ring_consume_checked(clock_rb, &expected, &lost));
	}
	EXPECT_EQ(lost, 0);
	ring_buffer_free(clock_rb);
}

static const struct ktap_case cases[] = {
    {"ring.discard_last", discard_last},
    {"ring.discard_first", discard_first},
    {"ring.discard_leaves_empty", discard_leaves_empty},
    {"ring.discard_nested", discard_nested},
    {"ring.stale_tail", stale_tail},
    {"ring.nesting_is_bounded", nesting_is_bounded},
    {"ring.never_over_uncommitted", never_over_uncommitted},
    {"ring.counted_late", counted_late},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_nested = {cases};
