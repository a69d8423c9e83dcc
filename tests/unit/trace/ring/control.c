/*
 * The ring buffer's control: iterators, resize, reset, swap, stopping. Nobody else writes; tests
 * under load are elsewhere.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/ring/priv.h"

static void put_numbers(struct ring_buffer *rb, u32 from, u32 to)
{
	for (; from < to; from++) {
		ring_now += 10;
		ring_put(rb, &from, 4);
	}
}

/* The numbers an iterator finds are from..to-1, at their times. */
static void expect_numbers(struct ring_buffer *rb, u32 from, u32 to)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(rb, ring_cpu());
	struct ring_buffer_event *ev;
	u64 ts = 0, before;

	EXPECT_EQ(ring_buffer_iter_empty(it), from == to);
	for (before = 0; (ev = ring_buffer_read(it, &ts)); before = ts, from++) {
		EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), from);
		EXPECT(!before || ts == before + 10);
	}
	EXPECT_EQ(from, to);
	EXPECT(from == 0 || !before || ts == ring_now);
	ring_buffer_read_finish(it);
}

/*
 * After a reader was overtaken: what it still has, a gap, and the rest; as many as there are said
 * to be.
 */
static void expect_entries(struct ring_buffer *rb, u32 to)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(rb, ring_cpu());
	struct ring_buffer_event *ev;
	u32 next = 0, count = 0, gaps = 0;

	for (; (ev = ring_buffer_read(it, NULL)); count++) {
		u32 seq = *(u32 *)ring_buffer_event_data(ev);

		EXPECT(!count || seq >= next);
		gaps += count && seq != next;
		next = seq + 1;
	}
	EXPECT_EQ(count, ring_stats(rb).entries);
	EXPECT(gaps <= 1);
	EXPECT_EQ(next, to);
	ring_buffer_read_finish(it);
}

static void iterator_reads_all(void)
{
	struct ring_buffer *rb = ring_make(3, RB_FL_OVERWRITE);
	u32 n = 0, expected = 0;
	u64 lost = 0;

	expect_numbers(rb, 0, 0);
	for (u32 i = 1; i < 60; i++) {
		put_numbers(rb, n, n + i * 7);
		n += i * 7;
		expect_entries(rb, n);
		ring_balanced(rb, n); /* nothing was consumed */
		if (i % 3 == 0) {
			ring_consume_checked(rb, &expected, &lost);
			expect_entries(rb, n);
		}
	}
	while (ring_consume_checked(rb, &expected, &lost))
		;
	EXPECT_EQ(expected, n);
	EXPECT_EQ(ring_stats(rb).read + lost, n);
	ring_buffer_free(rb);
}

/* A consumer that goes past an iterator within one sub-buffer takes the iterator along. */
static void iterator_overtaken_on_its_page(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_event *ev;
	struct ring_buffer_iter *it;
	u32 expected = 0;
	u64 lost = 0, ts;

	put_numbers(rb, 0, 10);
	EXPECT(ring_consume_checked(rb, &expected, &lost));
	it = ring_buffer_read_start(rb, ring_cpu());
	ev = ring_buffer_read(it, &ts);
	EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == 1);
	while (expected < 6)
		EXPECT(ring_consume_checked(rb, &expected, &lost));
	ev = ring_buffer_read(it, &ts);
	EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == 6);
	EXPECT_EQ(ts, ring_now - 30);
	ring_buffer_read_finish(it);
	ring_buffer_free(rb);
}

static void iterator_stops_recording(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_iter *it, *second;

	put_numbers(rb, 0, 5);
	it = ring_buffer_read_start(rb, ring_cpu());
	second = ring_buffer_read_start(rb, ring_cpu());
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_buffer_read_finish(it);
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_buffer_read_finish(second);
	EXPECT_EQ(ring_put(rb, "abc", 4), 0);
	EXPECT_EQ(ring_stats(rb).disabled, 2);
	ring_balanced(rb, 8);
	ring_buffer_free(rb);
}

/* A consuming reader takes events away from under an iterator: it goes on where there are some. */
static void iterator_and_consumer(void)
{
	struct ring_buffer *rb = ring_make(4, 0);
	struct ring_buffer_iter *it;
	struct ring_buffer_event *ev;
	u32 expected = 0, n = 1200;
	u64 lost = 0;

	put_numbers(rb, 0, n);
	it = ring_buffer_read_start(rb, ring_cpu());
	for (u32 i = 0; i < 100; i++)
		ring_buffer_read(it, NULL);
	for (u32 i = 0; i < 50; i++)
		ring_consume_checked(rb, &expected, &lost);
	ev = ring_buffer_read(it, NULL);
	EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), 100);
	while (expected < 700)
		ring_consume_checked(rb, &expected, &lost);
	ev = ring_buffer_iter_peek(it, NULL);
	EXPECT_EQ(*(u32 *)ring_buffer_event_data(ev), 700);
	ring_buffer_iter_reset(it);
	for (u32 i = 700; i < n; i++) {
		ev = ring_buffer_read(it, NULL);
		EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == i);
	}
	EXPECT(ring_buffer_iter_empty(it));
	while (ring_consume_checked(rb, &expected, &lost))
		;
	EXPECT_EQ(expected, n);
	EXPECT(ring_buffer_iter_empty(it));
	ring_buffer_read_finish(it);
	ring_buffer_free(rb);
}

/*
 * Whatever the fill and the old and new sizes, and whatever was read: the newest that fit are kept,
 * in order.
 */
static void resize_keeps_newest(void)
{
	static const size_t sizes[] = {2, 3, 5, 9};

	for (size_t from = 0; from < ARRAY_SIZE(sizes); from++) {
		for (size_t to = 0; to < ARRAY_SIZE(sizes); to++) {
			for (u32 n = 0; n < 6000; n += 370) {
				struct ring_buffer *rb = ring_make(sizes[from], RB_FL_OVERWRITE);
				struct ring_buffer_stats st;
				u32 expected = 0;
				u64 lost = 0;

				put_numbers(rb, 0, n);
				for (u32 i = 0; i < n % 5; i++)
					ring_consume_checked(rb, &expected, &lost);
				EXPECT_EQ(ring_buffer_resize(rb, sizes[to] * RB_PAGE_DATA, -1), 0);
				EXPECT_EQ(
				    ring_buffer_size(rb, ring_cpu()), sizes[to] * RB_PAGE_DATA);
				ring_balanced(rb, n);
				put_numbers(rb, n, n + 100);
				ring_balanced(rb, n + 100);
				st = ring_stats(rb);
				EXPECT(st.entries >= MIN((u64)n, (MIN(sizes[from], sizes[to]) - 1) *
								     (RB_PAGE_DATA / 8)) -
							 n % 5);
				while (ring_consume_checked(rb, &expected, &lost))
					;
				EXPECT_EQ(expected, n + 100);
				EXPECT_EQ(lost, ring_stats(rb).overrun);
				ring_buffer_free(rb);
			}
		}
	}
}

static void resize_rounds_and_refuses(void)
{
	struct ring_buffer *rb = ring_make(1, 0);
	struct ring_buffer_iter *it;

	EXPECT_EQ(ring_buffer_size(rb, 0), 2 * RB_PAGE_DATA);
	EXPECT_EQ(ring_buffer_resize(rb, 1408 << 10, 0), 0);
	EXPECT_EQ(ring_buffer_size(rb, 0), 354 * RB_PAGE_DATA);
	EXPECT_EQ(ring_buffer_resize(rb, 4096, MAX_CPUS), -EINVAL);
	it = ring_buffer_read_start(rb, 0);
	EXPECT_EQ(ring_buffer_resize(rb, 8192, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_size(rb, 0), 354 * RB_PAGE_DATA);
	EXPECT_EQ(ring_buffer_resize(rb, 8192, -1), -EBUSY); /* none is changed */
	for (unsigned cpu = 1; cpu < host_cpu_count(); cpu++)
		EXPECT_EQ(ring_buffer_size(rb, cpu), 2 * RB_PAGE_DATA);
	EXPECT_EQ(ring_buffer_resize(rb, 354 * RB_PAGE_DATA, 0), 0);
	ring_buffer_read_finish(it);
	EXPECT_EQ(ring_buffer_resize(rb, 1UL << 60, 0), -ENOMEM);
	EXPECT_EQ(ring_buffer_size(rb, 0), 354 * RB_PAGE_DATA);
	ring_buffer_free(rb);
}

static void reset_empties(void)
{
	struct ring_buffer *rb = ring_make(2, RB_FL_OVERWRITE);
	u32 expected = 0;
	u64 lost = 0;

	put_numbers(rb, 0, 5000);
	ring_consume_checked(rb, &expected, &lost);
	ring_buffer_reset_cpu(rb, ring_cpu());
	EXPECT(ring_buffer_empty(rb));
	ring_balanced(rb, 0);
	expected = 0;
	lost = 0;
	put_numbers(rb, 0, 2000);
	while (ring_consume_checked(rb, &expected, &lost))
		;
	EXPECT_EQ(expected, 2000);
	ring_buffer_reset(rb);
	ring_balanced(rb, 0);
	expect_numbers(rb, 0, 0);
	ring_buffer_free(rb);
}

static void swap_exchanges(void)
{
	struct ring_buffer *a = ring_make(3, RB_FL_OVERWRITE), *b = ring_make(3, RB_FL_OVERWRITE),
			   *c = ring_make(4, 0);
	struct ring_buffer_event *open;
	struct ring_buffer_iter *it;
	int cpu = ring_cpu();

	put_numbers(a, 0, 300);
	EXPECT_EQ(ring_buffer_swap_cpu(a, b, cpu), 0);
	EXPECT_EQ(ring_buffer_entries(a), 0);
	expect_numbers(b, 0, 300);
	put_numbers(a, 0, 20);
	EXPECT_EQ(ring_buffer_swap_cpu(a, b, cpu), 0);
	expect_numbers(b, 0, 20);
	EXPECT_EQ(ring_buffer_swap_cpu(a, c, cpu), -EINVAL); /* another size */
	EXPECT_EQ(ring_buffer_swap_cpu(a, a, cpu), -EINVAL);
	it = ring_buffer_read_start(b, cpu);
	EXPECT_EQ(ring_buffer_swap_cpu(a, b, cpu), -EBUSY);
	ring_buffer_read_finish(it);
	open = ring_reserve(a, 4); /* it must be committed where it was reserved */
	EXPECT_EQ(ring_buffer_swap_cpu(a, b, cpu), -EBUSY);
	ring_commit(a, open);
	EXPECT_EQ(ring_buffer_swap_cpu(a, b, cpu), 0);
	EXPECT_EQ(ring_buffer_entries(b), 301);
	ring_buffer_free(a);
	ring_buffer_free(b);
	ring_buffer_free(c);
}

static void switches(void)
{
	struct ring_buffer *rb = ring_make(2, 0);

	EXPECT(ring_buffer_record_is_on(rb) && ring_buffer_record_is_set_on(rb));
	EXPECT(ring_buffer_record_off(rb));
	EXPECT(!ring_buffer_record_off(rb));
	EXPECT(!ring_buffer_record_is_on(rb) && !ring_buffer_record_is_set_on(rb));
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_buffer_record_disable(rb);
	EXPECT(ring_buffer_record_on(rb));
	EXPECT(!ring_buffer_record_on(rb));
	EXPECT(!ring_buffer_record_is_on(rb) && ring_buffer_record_is_set_on(rb));
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_buffer_record_disable_cpu(rb, ring_cpu());
	ring_buffer_record_enable(rb);
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_buffer_record_enable_cpu(rb, ring_cpu());
	EXPECT_EQ(ring_put(rb, "abc", 4), 0);
	ring_buffer_lock(rb);
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_buffer_unlock(rb);
	EXPECT_EQ(ring_put(rb, "abc", 4), 0);
	ring_balanced(rb, 6);
	ring_buffer_free(rb);
}

/* A reset forgets the events that were refused: the ring's counts begin anew, the totals go on. */
static void full_before_a_reset(void)
{
	static const u8 data[RB_MAX_DATA + 1];
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_totals before = {0}, after = {0};

	ring_buffer_discard_commit(rb, ring_buffer_lock_reserve(rb, 8));
	put_numbers(rb, 0, 2000);
	EXPECT_EQ(ring_put(rb, data, sizeof(data)), -EBUSY);
	EXPECT(ring_stats(rb).dropped && ring_stats(rb).too_large && ring_stats(rb).discarded);
	ring_buffer_totals(rb, ring_cpu(), &before);
	for (unsigned i = 0; i < 2; i++) {
		ring_buffer_reset(rb);
		struct ring_buffer_stats st = ring_stats(rb);
		EXPECT_EQ(st.dropped + st.too_large + st.discarded + st.entries, 0);
	}
	ring_buffer_totals(rb, ring_cpu(), &after);
	EXPECT_EQ(after.dropped, before.dropped);
	EXPECT_EQ(after.too_large, before.too_large);
	EXPECT_EQ(after.discarded, before.discarded);
	EXPECT_EQ(after.cleared, before.unread);
	ring_buffer_free(rb);
}

static void mode_changes(void)
{
	struct ring_buffer *rb = ring_make(2, 0);

	put_numbers(rb, 0, 2000);
	EXPECT(ring_stats(rb).dropped);
	ring_buffer_change_overwrite(rb, true);
	put_numbers(rb, 2000, 3000);
	EXPECT_EQ(ring_stats(rb).dropped, 2000 - 2 * (RB_PAGE_DATA / 8));
	EXPECT(ring_stats(rb).overrun);
	ring_balanced(rb, 3000);
	ring_buffer_free(rb);
}

static void put_one(void *rb)
{
	u32 cpu = host_cpu();

	ring_put(rb, &cpu, 4);
}

static void each_cpu_has_its_own(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_event *ev;

	host_on_each_cpu(put_one, rb);
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		ev = ring_buffer_consume(rb, cpu, NULL, NULL);
		EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == cpu);
		EXPECT(ring_buffer_empty_cpu(rb, cpu));
	}
	EXPECT(!ring_buffer_consume(rb, host_cpu_count(), NULL, NULL));
	EXPECT(!ring_buffer_consume(rb, -1, NULL, NULL));
	EXPECT(!ring_buffer_read_start(rb, -1));
	ring_buffer_free(rb);
}

/* The oldest event of all CPUs is the oldest of any, be it of the first of them or of the last. */
static void oldest_of_all(void)
{
	unsigned last = host_cpu_count() - 1;
	struct ring_buffer *rb = ring_make(2, 0);
	struct ring_buffer_stats st;

	for (unsigned round = 0; last && round < 2; round++) {
		ring_buffer_reset(rb);
		ring_now = 1000;
		host_on_cpu(round ? last : 0, put_one, rb);
		ring_now = 2000;
		host_on_cpu(round ? 0 : last, put_one, rb);
		ring_buffer_stats(rb, -1, &st);
		EXPECT_EQ(st.oldest_ts, 1000);
		EXPECT_EQ(st.entries, 2);
	}
	ring_buffer_free(rb);
}

/* Of a sub-buffer that a reader has begun, the oldest event is the first that it did not read. */
static void oldest_unread(void)
{
	struct ring_buffer *rb = ring_make(2, 0);
	u32 expected = 0;
	u64 lost = 0;

	ring_now = 1000;
	put_numbers(rb, 0, 3);
	for (u64 ts = 1010; ts <= 1030; ts += 10) {
		EXPECT_EQ(ring_stats(rb).oldest_ts, ts);
		EXPECT(ring_consume_checked(rb, &expected, &lost));
	}
	EXPECT_EQ(ring_stats(rb).oldest_ts, 0);
	ring_buffer_free(rb);
}

/* Events refused before a reset do not count after it; those refused then do. */
static void refused_before_a_reset(void)
{
	struct ring_buffer *rb = ring_make(2, 0);

	ring_buffer_record_off(rb);
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	EXPECT_EQ(ring_stats(rb).disabled, 1);
	ring_buffer_reset(rb);
	ring_balanced(rb, 0);
	EXPECT_EQ(ring_put(rb, "abc", 4), -EBUSY);
	ring_balanced(rb, 1);
	ring_buffer_free(rb);
}

static u64 past;

static u64 past_clock(void)
{
	return past;
}

/*
 * Events with times of before, then the TSC again: the times are those, in this order, and nothing
 * is lost.
 */
static void clock_borrowed(void)
{
	static const u64 times[] = {0, 5, 5, 1UL << 30, 1UL << 40};
	struct ring_buffer *rb = ring_buffer_alloc(8 * PAGE_SIZE, 0, NULL);
	u64 before = host_clock(), ts, lost;

	EXPECT(rb);
	ring_buffer_borrow_clock(rb, past_clock);
	for (u32 i = 0; i < ARRAY_SIZE(times); i++) {
		past = times[i];
		EXPECT_EQ(ring_put(rb, &i, sizeof(i)), 0);
	}
	ring_buffer_borrow_clock(rb, NULL);
	u32 last = ARRAY_SIZE(times);
	EXPECT_EQ(ring_put(rb, &last, sizeof(last)), 0);
	for (u32 i = 0; i <= last; i++) {
		struct ring_buffer_event *ev = ring_buffer_consume(rb, ring_cpu(), &ts, &lost);
		EXPECT(ev && *(u32 *)ring_buffer_event_data(ev) == i && !lost);
		if (i < last)
			EXPECT_EQ(ts, times[i]);
		else
			EXPECT(ts >= MAX(before, times[last - 1]) || before < times[last - 1]);
	}
	EXPECT(!ring_buffer_consume(rb, ring_cpu(), &ts, &lost));
	ring_buffer_free(rb);
}

/* A ring that was full takes events again when it has more room, and not more than that. */
static void resize_of_a_full_ring(void)
{
	struct ring_buffer *rb = ring_buffer_alloc(2 * RB_PAGE_DATA, 0, NULL);
	static const u8 data[RB_MAX_DATA];

	for (unsigned pages = 2; pages <= 8; pages += 2) {
		EXPECT_EQ(ring_buffer_resize(rb, pages * RB_PAGE_DATA, -1), 0);
		EXPECT_EQ(ring_put(rb, data, 100), 0); /* into a new sub-buffer: the last is full */
		EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA - 120), 0);
		EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), 0);
		for (unsigned i = 0; i < 3; i++)
			EXPECT_EQ(ring_put(rb, data, RB_MAX_DATA), -EBUSY);
	}
	ring_buffer_free(rb);
}

/* Where one lane is busy no lane stays locked, and none has changed places. */
static void swap_with_a_busy_lane(void)
{
	struct ring_buffer *a = ring_buffer_alloc(2 * RB_PAGE_DATA, 0, NULL);
	struct ring_buffer *b = ring_buffer_alloc(2 * RB_PAGE_DATA, 0, NULL);
	struct rb_cpu_buffer *busy[] = {
	    &a->cpu_buffers[a->cpus - 1], &b->cpu_buffers[0], &b->cpu_buffers[b->cpus - 1]};
	u32 number = 5;

	EXPECT_EQ(ring_put(a, &number, 4), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(busy); i++) {
		host_preempt_disable();
		busy[i]->lock = ring_cpu() + 1; /* this CPU reads there, and was interrupted */
		EXPECT_EQ(ring_buffer_swap(a, b), -EBUSY);
		EXPECT_EQ(busy[i]->lock, ring_cpu() + 1);
		busy[i]->lock = 0;
		host_preempt_enable();
		for (unsigned cpu = 0; cpu < a->cpus; cpu++)
			EXPECT(!a->cpu_buffers[cpu].lock && !b->cpu_buffers[cpu].lock);
		EXPECT_EQ(ring_buffer_entries(a), 1);
	}
	EXPECT_EQ(ring_buffer_swap(a, b), 0);
	EXPECT_EQ(ring_buffer_entries(b), 1);
	ring_buffer_free(a);
	ring_buffer_free(b);
}

/* A ring that goes to another buffer does there as the others of it do when it is full. */
static void swap_leaves_modes(void)
{
	struct ring_buffer *a = ring_make(2, RB_FL_OVERWRITE), *b = ring_make(2, 0);
	const u32 all = 2 * (RB_PAGE_DATA / 8);

	EXPECT_EQ(ring_buffer_swap_cpu(a, b, ring_cpu()), 0);
	put_numbers(a, 0, all + 100);
	put_numbers(b, 0, all + 100);
	EXPECT_EQ(ring_stats(a).dropped, 0);
	EXPECT(ring_stats(a).overrun);
	EXPECT_EQ(ring_stats(b).dropped, 100);
	EXPECT_EQ(ring_stats(b).overrun, 0);
	ring_buffer_free(a);
	ring_buffer_free(b);
}

/* Neither of two rings goes away while an event in it is under construction, or somebody reads. */
static void swap_with_a_writer_in_either(void)
{
	struct ring_buffer *rb[2] = {ring_make(2, 0), ring_make(2, 0)};
	struct ring_buffer_event *open;
	struct ring_buffer_iter *it;
	int cpu = ring_cpu();

	for (unsigned i = 0; i < 2; i++) {
		open = ring_reserve(rb[i], 4);
		EXPECT_EQ(ring_buffer_swap_cpu(rb[0], rb[1], cpu), -EBUSY);
		ring_commit(rb[i], open);
		it = ring_buffer_read_start(rb[i], cpu);
		EXPECT_EQ(ring_buffer_swap_cpu(rb[0], rb[1], cpu), -EBUSY);
		EXPECT_EQ(ring_buffer_swap(rb[0], rb[1]), -EBUSY);
		ring_buffer_read_finish(it);
		EXPECT_EQ(ring_buffer_entries(rb[i]), 1);
	}
	EXPECT_EQ(ring_buffer_swap_cpu(rb[0], rb[1], cpu), 0);
	ring_buffer_free(rb[0]);
	ring_buffer_free(rb[1]);
}

/*
 * A reader that was overtaken, and a resize, count each sub-buffer that is gone: a reader waits for
 * that count before it says how many events it lost (R4).
 */
static void gone_are_counted(void)
{
	struct ring_buffer *rb = ring_make(6, RB_FL_OVERWRITE);
	const struct rb_ring *ring = rb->cpu_buffers[ring_cpu()].ring;
	u32 expected = 0;
	u64 lost = 0;

	put_numbers(rb, 0, 10 * (RB_PAGE_DATA / 8));
	EXPECT(ring_consume_checked(rb, &expected, &lost));
	EXPECT(lost && ring->skipped);
	EXPECT_EQ(ring->overrun_pages, ring->skipped);
	EXPECT_EQ(ring_buffer_resize(rb, 2 * RB_PAGE_DATA, ring_cpu()), 0);
	EXPECT_EQ(ring->overrun_pages, ring->skipped);
	while (ring_consume_checked(rb, &expected, &lost))
		;
	EXPECT_EQ(expected, 10 * (RB_PAGE_DATA / 8));
	EXPECT_EQ(lost, ring_stats(rb).overrun);
	ring_buffer_free(rb);
}

/* An empty ring as it is after as many laps as there are numbers for, but for two. */
static void begin_late(struct ring_buffer *rb)
{
	struct rb_ring *ring = rb->cpu_buffers[ring_cpu()].ring;
	u64 gen = RB_GEN_MASK - 1;

	for (u64 i = 0; i < ring->count; i++) {
		struct ring_buffer_page *page = rb_slot_page(ring->slots[i]);

		page->commit = rb_commit_fresh(gen);
		ring->slots[i] = rb_slot_make(page, gen);
		*rb_sum_at(ring, i) = 0;
	}
	ring->next = rb_number_make(gen, 0);
	ring->unsure = ring->number = rb_number_make(gen - 1, ring->count - 1);
}

/* The numbers of laps begin again, and nothing is lost, counted twice or out of order by that. */
static void laps_begin_again(void)
{
	const u32 lap = 3 * (RB_PAGE_DATA / 8);

	for (unsigned flags = 0; flags <= RB_FL_OVERWRITE; flags += RB_FL_OVERWRITE) {
		struct ring_buffer *rb = ring_make(3, flags);
		u32 expected = 0, n = 0;
		u64 lost = 0;

		begin_late(rb);
		for (unsigned i = 0; i < 40; i++, n += lap / 8) {
			put_numbers(rb, n, n + lap / 8);
			expect_entries(rb, n + lap / 8);
			while (i % 4 < 3 && ring_consume_checked(rb, &expected, &lost))
				;
			ring_balanced(rb, n + lap / 8);
		}
		if (flags)
			put_numbers(rb, n, n + 2 * lap);
		while (ring_consume_checked(rb, &expected, &lost))
			;
		EXPECT_EQ(expected, flags ? n + 2 * lap : n);
		EXPECT_EQ(lost, ring_stats(rb).overrun);
		EXPECT_EQ(!lost, !flags);
		ring_buffer_free(rb);
	}
}

static const struct ktap_case cases[] = {
    {"ring_control.iterator_reads_all", iterator_reads_all},
    {"ring_control.iterator_overtaken_on_its_page", iterator_overtaken_on_its_page},
    {"ring_control.iterator_stops_recording", iterator_stops_recording},
    {"ring_control.iterator_and_consumer", iterator_and_consumer},
    {"ring_control.resize_keeps_newest", resize_keeps_newest},
    {"ring_control.resize_rounds_and_refuses", resize_rounds_and_refuses},
    {"ring_control.reset_empties", reset_empties},
    {"ring_control.swap_exchanges", swap_exchanges},
    {"ring_control.switches", switches},
    {"ring_control.full_before_a_reset", full_before_a_reset},
    {"ring_control.mode_changes", mode_changes},
    {"ring_control.each_cpu_has_its_own", each_cpu_has_its_own},
    {"ring_control.oldest_of_all", oldest_of_all},
    {"ring_control.oldest_unread", oldest_unread},
    {"ring_control.refused_before_a_reset", refused_before_a_reset},
    {"ring_control.clock_borrowed", clock_borrowed},
    {"ring_control.resize_of_a_full_ring", resize_of_a_full_ring},
    {"ring_control.swap_with_a_busy_lane", swap_with_a_busy_lane},
    {"ring_control.swap_leaves_modes", swap_leaves_modes},
    {"ring_control.swap_with_a_writer_in_either", swap_with_a_writer_in_either},
    {"ring_control.gone_are_counted", gone_are_counted},
    {"ring_control.laps_begin_again", laps_begin_again},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_buffer_control = {cases};
