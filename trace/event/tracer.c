/* The tracer that does nothing, which an array has unless another was chosen. */
#include "trace/event/tracer.h"
#include "trace/event/array.h"

const struct trace_tracer trace_tracer_nop = {.name = "nop"};

void trace_tracer_drop(struct trace_array *tr)
{
	const struct trace_tracer *old = tr->tracer;

	tr->tracer = &trace_tracer_nop;
	if (old->reset)
		old->reset(tr);
}
