/*
 * What the latency tracers share. Such a tracer records all the time. When it finds a latency above
 * the longest one so far, or not below tracing_thresh, it exchanges the buffer with the spare one:
 * `trace` shows that, from the latency's beginning on. See latency.c.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/host_function.h"
#include "trace/tracer/tracer.h"

/* Task context under host_lock: of the tracer's init(), reset(), option(). 0, -ENOMEM, -EBUSY. */
int trace_latency_start(struct trace_array *tr, u64 options); /* TRACE_OPT_*, to be on */
void trace_latency_stop(struct trace_array *tr);
int trace_latency_option(struct trace_array *tr, u64 bit, bool on); /* 0, -EINVAL */

/* What makes a tracer record the calls of functions, too: its hook, and whether that is set. */
struct trace_latency_functions {
	struct host_hook hook;
	bool on;
};
int trace_latency_set_functions(
    struct trace_array *tr, struct trace_latency_functions *f, bool on); /* 0, -errno */

/* What follows: any context but NMI, interrupts off, as after host_preempt_disable(). */

/* Nanoseconds of a distance in cycles. */
extern u64 trace_latency_mult; /* ns per cycle, in 2^-32 */
static inline u64 trace_latency_ns(u64 cycles)
{
	return (unsigned __int128)cycles * trace_latency_mult >> 32;
}

/* Is it to be reported? */
static inline bool trace_latency_is_long(const struct trace_array *tr, u64 ns)
{
	u64 thresh = READ_ONCE(trace_thresh_ns);

	return thresh ? ns >= thresh : ns > READ_ONCE(tr->max_latency_ns);
}

/* A record of a function's call; false: recording is off. The caller sees to it that it is not
 * called by what it calls itself. */
bool trace_latency_call_long(struct trace_event_file *file, u64 ip, u64 parent);
static inline __attribute__((always_inline)) bool trace_latency_call(
    struct trace_array *tr, u64 ip, u64 parent)
{
	struct trace_event_file *file = trace_ftrace_file(tr, TRACE_FN);
	struct trace_slot slot;
	struct rec_function *rec = trace_record(&slot, file, sizeof(*rec));

	if (unlikely(!rec))
		return trace_latency_call_long(file, ip, parent);
	rec->ip = ip;
	rec->parent_ip = parent;
	trace_record_end(&slot);
	return true;
}

/*
 * Reports it, unless another was reported since `reports` was trace_latency_reports
 * of the array, which took its records away.
 */
void trace_latency_report(struct trace_array *tr, const struct host_context *ctx,
    const struct trace_latency *found, u32 reports);
