/*
 * The ring buffer by itself: a private ring of 8 MiB that overwrites, as in the figures for Linux.
 * Reserving, committing and discarding are inline, as the tracer has them; `.call` is the same
 * through the functions of trace/ring/ring.h.
 */
#include "kernel/base/panic.h"
#include "tests/bench/bench.h"
#include "trace/host_context.h"
#include "trace/ring/write.h"

static struct ring_buffer *rb;
static struct ring_buffer_page *spare;

static void reserve_commit(u64 a)
{
	struct ring_buffer_event *ev = rb_reserve(rb, 0, 16);

	if (!ev)
		return;
	u64 *data = rb_data(ev, 16);
	data[0] = a;
	data[1] = a;
	rb_commit(rb, 0, ev, rb_size(16));
}

static void reserve_commit_call(u64 a)
{
	struct ring_buffer_event *ev = ring_buffer_lock_reserve(rb, 16);

	if (!ev)
		return;
	u64 *data = ring_buffer_event_data(ev);
	data[0] = a;
	data[1] = a;
	ring_buffer_unlock_commit(rb, ev);
}

static void reserve_discard_call(void)
{
	struct ring_buffer_event *ev = ring_buffer_lock_reserve(rb, 16);

	if (ev)
		ring_buffer_discard_commit(rb, ev);
}

static void reserve_discard(void)
{
	struct ring_buffer_event *ev = rb_reserve(rb, 0, 16);

	if (ev)
		rb_discard(rb, 0, ev, rb_size(16));
}

BENCH_ROUND(commit_round, reserve_commit(a))
BENCH_ROUND(commit_call_round, reserve_commit_call(a))
BENCH_ROUND(discard_round, reserve_discard())
BENCH_ROUND(discard_call_round, reserve_discard_call())
BENCH_ROUND(write_round, {
	u64 data[2] = {a, a};
	ring_buffer_write(rb, sizeof(data), data);
})
BENCH_ROUND(consume_round, {
	u64 ts, lost;
	ring_buffer_consume(rb, 0, &ts, &lost);
})

/* Whole pages of equal events, each decoded: its time, where its data are and how many. */
#define EVENTS_PER_PAGE (RB_PAGE_DATA / 20)
static u64 walk_round(unsigned n)
{
	u64 start = cycles();

	for (unsigned seen = 0; seen < n; seen += EVENTS_PER_PAGE) {
		struct rb_page_iter w;

		if (ring_buffer_read_page(rb, &spare, PAGE_SIZE, 0, true) < 0)
			panic("bench: ring ran dry after %u events", seen);
		rb_page_iter_start(&w, spare, 0);
		while (rb_page_iter_next(&w))
			__asm__ volatile("" ::"r"(w.stamp), "r"(w.data), "r"(w.length));
	}
	return cycles() - start;
}

/* The walk alone, over a page that was taken before. */
static u64 page_walk_round(unsigned n)
{
	u64 start = cycles();

	for (unsigned seen = 0; seen < n; seen += EVENTS_PER_PAGE) {
		struct rb_page_iter w;

		rb_page_iter_start(&w, spare, 0);
		while (rb_page_iter_next(&w))
			__asm__ volatile("" ::"r"(w.stamp), "r"(w.data), "r"(w.length));
	}
	return cycles() - start;
}

/* Taken and walked in place, of a ring that is mapped. */
static u64 map_walk_round(unsigned n)
{
	const struct trace_buffer_meta *meta = ring_buffer_map_page(rb, 0, 0);
	u64 start = cycles();

	for (unsigned seen = 0; seen < n; seen += EVENTS_PER_PAGE) {
		struct rb_page_iter w;

		ring_buffer_map_get_reader(rb, 0);
		rb_page_iter_start(&w, ring_buffer_map_page(rb, 0, 1 + meta->reader.id), 0);
		while (rb_page_iter_next(&w))
			__asm__ volatile("" ::"r"(w.stamp), "r"(w.data), "r"(w.length));
	}
	return cycles() - start;
}

/* A page for each event: the writer is sent on each time. */
BENCH_ROUND(map_one_round, {
	u64 data[2] = {a, a};
	ring_buffer_write(rb, sizeof(data), data);
	ring_buffer_map_get_reader(rb, 0);
})

static void with_ring(unsigned flags, size_t size)
{
	rb = ring_buffer_alloc(size, flags, NULL);
	spare = ring_buffer_alloc_page();
	if (!rb || !spare)
		panic("bench: no memory for a ring");
}

static void without_ring(void)
{
	ring_buffer_free_page(spare);
	ring_buffer_free(rb);
}

/*
 * Writers call this between host_enter() and host_preempt_enable(), as the tracer does; its cost is
 * not the ring's.
 */
static void measure(const char *name, bench_round round, unsigned flags, size_t size)
{
	struct host_context ctx;

	with_ring(flags, size);
	host_enter(&ctx);
	bench_report(name, round, bench_empty, BENCH_N);
	host_preempt_enable();
	without_ring();
}

static void run_commit(const char *name)
{
	measure(name, commit_round, RB_FL_OVERWRITE, 8 << 20);
}

static void run_commit_call(const char *name)
{
	measure(name, commit_call_round, RB_FL_OVERWRITE, 8 << 20);
}

static void run_write(const char *name)
{
	measure(name, write_round, RB_FL_OVERWRITE, 8 << 20);
}

static void run_discard(const char *name)
{
	measure(name, discard_round, RB_FL_OVERWRITE, 8 << 20);
}

static void run_discard_call(const char *name)
{
	measure(name, discard_call_round, RB_FL_OVERWRITE, 8 << 20);
}

static void measure_full(const char *name, bench_round round)
{
	struct host_context ctx;

	with_ring(0, 8192);
	host_enter(&ctx);
	commit_round(1000);
	bench_report(name, round, bench_empty, BENCH_N);
	host_preempt_enable();
	without_ring();
}

static void run_full(const char *name)
{
	measure_full(name, commit_round);
}

static void run_full_call(const char *name)
{
	measure_full(name, commit_call_round);
}

static void run_off(const char *name)
{
	struct host_context ctx;

	with_ring(RB_FL_OVERWRITE, 8192);
	ring_buffer_record_off(rb);
	host_enter(&ctx);
	bench_report(name, commit_round, bench_empty, BENCH_N);
	host_preempt_enable();
	without_ring();
}

/* Bound to CPU 0 by the caller: the ring of CPU 0 is filled and emptied. */
static void run_consume(const char *name)
{
	struct host_context ctx;

	with_ring(RB_FL_OVERWRITE, 8 << 20);
	host_enter(&ctx);
	commit_round(BENCH_N * (BENCH_ROUNDS + 2));
	host_preempt_enable();
	bench_report(name, consume_round, bench_empty, BENCH_N);
	without_ring();
}

static void run_walk(const char *name)
{
	struct host_context ctx;

	with_ring(RB_FL_OVERWRITE, 8 << 20);
	host_enter(&ctx);
	commit_round(BENCH_N * (BENCH_ROUNDS + 6));
	host_preempt_enable();
	bench_report(name, walk_round, NULL, BENCH_N / EVENTS_PER_PAGE * EVENTS_PER_PAGE);
	without_ring();
}

static void run_page_walk(const char *name)
{
	struct host_context ctx;

	with_ring(RB_FL_OVERWRITE, 8 << 20);
	host_enter(&ctx);
	commit_round(BENCH_N);
	host_preempt_enable();
	if (ring_buffer_read_page(rb, &spare, PAGE_SIZE, 0, true) < 0)
		panic("bench: no page to walk");
	bench_report(name, page_walk_round, NULL, BENCH_N / EVENTS_PER_PAGE * EVENTS_PER_PAGE);
	without_ring();
}

static void run_map_walk(const char *name)
{
	struct host_context ctx;

	with_ring(RB_FL_OVERWRITE, 8 << 20);
	host_enter(&ctx);
	commit_round(BENCH_N * (BENCH_ROUNDS + 6));
	host_preempt_enable();
	if (ring_buffer_map(rb, 0))
		panic("bench: cannot map");
	bench_report(name, map_walk_round, NULL, BENCH_N / EVENTS_PER_PAGE * EVENTS_PER_PAGE);
	ring_buffer_unmap(rb, 0);
	without_ring();
}

static void run_map_one(const char *name)
{
	with_ring(RB_FL_OVERWRITE, 8 << 20);
	if (ring_buffer_map(rb, 0))
		panic("bench: cannot map");
	bench_report(name, map_one_round, write_round, 1000);
	ring_buffer_unmap(rb, 0);
	without_ring();
}

const struct bench bench_ring[] = {
    {"rb.reserve_commit16", run_commit},
    {"rb.reserve_commit16.call", run_commit_call},
    {"rb.write16", run_write},
    {"rb.reserve_discard16", run_discard},
    {"rb.reserve_discard16.call", run_discard_call},
    {"rb.full_dropping", run_full},
    {"rb.full_dropping.call", run_full_call},
    {"rb.tracing_off", run_off},
    {"rb.consume16", run_consume},
    {"rb.page_walk16", run_page_walk},
    {"rb.read_page_walk16", run_walk},
    {"rb.map_walk16", run_map_walk},
    {"rb.map_get_reader", run_map_one},
    {NULL, NULL},
};
