/*
 * Sub-buffers of all sizes: what is written comes out again by each way of reading, whatever the
 * size; changing it empties the ring and nothing else; who stands in a ring keeps it.
 */
#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_memory.h"

#define ORDERS	(RB_ORDER_MAX + 1)
#define BIGGEST (PAGE_SIZE << RB_ORDER_MAX)

static struct ring_buffer *rb;
static u64 seed, written, taken;
static u8 *room;

/* Each event: its number, its length, then bytes that follow from both. */
struct head {
	u32 number, length;
};

static u8 byte_of(u32 number, u32 at)
{
	return number * 31 + at;
}

static bool put_one(u32 length)
{
	struct head *h = (void *)room;

	*h = (struct head){written, length};
	for (u32 i = sizeof(*h); i < length; i++)
		room[i] = byte_of(written, i);
	if (ring_put(rb, room, length))
		return false;
	written++;
	return true;
}

static bool is_next(const void *data, u32 stored)
{
	const struct head *h = data;

	if (h->number != taken || ALIGN_UP(h->length, 4U) != stored)
		return false;
	for (u32 i = sizeof(*h); i < h->length; i++)
		if (((const u8 *)data)[i] != byte_of(h->number, i))
			return false;
	taken++;
	return true;
}

/* From the smallest to the largest that the buffer takes; small ones most often. */
static u32 random_length(void)
{
	u64 r = prng_next(&seed), most = ring_buffer_max_data(rb) - sizeof(struct head);

	most >>= r % 16;
	return sizeof(struct head) + (r >> 8) % (most + 1);
}

static bool is_next_event(struct ring_buffer_event *ev)
{
	return ev && is_next(ring_buffer_event_data(ev), ring_buffer_data_length(ev));
}

static void take_events(u64 n)
{
	u64 ts, lost;

	for (; n; n--) {
		struct ring_buffer_event *ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost);

		if (!ev)
			return;
		EXPECT(!lost && is_next_event(ev));
	}
}

static void walk_page(struct ring_buffer_page *page, u64 size)
{
	struct rb_page_iter w;

	EXPECT((page->commit & RB_COMMIT_BYTES) <= size - RB_PAGE_HEADER);
	for (rb_page_iter_start(&w, page, 0); rb_page_iter_next(&w);)
		EXPECT(is_next(w.data, w.length));
}

/* A sub-buffer as trace_pipe_raw gives it, at times to a reader with less room. */
static void take_page(void)
{
	u64 size = ring_buffer_page_size(rb), less = prng_next(&seed) % size;

	memset(room, 0xaa, size);
	if (!ring_buffer_copy_page(
		rb, (void *)room, size, less % 3 ? size : less, ring_cpu(), less % 2))
		walk_page((void *)room, size);
}

/* All that is unread, by an iterator and by looking on: neither takes anything. */
static void look_on(void)
{
	struct ring_buffer_live *live = ring_buffer_live_start(rb, ring_cpu());
	struct ring_buffer_iter *it;
	struct ring_buffer_event *ev;
	u64 before = taken, ts;
	bool missed;

	while ((ev = ring_buffer_live_next(live, &ts, &missed)))
		EXPECT(!missed && is_next_event(ev));
	EXPECT_EQ(taken, written);
	ring_buffer_live_finish(live);
	taken = before;
	it = ring_buffer_read_start(rb, ring_cpu());
	while ((ev = ring_buffer_read(it, &ts)))
		EXPECT(is_next_event(ev));
	EXPECT_EQ(taken, written);
	ring_buffer_read_finish(it);
	taken = before;
}

/* Readers and a writer in any order, without overwriting: what is refused is written again. */
static void random_rounds(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		u64 r = prng_next(&seed);

		ring_now += r >> 20 & 0xffff;
		for (u64 n = r & 31; n; n--)
			put_one(random_length());
		if (r >> 5 & 1)
			take_events(r >> 6 & 31);
		if (r >> 11 & 1)
			take_page();
		if ((r >> 12 & 15) == 0)
			look_on();
	}
	take_events(~0UL);
	EXPECT_EQ(taken, written);
}

static bool begin(u32 pages, unsigned flags)
{
	room = host_block_alloc(RB_ORDER_MAX);
	rb = ring_make(pages, flags);
	written = taken = 0;
	EXPECT(room && rb);
	return room && rb;
}

static void end(void)
{
	ring_buffer_free(rb);
	host_block_free(room, RB_ORDER_MAX);
}

/* Any order, after any other, with the ring resized in between. */
static void reads_what_was_written(void)
{
	seed = 0x5b0f5b0fUL;
	ktap_note("seed %llx", (unsigned long long)seed);
	if (!begin(4, 0))
		return;
	for (unsigned i = 0; i < 3 * ORDERS; i++) {
		unsigned order = i < ORDERS ? i : prng_next(&seed) % ORDERS;
		size_t size;

		EXPECT_EQ(ring_buffer_set_order(rb, NULL, order), 0);
		EXPECT_EQ(ring_buffer_order(rb), order);
		size = ring_buffer_page_size(rb);
		EXPECT_EQ(size, PAGE_SIZE << order);
		EXPECT_EQ(ring_buffer_size(rb, ring_cpu()) % (size - RB_PAGE_HEADER), 0);
		random_rounds(30);
		EXPECT_EQ(ring_buffer_resize(rb, (2 + prng_next(&seed) % 3) * size, -1), 0);
		random_rounds(10);
	}
	end();
}

/* An event of each length around what is left, and the largest there can be. */
static void fits_to_the_byte(void)
{
	if (!begin(2, RB_FL_OVERWRITE))
		return;
	for (unsigned order = 0; order < ORDERS; order++) {
		EXPECT_EQ(ring_buffer_set_order(rb, NULL, order), 0);
		u64 data = ring_buffer_page_size(rb) - RB_PAGE_HEADER;
		u32 most = ring_buffer_max_data(rb);

		EXPECT_EQ(most, data - 24);
		EXPECT(put_one(most));
		EXPECT(!put_one(most + 1));
		EXPECT_EQ(ring_stats(rb).too_large, 1);
		take_events(1);
		for (u32 left = 0; left <= 64; left += 4) {
			for (u32 length = 8; length <= 64; length += 4) {
				u32 size = length + (length <= 28 ? 4 : 8);
				u32 half = (data - left) / 8 * 4;
				struct ring_buffer_event *ev;

				ring_buffer_reset(rb);
				EXPECT_EQ(ring_put(rb, room, half - 8), 0);
				EXPECT_EQ(ring_put(rb, room, data - left - half - 8), 0);
				ev = ring_reserve(rb, length);
				EXPECT_EQ((u64)ev % (data + RB_PAGE_HEADER),
				    RB_PAGE_HEADER + (size <= left ? data - left : 0));
				ring_commit(rb, ev);
				EXPECT_EQ(ring_stats(rb).bytes, data - left + size);
			}
		}
		ring_buffer_reset(rb);
	}
	end();
}

/* The smallest event as often as a sub-buffer of the largest size holds it: no count overflows. */
static void counts_to_the_last(void)
{
	const u64 per_page = (BIGGEST - RB_PAGE_HEADER) / 8;
	u32 number = 0;

	if (!begin(2, RB_FL_OVERWRITE))
		return;
	EXPECT_EQ(ring_buffer_set_order(rb, NULL, RB_ORDER_MAX), 0);
	for (u64 i = 0; i < 5 * per_page; i++, number++)
		EXPECT_EQ(ring_put(rb, &number, sizeof(number)), 0);
	EXPECT_EQ(ring_stats(rb).entries, 2 * per_page);
	EXPECT_EQ(ring_stats(rb).overrun, 3 * per_page);
	EXPECT_EQ(ring_stats(rb).bytes, 2 * per_page * 8);
	ring_balanced(rb, 5 * per_page);
	/* One long sub-buffer that is padding almost to its start. */
	ring_buffer_reset(rb);
	EXPECT_EQ(ring_put(rb, &number, sizeof(number)), 0);
	EXPECT_EQ(ring_put(rb, room, ring_buffer_max_data(rb)), 0);
	EXPECT_EQ(ring_stats(rb).bytes, 8 + ring_buffer_max_data(rb) + 8);
	ring_balanced(rb, 2);
	end();
}

/* It empties the rings, the counts stay whole; whoever stands in a ring keeps it. */
static void changes_and_refuses(void)
{
	struct ring_buffer_totals t = {0};
	struct ring_buffer *other;
	struct ring_buffer_iter *it;

	if (!begin(3, 0))
		return;
	other = ring_make(3, 0);
	EXPECT(put_one(100) && put_one(100));
	it = ring_buffer_read_start(rb, ring_cpu());
	EXPECT_EQ(ring_buffer_set_order(rb, other, 2), -EBUSY);
	ring_buffer_read_finish(it);
	EXPECT_EQ(ring_buffer_map(rb, ring_cpu()), 0);
	EXPECT_EQ(ring_buffer_set_order(rb, other, 2), -EBUSY);
	ring_buffer_unmap(rb, ring_cpu());
	EXPECT_EQ(ring_buffer_order(rb) + ring_buffer_order(other), 0);
	EXPECT_EQ(ring_stats(rb).entries, 2);
	EXPECT_EQ(ring_buffer_set_order(rb, NULL, 2), 0);
	EXPECT(ring_buffer_empty(rb));
	ring_buffer_totals(rb, ring_cpu(), &t);
	EXPECT_EQ(t.cleared, 2);
	EXPECT_EQ(ring_buffer_resize(other, ring_buffer_size(rb, 0), -1), 0);
	EXPECT_EQ(ring_buffer_swap_cpu(rb, other, ring_cpu()), -EINVAL);
	EXPECT_EQ(ring_buffer_swap(rb, other), -EINVAL);
	EXPECT_EQ(ring_buffer_set_order(rb, other, 2), 0); /* one has it already */
	EXPECT_EQ(ring_buffer_resize(other, ring_buffer_size(rb, 0), -1), 0);
	taken = written;
	EXPECT(put_one(9000));
	EXPECT_EQ(ring_buffer_swap_cpu(rb, other, ring_cpu()), 0);
	EXPECT(ring_buffer_empty(rb));
	EXPECT_EQ(ring_buffer_swap_cpu(rb, other, ring_cpu()), 0);
	take_events(1);
	EXPECT_EQ(taken, written);
	ring_buffer_free(other);
	end();
}

/* A program that maps the ring finds the meta page and sub-buffers at multiples of their size. */
static void is_mapped_whole(void)
{
	if (!begin(4, 0))
		return;
	for (unsigned order = 0; order < ORDERS; order++) {
		EXPECT_EQ(ring_buffer_set_order(rb, NULL, order), 0);
		EXPECT_EQ(ring_buffer_map(rb, ring_cpu()), 0);
		const struct trace_buffer_meta *meta = ring_buffer_map_page(rb, ring_cpu(), 0);
		u64 size = PAGE_SIZE << order;

		EXPECT_EQ(meta->subbuf_size, size);
		EXPECT_EQ(meta->meta_page_size, size);
		EXPECT_EQ(
		    ring_buffer_map_pages(rb, ring_cpu()), (1 + (u64)meta->nr_subbufs) << order);
		while (put_one(size / 8))
			;
		while (taken < written) {
			u64 before = taken, at = (1UL + meta->reader.id) << order;

			EXPECT_EQ(ring_buffer_map_get_reader(rb, ring_cpu()), 0);
			at = (1UL + meta->reader.id) << order;
			for (u64 i = 0; i < 1UL << order; i++)
				memcpy(room + i * PAGE_SIZE,
				    ring_buffer_map_page(rb, ring_cpu(), at + i), PAGE_SIZE);
			walk_page((void *)room, size);
			if (taken == before)
				break;
		}
		EXPECT_EQ(taken, written);
		EXPECT(
		    !ring_buffer_map_page(rb, ring_cpu(), ring_buffer_map_pages(rb, ring_cpu())));
		ring_buffer_unmap(rb, ring_cpu());
	}
	end();
}

static const struct ktap_case cases[] = {
    {"ring_order.reads_what_was_written", reads_what_was_written},
    {"ring_order.fits_to_the_byte", fits_to_the_byte},
    {"ring_order.counts_to_the_last", counts_to_the_last},
    {"ring_order.changes_and_refuses", changes_and_refuses},
    {"ring_order.is_mapped_whole", is_mapped_whole},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_buffer_order = {cases};
