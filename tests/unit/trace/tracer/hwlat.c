/* The files of the hwlat tracer, what they refuse, and how its records read. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"

static void fresh(void)
{
	trace_fresh();
	trace_hwlat_fresh();
}

/* A width may be all of the window, not more; and the other way round. */
static void width_and_window(void)
{
	fresh();
	EXPECT_EQ(trace_put("hwlat_detector/width", "1000001"), -EINVAL);
	EXPECT_STR(trace_get("hwlat_detector/width", NULL), "500000\n");
	EXPECT_EQ(trace_put("hwlat_detector/window", "499999\n"), -EINVAL);
	EXPECT_STR(trace_get("hwlat_detector/window", NULL), "1000000\n");
	EXPECT_EQ(trace_put("hwlat_detector/width", "1000000\n"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/window", "999999"), -EINVAL);
	EXPECT_EQ(trace_put("hwlat_detector/window", "x"), -EINVAL);
	EXPECT_EQ(trace_put("hwlat_detector/width", "-1"), -EINVAL);
	EXPECT_EQ(trace_put("hwlat_detector/width", "99999999999999999999"), -ERANGE);
	EXPECT_EQ(trace_put("hwlat_detector/width", "0"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/window", "0"), 0);
	EXPECT_STR(trace_get("hwlat_detector/window", NULL), "0\n");
	fresh();
}

static void modes(void)
{
	char name[65];

	fresh();
	EXPECT_STR(trace_get("hwlat_detector/mode", NULL), "none [round-robin] per-cpu\n");
	EXPECT_EQ(trace_put("hwlat_detector/mode", " per-cpu\n"), 0);
	EXPECT_STR(trace_get("hwlat_detector/mode", NULL), "none round-robin [per-cpu]\n");
	EXPECT_EQ(trace_put("hwlat_detector/mode", "percpu"), -EINVAL);
	EXPECT_EQ(trace_put("hwlat_detector/mode", ""), 0);
	EXPECT_EQ(trace_put("hwlat_detector/mode", "\n"), -EINVAL);
	EXPECT_EQ(trace_put("hwlat_detector/mode", "none"), 0);
	EXPECT_STR(trace_get("hwlat_detector/mode", NULL), "[none] round-robin per-cpu\n");
	memset(name, ' ', 64);
	strscpy(name, "per-cpu", 8);
	name[7] = ' ';
	name[64] = '\0';
	EXPECT_EQ(trace_put("hwlat_detector/mode", name), -EINVAL); /* 64 bytes */
	name[63] = '\0';
	EXPECT_EQ(trace_put("hwlat_detector/mode", name), 0); /* 63 */
	fresh();
}

/*
 * tracing_thresh is hwlat's own while it runs: 10 at first, later what it was left at; and comes
 * back afterwards.
 */
static void threshold(void)
{
	fresh();
	EXPECT_EQ(trace_put("hwlat_detector/width", "1"), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "7"), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
	EXPECT_STR(trace_get("current_tracer", NULL), "hwlat\n");
	EXPECT_STR(trace_get("tracing_thresh", NULL), "7\n");
	EXPECT_EQ(trace_put("tracing_thresh", "12"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_STR(trace_get("tracing_thresh", NULL), "7\n");
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat\n"), 0);
	EXPECT_STR(trace_get("tracing_thresh", NULL), "12\n");
	EXPECT_EQ(trace_put("tracing_thresh", "10"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_STR(trace_get("tracing_thresh", NULL), "0\n");
	EXPECT_EQ(trace_put("tracing_thresh", "no"), -EINVAL);
	fresh();
}

static int open_pipe(const char *path, struct tracefs_file **f)
{
	struct tracefs_node node;
	int err = trace_walk(path, &node);

	return err ? err : tracefs_open(&node, TRACEFS_READ, f);
}

/* One array has it at a time; not while a trace_pipe is open; and it goes with its instance. */
static void one_owner(void)
{
	struct tracefs_file *f;

	fresh();
	EXPECT_EQ(trace_put("hwlat_detector/width", "1"), 0);
	EXPECT_EQ(trace_make_instance("hw"), 0);
	EXPECT_STR(trace_get("instances/hw/available_tracers", NULL),
	    "timerlat osnoise hwlat wakeup_rt wakeup preemptirqsoff preemptoff irqsoff "
	    "function_graph function "
	    "nop\n");
	EXPECT_EQ(open_pipe("instances/hw/trace_pipe", &f), 0);
	EXPECT_EQ(trace_put("instances/hw/current_tracer", "hwlat"), -EBUSY);
	EXPECT_EQ(trace_put("instances/hw/current_tracer", "nop"), 0);
	tracefs_release(f);
	EXPECT_EQ(trace_put("instances/hw/current_tracer", "hwlat"), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), -EBUSY);
	EXPECT_STR(trace_get("current_tracer", NULL), "nop\n");
	EXPECT_EQ(trace_drop_instance("hw"), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
	EXPECT(strstr(trace_get("trace", NULL), "# tracer: hwlat\n#\n"));
	fresh();
}

static void max_latency(void)
{
	fresh();
	EXPECT_EQ(trace_put("tracing_max_latency", "77"), 0);
	EXPECT_STR(trace_get("tracing_max_latency", NULL), "77\n");
	EXPECT_EQ(trace_put("tracing_max_latency", "x"), -EINVAL);
	EXPECT_EQ(trace_put("hwlat_detector/width", "1"), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "100000"), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
	EXPECT_STR(trace_get("tracing_max_latency", NULL), "0\n");
	fresh();
}

#define HWLAT "events/ftrace/hwlat/inject"

/* Linux's text: trace_hwlat_print() of 6.1. */
static void lines(void)
{
	fresh();
	EXPECT_EQ(trace_put(HWLAT, "seqnum=1 duration=12 outer_duration=3 tv_sec=1700000000 "
				   "tv_nsec=42 count=2"),
	    0);
	EXPECT_EQ(trace_put(HWLAT, "seqnum=123456 duration=12345 outer_duration=123456 tv_sec=1 "
				   "tv_nsec=999999999 count=1 nmi_count=3 nmi_total_ts=150"),
	    0);
	EXPECT_STR(trace_nth_event(0),
	    "#1     inner/outer(us):   12/3     ts:1700000000.000000042 count:2");
	EXPECT_STR(trace_nth_event(1), "#123456 inner/outer(us): 12345/123456 ts:1.999999999 "
				       "count:1 nmi-total:150 nmi-count:3");
	EXPECT_EQ(trace_put("options/raw", "1"), 0);
	EXPECT(strstr(trace_get("trace", NULL), " 12 3 1700000000 000000042 1\n"));
	fresh();
}

static const struct ktap_case cases[] = {
    {"hwlat.width_and_window", width_and_window},
    {"hwlat.modes", modes},
    {"hwlat.threshold", threshold},
    {"hwlat.one_owner", one_owner},
    {"hwlat.max_latency", max_latency},
    {"hwlat.lines", lines},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_hwlat = {cases};
