/* Memory, timers, and the formatter with a line as tracing prints it. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/timer.h"
#include "tests/bench/bench.h"

BENCH_ROUND(kmalloc_round, kfree(kmalloc(64 + (a & 31))))
BENCH_ROUND(page_round, page_free(page_alloc(0, false), 0))
BENCH_ROUND(page_zeroed_round, page_free(page_alloc(0, true), 0))
BENCH_ROUND(clock_round, clock_ns())

static char line[256], from[4096], to[4096];
BENCH_ROUND(
    format_round, fmt_snprintf(line, sizeof(line),
		      "%16s-%-7d [%03u] %s %5llu.%06llu: %s: pid=%d prio=%d target_cpu=%03u", "sh",
		      1234, (unsigned)(a & 1), "d..2.", (unsigned long long)a, 123456ULL,
		      "sched_waking", 4321, 120, 1u))
BENCH_ROUND(copy_round, memcpy(to, from, 4096))

static void bench_timer_fn(struct timer *t)
{
	(void)t;
}

static struct timer timer;
BENCH_ROUND(timer_round, (timer_start(&timer, 1UL << 60), timer_cancel(&timer)))

static void run_kmalloc(const char *name)
{
	bench_report(name, kmalloc_round, bench_empty, BENCH_N);
}

static void run_page(const char *name)
{
	bench_report(name, page_round, bench_empty, BENCH_N);
}

static void run_page_zeroed(const char *name)
{
	bench_report(name, page_zeroed_round, bench_empty, BENCH_N);
}

static void run_clock(const char *name)
{
	bench_report(name, clock_round, bench_empty, BENCH_N);
}

static void run_format(const char *name)
{
	bench_report(name, format_round, bench_empty, BENCH_N);
}

static void run_copy(const char *name)
{
	bench_report(name, copy_round, bench_empty, BENCH_N);
}

static void run_timer(const char *name)
{
	timer_setup(&timer, bench_timer_fn);
	bench_report(name, timer_round, bench_empty, BENCH_N);
}

const struct bench bench_mem[] = {
    {"mem.kmalloc_kfree", run_kmalloc},
    {"mem.page_alloc_free", run_page},
    {"mem.page_alloc_free_zeroed", run_page_zeroed},
    {"lib.format_line", run_format},
    {"lib.copy_page", run_copy},
    {"clock.ns", run_clock},
    {"timer.start_cancel", run_timer},
    {NULL, NULL},
};
