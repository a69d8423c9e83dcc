/*
 * What the latency tracers share. Such a tracer records all the time. When it finds a latency above
 * the longest one so far, or not below tracing_thresh, it exchanges the buffer with the spare one:
 * `trace` shows that, from the latency's beginning on. See latency.c.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/host_context.h"
#include "trace/tracer/tracer.h"

/* Task context under host_lock: of the tracer's init(), reset(), option(). 0, -ENOMEM, -EBUSY. */
int trace_latency_start(struct trace_array *tr);
void trace_latency_stop(struct trace_array *tr);
int trace_latency_option(struct trace_array *tr, u64 bit, bool on); /* 0, -EINVAL */

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

/*
 * Reports it, with a stack, unless another was reported since `reports` was trace_latency_reports
 * of the array, which took its records away.
 */
void trace_latency_report(struct trace_array *tr, const struct host_context *ctx,
    const struct trace_latency *found, u32 reports);
