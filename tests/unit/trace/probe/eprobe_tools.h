/* Shared by the cases of event probes. */
#pragma once

#include "tests/unit/trace/tools.h"

#define EVENTS "dynamic_events"

/* The event synthetic/src, and an empty error_log. */
static inline void eprobe_begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_append(EVENTS, "s:src int a; char s[8]; u64 b; char[] d; s8 c"), 0);
}

/* No event probe, no definition, nothing enabled. */
static inline void eprobe_end(void)
{
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:eprobes/"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}
