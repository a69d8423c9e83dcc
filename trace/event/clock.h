/* The clocks that a trace array may have. Task context under host_lock. */
#pragma once

#include "trace/event/array.h"

struct trace_clock {
	const char *name;
	u64 (*read)(void);   /* NULL: the TSC, the ring's own clock */
	u64 (*to_ns)(u64 t); /* for those in_ns */
	bool in_ns;
};
extern const struct trace_clock trace_clocks[]; /* ends with a NULL name */
u64 trace_clock_ns(
    /* ns, or the raw value if the clock does not count ns */
    const struct trace_array *tr, u64 stamp);
u64 trace_clock_now(const struct trace_array *tr);		    /* likewise, now */
void trace_clock_show(struct seq *s, const struct trace_array *tr); /* the file trace_clock */
/* 0 or -EINVAL; clears. */
int trace_array_set_clock(struct trace_array *tr, const char *name);
