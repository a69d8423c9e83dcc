/* Function tracers: the cost of a traced call, and of switching them on and off. */
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/base/panic.h"
#include "kernel/base/sym.h"
#include "tests/bench/bench.h"

static u64 __noipa bench_function_target(u64 a, u64 b)
{
	return a + b;
}

/* The same code, never traced. */
static __notrace u64 __noipa bench_function_other(u64 a, u64 b)
{
	return a + b;
}
NOTRACE(bench_function_other, "what a call costs without a hook");

BENCH_ROUND(traced_round, bench_function_target(a, 1))
BENCH_ROUND(untraced_round, bench_function_other(a, 1))

static void measure_traced(const char *name)
{
	bench_report(name, traced_round, untraced_round, BENCH_N);
}

static void run_off(const char *name)
{
	measure_traced(name);
}

static void run_tracer(const char *name, const char *tracer, const char *filter)
{
	bench_write("set_ftrace_filter", filter);
	bench_write("current_tracer", tracer);
	measure_traced(name);
	bench_write("current_tracer", "nop");
	bench_write("set_ftrace_filter", "\n");
}

static void run_function(const char *name)
{
	run_tracer(name, "function", "bench_function_target");
}

static void run_other_filtered(const char *name)
{
	run_tracer(name, "function", "vfs_*");
}

static void run_tracing_off(const char *name)
{
	bench_write("tracing_on", "0");
	run_function(name);
	bench_write("tracing_on", "1");
}

static void run_other_pid(const char *name)
{
	bench_write("set_ftrace_pid", "12345");
	run_function(name);
	bench_write("set_ftrace_pid", "\n");
}

/* Entry and exit, with the value it returns. */
static void run_graph(const char *name)
{
	run_tracer(name, "function_graph", "bench_function_target");
}

/* Dropped at its entry: as set_graph_function has another. */
static void run_graph_dropped(const char *name)
{
	bench_write("set_graph_function", "vfs_read");
	run_graph(name);
	bench_write("set_graph_function", "\n");
}

/*
 * The profiler finds a function in a hash table by its address, so the cost depends on where the
 * function lies. The row is the mean of many functions, each called in turn.
 */
#define EIGHT(X, n)  X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define PROFILED(X)  EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3)
#define PROFILED_NUM 32
#define DEFINE_PROFILED(n)                                                                         \
	static u64 __noipa bench_profiled_##n(u64 a, u64 b)                                        \
	{                                                                                          \
		return a + b;                                                                      \
	}
#define CALL_PROFILED(n) bench_profiled_##n(a, 1);
#define CALL_OTHER(n)	 bench_function_other(a, 1);
PROFILED(DEFINE_PROFILED)
BENCH_ROUND(profiled_rounds, PROFILED(CALL_PROFILED))
BENCH_ROUND(unprofiled_rounds, PROFILED(CALL_OTHER))

static u64 profiled_round(unsigned n)
{
	return profiled_rounds(n / PROFILED_NUM);
}

static u64 unprofiled_round(unsigned n)
{
	return unprofiled_rounds(n / PROFILED_NUM);
}

static void run_profile_of(const char *name, const char *graph_time)
{
	bench_write("options/graph-time", graph_time);
	bench_write("set_ftrace_filter", "bench_profiled_*");
	bench_write("function_profile_enabled", "1");
	bench_report(name, profiled_round, unprofiled_round, BENCH_N / PROFILED_NUM * PROFILED_NUM);
	bench_write("function_profile_enabled", "0");
	bench_write("set_ftrace_filter", "\n");
	bench_write("options/graph-time", "1");
}

static void run_profile(const char *name)
{
	run_profile_of(name, "1");
}

static void run_profile_own(const char *name)
{
	run_profile_of(name, "0");
}

static int nothing(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	return 0;
}

static void run_kprobe(const char *name)
{
	struct kprobe p = {.symbol_name = "bench_function_target", .pre_handler = nothing};

	if (register_kprobe(&p))
		panic("bench: no probe");
	measure_traced(name);
	unregister_kprobe(&p);
}

static void run_kprobe_event(const char *name)
{
	bench_write("kprobe_events", "p:bench bench_function_target %di %si");
	bench_write("events/kprobes/bench/enable", "1");
	measure_traced(name);
	bench_write("events/kprobes/bench/enable", "0");
	bench_write("kprobe_events", "\n");
}

static void run_fprobe_event(const char *name, const char *on)
{
	bench_write("dynamic_events", "f:bench bench_function_target $arg1 $arg2");
	bench_write("events/fprobes/bench/enable", on);
	measure_traced(name);
	bench_write("events/fprobes/bench/enable", "0");
	bench_write("dynamic_events", "\n");
}

static void run_fprobe_on(const char *name)
{
	run_fprobe_event(name, "1");
}

static void run_fprobe_off(const char *name)
{
	run_fprobe_event(name, "0");
}

static u64 bench_function_op(const char *tracer)
{
	u64 start = cycles();

	bench_write("current_tracer", tracer);
	return cycles() - start;
}

static unsigned count_hooked(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sym_count(); i++)
		n += sym_hooked(i);
	return n;
}

/* Of all functions, per function; the functions traced meanwhile are in, nothing is recorded. */
static void run_all(const char *name)
{
	unsigned n = count_hooked();

	bench_write("tracing_on", "0");
	bench_value(name, bench_function_op("function") * 10 / n, "insn");
	bench_value("op.function_all_off", bench_function_op("nop") * 10 / n, "insn");
	bench_write("set_ftrace_filter", "bench_function_target");
	bench_value("op.function_one_on", bench_function_op("function") * 10, "insn");
	bench_value("op.function_one_off", bench_function_op("nop") * 10, "insn");
	bench_write("set_ftrace_filter", "\n");
	bench_write("tracing_on", "1");
}

const struct bench bench_function[] = {
    {"fn.off", run_off},
    {"fn.function", run_function},
    {"fn.function.filtered", run_other_filtered},
    {"fn.function.tracing_off", run_tracing_off},
    {"fn.function.other_pid", run_other_pid},
    {"fn.graph_entry_exit", run_graph},
    {"fn.graph.dropped", run_graph_dropped},
    {"fn.profile", run_profile},
    {"fn.profile.own_time", run_profile_own},
    {"kp.noop.entry", run_kprobe},
    {"kpe.entry.2regs", run_kprobe_event},
    {"fpe.entry.2args", run_fprobe_on},
    {"fpe.off", run_fprobe_off},
    {"op.function_all_on", run_all},
    {NULL, NULL},
};
