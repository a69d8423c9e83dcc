/*
 * Names of tasks: whether they are kept follows events, options and instances as they come and go;
 * the idle task's; how many are kept, and whose.
 */
#include "kernel/lib/errno.h"
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

/* An instance's own option says what is kept for its events, not that of the top. */
static void as_its_instance_says(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("own"), 0);
	EXPECT_EQ(trace_put("instances/own/options/record-tgid", "1"), 0);
	EXPECT_EQ(trace_put("instances/own/" EVENT "/enable", "1"), 0);
	EXPECT_EQ(kept(), NAMED | GROUPED);
	EXPECT_EQ(trace_put("instances/own/" EVENT "/enable", "0"), 0);
	EXPECT_EQ(kept(), 0);
	EXPECT_EQ(trace_put("instances/own/options/record-tgid", "0"), 0);
	EXPECT_EQ(trace_put("options/record-tgid", "1"), 0);
	EXPECT_EQ(trace_put("instances/own/" EVENT "/enable", "1"), 0);
	EXPECT_EQ(kept(), NAMED);
	EXPECT_EQ(trace_put("options/record-tgid", "0"), 0);
	EXPECT_EQ(trace_drop_instance("own"), 0);
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

/* ---- saved_cmdlines ---- */

static void begin(const char *size)
{
	trace_fresh();
	EXPECT_EQ(trace_put("saved_cmdlines_size", size), 0);
	EXPECT_EQ(trace_put(EVENT "/enable", "1"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("saved_cmdlines_size", "4096"), 0);
	trace_fresh();
}

static void save(s32 pid, const char *name)
{
	char comm[16] = "";

	strscpy(comm, name, sizeof(comm));
	trace_comm_wakeup(pid, pid, comm);
}

static const char *saved(s32 pid)
{
	static char comm[16];

	trace_comm_find(pid, comm);
	return comm;
}

/* Each slot is used, in turn: the task that came first goes first, and is unknown from then on. */
static void slots_in_turn(void)
{
	begin("3");
	save(101, "one");
	save(102, "two");
	save(103, "three");
	EXPECT_STR(trace_get("saved_cmdlines", NULL), "101 one\n102 two\n103 three\n");
	save(102, "second"); /* it has its slot */
	save(104, "four");
	EXPECT_STR(trace_get("saved_cmdlines", NULL), "104 four\n102 second\n103 three\n");
	EXPECT_STR(saved(101), "<...>");
	EXPECT_STR(saved(104), "four");
	save(101, "again");
	save(105, "five");
	save(106, "six");
	EXPECT_STR(trace_get("saved_cmdlines", NULL), "106 six\n101 again\n105 five\n");
	end();
}

/* Only numbers that a task can have take a slot. */
static void whose_slot(void)
{
	static const s32 others[] = {0, -1, 32768, 0x7fffffff, -0x7fffffff - 1};

	begin("1");
	save(5, "five");
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
		save(others[i], "other");
	EXPECT_STR(trace_get("saved_cmdlines", NULL), "5 five\n");
	EXPECT_STR(saved(0), "<idle>");
	EXPECT_STR(saved(-1), "<XXX>");
	EXPECT_STR(saved(32768), "<...>");
	save(32767, "last");
	EXPECT_STR(trace_get("saved_cmdlines", NULL), "32767 last\n");
	EXPECT_STR(saved(5), "<...>");
	end();
}

static void sizes(void)
{
	begin("1");
	EXPECT_EQ(trace_put("saved_cmdlines_size", "0"), -EINVAL);
	EXPECT_EQ(trace_put("saved_cmdlines_size", "32769"), -EINVAL);
	EXPECT_EQ(trace_put("saved_cmdlines_size", "4294967297"), -EINVAL);
	EXPECT_STR(trace_get("saved_cmdlines_size", NULL), "1\n");
	EXPECT_EQ(trace_put("saved_cmdlines_size", "32768"), 0);
	EXPECT_STR(trace_get("saved_cmdlines_size", NULL), "32768\n");
	end();
}

/* Another size begins with no names, be it smaller than what was in use or larger. */
static void resized(void)
{
	static const char *const sizes[] = {"2", "8"};
	char name[16];

	for (unsigned k = 0; k < ARRAY_SIZE(sizes); k++) {
		begin("8");
		for (s32 pid = 1; pid <= 6; pid++) {
			fmt_snprintf(name, sizeof(name), "n%d", pid);
			save(pid, name);
		}
		EXPECT_EQ(trace_put("saved_cmdlines_size", sizes[k]), 0);
		EXPECT_STR(trace_get("saved_cmdlines", NULL), "");
		for (s32 pid = 1; pid <= 6; pid++)
			EXPECT_STR(saved(pid), "<...>");
		save(7, "seven");
		save(6, "six");
		EXPECT_STR(trace_get("saved_cmdlines", NULL), "7 seven\n6 six\n");
		end();
	}
}

/* The switches of the scheduler's hooks follow the first who wants names, and the last. */
static void keys(void)
{
	struct host_key there = {0};
	struct trace_key key = {.host = &there}, *const list[] = {&key};

	trace_fresh();
	trace_comm_set_keys(list, 1);
	EXPECT_EQ(trace_put(EVENT "/enable", "1"), 0);
	EXPECT(there.enabled);
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_EQ(trace_put(EVENT "/enable", "0"), 0);
	EXPECT(there.enabled);
	EXPECT_EQ(trace_put("events/unit/enable", "0"), 0);
	EXPECT(!there.enabled);
	EXPECT_EQ(trace_put(EVENT "/enable", "1"), 0);
	EXPECT(there.enabled);
	EXPECT_EQ(trace_put("options/record-cmd", "0"), 0);
	EXPECT(!there.enabled);
	trace_fresh();
	EXPECT(!there.enabled);
	trace_comm_set_keys(NULL, 0);
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
    {"comms.as_its_instance_says", as_its_instance_says},
    {"comms.while_one_records", while_one_records},
    {"comms.slots_in_turn", slots_in_turn},
    {"comms.whose_slot", whose_slot},
    {"comms.sizes", sizes},
    {"comms.resized", resized},
    {"comms.keys", keys},
    {"comms.idle_in_histogram", idle_in_histogram},
    {NULL, NULL},
};
const struct ktap_suite suite_comms = {cases};
