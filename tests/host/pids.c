/*
 * Lists of pids: numbers that are larger than any task's, children of listed tasks whose functions
 * are traced, the switches of the scheduler's hooks.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/pid_filter.h"
#include "trace/host_context.h"

#define EVENT "events/unit/unit_numbers/enable"

static void fresh(void)
{
	static const char *const lists[] = {
	    "set_event_pid", "set_event_notrace_pid", "set_ftrace_pid", "set_ftrace_notrace_pid"};

	machine_pid(-1);
	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(lists); i++)
		EXPECT_EQ(trace_put(lists[i], ""), 0);
}

/* True: an event of that task is recorded. */
static bool records(s32 pid)
{
	struct host_context ctx;

	machine_pid(pid);
	host_enter(&ctx);
	trace_pid_switch_end(pid);
	host_preempt_enable();
	EXPECT_EQ(trace_put("trace", ""), 0);
	trace_unit_numbers(1, 2, 3, 4);
	machine_pid(-1);
	return *trace_nth_event(0);
}

/* A number that does not fit into the map of small ones is found all the same, or is not there. */
static void large_numbers(void)
{
	static const struct {
		s32 pid;
		bool listed;
	} rows[] = {{32767, true}, {32768, true}, {32769, false}, {39998, false}, {39999, true},
	    {40000, false}, {0x7fffffff, false}, {5, false}, {32766, false}};

	fresh();
	EXPECT_EQ(trace_put(EVENT, "1"), 0);
	EXPECT_EQ(trace_put("set_event_pid", "32767 39999 32768"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(records(rows[i].pid), rows[i].listed);
	EXPECT_EQ(trace_put("set_event_pid", ""), 0);
	EXPECT_EQ(trace_put("set_event_notrace_pid", "32767 39999 32768"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(records(rows[i].pid), !rows[i].listed);
	fresh();
}

static void fork_of(s32 parent, s32 child)
{
	struct host_context ctx;

	host_enter(&ctx);
	trace_pid_fork(parent, child);
	host_preempt_enable();
}

/* Children follow into the lists of events and into those of functions by an option each. */
static void children(void)
{
	fresh();
	EXPECT_EQ(trace_put("set_event_pid", "100"), 0);
	EXPECT_EQ(trace_put("set_ftrace_pid", "100"), 0);
	EXPECT_EQ(trace_put("set_ftrace_notrace_pid", "200"), 0);
	EXPECT_EQ(trace_put("options/event-fork", "1"), 0);
	fork_of(100, 101);
	fork_of(200, 201);
	EXPECT_EQ(trace_put("options/event-fork", "0"), 0);
	EXPECT_EQ(trace_put("options/function-fork", "1"), 0);
	fork_of(100, 102);
	fork_of(200, 202);
	EXPECT_STR(trace_get("set_event_pid", NULL), "100\n101\n");
	EXPECT_STR(trace_get("set_ftrace_pid", NULL), "100\n102\n");
	EXPECT_STR(trace_get("set_ftrace_notrace_pid", NULL), "200\n202\n");
	fresh();
}

/* They follow into the list of an instance by the option of that. */
static void children_in_an_instance(void)
{
	static const char own[] = "instances/i/set_event_pid";

	fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("set_event_pid", "100"), 0);
	EXPECT_EQ(trace_put(own, "100"), 0);
	EXPECT_EQ(trace_put("instances/i/options/event-fork", "1"), 0);
	fork_of(100, 101);
	EXPECT_EQ(trace_put("instances/i/options/event-fork", "0"), 0);
	EXPECT_EQ(trace_put("options/event-fork", "1"), 0);
	fork_of(100, 102);
	EXPECT_STR(trace_get(own, NULL), "100\n101\n");
	EXPECT_STR(trace_get("set_event_pid", NULL), "100\n102\n");
	EXPECT_EQ(trace_drop_instance("i"), 0);
	fresh();
}

/* The scheduler's hooks are on while there is a list, whichever it is. */
static void keys(void)
{
	static const char *const lists[] = {
	    "set_event_pid", "set_event_notrace_pid", "set_ftrace_pid", "set_ftrace_notrace_pid"};
	struct host_key there = {0};
	struct trace_key key = {.host = &there}, *const list[] = {&key};

	fresh();
	trace_pid_set_keys(list, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(lists); i++) {
		EXPECT_EQ(trace_put(lists[i], "7"), 0);
		EXPECT(there.enabled);
		EXPECT_EQ(trace_append(lists[i], "8"), 0);
		EXPECT_EQ(trace_put(lists[i], ""), 0);
		EXPECT(!there.enabled);
	}
	EXPECT_EQ(trace_put(lists[0], "7"), 0);
	EXPECT_EQ(trace_put(lists[2], "7"), 0);
	EXPECT_EQ(trace_put(lists[0], ""), 0);
	EXPECT(there.enabled);
	EXPECT_EQ(trace_put(lists[2], ""), 0);
	EXPECT(!there.enabled);
	trace_pid_set_keys(list, 0);
}

/* A call of a function that two tracers have is recorded again once their lists are cleared. */
static void cleared_for_functions(void)
{
	static const char *const tracers[] = {"current_tracer", "instances/beside/current_tracer"};

	fresh();
	EXPECT_EQ(trace_make_instance("beside"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++)
		EXPECT_EQ(trace_put(tracers[i], "function"), 0);
	EXPECT_EQ(trace_put("set_ftrace_pid", "31000"), 0);
	host_function_call(0, 0x42);
	EXPECT_STR(trace_nth(0), "");
	EXPECT(strstr(trace_get("instances/beside/trace", NULL), "sym_1000"));
	EXPECT_EQ(trace_put("set_ftrace_pid", ""), 0);
	host_function_call(0, 0x42);
	EXPECT(*trace_nth(0));
	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++)
		EXPECT_EQ(trace_put(tracers[i], "nop"), 0);
	EXPECT_EQ(trace_drop_instance("beside"), 0);
	fresh();
}

static const struct ktap_case cases[] = {
    {"host_pids.large_numbers", large_numbers},
    {"host_pids.children", children},
    {"host_pids.children_in_an_instance", children_in_an_instance},
    {"host_pids.keys", keys},
    {"host_pids.cleared_for_functions", cleared_for_functions},
    {NULL, NULL},
};
const struct ktap_suite suite_host_pids = {cases};
