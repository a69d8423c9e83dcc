/*
 * The ring buffer, one writer at a time: format to the bit, both modes, both ways to read, time. On
 * the CPU the case runs on. A clock of ours makes times exact.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/ring/ring.h"

static void format_small(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_event *ev;

	ring_now = 1000;
	ring_put(rb, "abc", 4);
	ring_now = 1123;
	ev = ring_reserve(rb, 7);
	EXPECT_EQ(ev->type, RINGBUF_TYPE_DATA);
	EXPECT_EQ(ev->len, 2);
	EXPECT_EQ(ev->time_delta, 123);
	EXPECT_EQ(*(u32 *)ev, 3u | 2 << 2 | 123 << 5);
	EXPECT_EQ(ring_buffer_event_length(ev), 12);
	EXPECT_EQ(ring_buffer_data_length(ev), 8);
	EXPECT_EQ(ring_buffer_time_delta(ev), 123);
	EXPECT((void *)ev->array == ring_buffer_event_data(ev));
	ring_commit(rb, ev);
	ring_buffer_free(rb);
}

static void format_large(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_event *ev = ring_reserve(rb, 82);

	EXPECT_EQ(ev->type, RINGBUF_TYPE_DATA);
	EXPECT_EQ(ev->len, 0);
	EXPECT_EQ(ev->array[0], 84);
	EXPECT_EQ(ring_buffer_event_length(ev), 92);
	EXPECT_EQ(ring_buffer_data_length(ev), 84);
	EXPECT((void *)&ev->array[1] == ring_buffer_event_data(ev));
	ring_commit(rb, ev);
	ring_buffer_free(rb);
}

/* Every payload size: what is reserved is what is read, and a page holds as many as it should. */
static void every_size(void)
{
	static u8 data[RB_MAX_DATA + 8];
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	int cpu = ring_cpu();

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
	for (size_t size = 0; size <= RB_MAX_DATA; size++) {
		struct ring_buffer_event *ev;
		u64 ts, lost;

		ring_now += 5;
		if (ring_put(rb, data, size))
			EXPECT_EQ(size, -1);
		ev = ring_buffer_consume(rb, cpu, &ts, &lost);
		EXPECT(ev);
		if (!ev)
			break;
		EXPECT_EQ(ts, ring_now);
		EXPECT_EQ(lost, 0);
		EXPECT_EQ(ring_buffer_data_length(ev), size ? ALIGN_UP(size, 4UL) : 4);
		EXPECT_EQ(ring_buffer_event_length(ev),
		    ring_buffer_data_length(ev) + (size <= 28 ? 4 : 8));
		EXPECT(memcmp(ring_buffer_event_data(ev), data, size) == 0);
	}
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA + 1), -EBUSY);
	EXPECT_EQ(ring_stats(rb).too_large, 1);
	EXPECT(ring_buffer_empty(rb));
	ring_buffer_free(rb);
}

/* An event of every size at every offset of a sub-buffer: it goes there or to the next, whole. */
static void every_offset(void)
{
	static const size_t sizes[] = {4, 8, 28, 32, 40, 2000, RB_MAX_DATA};
	static u8 data[RB_MAX_DATA];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (u64 fill = 8; fill <= RB_PAGE_DATA; fill += 4) {
			struct ring_buffer *rb = ring_make(4, 0);
			u64 size = sizes[i] + (sizes[i] > 28 ? 8 : 4), ts;
			struct ring_buffer_event *ev;

			ring_now++;
			ring_fill(rb, fill);
			EXPECT_EQ(ring_put(rb, data, sizes[i]), 0);
			ring_skip(rb, fill);
			ev = ring_buffer_consume(rb, ring_cpu(), &ts, NULL);
			EXPECT(ev && ring_buffer_event_length(ev) == size);
			EXPECT_EQ(ev ? ((u64)ev & (PAGE_SIZE - 1)) - RB_PAGE_HEADER : 0,
			    fill + size <= RB_PAGE_DATA ? fill : 0);
			EXPECT(ring_buffer_empty(rb));
			ring_buffer_free(rb);
		}
	}
}

static void time_extend(void)
{
	static const u64 jumps[] = {0, 1, (1UL << 27) - 1, 1UL << 27, 1UL << 40, (1UL << 59) - 1,
	    1UL << 59, 1UL << 63, -1UL, -1000UL};
	struct ring_buffer *rb = ring_make(8, 0);
	u64 ts, at = 1UL << 62;

	ring_now = at;
	ring_put(rb, "abc", 4);
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++) {
		ring_now += jumps[i];
		ring_put(rb, &jumps[i], 8);
	}
	ring_buffer_consume(rb, ring_cpu(), &ts, NULL);
	EXPECT_EQ(ts, at);
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++) {
		at += jumps[i];
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
		EXPECT_EQ(ts, at);
	}
	ring_buffer_free(rb);
}

/* A time that needs an event of its own does not count as an event, and its bytes are right. */
static void time_format(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_event *ev, *time;

	ring_now = 100;
	ring_put(rb, "abc", 4);
	ring_now += 5UL << 27 | 77;
	ev = ring_reserve(rb, 4);
	time = (void *)((u8 *)ev - 8);
	EXPECT_EQ(time->type, RINGBUF_TYPE_TIME_EXTENT);
	EXPECT_EQ(time->time_delta, 77);
	EXPECT_EQ(time->array[0], 5);
	EXPECT_EQ(ring_buffer_event_length(time), 8);
	EXPECT_EQ(ev->time_delta, 0);
	ring_commit(rb, ev);
	ring_now = 50; /* the clock went back */
	ev = ring_reserve(rb, 4);
	time = (void *)((u8 *)ev - 12);
	EXPECT_EQ(time->type, RINGBUF_TYPE_TIME_STAMP);
	EXPECT_EQ(time->array[0], 50);
	EXPECT_EQ(time->array[1], 0);
	ring_commit(rb, ev);
	EXPECT_EQ(ring_buffer_entries(rb), 3);
	ring_buffer_free(rb);
}

static void full_refuses(void)
{
	struct ring_buffer *rb = ring_make(3, 0);
	struct ring_buffer_stats st;
	unsigned stored = 0, got = 0;
	u32 seq = 0;
	struct ring_buffer_event *ev;

	while (ring_put(rb, &seq, 4) == 0 && stored < 10000)
		seq = ++stored;
	EXPECT_EQ(stored, 3 * (RB_PAGE_DATA / 8));
	for (int i = 0; i < 9; i++)
		EXPECT_EQ(ring_put(rb, &seq, 4), -EBUSY);
	st = ring_stats(rb);
	EXPECT_EQ(st.dropped, 10);
	EXPECT_EQ(st.entries, stored);
	EXPECT_EQ(st.overrun, 0);
	EXPECT_EQ(st.bytes, stored * 8);
	while ((ev = ring_buffer_consume(rb, ring_cpu(), NULL, NULL)))
		EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), got++);
	EXPECT_EQ(got, stored);
	EXPECT_EQ(ring_put(rb, &seq, 4), 0); /* there is room again */
	ring_buffer_free(rb);
}

/* By the machine's own clock: the fast path asks first if the ring is still full. */
static void too_large_for_a_full_ring(void)
{
	struct ring_buffer *rb = ring_buffer_alloc(2 * RB_PAGE_DATA, 0, NULL);
	static const u8 data[RB_MAX_DATA + 1];
	struct ring_buffer_stats st;

	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), 0);
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), 0);
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), -EBUSY);
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA + 1), -EBUSY);
	st = ring_stats(rb);
	EXPECT_EQ(st.dropped, 1);
	EXPECT_EQ(st.too_large, 1);
	ring_buffer_free(rb);
}

/* Whatever was refused, however often: the writer's lane is as before. */
static void refusals_leave_nothing(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	static const u8 data[RB_MAX_DATA + 1];

	for (unsigned i = 0; i < 100; i++)
		EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA + 1), -EBUSY);
	ring_buffer_record_off(rb);
	for (unsigned i = 0; i < 100; i++)
		EXPECT_EQ(ring_put(rb, data, 4), -EBUSY);
	ring_buffer_record_on(rb);
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), 0);
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), 0);
	for (unsigned i = 0; i < 100; i++)
		EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), -EBUSY);
	EXPECT(ring_buffer_consume(rb, ring_cpu(), NULL, NULL));
	EXPECT(!ring_buffer_consume(rb, ring_cpu(), NULL, NULL) ||
	       !ring_buffer_consume(rb, ring_cpu(), NULL, NULL));
	EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), 0);
	EXPECT_EQ(ring_stats(rb).nested, 0);
	ring_buffer_free(rb);
}

static void overwrite_keeps_newest(void)
{
	struct ring_buffer *rb = ring_make(3, RB_FL_OVERWRITE);
	const u32 total = 5000, per_page = RB_PAGE_DATA / 8;
	struct ring_buffer_event *ev;
	struct ring_buffer_stats st;
	u64 lost;
	u32 want;

	for (u32 seq = 0; seq < total; seq++)
		EXPECT_EQ(ring_put(rb, &seq, 4), 0);
	st = ring_stats(rb);
	EXPECT_EQ(st.entries + st.overrun, total);
	EXPECT(st.entries > 2 * per_page && st.entries <= 3 * per_page);
	want = st.overrun;
	ev = ring_buffer_peek(rb, ring_cpu(), NULL, &lost);
	EXPECT_EQ(lost, want);
	ev = ring_buffer_consume(rb, ring_cpu(), NULL, &lost);
	EXPECT_EQ(lost, want);
	for (; ev; ev = ring_buffer_consume(rb, ring_cpu(), NULL, &lost)) {
		EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), want);
		want++;
		if (want > st.overrun + 1)
			EXPECT_EQ(lost, 0);
	}
	EXPECT_EQ(want, total);
	st = ring_stats(rb);
	EXPECT_EQ(st.entries, 0);
	EXPECT_EQ(st.bytes, 0);
	EXPECT_EQ(st.read + st.overrun, total);
	ring_buffer_free(rb);
}

/*
 * Reading the sub-buffer that is being written; then the writer goes round and overwrites what was
 * not read of it.
 */
static void overwrite_behind_copy(void)
{
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	u32 seq = 0, total = 20000, expected = 0, reads = 0;
	u64 lost_sum = 0;

	for (u32 burst = 0; seq < total; burst++) {
		struct ring_buffer_event *ev;
		u64 lost;

		for (u32 i = 0; i < burst % 1700; i++, seq++)
			ring_put(rb, &seq, 4);
		for (u32 i = 0; i < burst % 3; i++) {
			ev = ring_buffer_consume(rb, ring_cpu(), NULL, &lost);
			if (!ev)
				break;
			lost_sum += lost;
			expected += lost;
			EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), expected);
			expected++;
			reads++;
		}
		ring_balanced(rb, seq);
		EXPECT_EQ(ring_stats(rb).read, reads);
	}
	while (ring_consume_checked(rb, &expected, &lost_sum))
		reads++;
	EXPECT_EQ(reads + lost_sum, seq);
	EXPECT_EQ(ring_stats(rb).overrun, lost_sum);
	ring_buffer_free(rb);
}

static void read_pages(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page(), *mine = page;
	const u32 per_page = RB_PAGE_DATA / 8;
	u32 seq = 0;

	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), -EAGAIN);
	ring_now = 777;
	for (; seq < per_page + 10; seq++)
		ring_put(rb, &seq, 4);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), true), 0);
	EXPECT(page != mine); /* taken away, not copied */
	EXPECT_EQ(page->commit, RB_PAGE_DATA);
	EXPECT_EQ(page->time_stamp, 777);
	EXPECT_EQ(page_events_from(page, 0), per_page);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), true), -EAGAIN);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT_EQ(page->commit, 80);
	EXPECT_EQ(page_events_from(page, per_page), 10);
	for (; seq < per_page + 15; seq++)
		ring_put(rb, &seq, 4);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, RB_PAGE_HEADER + 17, ring_cpu(), false), 0);
	EXPECT_EQ(page_events_from(page, per_page + 10), 2);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT_EQ(page_events_from(page, per_page + 12), 3);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), -EAGAIN);
	EXPECT_EQ(ring_stats(rb).read, seq);
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

static void read_page_says_lost(void)
{
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	const u32 per_page = RB_PAGE_DATA / 12;
	static const u8 data[RB_MAX_DATA];
	u64 lost;

	for (u32 i = 0; i < 3 * per_page + 1; i++)
		ring_put(rb, data, 8);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT_EQ(page->commit & ~(u64)RB_MISSED_EVENTS, RB_PAGE_DATA); /* no room for the number */
	EXPECT(page->commit & RB_MISSED_EVENTS);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT_EQ(page->commit, 12);
	/*
	 * The reader keeps the sub-buffer it has begun; the next is overwritten; then there is one
	 * with room for the number.
	 */
	for (u32 i = 0; i < 2 * per_page + 1; i++)
		ring_put(rb, data, 8);
	ring_put(rb, data, RB_MAX_DATA);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT_EQ(page->commit, (per_page - 1) * 12);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT_EQ(page->commit, 24 | RB_MISSED_EVENTS | RB_MISSED_STORED);
	memcpy(&lost, page->data + 24, 8);
	EXPECT_EQ(lost, per_page);
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

static void reader_sees_growing_page(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	u32 expected = 0;
	u64 lost = 0;

	for (u32 seq = 0; seq < 3000; seq++) {
		EXPECT_EQ(ring_put(rb, &seq, 4), 0);
		EXPECT(!ring_buffer_empty(rb));
		EXPECT(ring_consume_checked(rb, &expected, &lost));
		EXPECT(ring_buffer_empty(rb));
	}
	EXPECT_EQ(expected, 3000);
	EXPECT_EQ(lost, 0);
	ring_balanced(rb, 3000);
	ring_buffer_free(rb);
}

static const struct ktap_case cases[] = {
    {"ring.format_small", format_small},
    {"ring.format_large", format_large},
    {"ring.every_size", every_size},
    {"ring.every_offset", every_offset},
    {"ring.time_extend", time_extend},
    {"ring.time_format", time_format},
    {"ring.full_refuses", full_refuses},
    {"ring.refusals_leave_nothing", refusals_leave_nothing},
    {"ring.too_large_for_a_full_ring", too_large_for_a_full_ring},
    {"ring.overwrite_keeps_newest", overwrite_keeps_newest},
    {"ring.overwrite_behind_copy", overwrite_behind_copy},
    {"ring.read_pages", read_pages},
    {"ring.read_page_says_lost", read_page_says_lost},
    {"ring.reader_sees_growing_page", reader_sees_growing_page},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_buffer = {cases};
