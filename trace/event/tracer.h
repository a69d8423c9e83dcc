/*
 * What a tracer is: of each trace array one, which records by itself while recording is on; "nop"
 * does nothing. trace/tracer/tracer.h has all of them. Task context under host_lock.
 */
#pragma once

struct trace_array;

struct trace_tracer {
	const char *name;
	int (*init)(struct trace_array *tr); /* becomes the array's: 0 or negative errno */
	void (*reset)(struct trace_array *tr);
	/* tracing_on was switched by hand, while it is the array's. */
	void (*start)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr);
};
extern const struct trace_tracer trace_tracer_nop;

/* nop again, whatever is open. */
void trace_tracer_drop(struct trace_array *tr);
