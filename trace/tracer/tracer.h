/*
 * The tracers of current_tracer: each trace array has one, which records by itself while recording
 * is on. Task context under host_lock.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/tracer.h"

extern const struct trace_tracer trace_tracer_hwlat, trace_tracer_irqsoff, trace_tracer_preemptoff,
    trace_tracer_preemptirqsoff, trace_tracer_wakeup, trace_tracer_wakeup_rt, trace_tracer_osnoise,
    trace_tracer_timerlat;
/* As available_tracers lists them; ends with NULL. */
extern const struct trace_tracer *const trace_tracers[];

/*
 * By name. -EINVAL: there is none; -EBUSY: a trace_pipe of the array is open, or what the tracer
 * needs is another array's; -ENOMEM. After a failure of init() the tracer is nop, as on Linux.
 * What was recorded before goes with the old tracer, unless it is to be kept.
 */
int trace_tracer_set(struct trace_array *tr, const char *name, bool keep);
/* tracing_on by hand. */
void trace_tracer_switch(struct trace_array *tr, bool on);

/* An option of that tracer's, be it the array's or not. */
void trace_tracer_set_option(
    struct trace_array *tr, const struct trace_tracer *owner, u32 bit, bool on);

extern u64 trace_thresh_ns; /* [A] tracing_thresh: what is shorter is not worth a record */
/* After a change of it. */
void trace_tracer_thresh_changed(void);
