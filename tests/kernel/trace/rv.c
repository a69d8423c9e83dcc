/*
 * Monitors while their event is hit on all CPUs: a step is made once for each hit, from the state
 * that the one before it led to, and a monitor comes and goes meanwhile.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/sched.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/host_cpus.h"

#define HITS	2000 /* of each CPU */
#define BURST	64   /* hits between two looks at who else wants the CPU */
#define CHANGES 40

static const char *const scopes[] = {"global", "cpu", "task"};

static void hit_often(void *arg __maybe_unused)
{
	for (u64 n = 1; n <= HITS; n++) {
		trace_unit_numbers(0, 1, 2, n);
		if (n % BURST == 0)
			sched_yield_current();
	}
}

static struct trace_event_count sum(const char *event)
{
	const struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("rv", event));
	struct trace_event_count all = {.hit = 0};

	for (unsigned cpu = 0; file && file->counts && cpu < host_cpu_count(); cpu++) {
		all.hit += file->counts[cpu].hit;
		all.filtered += file->counts[cpu].filtered;
	}
	return all;
}

static void define(const char *scope)
{
	char text[200];

	trace_fresh();
	fmt_snprintf(text, sizeof(text),
	    "monitor swing %s; state a initial; state b; event e unit:unit_numbers; "
	    "edge a e b; edge b e a",
	    scope);
	EXPECT_EQ(trace_append("rv/define", text), 0);
	EXPECT_EQ(trace_put("events/rv/event_swing/filter", "state == \"a\""), 0);
	EXPECT_EQ(trace_put("events/rv/event_swing/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/rv/error_swing/enable", "1"), 0);
	EXPECT_EQ(trace_put("rv/monitors/swing/enable", "1"), 0);
}

static void remove(void)
{
	EXPECT_EQ(trace_put("rv/enabled_monitors", ""), 0);
	EXPECT_EQ(trace_put("events/rv/enable", "0"), 0);
	EXPECT_EQ(trace_append("rv/define", "!swing"), 0);
	trace_fresh();
}

/* Every second step begins in each state, whoever makes it. */
static void steps(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(scopes); i++) {
		struct threads t = {.n = 0};

		define(scopes[i]);
		for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
			thread_start(&t, hit_often, NULL, cpu);
		threads_join(&t);
		EXPECT_EQ(sum("event_swing").hit, (u64)HITS * host_cpu_count());
		EXPECT_EQ(sum("event_swing").filtered, (u64)HITS / 2 * host_cpu_count());
		EXPECT_EQ(sum("error_swing").hit, 0);
		remove();
	}
}

static void comes_and_goes(void)
{
	struct threads t = {.n = 0};

	define("task");
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		thread_start(&t, hit_often, NULL, cpu);
	for (unsigned i = 0; i < CHANGES; i++) {
		EXPECT_EQ(trace_put("rv/monitors/swing/enable", i % 2 ? "1" : "0"), 0);
		EXPECT_EQ(trace_put("rv/monitoring_on", i % 3 ? "1" : "0"), 0);
	}
	threads_join(&t);
	EXPECT_EQ(trace_put("rv/monitoring_on", "1"), 0);
	EXPECT_EQ(sum("error_swing").hit, 0);
	remove();
}

static const struct ktap_case cases[] = {
    {"monitors.steps", steps},
    {"monitors.comes_and_goes", comes_and_goes},
    {NULL, NULL},
};
const struct ktap_suite suite_monitors = {cases};
