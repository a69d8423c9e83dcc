/*
 * Names of tasks: whether they are kept follows events, options and instances as they come and go;
 * the idle task's.
 */
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/comm.h"

#define EVENT "events/unit/unit_numbers"

enum { NAMED = 1, GROUPED = 2 };

/* Wakes a new task; returns which of its facts the tracer keeps. */
static unsigned kept(void)
{
	static s32 pid = 20000; /* one that was not kept before */
	char comm[16];

	trace_comm_wakeup(++pid, 7, "worker\0\0\0\0\0\0\0\0\0");
	trace_comm_find(pid, comm);
	return (strcmp(comm, "worker") ? 0 : NAMED) | (trace_tgid_find(pid) == 7 ? GROUPED : 0);
}

/* As the options are while an event is on; those of an earlier time mean nothing. */
static void as_options_say(void)
{
	trace_fresh();
	EXPECT_EQ(kept(), 0);
	EXPECT_EQ(trace_put("options/record-tgid", "1"), 0);
	EXPECT_EQ(trace_put(EVENT "/enable", "1"), 0);
	EXPECT_EQ(kept(), NAMED | GROUPED);
	EXPECT_EQ(trace_put(EVENT "/enable", "0"), 0);
	EXPECT_EQ(kept(), 0);
	EXPECT_EQ(trace_put("options/record-cmd", "0"), 0);
	EXPECT_EQ(trace_put(EVENT "/enable", "1"), 0);
	EXPECT_EQ(kept(), GROUPED);
	EXPECT_EQ(trace_put("options/record-cmd", "1"), 0);
	EXPECT_EQ(kept(), NAMED | GROUPED);
	EXPECT_EQ(trace_put("options/record-tgid", "0"), 0);
	EXPECT_EQ(kept(), NAMED);
	EXPECT_EQ(trace_put("options/record-cmd", "0"), 0);
	EXPECT_EQ(kept(), 0);
	EXPECT_EQ(trace_put(EVENT "/enable", "0"), 0);
	EXPECT_EQ(trace_put("options/record-cmd", "1"), 0);
	EXPECT_EQ(kept(), 0);
	trace_fresh();
}

/* As long as one buffer records, be the others on, off or gone. */
static void while_one_records(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(EVENT "/enable", "1"), 0);
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/tracing_on", "0"), 0);
	EXPECT_EQ(kept(), NAMED);
	EXPECT_EQ(trace_drop_instance("other"), 0);
	EXPECT_EQ(kept(), NAMED);
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(kept(), NAMED);
	EXPECT_EQ(trace_drop_instance("other"), 0);
	EXPECT_EQ(kept(), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(kept(), NAMED);
	trace_fresh();
}

/* A CPU that has nothing to do has no task to ask. */
static void idle_in_histogram(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(EVENT "/trigger", "hist:keys=common_pid.execname"), 0);
	machine_pid(0);
	trace_unit_numbers(1, 2, 3, 4);
	machine_pid(-1);
	trace_unit_numbers(1, 2, 3, 4);
	const char *text = trace_get(EVENT "/hist", NULL);
	EXPECT(strstr(text, "{ common_pid: <idle>          [         0] } hitcount:          1"));
	EXPECT(strstr(text, "[         1] } hitcount:          1"));
	EXPECT_EQ(trace_append(EVENT "/trigger", "!hist:keys=common_pid.execname"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"comms.as_options_say", as_options_say},
    {"comms.while_one_records", while_one_records},
    {"comms.idle_in_histogram", idle_in_histogram},
    {NULL, NULL},
};
const struct ktap_suite suite_comms = {cases};
