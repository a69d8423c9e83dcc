/* The lines of function_graph. Contexts are those of output.h. */
#pragma once

#include "trace/event/event.h"
#include "trace/event/tracer.h"

/* function_graph's, and those of latency tracers with options/display-graph. */
extern const struct trace_printer trace_graph_printer, trace_graph_critical_printer,
    trace_graph_wakeup_printer;
/* As print_line of its events' classes: without what the lines before say. */
void trace_graph_print_event(
    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len);
/* A duration in microseconds, in eight columns at least, with its unit. */
void trace_print_duration(struct seq *s, u64 ns);
