/*
 * Shared by the latency tracers. Such a tracer records all the time. It reports a latency longer
 * than the longest so far, or, if tracing_thresh is set, not below that. A report exchanges the
 * buffer with the spare one, and `trace` shows that one, from the latency's beginning on. See
 * latency.c.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/host_function.h"
#include "trace/tracer/tracer.h"

/* For the tracer's init(), reset(), option(): task context under host_lock. 0, -ENOMEM, -EBUSY. */
int trace_latency_start(struct trace_array *tr, u64 options); /* TRACE_OPT_*, to be on */
void trace_latency_stop(struct trace_array *tr);
int trace_latency_option(struct trace_array *tr, u64 bit, bool on); /* 0, -EINVAL */

/*
 * What makes a tracer record the calls of functions, too: its hook, or with options/display-graph
 * the one that has their returns, and whether it is set.
 */
struct trace_latency_functions {
	struct host_hook hook, graph;
	bool is_graph, on;
};
int trace_latency_set_functions(
    struct trace_array *tr, struct trace_latency_functions *f, bool on); /* 0, -errno */
/* The same, the other way from now on: what was recorded and found goes. The tracer is at rest. */
int trace_latency_set_graph(struct trace_array *tr, struct trace_latency_functions *f, bool graph);

/* What follows: any context but NMI, interrupts off, as after host_preempt_disable(). */

/* Nanoseconds of a distance in cycles. */
extern u64 trace_latency_mult; /* ns per cycle, in 2^-32 */
static inline u64 trace_latency_ns(u64 cycles)
{
	return (unsigned __int128)cycles * trace_latency_mult >> 32;
}

/* True if the tracer has to report a latency of that length. */
static inline bool trace_latency_is_long(const struct trace_array *tr, u64 ns)
{
	u64 thresh = READ_ONCE(trace_thresh_ns);

	return thresh ? ns >= thresh : ns > READ_ONCE(tr->max_latency_ns);
}

/* Records the call of a function; false: recording is off. The caller prevents recursion. */
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
 * Reports a latency, unless the array has reported another since its trace_latency_reports was
 * `reports`: that report took the records away.
 */
void trace_latency_report(struct trace_array *tr, const struct host_context *ctx,
    const struct trace_latency *found, u32 reports);
