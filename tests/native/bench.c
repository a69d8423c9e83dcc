/*
 * The ring buffer's cost on the processor itself, compiled from the kernel's sources: nanoseconds,
 * medians of short rounds in turn, so that all rows see the same clock rate, and next to each the
 * bare ring of bare_ring.h. Prints rows "native NAME median least most UNIT", of the medians of the
 * runs. Argument: the number of runs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/native/bare_ring.h"
#include "trace/ring/write.h"

#include "trace/host_memory.h"

/* Its rings have the smallest sub-buffers. */
void *host_block_alloc(unsigned order)
{
	return order ? NULL : host_page_alloc();
}

void host_block_free(void *p, unsigned order)
{
	(void)order;
	host_page_free(p);
}

#define PASSES	 2000 /* a round: some 20 us, mostly not interrupted */
#define ROUNDS	 401
#define MAX_RUNS 15
#define RING	 (1 << 20)

static struct ring_buffer *rings[2], *full, *one_page;
static struct ring_buffer_page *spare;
static struct bare_ring bare[2];
static double ticks_per_ns;

static u64 ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* A round over `body`, with a different value in each pass. */
#define ROUND(name, ...)                                                                           \
	static u64 name(struct ring_buffer *rb)                                                    \
	{                                                                                          \
		unsigned cpu = native_cpu;                                                         \
		u64 start = ticks();                                                               \
		(void)rb, (void)cpu;                                                               \
		for (unsigned i = 0; i < PASSES; i++) {                                            \
			u64 a = i & 1023;                                                          \
			__asm__ volatile("" : "+r"(a)::"memory");                                  \
			__VA_ARGS__;                                                               \
		}                                                                                  \
		return ticks() - start;                                                            \
	}

static inline __attribute__((always_inline)) void commit(
    struct ring_buffer *rb, unsigned cpu, u64 a)
{
	struct ring_buffer_event *ev = rb_reserve(rb, cpu, 16);
	u64 *data;

	if (!ev)
		return;
	data = rb_data(ev, 16);
	data[0] = a;
	data[1] = a;
	rb_commit(rb, cpu, ev, rb_size(16));
}

static inline void commit_call(struct ring_buffer *rb, u64 a)
{
	struct ring_buffer_event *ev = ring_buffer_lock_reserve(rb, 16);
	u64 *data;

	if (!ev)
		return;
	data = ring_buffer_event_data(ev);
	data[0] = a;
	data[1] = a;
	ring_buffer_unlock_commit(rb, ev);
}

static inline __attribute__((always_inline)) void discard(struct ring_buffer *rb, unsigned cpu)
{
	struct ring_buffer_event *ev = rb_reserve(rb, cpu, 16);

	if (ev)
		rb_discard(rb, cpu, ev, rb_size(16));
}

ROUND(empty_round, )
ROUND(rdtsc_round, a += ticks(); __asm__ volatile("" ::"r"(a)))
ROUND(bare_round, bare_write(&bare[cpu], a))
ROUND(commit_round, commit(rb, cpu, a))
ROUND(call_round, commit_call(rb, a))
ROUND(discard_round, discard(rb, cpu))
ROUND(write_round, {
	u64 data[2] = {a, a};
	ring_buffer_write(rb, sizeof(data), data);
})
ROUND(consume_round, {
	u64 ts, lost;
	if (!ring_buffer_consume(rb, cpu, &ts, &lost))
		abort();
})

/* Fills the ring that consume_round() empties; unmeasured. */
static void fill(struct ring_buffer *rb)
{
	ring_buffer_reset(rb);
	for (unsigned i = 0; i < PASSES; i++)
		commit(rb, native_cpu, i);
}

static void fill_pages(struct ring_buffer *rb)
{
	ring_buffer_reset(rb);
	for (unsigned i = 0; i < 2 * PASSES; i++)
		commit(rb, native_cpu, i);
}

/* Whole pages taken away, each event decoded: its length, its time. */
static u64 walk_round(struct ring_buffer *rb)
{
	u64 start = ticks(), sum = 0;

	for (unsigned seen = 0; seen < PASSES;) {
		if (ring_buffer_read_page(rb, &spare, PAGE_SIZE, native_cpu, true) < 0)
			abort();
		for (u64 at = 0; at < (spare->commit & 0xfff) && seen < PASSES; seen++) {
			struct ring_buffer_event *ev = (void *)(spare->data + at);

			sum += ev->time_delta;
			at += ring_buffer_event_length(ev);
		}
	}
	__asm__ volatile("" ::"r"(sum));
	return ticks() - start;
}

static const struct row {
	const char *name;
	u64 (*round)(struct ring_buffer *rb);
	struct ring_buffer **rb;
	void (*before)(struct ring_buffer *rb);
} rows[] = {
    {"loop", empty_round, &rings[0], NULL}, /* taken off all others */
    {"bare_ring", bare_round, &rings[0], NULL},
    {"rb.reserve_commit16", commit_round, &rings[0], NULL},
    {"rb.reserve_commit16.call", call_round, &rings[0], NULL},
    {"rb.write16", write_round, &rings[0], NULL},
    {"rb.reserve_discard16", discard_round, &rings[0], NULL},
    {"rb.full_dropping", commit_round, &full, NULL},
    {"rb.consume16", consume_round, &one_page, fill},
    {"rb.read_page_walk16", walk_round, &one_page, fill_pages},
    {"rdtsc", rdtsc_round, &rings[0], NULL},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
enum { ROW_LOOP, ROW_BARE, ROW_COMMIT };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

/* One run: ROUNDS rounds of each row in turn; ns a pass of each, less the loop. */
static void run(double out[ROWS])
{
	static double v[ROWS][ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		for (size_t r = 0; r < ROWS; r++) {
			if (rows[r].before)
				rows[r].before(*rows[r].rb);
			v[r][i] = rows[r].round(*rows[r].rb) / ticks_per_ns / PASSES;
		}
	}
	for (size_t r = 0; r < ROWS; r++)
		out[r] = median(v[r], ROUNDS) - (r == ROW_LOOP ? 0 : out[ROW_LOOP]);
}

static void print_row(const char *name, double *v, unsigned n, const char *unit)
{
	double middle = median(v, n);

	printf("native\t%s\t%.2f\t%.2f\t%.2f\t%s\n", name, middle, v[0], v[n - 1], unit);
}

/* ---- Two CPUs ---- */

static unsigned ready, stop;

static void bind(unsigned cpu)
{
	cpu_set_t set;
	struct sched_param param = {.sched_priority = 1};

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
	sched_setscheduler(0, SCHED_FIFO, &param); /* if it may */
	native_cpu = cpu;
}

static void *other_cpu(void *unused)
{
	bind(1);
	atomic_store(&ready, 1U);
	while (!atomic_load(&stop))
		commit_round(rings[0]);
	return unused;
}

/* ns an event on CPU 0, while CPU 1 writes to its ring or does not. */
static double alone_or_not(bool two)
{
	static double v[ROUNDS];
	pthread_t thread;

	atomic_store(&ready, (unsigned)!two);
	atomic_store(&stop, 0U);
	if (two && pthread_create(&thread, NULL, other_cpu, NULL))
		abort();
	while (!atomic_load(&ready))
		sched_yield();
	for (unsigned i = 0; i < ROUNDS; i++)
		v[i] = commit_round(rings[0]) / ticks_per_ns / PASSES;
	atomic_store(&stop, 1U);
	if (two)
		pthread_join(thread, NULL);
	return median(v, ROUNDS);
}

static void two_cpus(unsigned runs)
{
	double one[MAX_RUNS], both[MAX_RUNS], ratio[MAX_RUNS];

	for (unsigned i = 0; i < runs; i++) {
		double a = alone_or_not(false), b = alone_or_not(true);

		one[i] = 1000 / a;
		both[i] = 2000 / b;
		ratio[i] = both[i] / one[i];
	}
	print_row("rate.one_cpu", one, runs, "M/s");
	print_row("rate.two_cpus", both, runs, "M/s");
	print_row("rate.two_over_one", ratio, runs, "times");
}

/* ---- running ---- */

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

static void calibrate(void)
{
	u64 ns = now_ns(), start = ticks();

	while (now_ns() - ns < 100000000)
		;
	ticks_per_ns = (double)(ticks() - start) / (now_ns() - ns);
}

static void make_rings(void)
{
	rings[0] = ring_buffer_alloc(RING, RB_FL_OVERWRITE, NULL);
	one_page = ring_buffer_alloc(RING, RB_FL_OVERWRITE, NULL);
	full = ring_buffer_alloc(2 * RB_PAGE_DATA, 0, NULL);
	spare = ring_buffer_alloc_page();
	for (int i = 0; i < 2; i++)
		bare[i] =
		    (struct bare_ring){.mask = RING - 1, .data = aligned_alloc(PAGE_SIZE, RING)};
	if (!rings[0] || !one_page || !full || !spare || !bare[0].data || !bare[1].data)
		abort();
}

int main(int argc, char **argv)
{
	static double v[ROWS][MAX_RUNS], ratio[MAX_RUNS];
	unsigned runs = argc > 1 ? atoi(argv[1]) : 5;

	if (!runs || runs > MAX_RUNS)
		return 2;
	bind(0);
	calibrate();
	make_rings();
	commit_round(full);
	for (unsigned i = 0; i < runs; i++) {
		double out[ROWS];

		run(out);
		for (size_t r = 0; r < ROWS; r++)
			v[r][i] = out[r];
		ratio[i] = out[ROW_COMMIT] / out[ROW_BARE];
	}
	for (size_t r = 1; r < ROWS; r++)
		print_row(rows[r].name, v[r], runs, "ns");
	print_row("rb.reserve_commit16 over bare_ring", ratio, runs, "times");
	two_cpus(runs);
	return 0;
}
