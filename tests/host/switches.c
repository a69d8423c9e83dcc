/*
 * Small files of tracefs: writes of nothing, numbers at their limits, the options of tracers, and
 * files that another boot's instance has.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/comm.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

/* What a write of no bytes returns. */
static ssize put_nothing(const char *path)
{
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;

	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_WRITE | TRACEFS_APPEND, &f), 0);
	ssize done = tracefs_write(f, "", 0, &pos);
	tracefs_release(f);
	return done;
}

static void nothing(void)
{
	static const char *const paths[] = {"set_event", "set_event_pid", "set_event_notrace_pid",
	    "set_ftrace_pid", "set_ftrace_notrace_pid", "set_ftrace_filter", "set_graph_function",
	    "trace_marker", "tracing_on", "trace_options", "trace_clock", "dynamic_events",
	    "kprobe_events", "synthetic_events", "events/unit/unit_text/trigger",
	    "events/unit/unit_text/filter", "events/unit/unit_text/enable", "current_tracer",
	    "tracing_cpumask", "error_log", "trace", "snapshot", "buffer_size_kb"};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++)
		if (put_nothing(paths[i])) {
			ktap_note("%s", paths[i]);
			EXPECT(!"taken");
		}
	EXPECT_STR(trace_nth(0), "");
	EXPECT_EQ(put_nothing("trace_marker_raw"), -EINVAL);
	trace_fresh();
}

/* As many hex digits as there are CPUs for; a bit of a CPU that is not there is too much. */
static void cpumask(void)
{
	char all[24], mask[24];
	unsigned cpus = host_cpu_count(), digits = (cpus + 3) / 4;

	trace_fresh();
	strscpy(all, trace_get("tracing_cpumask", NULL), sizeof(all));
	EXPECT_EQ(strlen(all), digits + 1);
	fmt_snprintf(mask, sizeof(mask), "%lx", 1UL << cpus);
	EXPECT_EQ(trace_put("tracing_cpumask", mask), -EOVERFLOW);
	fmt_snprintf(mask, sizeof(mask), "%lx", (1UL << cpus) - 1);
	EXPECT_EQ(trace_put("tracing_cpumask", "1"), 0);
	EXPECT_EQ(trace_put("tracing_cpumask", mask), 0);
	EXPECT_STR(trace_get("tracing_cpumask", NULL), all);
	trace_fresh();
}

/* Sizes of sub-buffers are rounded up to pages, two, four, ...; 512 kB are the most. */
static void subbuffers(void)
{
	static const struct {
		const char *text, *shown;
		int err;
	} rows[] = {{"0", "4\n", -EINVAL}, {"1", "4\n", 0}, {"4", "4\n", 0}, {"5", "8\n", 0},
	    {"8", "8\n", 0}, {"9", "16\n", 0}, {"513", "16\n", -EINVAL}, {"-1", "16\n", -EINVAL},
	    {"4", "4\n", 0}};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("buffer_subbuf_size_kb", rows[i].text), rows[i].err);
		EXPECT_STR(trace_get("buffer_subbuf_size_kb", NULL), rows[i].shown);
	}
	trace_fresh();
}

/* trace_options has those of the current tracer; options/ has those of all. */
static void of_tracers(void)
{
	trace_fresh();
	EXPECT(!strstr(trace_get("trace_options", NULL), "func_stack_trace"));
	EXPECT_EQ(trace_put("trace_options", "func_stack_trace"), -EINVAL);
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT(
	    strstr(trace_get("trace_options", NULL), "\nnofunc_stack_trace\nnofunc-no-repeats\n"));
	EXPECT_EQ(trace_put("trace_options", "func-no-repeats"), 0);
	EXPECT(strstr(trace_get("trace_options", NULL), "\nnofunc_stack_trace\nfunc-no-repeats\n"));
	EXPECT_STR(trace_get("options/func-no-repeats", NULL), "1\n");
	EXPECT_EQ(trace_put("options/func_stack_trace", "2"), -EINVAL);
	EXPECT_EQ(trace_put("options/func_stack_trace", "x"), -EINVAL);
	EXPECT_STR(trace_get("options/func_stack_trace", NULL), "0\n");
	EXPECT_EQ(trace_put("trace_options", "nofunc-no-repeats"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	trace_fresh();
}

/* A new tracer begins with an empty buffer, in its array; the same one again changes nothing. */
static void of_a_tracer(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker", "before"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT(strstr(trace_nth_event(0), ": before"));
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT(!strstr(trace_get("trace", NULL), ": before"));
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	trace_fresh();
}

/* tracing_thresh is for the tracers of all instances. */
static void of_all_tracers(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("a"), 0);
	EXPECT_EQ(trace_put("instances/a/current_tracer", "function_graph"), 0);
	host_function_call(0, 1);
	EXPECT(strstr(trace_get("instances/a/trace", NULL), "sym_1000();"));
	EXPECT_EQ(trace_put("tracing_thresh", "1000000"), 0);
	EXPECT_EQ(trace_put("instances/a/trace", ""), 0);
	host_function_call(0, 1);
	EXPECT(!strstr(trace_get("instances/a/trace", NULL), "sym_1000"));
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	host_function_call(0, 1);
	EXPECT(strstr(trace_get("instances/a/trace", NULL), "sym_1000();"));
	EXPECT_EQ(trace_put("instances/a/current_tracer", "nop"), 0);
	EXPECT_EQ(trace_drop_instance("a"), 0);
	trace_fresh();
}

/* What a tracer asks of the machine, and of the names of tasks, ends with it. */
static void of_no_tracer(void)
{
	static const char *const tracers[] = {"function", "function_graph", "irqsoff", "preemptoff",
	    "preemptirqsoff", "wakeup", "wakeup_rt"};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++) {
		char comm[16];

		EXPECT_EQ(trace_put("current_tracer", tracers[i]), 0);
		EXPECT_EQ(machine_watches(), i > 1);
		EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
		EXPECT(!machine_watches());
		host_lock();
		trace_comm_switch_in(30041 + i, 30041, "unwanted\0\0\0\0\0\0\0");
		trace_comm_find(30041 + i, comm);
		host_unlock();
		EXPECT_STR(comm, "<...>");
	}
	trace_fresh();
}

/* On a machine that cannot watch, the tracers refuse to begin, and leave nothing behind. */
static void of_another_machine(void)
{
	static const char *const tracers[] = {
	    "irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt"};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++) {
		machine_cannot_watch(true);
		EXPECT_EQ(trace_put("current_tracer", tracers[i]), -EOPNOTSUPP);
		EXPECT_STR(trace_get("current_tracer", NULL), "nop\n");
		EXPECT_STR(trace_get("options/latency-format", NULL), "0\n");
		EXPECT(!trace_global->snapshot && !trace_global->snapshot_users);
		machine_cannot_watch(false);
		EXPECT_EQ(trace_put("current_tracer", tracers[i]), 0);
		EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	}
	trace_fresh();
}

/* The options of nop are in trace_options while it is the tracer; in options/ they always are. */
static void options_of_nop(void)
{
	trace_fresh();
	EXPECT(strstr(trace_get("trace_options", NULL), "notest_nop_accept\n"));
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT(!strstr(trace_get("trace_options", NULL), "test_nop"));
	EXPECT_EQ(trace_put("trace_options", "test_nop_accept"), -EINVAL);
	EXPECT_STR(trace_get("options/test_nop_accept", NULL), "0\n");
	EXPECT_EQ(trace_put("options/test_nop_accept", "1"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("trace_options", "notest_nop_accept"), 0);
	EXPECT_STR(trace_get("options/test_nop_accept", NULL), "0\n");
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"switches.nothing", nothing},
    {"switches.cpumask", cpumask},
    {"switches.subbuffers", subbuffers},
    {"switches.of_tracers", of_tracers},
    {"switches.of_a_tracer", of_a_tracer},
    {"switches.of_all_tracers", of_all_tracers},
    {"switches.of_no_tracer", of_no_tracer},
    {"switches.of_another_machine", of_another_machine},
    {"switches.options_of_nop", options_of_nop},
    {NULL, NULL},
};
const struct ktap_suite suite_switches = {cases};
