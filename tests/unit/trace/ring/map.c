/*
 * A mapped ring: which pages a mapping has, what it says of them, what get_reader gives, in which
 * order and how often, and what is refused while somebody maps. Events carry numbers; the clock is
 * ours.
 */
#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

#define EVENTS_PER_PAGE (RB_PAGE_DATA / 8)

static struct ring_buffer *rb;
static struct trace_buffer_meta *meta;

static void begin(size_t pages, unsigned flags)
{
	rb = ring_make(pages, flags);
	EXPECT_EQ(ring_buffer_map_pages(rb, ring_cpu()), 0);
	EXPECT_EQ(ring_buffer_map(rb, ring_cpu()), 0);
	meta = ring_buffer_map_page(rb, ring_cpu(), 0);
}

static void end(void)
{
	ring_buffer_unmap(rb, ring_cpu());
	EXPECT_EQ(ring_buffer_map_pages(rb, ring_cpu()), 0);
	ring_buffer_free(rb);
}

static struct ring_buffer_page *page_of(u32 id)
{
	return ring_buffer_map_page(rb, ring_cpu(), 1 + id);
}

/* The reader's page after asking for the next. The counts are those of the ring. */
static struct ring_buffer_page *next_page(void)
{
	EXPECT_EQ(ring_buffer_map_get_reader(rb, ring_cpu()), 0);
	struct ring_buffer_stats st = ring_stats(rb);
	EXPECT_EQ(meta->entries, st.entries + st.overrun + st.read);
	EXPECT_EQ(meta->overrun, st.overrun);
	EXPECT_EQ(meta->read, st.read);
	EXPECT(meta->reader.id < meta->nr_subbufs);
	return page_of(meta->reader.id);
}

static void put_numbers(u32 from, u32 n)
{
	for (u32 i = from; i < from + n; i++)
		EXPECT_EQ(ring_put(rb, &i, 4), 0);
}

static void layout(void)
{
	begin(4, 0);
	EXPECT_EQ(sizeof(*meta), 80);
	EXPECT_EQ(offsetof(struct trace_buffer_meta, reader), 16);
	EXPECT_EQ(offsetof(struct trace_buffer_meta, entries), 40);
	EXPECT_EQ(meta->meta_page_size, PAGE_SIZE);
	EXPECT_EQ(meta->meta_struct_len, sizeof(*meta));
	EXPECT_EQ(meta->subbuf_size, PAGE_SIZE);
	EXPECT_EQ(meta->nr_subbufs, 4 + 2);
	EXPECT_EQ(ring_buffer_map_pages(rb, ring_cpu()), 1 + 6);
	for (u32 id = 0; id < 6; id++) {
		EXPECT(page_of(id) && page_of(id) != (void *)meta);
		for (u32 other = 0; other < id; other++)
			EXPECT(page_of(id) != page_of(other));
	}
	EXPECT(!page_of(6));
	EXPECT(!page_of(7));
	end();
}

/* As Linux's own test of it does. */
static void first_page(void)
{
	begin(4, 0);
	EXPECT_EQ(meta->entries + meta->overrun + meta->read, 0);
	EXPECT_EQ(meta->reader.id, 0);
	next_page();
	EXPECT_EQ(meta->reader.id, 0);
	ring_now = 1000;
	put_numbers(0, 16);
	struct ring_buffer_page *page = next_page();
	for (unsigned again = 0; again < 3; again++) {
		EXPECT_EQ(meta->reader.id, 1);
		EXPECT_EQ(meta->reader.read, 128);
		EXPECT_EQ(meta->entries, 16);
		EXPECT_EQ(meta->read, 16);
		EXPECT_EQ(meta->overrun, 0);
		EXPECT_EQ(page->commit, 128);
		EXPECT_EQ(page->time_stamp, 1000);
		EXPECT_EQ(page_events_from(page, 0), 16);
		EXPECT(next_page() == page);
	}
	EXPECT(ring_buffer_empty_cpu(rb, ring_cpu()));
	ring_balanced(rb, 16);
	end();
}

/* A page that was given stays as it is through the giving of the next. */
static void page_stays(void)
{
	struct ring_buffer_page *copy = host_page_alloc(), *page;

	begin(3, 0);
	put_numbers(0, 10);
	page = next_page();
	memcpy(copy, page, PAGE_SIZE);
	put_numbers(10, EVENTS_PER_PAGE + 5); /* crosses */
	EXPECT(!memcmp(copy, page, PAGE_SIZE));
	EXPECT(next_page() != page);
	EXPECT(!memcmp(copy, page, PAGE_SIZE));
	end();
	host_page_free(copy);
}

/*
 * Any number of events at a time, over many laps: each once, in order, at its time; and nothing but
 * them in the pages.
 */
static void every_event_once(void)
{
	u32 seq = 0, expected = 0;
	u64 now = 5000, last_id = 0;

	begin(4, 0);
	for (unsigned round = 0; round < 700; round++) {
		u32 n = round * 37 % 600;
		for (u32 i = 0; i < n; i++, seq++) {
			ring_now = now += seq % 1000 ? 1 : 1UL << 28;
			EXPECT_EQ(ring_put(rb, &seq, 4), 0);
		}
		for (unsigned tries = 0; expected != seq && tries < 10; tries++) {
			struct ring_buffer_page *page = next_page();
			u64 at = 0, ts = page->time_stamp;
			EXPECT(meta->reader.id != last_id);
			last_id = meta->reader.id;
			EXPECT_EQ(page->commit >> 12, 0);
			while (at < page->commit) {
				struct ring_buffer_event *ev = (void *)(page->data + at);
				ts += ring_buffer_time_delta(ev);
				if (ev->type == RINGBUF_TYPE_DATA)
					EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), expected++);
				at += ring_buffer_event_length(ev);
			}
			EXPECT_EQ(at, page->commit);
			EXPECT_EQ(meta->read, expected);
			if (expected == seq && n)
				EXPECT_EQ(ts, now);
		}
		EXPECT_EQ(expected, seq);
	}
	EXPECT_EQ(meta->entries, seq);
	ring_balanced(rb, seq);
	end();
}

static void says_lost(void)
{
	u64 lost;

	begin(2, RB_FL_OVERWRITE);
	put_numbers(0, 4 * EVENTS_PER_PAGE + 3);
	struct ring_buffer_page *page = next_page();
	u64 overrun = ring_stats(rb).overrun;
	EXPECT(overrun);
	EXPECT_EQ(meta->reader.lost_events, overrun);
	EXPECT_EQ(meta->overrun, overrun);
	EXPECT_EQ(page->commit, RB_PAGE_DATA | RB_MISSED_EVENTS); /* no room for the number */
	page = next_page();
	EXPECT_EQ(meta->reader.lost_events, 0);
	/* The reader has left the ring alone for a while; the page then begun has room. */
	put_numbers(0, 5 * EVENTS_PER_PAGE);
	for (unsigned tries = 0; tries < 20; tries++) {
		page = next_page();
		if (meta->reader.lost_events && (page->commit & RB_MISSED_STORED))
			break;
		if (ring_buffer_empty_cpu(rb, ring_cpu())) {
			put_numbers(0, 3 * EVENTS_PER_PAGE);
			static const u8 big[2048];
			ring_put(rb, big, sizeof(big));
			ring_put(rb, big, sizeof(big));
		}
	}
	EXPECT(page->commit & RB_MISSED_STORED);
	memcpy(&lost, page->data + (page->commit & 0xfff), sizeof(lost));
	EXPECT_EQ(lost, meta->reader.lost_events);
	end();
}

/*
 * Events around a page that was ended early: discarded ones, large ones, one that just fits the
 * fresh page, time going back.
 */
static void after_leaving(void)
{
	static const u8 big[RB_MAX_DATA];
	struct ring_buffer_event *ev;

	begin(4, 0);
	ring_now = 1UL << 40;
	put_numbers(0, 1);
	next_page();
	ring_discard(rb, ring_reserve(rb, 8)); /* the first of a page: becomes padding */
	next_page();
	ring_now += 1UL << 30;
	ring_put(rb, big, sizeof(big)); /* with its time in front */
	struct ring_buffer_page *page = next_page();
	ev = (void *)page->data;
	EXPECT_EQ(ev->type, RINGBUF_TYPE_TIME_EXTENT);
	EXPECT_EQ(page->time_stamp + ring_buffer_time_delta(ev), ring_now);
	ring_now -= 1UL << 20;
	put_numbers(7, 1);
	page = next_page();
	ev = (void *)page->data;
	EXPECT_EQ(ev->type, RINGBUF_TYPE_TIME_STAMP);
	EXPECT_EQ(page->commit, 12 + 8);
	EXPECT_EQ(meta->read, 3);
	ring_balanced(rb, 4);
	end();
}

/* No event is given before it is committed, and then it is. */
static void under_construction(void)
{
	begin(4, 0);
	put_numbers(0, 2);
	struct ring_buffer_event *ev = ring_reserve(rb, 4);
	u32 three = 2;
	struct ring_buffer_page *page;
	EXPECT_EQ(ring_buffer_map_get_reader(rb, ring_cpu()), 0);
	EXPECT_EQ(meta->reader.id, 0);
	memcpy(ring_buffer_event_data(ev), &three, 4);
	ring_commit(rb, ev);
	page = next_page();
	EXPECT_EQ(page_events_from(page, 0), 3);
	end();
}

/*
 * Other readers of the same ring take their part; what a page copy takes is not taken from the
 * mapping.
 */
static void other_readers(void)
{
	struct ring_buffer_page *page = ring_buffer_alloc_page(), *mine = page;
	u32 expected = 0;
	u64 lost = 0;

	begin(4, 0);
	put_numbers(0, 2 * EVENTS_PER_PAGE);
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	EXPECT(page == mine);
	EXPECT_EQ(page_events_from(page, 0), EVENTS_PER_PAGE);
	expected = EVENTS_PER_PAGE;
	for (unsigned i = 0; i < 5; i++)
		EXPECT(ring_consume_checked(rb, &expected, &lost));
	/*
	 * The whole page is shown, what was consumed of it too, as on Linux; all of it counts as
	 * read, once.
	 */
	EXPECT_EQ(page_events_from(next_page(), EVENTS_PER_PAGE), EVENTS_PER_PAGE);
	EXPECT_EQ(meta->read, 2 * EVENTS_PER_PAGE);
	put_numbers(0, 3);
	expected = 0;
	for (unsigned i = 0; i < 3; i++)
		EXPECT(ring_consume_checked(rb, &expected, &lost));
	next_page();
	EXPECT_EQ(meta->read, 2 * EVENTS_PER_PAGE + 3);
	struct ring_buffer_iter *it = ring_buffer_read_start(rb, ring_cpu());
	EXPECT(ring_buffer_iter_empty(it));
	ring_buffer_read_finish(it);
	end();
	ring_buffer_free_page(page);
}

/*
 * Another reader has taken the page that is being written, and all that is in it: the header is
 * made good all the same.
 */
static void header_is_never_the_writers(void)
{
	u32 expected = 0;
	u64 lost = 0;

	rb = ring_make(4, 0);
	put_numbers(0, 3);
	EXPECT(ring_consume_checked(rb, &expected, &lost));
	EXPECT_EQ(ring_buffer_map(rb, ring_cpu()), 0);
	meta = ring_buffer_map_page(rb, ring_cpu(), 0);
	EXPECT_EQ(page_of(meta->reader.id)->commit, 24);
	EXPECT_EQ(meta->reader.read, 8);
	EXPECT_EQ(meta->read, 1);
	EXPECT_EQ(next_page()->commit, 24);
	EXPECT_EQ(meta->reader.read, 24);
	EXPECT_EQ(meta->read, 3);
	put_numbers(3, 2);
	expected = 3;
	EXPECT(ring_consume_checked(rb, &expected, &lost));
	EXPECT(ring_consume_checked(rb, &expected, &lost));
	EXPECT_EQ(next_page()->commit, 16);
	EXPECT_EQ(meta->read, 5);
	put_numbers(5, 1);
	EXPECT_EQ(next_page()->commit, 8);
	EXPECT_EQ(meta->entries, 6);
	end();
}

/*
 * The counts, while the reader falls behind by any number of sub-buffers, is overrun, and others
 * take some.
 */
static void counts(void)
{
	struct ring_buffer_page *copy = ring_buffer_alloc_page();
	static const u8 data[24];

	for (unsigned overwrite = 0; overwrite < 2; overwrite++) {
		begin(7, overwrite ? RB_FL_OVERWRITE : 0);
		for (u32 round = 0; round < 400; round++) {
			u32 n = round * 7919 % (round % 40 ? 700 : 9000);
			for (u32 i = 0; i < n; i++)
				ring_put(rb, data, i % sizeof(data) + 1);
			for (u32 i = 0; i < round % 5; i++)
				next_page();
			if (round % 7 == 0)
				ring_buffer_consume(rb, ring_cpu(), NULL, NULL);
			if (round % 11 == 0)
				ring_buffer_read_page(rb, &copy, PAGE_SIZE, ring_cpu(), round % 2);
			if (round % 90 == 0)
				ring_buffer_reset(rb);
		}
		end();
	}
	ring_buffer_free_page(copy);
}

/* All CPUs' rings at once, as a snapshot does it. */
static int swap_all(struct ring_buffer *a, struct ring_buffer *b)
{
	struct host_context ctx;

	host_enter(&ctx);
	int err = ring_buffer_swap(a, b);
	host_preempt_enable();
	return err;
}

static void refusals(void)
{
	struct ring_buffer *other = ring_make(4, 0);
	int cpu = ring_cpu();

	EXPECT_EQ(ring_buffer_map_get_reader(other, cpu), -ENODEV);
	EXPECT_EQ(ring_buffer_map_get_reader(other, -1), -ENODEV);
	EXPECT_EQ(ring_buffer_map(other, -1), -EINVAL);
	EXPECT_EQ(ring_buffer_map(other, host_cpu_count()), -EINVAL);
	begin(4, 0);
	for (unsigned users = 2; users; users--) {
		if (users == 2)
			EXPECT_EQ(ring_buffer_map(rb, cpu), 0);
		EXPECT_EQ(ring_buffer_resize(rb, 5 * RB_PAGE_DATA, cpu), -EBUSY);
		EXPECT_EQ(ring_buffer_resize(rb, 5 * RB_PAGE_DATA, -1), -EBUSY);
		for (unsigned i = 0; i < host_cpu_count(); i++)
			EXPECT_EQ(ring_buffer_size(rb, i), 4 * RB_PAGE_DATA);
		EXPECT_EQ(ring_buffer_swap_cpu(rb, other, cpu), -EBUSY);
		EXPECT_EQ(ring_buffer_swap_cpu(other, rb, cpu), -EBUSY);
		EXPECT_EQ(swap_all(rb, other), -EBUSY);
		EXPECT_EQ(swap_all(other, rb), -EBUSY);
		put_numbers(0, 1);
		EXPECT_EQ(page_events_from(next_page(), 0), 1);
		if (users == 2)
			ring_buffer_unmap(rb, cpu);
	}
	ring_buffer_unmap(rb, cpu);
	EXPECT_EQ(ring_buffer_map_get_reader(rb, cpu), -ENODEV);
	EXPECT_EQ(ring_buffer_swap_cpu(rb, other, cpu), 0);
	EXPECT_EQ(ring_buffer_resize(rb, 5 * RB_PAGE_DATA, -1), 0);
	EXPECT_EQ(ring_buffer_map(rb, cpu), 0);
	EXPECT_EQ(ring_buffer_map_pages(rb, cpu), 1 + 5 + 2);
	meta = ring_buffer_map_page(rb, cpu, 0);
	end();
	ring_buffer_free(other);
}

static void resetting(void)
{
	begin(4, RB_FL_OVERWRITE);
	for (unsigned round = 0; round < 4; round++) {
		put_numbers(0, round * EVENTS_PER_PAGE + 3);
		EXPECT_EQ(page_events_from(next_page(), 0), round ? EVENTS_PER_PAGE : 3);
		ring_buffer_reset(rb);
		EXPECT_EQ(meta->entries + meta->overrun + meta->read, 0);
		EXPECT_EQ(meta->reader.read, 0);
		EXPECT_EQ(page_of(meta->reader.id)->commit, 0);
		EXPECT_EQ(next_page()->commit, 0);
	}
	end();
}

/* The reader's page, empty then, has no time of before; the next one has that of its events. */
static void time_after_a_reset(void)
{
	begin(4, 0);
	ring_now = 1000;
	put_numbers(0, 3);
	EXPECT_EQ(next_page()->time_stamp, 1000);
	ring_buffer_reset(rb);
	EXPECT_EQ(page_of(meta->reader.id)->time_stamp, 0);
	EXPECT_EQ(next_page()->time_stamp, 0);
	ring_now = 2000;
	put_numbers(0, 3);
	EXPECT_EQ(next_page()->time_stamp, 2000);
	end();
}

/* Mapped when something was read already, some of it lies unread, and the ring has gone round. */
static void mapped_late(void)
{
	u32 expected = 0;
	u64 lost = 0;

	rb = ring_make(3, 0);
	for (unsigned lap = 0; lap < 3; lap++) {
		put_numbers(lap * EVENTS_PER_PAGE, EVENTS_PER_PAGE);
		for (unsigned i = 0; i < EVENTS_PER_PAGE - 100; i++)
			EXPECT(ring_consume_checked(rb, &expected, &lost));
	}
	EXPECT_EQ(ring_buffer_map(rb, ring_cpu()), 0);
	meta = ring_buffer_map_page(rb, ring_cpu(), 0);
	EXPECT_EQ(meta->entries, 3 * EVENTS_PER_PAGE);
	EXPECT_EQ(meta->read, expected);
	EXPECT_EQ(meta->reader.id, 0);
	for (unsigned i = 0; i < 3; i++)
		next_page();
	EXPECT_EQ(meta->read, 3 * EVENTS_PER_PAGE);
	EXPECT_EQ(page_events_from(page_of(meta->reader.id), 2 * EVENTS_PER_PAGE), EVENTS_PER_PAGE);
	end();
}

/* A ring that was cleared before anybody maps it shows nothing of what a reader's page held. */
static void mapped_after_a_reset(void)
{
	u32 expected = 0;
	u64 lost = 0;

	rb = ring_make(4, 0);
	put_numbers(0, 5);
	EXPECT(ring_consume_checked(rb, &expected, &lost));
	ring_buffer_reset(rb);
	EXPECT_EQ(ring_buffer_map(rb, ring_cpu()), 0);
	meta = ring_buffer_map_page(rb, ring_cpu(), 0);
	const struct ring_buffer_page *page = page_of(meta->reader.id);
	EXPECT_EQ(page->commit, 0);
	for (unsigned i = 0; i < 5 * 8; i++)
		EXPECT_EQ(page->data[i], 0);
	end();
}

static const struct ktap_case cases[] = {
    {"ring_map.layout", layout},
    {"ring_map.first_page", first_page},
    {"ring_map.page_stays", page_stays},
    {"ring_map.every_event_once", every_event_once},
    {"ring_map.says_lost", says_lost},
    {"ring_map.after_leaving", after_leaving},
    {"ring_map.under_construction", under_construction},
    {"ring_map.other_readers", other_readers},
    {"ring_map.header_is_never_the_writers", header_is_never_the_writers},
    {"ring_map.counts", counts},
    {"ring_map.refusals", refusals},
    {"ring_map.resetting", resetting},
    {"ring_map.time_after_a_reset", time_after_a_reset},
    {"ring_map.mapped_late", mapped_late},
    {"ring_map.mapped_after_a_reset", mapped_after_a_reset},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_buffer_map = {cases};
