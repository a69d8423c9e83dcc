/* Histograms: an event that is counted and not recorded, and reading a table. */
#include "arch/arch.h"
#include "kernel/lib/fmt.h"
#include "tests/bench/bench.h"

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&(key))
#define TRACE_DEF	  "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"

#define TRIGGER "events/bench/bench_2u64/trigger"
#define LINES	2048

BENCH_ROUND(one_round, trace_bench_2u64(7, i))
BENCH_ROUND(two_round, trace_bench_2u64(7, 8))
BENCH_ROUND(many_round, trace_bench_2u64(i & 255, a))
BENCH_ROUND(fill_round, trace_bench_2u64(i % LINES, a))

static void run(const char *name, const char *hist, bench_round round)
{
	char remove[64];

	fmt_snprintf(remove, sizeof(remove), "!%s", hist);
	bench_write(TRIGGER, hist);
	bench_report(name, round, bench_empty, BENCH_N);
	bench_write(TRIGGER, remove);
}

static void run_one(const char *name)
{
	run(name, "hist:keys=a", one_round);
}

static void run_two_keys(const char *name)
{
	run(name, "hist:keys=a,b", two_round);
}

static void run_two_keys_common(const char *name)
{
	run(name, "hist:keys=a,common_pid", two_round);
}

static void run_value(const char *name)
{
	run(name, "hist:keys=a:vals=b", one_round);
}

/* With the event recorded as well. */
static void run_recorded(const char *name)
{
	bench_write("events/bench/bench_2u64/enable", "1");
	run(name, "hist:keys=a", many_round);
	bench_write("events/bench/bench_2u64/enable", "0");
}

static void run_variable(const char *name)
{
	run(name, "hist:keys=a:xx=b", one_round);
}

/* Every key has been hit as often: sorting has the most to do. */
static void run_read(const char *name)
{
	bench_write(TRIGGER, "hist:keys=a:sort=a");
	fill_round(LINES * 4);
	u64 lines = bench_read("events/bench/bench_2u64/hist", true), start = cycles();
	bench_read("events/bench/bench_2u64/hist", false);
	bench_value(name, (cycles() - start) * 10 / lines, "insn/line");
	bench_write(TRIGGER, "!hist:keys=a:sort=a");
}

const struct bench bench_hist[] = {
    {"hist.1key.1value", run_one},
    {"hist.2keys", run_two_keys},
    {"hist.2keys.common_pid", run_two_keys_common},
    {"hist.1key.1sum", run_value},
    {"hist.1key.256values+record", run_recorded},
    {"hist.1key.variable", run_variable},
    {"op.cat_hist_line", run_read},
    {NULL, NULL},
};
