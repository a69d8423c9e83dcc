/* The tracer announces each new directory to the machine, and no other. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"

static void directories(void)
{
	trace_fresh();
	machine_directory();
	EXPECT_EQ(trace_make_instance("new"), 0);
	EXPECT_STR(machine_directory(), "instances/new");
	EXPECT_EQ(trace_make_instance("new"), -EEXIST);
	EXPECT_STR(machine_directory(), "");
	EXPECT_EQ(trace_append("synthetic_events", "made int a"), 0);
	EXPECT_STR(machine_directory(), "synthetic/made");
	EXPECT_EQ(trace_append("dynamic_events", "e:made/probe unit.unit_numbers a=$a"), 0);
	EXPECT_STR(machine_directory(), "made/probe");
	EXPECT_EQ(trace_append("dynamic_events", "u:made u32 a"), 0);
	EXPECT_STR(machine_directory(), "user_events/made");
	EXPECT_EQ(
	    trace_append("dynamic_events", "e:made/other unit.unit_numbers a=$nosuch"), -ENOENT);
	EXPECT_STR(machine_directory(), "");
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	EXPECT_EQ(trace_drop_instance("new"), 0);
	EXPECT_STR(machine_directory(), "");
}

/* With memory short, none is announced that did not come. */
static void none_without_memory(void)
{
	int err = -ENOMEM;

	trace_fresh();
	machine_directory();
	for (unsigned n = 1; n < 40 && err; n++) {
		machine_fail_alloc(n);
		err = trace_append("dynamic_events", "u:short u32 a");
		machine_fail_alloc(0);
		EXPECT_STR(machine_directory(), err ? "" : "user_events/short");
	}
	EXPECT_EQ(err, 0);
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
}

static const struct ktap_case cases[] = {
    {"announced.directories", directories},
    {"announced.none_without_memory", none_without_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_announced = {cases};
