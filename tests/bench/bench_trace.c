/* Tracepoints as call sites see them: off, on, and on while nothing may be recorded. */
#include "arch/arch.h"
#include "kernel/base/panic.h"
#include "tests/bench/bench.h"
#include "trace/event/file.h"
#include "trace/host_clock.h"
#include "trace/host_lock.h"
#include "trace/trace.h"

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&(key))
#define TRACE_DEF	  "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"
#include "trace/tracepoint_define.h"

void bench_events_register(void)
{
	host_lock();
	for (unsigned i = 0; i < ARRAY_SIZE(trace_event_list); i++)
		if (trace_event_register(trace_event_make(&trace_event_list[i])))
			panic("bench: an event is refused");
	host_unlock();
}

BENCH_ROUND(two_round, trace_bench_2u64(a, i))
BENCH_ROUND(str_round, trace_bench_u64_str16(a, "sixteen chars .."))
BENCH_ROUND(clock_round, {
	u64 t = host_clock_ns(host_clock());
	__asm__ volatile("" ::"r"(t));
})

static void run_disabled(const char *name)
{
	bench_report(name, two_round, bench_empty, BENCH_N);
}

static void run_on(const char *name)
{
	bench_write("events/bench/bench_2u64/enable", "1");
	bench_report(name, two_round, bench_empty, BENCH_N);
	bench_write("events/bench/bench_2u64/enable", "0");
}

static void run_str(const char *name)
{
	bench_write("events/bench/bench_u64_str16/enable", "1");
	bench_report(name, str_round, bench_empty, BENCH_N);
	bench_write("events/bench/bench_u64_str16/enable", "0");
}

static void run_off(const char *name)
{
	bench_write("tracing_on", "0");
	run_on(name);
	bench_write("tracing_on", "1");
}

static void run_full(const char *name)
{
	bench_write("options/overwrite", "0");
	bench_write("events/bench/bench_2u64/enable", "1");
	bench_write("buffer_size_kb", "8");
	two_round(2000);
	bench_report(name, two_round, bench_empty, BENCH_N);
	bench_write("events/bench/bench_2u64/enable", "0");
	bench_write("buffer_size_kb", "1408");
	bench_write("options/overwrite", "1");
}

/* With a filter: b is the pass, a the pass in 1024. */
static void run_filter(const char *name, const char *text)
{
	bench_write("events/bench/bench_2u64/filter", text);
	run_on(name);
	bench_write("events/bench/bench_2u64/filter", "0");
}

static void run_filter_true(const char *name)
{
	run_filter(name, "a < 1024");
}

static void run_filter_false(const char *name)
{
	run_filter(name, "a > 1024");
}

static void run_filter_4and(const char *name)
{
	run_filter(name, "a < 1024 && b < 100000 && a >= 0 && b != 100000");
}

static void run_filter_4and_false(const char *name)
{
	run_filter(name, "a < 1024 && b < 100000 && a >= 0 && b == 100000");
}

static void run_filter_comm(const char *name)
{
	run_filter(name, "comm ~ \"b*h\"");
}

/* Of a text in the record, as Linux's row. */
static void run_filter_glob(const char *name)
{
	bench_write("events/bench/bench_u64_str16/filter", "s ~ \"*chars*\"");
	run_str(name);
	bench_write("events/bench/bench_u64_str16/filter", "0");
}

static void run_pids(const char *name)
{
	bench_write("set_event_pid", "1");
	run_on(name);
	bench_write("set_event_pid", "");
}

/* A consumer of the tracepoint, whose own event is off: an event of a "t:" line. */
static void run_tprobe(const char *name, const char *line, const char *on)
{
	bench_write("dynamic_events", line);
	bench_write("events/tracepoints/bench/enable", on);
	bench_report(name, two_round, bench_empty, BENCH_N);
	bench_write("events/tracepoints/bench/enable", "0");
	bench_write("dynamic_events", "\n");
}

static void run_tprobe_args(const char *name)
{
	run_tprobe(name, "t:bench bench_2u64 $arg1 $arg2", "1");
}

static void run_tprobe_no_args(const char *name)
{
	run_tprobe(name, "t:bench bench_2u64", "1");
}

static void run_tprobe_off(const char *name)
{
	run_tprobe(name, "t:bench bench_2u64 $arg1 $arg2", "0");
}

static void run_clock(const char *name)
{
	bench_report(name, clock_round, bench_empty, BENCH_N);
}

const struct bench bench_trace[] = {
    {"tp.disabled", run_disabled},
    {"tp.on_2u64", run_on},
    {"tp.on_u64_str16", run_str},
    {"tp.on_2u64.tracing_off", run_off},
    {"tp.on_2u64.full_dropping", run_full},
    {"tp.on_2u64.pidfilter_drop", run_pids},
    {"tpe.2args", run_tprobe_args},
    {"tpe.no_args", run_tprobe_no_args},
    {"tpe.off", run_tprobe_off},
    {"filter.1_true", run_filter_true},
    {"filter.1_false", run_filter_false},
    {"filter.4and_true", run_filter_4and},
    {"filter.4and_false_last", run_filter_4and_false},
    {"filter.comm_glob_true", run_filter_comm},
    {"filter.glob_true", run_filter_glob},
    {"prim.trace_clock_local", run_clock},
    {NULL, NULL},
};

/* The same function with and without a call site: tests/image compares their instructions. */
u64 bench_site_with(u64 a);
u64 bench_site_without(u64 a);

/* As after any call: what lives on is in registers a call leaves alone. */
#define AFTER_A_CALL(a, b)                                                                         \
	__asm__ volatile(""                                                                        \
			 : "+r"(a), "+r"(b)::"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", \
			 "r11", "memory")

__noinline u64 bench_site_with(u64 a)
{
	u64 b = a + 1;

	AFTER_A_CALL(a, b);
	trace_bench_2u64(a, b);
	AFTER_A_CALL(a, b);
	return a + b;
}

__noinline u64 bench_site_without(u64 a)
{
	u64 b = a + 1;

	AFTER_A_CALL(a, b);
	AFTER_A_CALL(a, b);
	return a + b;
}
