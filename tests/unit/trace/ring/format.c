/*
 * The ring buffer's format at every edge: each size of data at each offset of a sub-buffer, each
 * kind of time at the end of one; and iterators beside consuming readers. By a clock of ours.
 * build/ring-step tries all pairs of size and offset; the guest and the sanitizers, which are
 * slower, try every eighth.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/ring/write.h"

#ifdef RING_EXHAUSTIVE
#define PAIR_STEP 1
#else
#define PAIR_STEP 8
#endif

static struct ring_buffer *rb;

/* An event of which only the ends are written: the words of a stamp made of size and offset. */
static struct ring_buffer_event *put_marked(size_t length, u32 mark)
{
	struct ring_buffer_event *ev = ring_reserve(rb, length);
	u8 *data;

	if (!ev)
		return NULL;
	data = ring_buffer_event_data(ev);
	data[length - 1] = mark >> 8;
	data[0] = mark;
	ring_commit(rb, ev);
	return ev;
}

static bool take_marked(size_t length, u32 mark, u64 time)
{
	u64 ts, lost;
	struct ring_buffer_event *ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost);
	const u8 *data;

	if (!ev || ts != time || lost || ring_buffer_data_length(ev) != ALIGN_UP(length, 4UL))
		return false;
	data = ring_buffer_event_data(ev);
	return data[0] == (u8)mark && (length == 1 || data[length - 1] == (u8)(mark >> 8));
}

/*
 * Events that take `bytes` in all, from the start of a sub-buffer; how many. No event takes 4 or
 * 36.
 */
static unsigned put_filler(u64 bytes)
{
	u64 first = bytes == 36 ? 20 : bytes > RB_MAX_DATA + 8 ? 2040 : bytes;

	if (!bytes)
		return 0;
	put_marked(first - (first <= 32 ? 4 : 8), 0);
	return 1 + put_filler(bytes - first);
}

static bool take_filler(unsigned n)
{
	while (n--)
		if (!ring_buffer_consume(rb, ring_cpu(), NULL, NULL))
			return false;
	return true;
}

/*
 * What the first word of an event with `length` bytes of data is to be, and the second if it has a
 * length there.
 */
static bool header_is_right(const struct ring_buffer_event *ev, size_t length, u64 delta)
{
	u32 word = *(const u32 *)ev, stored = ALIGN_UP(length, 4UL);

	if (length <= 28)
		return word == (3 | stored | (u32)delta << 5);
	return word == (3 | (u32)delta << 5) && ev->array[0] == stored;
}

/* One event of `length` at `offset` of a new sub-buffer, or of the next if it does not fit. */
static bool pair_is_right(u64 offset, size_t length)
{
	u64 size = ALIGN_UP(length, 4UL) + (length <= 28 ? 4 : 8),
	    at = offset + size <= RB_PAGE_DATA ? offset : 0;
	u32 mark = offset * 31 + length;
	struct ring_buffer_page *full;
	struct ring_buffer_event *ev;
	unsigned fillers;

	/* The second of two largest events begins a sub-buffer, and leaves 16 bytes there. */
	put_marked(RB_MAX_DATA, 0);
	put_marked(RB_MAX_DATA, 0);
	full = rb_page_of(put_marked(12, 0), rb_mask_of(0));
	if (!take_filler(3))
		return false;
	ring_now += 3;
	fillers = put_filler(offset);
	ring_now += 5;
	ev = put_marked(length, mark);
	if (!ev || ((u64)ev & (PAGE_SIZE - 1)) != RB_PAGE_HEADER + at ||
	    rb_page_of(ev, rb_mask_of(0)) == full)
		return false;
	if (!header_is_right(ev, length, at ? 5 : 0) || ring_buffer_event_length(ev) != size)
		return false;
	return take_filler(fillers) && take_marked(length, mark, ring_now) && ring_buffer_empty(rb);
}

static void every_pair(unsigned flags)
{
	u64 pairs = 0, wrong = 0;

	rb = ring_make(3, flags);
	for (u64 offset = 0; offset <= RB_PAGE_DATA; offset += offset ? 4 : 8) {
		for (size_t length = 1 + offset / 4 % PAIR_STEP; length <= RB_MAX_DATA;
		     length += PAIR_STEP) {
			pairs++;
			if (!pair_is_right(offset, length) && !wrong++)
				ktap_note("first at offset %llu, length %llu",
				    (unsigned long long)offset, (unsigned long long)length);
		}
	}
	EXPECT_EQ(wrong, 0);
	EXPECT(pairs >= 1020UL * RB_MAX_DATA / PAIR_STEP - RB_MAX_DATA);
	EXPECT_EQ(ring_stats(rb).overrun + ring_stats(rb).dropped, 0);
	ring_buffer_free(rb);
}

static void every_pair_producer(void)
{
	every_pair(0);
}

static void every_pair_overwrite(void)
{
	every_pair(RB_FL_OVERWRITE);
}

/* ---- Times ---- */

/* What stands in front of an event whose clock says `jump` more than that of the last one. */
static const struct {
	u64 jump;
	u64 front;
} times[] = {
    {0, 0},
    {1, 0},
    {(1UL << 27) - 1, 0},
    {1UL << 27, 8},
    {(1UL << 27) + 1, 8},
    {(1UL << 59) - 1, 8},
    {1UL << 59, 12},
    {-1UL, 12},
    {-(1UL << 40), 12},
};

static void check_front(const struct ring_buffer_event *ev, u64 jump, u64 front)
{
	const struct ring_buffer_event *time = (const void *)((const u8 *)ev - front);

	if (front == 8) {
		EXPECT_EQ(*(const u32 *)time, 1 | (u32)(jump & ((1UL << 27) - 1)) << 5);
		EXPECT_EQ(time->array[0], jump >> 27);
		EXPECT_EQ(ring_buffer_time_delta(time), jump);
	} else if (front == 12) {
		EXPECT_EQ(*(const u32 *)time, 2);
		EXPECT_EQ(time->array[0] | (u64)time->array[1] << 32, ring_now);
	}
	EXPECT_EQ(ring_buffer_event_length(time), front ? front : ring_buffer_event_length(ev));
	EXPECT_EQ(ev->time_delta, front ? 0 : jump);
}

/*
 * Event and time go together: both where there is room for both, else the event alone to the next
 * sub-buffer, whose time is its.
 */
static void time_at_edge(u64 room, size_t length, u64 jump, u64 front)
{
	u64 size = length + (length <= 28 ? 4 : 8), offset = RB_PAGE_DATA - room;
	struct ring_buffer_event *ev;
	unsigned fillers;

	rb = ring_make(3, 0);
	ring_now = 1UL << 62;
	fillers = put_filler(offset);
	ring_now += jump;
	ev = put_marked(length, 0x1234);
	if (front + size <= room) {
		EXPECT_EQ(((u64)ev & (PAGE_SIZE - 1)) - RB_PAGE_HEADER, offset + front);
		check_front(ev, jump, front);
	} else {
		EXPECT_EQ((u64)ev & (PAGE_SIZE - 1), RB_PAGE_HEADER);
		EXPECT_EQ(rb_page_of(ev, rb_mask_of(0))->time_stamp, ring_now);
		EXPECT_EQ(ev->time_delta, 0);
	}
	EXPECT(take_filler(fillers));
	EXPECT(take_marked(length, 0x1234, ring_now));
	EXPECT(ring_buffer_empty(rb));
	ring_buffer_free(rb);
}

static void every_time(void)
{
	static const size_t lengths[] = {4, 28, 32, 200};

	for (unsigned t = 0; t < ARRAY_SIZE(times); t++) {
		for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
			u64 most = lengths[i] + 8 + 12;

			for (u64 room = 0; room <= most + 8; room += 4)
				time_at_edge(room, lengths[i], times[t].jump, times[t].front);
		}
	}
}

/* The fast path, which reads a clock that no test can set, takes what 27 bits hold. */
static void fast_times(void)
{
	struct rb_ring *ring;

	rb = ring_make(3, 0);
	ring_now = 1UL << 62;
	put_marked(4, 0x1234);
	ring = rb->cpu_buffers[ring_cpu()].ring;
	for (unsigned t = 0; t < ARRAY_SIZE(times); t++) {
		u64 tail = ring->tail.a, last = ring->tail.b;
		struct ring_buffer_event *ev;
		bool got = rb_reserve_fitting_at(ring, tail, 4, 8, last + times[t].jump, &ev);

		EXPECT_EQ(got, !times[t].front);
		EXPECT_EQ(ring->tail.a, tail + (got ? 8 : 0));
		EXPECT_EQ(ring->tail.b, last + (got ? times[t].jump : 0));
		if (!got)
			continue;
		EXPECT_EQ(ev->time_delta, times[t].jump);
		rb_commit_add(&rb->cpu_buffers[ring_cpu()], ev, 8);
	}
	ring_buffer_free(rb);
}

/*
 * The rest of a sub-buffer is PADDING with delta 0; where no word is left there is none, and the
 * reader knows by the account.
 */
static void padding(void)
{
	for (u64 room = 0; room <= 64; room += 4) {
		struct ring_buffer_page *page;
		const u32 *rest;

		rb = ring_make(3, 0);
		put_filler(RB_PAGE_DATA - room);
		put_marked(80, 0);
		page = ring_buffer_alloc_page();
		EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), true), 0);
		EXPECT_EQ(page->commit, RB_PAGE_DATA - room);
		rest = (const u32 *)(page->data + RB_PAGE_DATA - room);
		for (u64 i = 0; i < room / 4; i++)
			EXPECT_EQ(rest[i], 0);
		ring_buffer_free_page(page);
		ring_buffer_free(rb);
	}
}

/* ---- Iterators ---- */

struct seen {
	u64 ts, words;
	u32 length;
};

static struct seen by_iterator[2000];

static struct seen look(struct ring_buffer_event *ev, u64 ts)
{
	return (struct seen){.ts = ts,
	    .words = *(u32 *)ring_buffer_event_data(ev),
	    .length = ring_buffer_data_length(ev)};
}

static bool same(struct seen a, struct seen b)
{
	return a.ts == b.ts && a.words == b.words && a.length == b.length;
}

/*
 * Sizes, times and discards as they come; what an iterator sees is what is consumed afterwards, and
 * it sees it twice the same.
 */
static void random_writes(u64 *seed, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		u64 r = prng_next(seed);
		size_t length = 4 + (r % 16 ? r >> 8 & 63 : r >> 8 & 2047);
		struct ring_buffer_event *ev;

		ring_now += r >> 60 ? r >> 40 & 1023 : r >> 20 & ((1UL << 30) - 1);
		ev = ring_reserve(rb, length);
		if (!ev)
			continue;
		*(u32 *)ring_buffer_event_data(ev) = i;
		if ((r >> 32) % 8 == 0)
			ring_discard(rb, ev);
		else
			ring_commit(rb, ev);
	}
}

static u32 iterate(void)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(rb, ring_cpu());
	struct ring_buffer_event *ev;
	u32 n = 0, again = 0;
	u64 ts;

	for (; (ev = ring_buffer_read(it, &ts)) && n < ARRAY_SIZE(by_iterator); n++)
		by_iterator[n] = look(ev, ts);
	ring_buffer_iter_reset(it);
	for (; (ev = ring_buffer_iter_peek(it, &ts)); again++) {
		EXPECT(again < n && same(look(ev, ts), by_iterator[again]));
		ring_buffer_read(it, NULL);
	}
	EXPECT_EQ(again, n);
	EXPECT(ring_buffer_iter_empty(it));
	ring_buffer_read_finish(it);
	return n;
}

static void iterators(void)
{
	u64 seed = 0x1ce1ce1ceUL;

	ktap_note("seed %llx", (unsigned long long)seed);
	for (unsigned round = 0; round < 100; round++) {
		u64 r = prng_next(&seed), ts;
		struct ring_buffer_event *ev;
		u32 n, consumed = 0;

		rb = ring_make(2 + r % 3, round % 2 ? RB_FL_OVERWRITE : 0);
		random_writes(&seed, r >> 8 & 1023);
		for (u32 i = 0; i < (r >> 20 & 63); i++)
			ring_buffer_consume(rb, ring_cpu(), NULL, NULL);
		if (r >> 30 & 1)
			EXPECT_EQ(
			    ring_buffer_resize(rb, (2 + (r >> 31) % 5) * RB_PAGE_DATA, -1), 0);
		random_writes(&seed, r >> 40 & 127);
		n = iterate();
		EXPECT_EQ(n, ring_stats(rb).entries);
		for (; (ev = ring_buffer_consume(rb, ring_cpu(), &ts, NULL)); consumed++)
			EXPECT(consumed < n && same(look(ev, ts), by_iterator[consumed]));
		EXPECT_EQ(consumed, n);
		ring_buffer_free(rb);
	}
}

static const struct ktap_case cases[] = {
    {"ring_format.every_pair_producer", every_pair_producer},
    {"ring_format.every_pair_overwrite", every_pair_overwrite},
    {"ring_format.every_time", every_time},
    {"ring_format.fast_times", fast_times},
    {"ring_format.padding", padding},
    {"ring_format.iterators", iterators},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_format = {cases};
