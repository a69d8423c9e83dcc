/* Looking through a ring that is being written: nothing is disabled, gaps are told, it ends. */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"

#define PAGES 4
#define SIZE  40  /* bytes of an event here */
#define ROUND 256 /* sub-buffers until it ends, of so small a ring */

static u32 next;

/* Numbered events. */
static void put(struct ring_buffer *rb, unsigned n)
{
	u32 data[(SIZE - 8) / 4] = {0};

	while (n--) {
		data[0] = next++;
		ring_now++;
		EXPECT_EQ(ring_put(rb, data, sizeof(data)), 0);
	}
}

static struct ring_buffer *make(unsigned flags)
{
	next = 0;
	ring_now = 1000;
	return ring_make(PAGES, flags);
}

/* The number of the next event, -1: none. Its time must fit. */
static s64 look(struct ring_buffer_live *it, bool *missed)
{
	u64 ts;
	struct ring_buffer_event *ev = ring_buffer_live_next(it, &ts, missed);

	if (!ev)
		return -1;
	u32 n = *(u32 *)ring_buffer_event_data(ev);
	EXPECT_EQ(ts, 1001 + n);
	return n;
}

static void while_writing(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	bool missed;

	EXPECT_EQ(look(it, &missed), -1);
	for (u32 i = 0; i < 300; i += 3) {
		put(rb, 3);
		for (u32 k = 0; k < 3; k++) {
			EXPECT_EQ(look(it, &missed), i + k);
			EXPECT(!missed);
		}
		EXPECT_EQ(look(it, &missed), -1);
	}
	EXPECT_EQ(ring_stats(rb).disabled, 0);
	EXPECT_EQ(ring_stats(rb).read, 0);
	EXPECT_EQ(ring_stats(rb).entries, 300);
	ring_buffer_live_finish(it);
	it = ring_buffer_live_start(rb, ring_cpu()); /* a second one sees the same */
	for (u32 i = 0; i < 300; i++)
		EXPECT_EQ(look(it, &missed), i);
	EXPECT_EQ(look(it, &missed), -1);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/*
 * What was overwritten before it was looked at: a gap, told once, where it is; none before the
 * first.
 */
static void gaps(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	bool missed;

	put(rb, 1000); /* round the ring more than once */
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	s64 first = look(it, &missed);
	EXPECT(first > 500);
	EXPECT(!missed);
	EXPECT_EQ(look(it, &missed), first + 1);
	EXPECT(!missed);
	put(rb, 300);
	/* What was copied with the first is still there; then comes the gap. */
	s64 before = first + 1, n;
	while ((n = look(it, &missed)) >= 0 && !missed)
		EXPECT_EQ(n, ++before);
	EXPECT(missed);
	EXPECT(n > before + 1);
	for (before = n; (n = look(it, &missed)) >= 0; before = n) {
		EXPECT(!missed);
		EXPECT_EQ(n, before + 1);
	}
	EXPECT_EQ(before, 1299);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

static void with_a_consumer(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	struct ring_buffer_live *it;
	bool missed;
	u64 ts, lost;

	put(rb, 250);
	it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT_EQ(look(it, &missed), 0);
	for (u32 i = 0; i < 230; i++)
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, &lost));
	s64 n, before = 0;
	while ((n = look(it, &missed)) >= 0) {
		EXPECT(!missed); /* taken, not lost */
		EXPECT(n == before + 1 || n >= 230);
		before = n;
	}
	EXPECT_EQ(before, 249);
	put(rb, 5);
	EXPECT_EQ(look(it, &missed), 250);
	ring_buffer_live_finish(it);
	it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT_EQ(look(it, &missed), 230); /* from the middle of the reader's page on */
	ring_buffer_live_finish(it);
	/* The rest of the reader's page, then what was overwritten after it. */
	put(rb, 500);
	it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT_EQ(look(it, &missed), 230);
	u32 gaps = 0;
	while (look(it, &missed) >= 0)
		gaps += missed;
	EXPECT_EQ(gaps, 1);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

static void resets_and_swaps(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE), *other = ring_make(PAGES, RB_FL_OVERWRITE);
	struct ring_buffer_live *it;
	struct host_context ctx;
	bool missed;

	put(rb, 10);
	it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT_EQ(look(it, &missed), 0);
	ring_buffer_reset(rb);
	put(rb, 2);
	for (s64 i = 1; i < 10; i++)
		EXPECT_EQ(look(it, &missed), i); /* it had these */
	EXPECT_EQ(look(it, &missed), 10);
	EXPECT(!missed);
	EXPECT_EQ(look(it, &missed), 11);
	EXPECT_EQ(look(it, &missed), -1);
	host_enter(&ctx);
	EXPECT_EQ(ring_buffer_swap(rb, other), 0);
	host_preempt_enable();
	put(rb, 1);
	EXPECT_EQ(look(it, &missed), -1);
	ring_buffer_live_finish(it);
	EXPECT(!ring_buffer_live_start(rb, host_cpu_count()));
	ring_buffer_free(rb);
	ring_buffer_free(other);
}

/* However fast others write. */
static void ends(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	bool missed;
	u32 n = 0;

	for (put(rb, 1); look(it, &missed) >= 0 && n < 100000; n++)
		put(rb, 1);
	EXPECT(n >= ROUND * (RB_PAGE_DATA / SIZE));
	EXPECT(n <= (ROUND + 2) * (RB_PAGE_DATA / SIZE));
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/* An event under construction hides what was reserved after it, until it is committed. */
static void under_construction(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	bool missed;

	put(rb, 1);
	struct ring_buffer_event *ev = ring_reserve(rb, SIZE - 8);
	*(u32 *)ring_buffer_event_data(ev) = next++;
	put(rb, 1);
	EXPECT_EQ(look(it, &missed), -1);
	ring_discard(rb, ev);
	EXPECT_EQ(look(it, &missed), 0);
	EXPECT(!missed);
	u64 ts;
	ev = ring_buffer_live_next(it, &ts, &missed);
	EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == 2);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/*
 * Whole sub-buffers: nothing twice, every gap with its number, none before it is one; the end is
 * where the tail was.
 */
static void pages(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	static u8 bytes[PAGE_SIZE] __aligned(8);
	struct ring_buffer_page *page = (void *)bytes;
	u64 seen = 0, told = 0, lost, more = 0;

	put(rb, 1000);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT_EQ(ring_buffer_live_limit(it),
	    11); /* the reader's, and those from the first on: of 102 events each */
	while (ring_buffer_live_page(it, page, &lost)) {
		struct rb_page_iter w;
		told += lost;
		rb_page_iter_start(&w, page, 0);
		for (; rb_page_iter_next(&w); seen++)
			EXPECT_EQ(*(u32 *)w.data, seen + told);
		if (more < 300)
			put(rb, more += 50); /* goes round behind us, and past us */
	}
	EXPECT(told > 500);
	EXPECT(seen >= 102);
	EXPECT(seen + told <= 11 * 102); /* it ended in the sub-buffer of the tail then */
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/* What a consumer takes meanwhile: then nobody knows how many are missing, but that some are. */
static void pages_with_a_consumer(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	static u8 bytes[PAGE_SIZE] __aligned(8);
	struct ring_buffer_page *page = (void *)bytes;
	u64 ts, lost;

	put(rb, 350);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT(ring_buffer_live_page(it, page, &lost));
	EXPECT_EQ(lost, 0);
	for (u32 i = 0; i < 250; i++)
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	EXPECT(ring_buffer_live_page(it, page, &lost));
	EXPECT_EQ(lost, RB_LOST_UNKNOWN);
	EXPECT_EQ(*(u32 *)(page->data + 8), 250);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/* A walk misses the events that a consumer takes of its sub-buffer, and cannot count them. */
static void overtaken_within_a_page(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	static u8 bytes[PAGE_SIZE] __aligned(8);
	struct ring_buffer_page *page = (void *)bytes;
	u64 ts, lost;

	put(rb, 10);
	EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	EXPECT(ring_buffer_live_page(it, page, &lost));
	EXPECT_EQ(lost, 0);
	EXPECT_EQ(page->commit, 9 * SIZE);
	put(rb, 10);
	for (unsigned i = 1; i < 15; i++)
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	EXPECT(ring_buffer_live_page(it, page, &lost));
	EXPECT_EQ(lost, RB_LOST_UNKNOWN);
	EXPECT_EQ(page->commit, 5 * SIZE);
	EXPECT_EQ(*(u32 *)(page->data + 8), 15);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/* A walk that was limited is over when the ring is cleared: what comes then is none of its. */
static void limited_and_cleared(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	bool missed;

	put(rb, 3);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	ring_buffer_live_limit(it);
	EXPECT_EQ(look(it, &missed), 0);
	ring_buffer_reset(rb);
	put(rb, 2);
	EXPECT_EQ(look(it, &missed), 1); /* it had these */
	EXPECT_EQ(look(it, &missed), 2);
	EXPECT_EQ(look(it, &missed), -1);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/* Once nobody knows how much was missed, a gap of a known size makes it no number again. */
static void unknown_stays_unknown(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	bool missed = false;
	u64 ts;

	put(rb, 10);
	EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	for (u32 i = 1; i < 10; i++)
		EXPECT_EQ(look(it, &missed), i);
	put(rb, 10);
	for (u32 i = 1; i < 15; i++)
		EXPECT(ring_buffer_consume(rb, ring_cpu(), &ts, NULL));
	EXPECT_EQ(look(it, &missed), 15); /* a consumer took those before it */
	put(rb, 1000);
	while (!missed)
		EXPECT(look(it, &missed) >= 0);
	EXPECT_EQ(ring_buffer_live_lost(it), RB_LOST_UNKNOWN);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

/* A walk that begins anew is no longer limited: it goes on after a reset. */
static void a_new_start_has_no_limit(void)
{
	struct ring_buffer *rb = make(RB_FL_OVERWRITE);
	bool missed;

	put(rb, 1);
	struct ring_buffer_live *it = ring_buffer_live_start(rb, ring_cpu());
	ring_buffer_live_limit(it);
	EXPECT_EQ(look(it, &missed), 0);
	EXPECT(ring_buffer_live_restart(it, rb, ring_cpu()));
	EXPECT_EQ(look(it, &missed), 0);
	ring_buffer_reset(rb);
	put(rb, 2);
	EXPECT_EQ(look(it, &missed), 1);
	EXPECT_EQ(look(it, &missed), 2);
	ring_buffer_live_finish(it);
	ring_buffer_free(rb);
}

static const struct ktap_case cases[] = {
    {"ring_live.while_writing", while_writing},
    {"ring_live.gaps", gaps},
    {"ring_live.with_a_consumer", with_a_consumer},
    {"ring_live.resets_and_swaps", resets_and_swaps},
    {"ring_live.ends", ends},
    {"ring_live.pages", pages},
    {"ring_live.pages_with_a_consumer", pages_with_a_consumer},
    {"ring_live.overtaken_within_a_page", overtaken_within_a_page},
    {"ring_live.limited_and_cleared", limited_and_cleared},
    {"ring_live.under_construction", under_construction},
    {"ring_live.unknown_stays_unknown", unknown_stays_unknown},
    {"ring_live.a_new_start_has_no_limit", a_new_start_has_no_limit},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_live = {cases};
