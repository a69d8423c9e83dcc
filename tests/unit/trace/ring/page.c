/*
 * Sub-buffers given away: whole and in part, at every size around an edge, what lies after the
 * data, times and losses; and how full a ring is said to be.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/ring/tools.h"

static u64 page_bytes(const struct ring_buffer_page *page)
{
	return page->commit & 0xfffff;
}

/* Pages are copied, and not exchanged. */
static bool copying;

static int take(struct ring_buffer *rb, struct ring_buffer_page **page, size_t len)
{
	if (copying)
		return ring_buffer_copy_page(rb, *page, PAGE_SIZE, len, ring_cpu(), false);
	return ring_buffer_read_page(rb, page, len, ring_cpu(), false);
}

static bool zero_from(const struct ring_buffer_page *page, u64 from)
{
	for (u64 i = from; i < RB_PAGE_DATA; i++)
		if (page->data[i])
			return false;
	return true;
}

static void put_numbers(struct ring_buffer *rb, u32 from, u32 n)
{
	for (u32 i = from; i < from + n; i++)
		EXPECT_EQ(ring_put(rb, &i, 4), 0);
}

/*
 * Events of 8 bytes: how many a read of header + room gets, for every room around the edge of one,
 * two and three.
 */
static void partial_edges(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page();

	for (size_t room = 0; room <= 25; room++) {
		ring_buffer_reset(rb);
		memset(page->data, 0xaa, RB_PAGE_DATA);
		put_numbers(rb, 0, 5);
		int err = take(rb, &page, RB_PAGE_HEADER + room);
		EXPECT_EQ(err, room == 0 ? -EINVAL : room < 8 ? -EAGAIN : 0);
		u64 got = room / 8;
		if (got) {
			EXPECT_EQ(page_bytes(page), got * 8);
			EXPECT_EQ(page_events_from(page, 0), got);
			EXPECT(zero_from(page, got * 8));
		}
		EXPECT_EQ(take(rb, &page, PAGE_SIZE), 0);
		EXPECT_EQ(page_events_from(page, got), 5 - got);
		EXPECT_EQ(take(rb, &page, PAGE_SIZE), -EAGAIN);
		EXPECT_EQ(ring_stats(rb).read, 5);
	}
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/*
 * A finished sub-buffer is taken away if `len` holds all of its data, copied in part if one byte is
 * missing.
 */
static void whole_edges(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page(), *mine;
	const u32 per_page = RB_PAGE_DATA / 8;

	for (int over = -1; over <= 1; over++) {
		ring_buffer_reset(rb);
		put_numbers(rb, 0, per_page + 1);
		mine = page;
		EXPECT_EQ(take(rb, &page, PAGE_SIZE + over), 0);
		EXPECT((page != mine) == (over >= 0 && !copying));
		EXPECT_EQ(page_events_from(page, 0), per_page - (over < 0));
		EXPECT_EQ(take(rb, &page, PAGE_SIZE), 0);
		EXPECT_EQ(page_events_from(page, per_page - (over < 0)), 1);
	}
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/* A sub-buffer that ends before its last byte: nothing of the padding is left behind the data. */
static void behind_is_zero(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	u8 data[1000];

	memset(data, 0x55, sizeof(data));
	for (unsigned lap = 0; lap < 3; lap++) /* old data in every page */
		for (unsigned i = 0; i < 16; i++) {
			EXPECT_EQ(ring_put(rb, data, sizeof(data)), 0);
			while (!take(rb, &page, PAGE_SIZE))
				EXPECT(zero_from(page, page_bytes(page)));
		}
	for (unsigned i = 0; i < 5; i++)
		EXPECT_EQ(ring_put(rb, data, sizeof(data)), 0);
	EXPECT_EQ(take(rb, &page, PAGE_SIZE), 0);
	EXPECT(page_bytes(page) < RB_PAGE_DATA);
	EXPECT(zero_from(page, page_bytes(page)));
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/* A time that stands in front of its event is not parted from it. */
static void time_stays_with_event(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	const struct ring_buffer_event *ev = (void *)page->data;
	/*
	 * Each of these steps of the clock takes the event's time in front of it: 8 bytes, then 12.
	 */
	static const struct {
		s64 step;
		u64 front;
	} times[] = {{1L << 30, 8}, {-5, 12}};

	for (unsigned i = 0; i < ARRAY_SIZE(times); i++) {
		u64 both = times[i].front + 8;
		ring_buffer_reset(rb);
		ring_now = 1L << 40;
		put_numbers(rb, 0, 1);
		ring_now += times[i].step;
		put_numbers(rb, 1, 1);
		EXPECT_EQ(take(rb, &page, RB_PAGE_HEADER + 8), 0);
		EXPECT_EQ(page_bytes(page), 8);
		EXPECT_EQ(take(rb, &page, RB_PAGE_HEADER + both - 1), -EAGAIN);
		EXPECT_EQ(ring_stats(rb).read, 1);
		EXPECT_EQ(take(rb, &page, RB_PAGE_HEADER + both), 0);
		EXPECT_EQ(page_bytes(page), both);
		EXPECT_EQ(page->time_stamp, 1L << 40); /* of the event before */
		EXPECT(ev->type != RINGBUF_TYPE_DATA);
	}
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/*
 * A time whose event was taken back ends what is read. It needs room for itself alone, whatever the
 * memory behind it has.
 */
static void time_without_its_event(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_page *page = ring_buffer_alloc_page();

	ring_now = 1L << 40;
	put_numbers(rb, 0, 2);
	ring_now += 1L << 30;
	ring_discard(rb, ring_reserve(rb, 100));
	EXPECT(ring_buffer_consume(rb, ring_cpu(), NULL, NULL));
	EXPECT_EQ(take(rb, &page, RB_PAGE_HEADER + 16), 0);
	EXPECT_EQ(page_bytes(page), 16); /* an event, and that time */
	EXPECT_EQ(take(rb, &page, PAGE_SIZE), -EAGAIN);
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/* What was lost stands on the first piece that is read after it, once. */
static void lost_with_first_piece(void)
{
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	const u32 per_page = RB_PAGE_DATA / 8;
	u64 lost;

	put_numbers(rb, 0, 4 * per_page);
	u64 overrun = ring_stats(rb).overrun;
	EXPECT(overrun);
	EXPECT_EQ(take(rb, &page, RB_PAGE_HEADER + 16), 0);
	EXPECT_EQ(page->commit, 16 | RB_MISSED_EVENTS | RB_MISSED_STORED);
	EXPECT_EQ(page->commit >> 32, 0xffffffff);
	memcpy(&lost, page->data + 16, sizeof(lost));
	EXPECT_EQ(lost, overrun);
	EXPECT(zero_from(page, 16 + sizeof(lost)));
	EXPECT_EQ(take(rb, &page, RB_PAGE_HEADER + 16), 0);
	EXPECT_EQ(page->commit, 16);
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/* The number lost is stored behind the data if the last of its bytes fits, to the byte. */
static void lost_fits(void)
{
	const u64 edge = RB_PAGE_DATA - sizeof(u64);

	for (u64 bytes = edge - 4; bytes <= edge + 4; bytes += 4) {
		struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
		struct ring_buffer_page *page = ring_buffer_alloc_page();
		u64 flags = RB_MISSED_EVENTS | (bytes <= edge ? RB_MISSED_STORED : 0), lost = 0;

		for (unsigned i = 0; i < 4; i++) {
			ring_fill(rb, bytes);
			EXPECT_EQ(ring_put(rb, page, RB_MAX_DATA), 0); /* for a sub-buffer alone */
		}
		EXPECT_EQ(take(rb, &page, PAGE_SIZE), 0);
		EXPECT_EQ(page->commit & 0xffffffff, (bytes | flags) & 0xffffffff);
		if (bytes <= edge)
			memcpy(&lost, page->data + bytes, sizeof(lost));
		EXPECT(bytes > edge || lost);
		ring_buffer_free_page(page);
		ring_buffer_free(rb);
	}
}

/* An event that was looked at, and then taken, takes along what was lost before it. */
static void lost_with_a_peeked_one(void)
{
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	struct ring_buffer_event *ev;
	u64 lost;

	put_numbers(rb, 0, 4 * (RB_PAGE_DATA / 8));
	for (unsigned again = 0; again < 2; again++) {
		ev = ring_buffer_peek(rb, ring_cpu(), NULL, &lost);
		EXPECT_EQ(lost, ring_stats(rb).overrun);
	}
	EXPECT(ring_buffer_consume_peeked(rb, ring_cpu(), ev));
	ring_buffer_peek(rb, ring_cpu(), NULL, &lost);
	EXPECT_EQ(lost, 0);
	ring_buffer_free(rb);
}

/* Of four sub-buffers, the one being written counted whole. */
static void filled(void)
{
	struct ring_buffer *rb = ring_make(4, RB_FL_OVERWRITE);
	struct ring_buffer_page *page = ring_buffer_alloc_page();
	const u32 per_page = RB_PAGE_DATA / 8;

	EXPECT(!ring_buffer_filled(rb, ring_cpu(), 1));
	for (unsigned pages = 1; pages <= 6; pages++) {
		u32 percent = MIN(pages, 4u) * 25;
		put_numbers(rb, 0, per_page);
		EXPECT(ring_buffer_filled(rb, ring_cpu(), percent - 1));
		EXPECT(ring_buffer_filled(rb, ring_cpu(), percent));
		EXPECT(percent == 100 || !ring_buffer_filled(rb, ring_cpu(), percent + 1));
	}
	for (unsigned left = 3; left; left--) {
		EXPECT_EQ(take(rb, &page, PAGE_SIZE), 0);
		EXPECT(ring_buffer_filled(rb, ring_cpu(), left * 25));
		EXPECT(!ring_buffer_filled(rb, ring_cpu(), left * 25 + 1));
	}
	EXPECT_EQ(take(rb, &page, PAGE_SIZE), 0);
	EXPECT(!ring_buffer_filled(rb, ring_cpu(), 0)); /* all is with the reader */
	EXPECT(!ring_buffer_filled(rb, MAX_CPUS - 1, 0));
	ring_buffer_free_page(page);
	ring_buffer_free(rb);
}

/* All of it holds of copies, too. */
static void copies(void)
{
	copying = true;
	partial_edges();
	whole_edges();
	behind_is_zero();
	time_stays_with_event();
	time_without_its_event();
	lost_with_first_piece();
	copying = false;
}

static const struct ktap_case cases[] = {
    {"ring_page.partial_edges", partial_edges},
    {"ring_page.whole_edges", whole_edges},
    {"ring_page.behind_is_zero", behind_is_zero},
    {"ring_page.time_stays_with_event", time_stays_with_event},
    {"ring_page.time_without_its_event", time_without_its_event},
    {"ring_page.lost_with_first_piece", lost_with_first_piece},
    {"ring_page.lost_fits", lost_fits},
    {"ring_page.lost_with_a_peeked_one", lost_with_a_peeked_one},
    {"ring_page.filled", filled},
    {"ring_page.copies", copies},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_buffer_page = {cases};
