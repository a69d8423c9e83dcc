/* A probe named x, and the arguments that its hits record: shared by cases that hit probes. */
#pragma once

#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"

/* Defines the probe "p:x ...", "r:x ..." and enables it. */
static inline void kprobe_begin(const char *line)
{
	trace_fresh();
	EXPECT_EQ(trace_put("kprobe_events", line), 0);
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "1"), 0);
}

static inline void kprobe_end(void)
{
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "0"), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
	trace_fresh();
}

/* The arguments of a hit with these registers, as they are printed. */
static inline const char *kprobe_hit(bool is_return, const struct machine_regs *regs)
{
	EXPECT_EQ(trace_put("trace", ""), 0);
	machine_probe_hit("do_mkdirat", 0, is_return, regs);
	char *text = (char *)trace_get("trace", NULL), *at = strstr(text, "x: (");
	at = at ? strstr(at, ") ") : NULL;
	if (at)
		at[strcspn(at, "\n")] = '\0';
	return at ? at + 2 : text;
}
