/* The clocks that a trace array may have. Task context under host_lock. */
#pragma once

#include "trace/event/array.h"

struct trace_clock {
	const char *name;
	u64 (*read)(void);   /* NULL: the TSC, which is what the ring stamps with by itself */
	u64 (*to_ns)(u64 t); /* for those in_ns */
	bool in_ns;
};
extern const struct trace_clock trace_clocks[]; /* ends with a NULL name */
u64 trace_clock_ns(
    const struct trace_array *tr, u64 stamp); /* ns, or the bare value of a clock that has none */
u64 trace_clock_now(const struct trace_array *tr);		    /* likewise, now */
void trace_clock_show(struct seq *s, const struct trace_array *tr); /* the file trace_clock */
/* 0 or -EINVAL; clears. */
int trace_array_set_clock(struct trace_array *tr, const char *name);
