/*
 * What a tracer is: of each trace array one, which records by itself while recording is on; "nop"
 * does nothing. trace/tracer/tracer.h has all of them. Task context under host_lock.
 */
#pragma once

#include "kernel/lib/types.h"

struct trace_array;

/* Options of a tracer: bits of trace_array.tracer_options. */
enum { TRACE_FUNC_STACK = 1, TRACE_FUNC_NO_REPEATS = 2 };
struct trace_tracer_option {
	const char *name;
	u32 bit;
};

struct trace_tracer {
	const char *name;
	int (*init)(struct trace_array *tr); /* becomes the array's: 0 or negative errno */
	void (*reset)(struct trace_array *tr);
	/* tracing_on was switched by hand, while it is the array's. */
	void (*start)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr);
	const struct trace_tracer_option *options; /* ends with a NULL name; NULL: none */
	void (*options_changed)(struct trace_array *tr);
};
extern const struct trace_tracer trace_tracer_nop;

/* nop again, whatever is open. */
void trace_tracer_drop(struct trace_array *tr);
