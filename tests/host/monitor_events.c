/*
 * What a monitor does to the event that it follows: it sees the hits that pid lists hide from all
 * others, and nobody sees that it needs the event.
 */
#include "kernel/lib/errno.h"
#include "tests/unit/trace/tools.h"

#define EVENT "events/unit/unit_numbers/"

static void begin(void)
{
	trace_fresh();
	EXPECT_EQ(
	    trace_append("rv/define", "monitor swing global; state a initial; state b; "
				      "event e unit:unit_numbers if c > 5; edge a e b; edge b e a"),
	    0);
	EXPECT_EQ(trace_put("rv/monitors/swing/enable", "1"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("rv/enabled_monitors", ""), 0);
	EXPECT_EQ(trace_put("events/rv/enable", "0"), 0);
	EXPECT_EQ(trace_append("rv/define", "!swing"), 0);
	trace_fresh();
}

/* With its filter, whether the event is hidden or not. */
static void hidden_hits(void)
{
	begin();
	EXPECT_EQ(trace_put("events/rv/event_swing/enable", "1"), 0);
	EXPECT_EQ(trace_put(EVENT "enable", "1"), 0);
	for (unsigned round = 1; round <= 2; round++) {
		u64 hidden = trace_counts("unit", "unit_numbers").pid_filtered;
		for (int c = 4; c < 8; c++)
			trace_unit_numbers(1, 2, c, 4);
		EXPECT_EQ(
		    trace_counts("unit", "unit_numbers").pid_filtered - hidden, round == 1 ? 0 : 4);
		EXPECT_EQ(trace_counts("rv", "event_swing").hit, 2 * round);
		EXPECT_EQ(trace_put("set_event_pid", round == 1 ? "31999" : ""), 0);
	}
	end();
}

/* A trigger is seen in `enable`, be there a monitor, none, or none any more. */
static void seen_in_enable(void)
{
	begin();
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(trace_put("rv/monitors/swing/enable", i % 2 ? "1" : "0"), 0);
		EXPECT_STR(trace_get(EVENT "enable", NULL), "0\n");
		EXPECT_EQ(trace_append(EVENT "trigger", "traceon"), 0);
		EXPECT_STR(trace_get(EVENT "enable", NULL), "0*\n");
		EXPECT_EQ(trace_append(EVENT "trigger", "!traceon"), 0);
		EXPECT_STR(trace_get(EVENT "enable", NULL), "0\n");
	}
	end();
}

static const struct ktap_case cases[] = {
    {"monitor_events.hidden_hits", hidden_hits},
    {"monitor_events.seen_in_enable", seen_in_enable},
    {NULL, NULL},
};
const struct ktap_suite suite_monitor_events = {cases};
