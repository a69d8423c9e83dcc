/* Events that are off themselves and only pull a trigger. */
#include "kernel/base/panic.h"
#include "tests/bench/bench.h"
#include "trace/host_stack.h"

#define TRACE_KEY	  struct static_key
#define TRACE_BRANCH(key) static_branch(&(key))
#define TRACE_DEF	  "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"

#define TRIGGER "events/bench/bench_2u64/trigger"
#define FRAMES	8

static unsigned frames_above;

BENCH_ROUND(two_round, trace_bench_2u64(a, i))

/* As deep as it takes to have FRAMES frames from the event on. */
static void __noinline descend(unsigned levels, u64 a)
{
	if (levels)
		descend(levels - 1, a);
	else
		trace_bench_2u64(a, a);
	barrier();
}

static void __noinline descend_only(unsigned levels, u64 a)
{
	if (levels)
		descend_only(levels - 1, a);
	barrier();
}

BENCH_ROUND(deep_round, descend(frames_above, a))
BENCH_ROUND(deep_empty, descend_only(frames_above, a))

static void run(const char *name, const char *add, const char *remove)
{
	bench_write(TRIGGER, add);
	bench_report(name, two_round, bench_empty, BENCH_N);
	bench_write(TRIGGER, remove);
}

static void run_traceon(const char *name)
{
	run(name, "traceon", "!traceon");
}

static void run_if_false(const char *name)
{
	run(name, "traceon if a == 99999", "!traceon");
}

static void run_if_true(const char *name)
{
	run(name, "traceon if a != 99999", "!traceon");
}

static void run_recorded(const char *name)
{
	bench_write("events/bench/bench_2u64/enable", "1");
	run_traceon(name);
	bench_write("events/bench/bench_2u64/enable", "0");
}

/* Frames below the round, this function's among them. */
static unsigned __noinline frames_below(void)
{
	u64 frames[64];

	return host_stack(frames, 64);
}

static void run_stacktrace(const char *name)
{
	unsigned below = frames_below() + 2; /* bench_report() and the round take its place */

	if (below > FRAMES)
		panic("bench: %u frames already", below);
	frames_above = FRAMES - below;
	bench_write(TRIGGER, "stacktrace");
	bench_report(name, deep_round, deep_empty, BENCH_N);
	bench_write(TRIGGER, "!stacktrace");
}

const struct bench bench_trigger[] = {
    {"trig.traceon_only", run_traceon},
    {"trig.traceon_if_false_only", run_if_false},
    {"trig.traceon_if_true_only", run_if_true},
    {"trig.traceon+record", run_recorded},
    {"trig.stacktrace_8", run_stacktrace},
    {NULL, NULL},
};
