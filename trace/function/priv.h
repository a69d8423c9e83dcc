/* What the files of function tracers share. Legend as in trace/event/event.h. */
#pragma once

#include "trace/function/function.h"
#include "trace/host_function.h"

/* Of an array, from the first use of its lists or its tracer on. */
struct trace_functions {
	struct host_hook hook;
	struct trace_array *tr; /* [I] */
	u64 *lists[2];		/* [L] by enum trace_function_list; NULL: there is none */
	bool on;		/* [L] its tracer is a function tracer, the hook is the host's */
	bool stacks;		/* [A] func_stack_trace */
	u8 busy[MAX_CPUS];	/* [C] the context that is recording the long way; 0: none */
};

/* NULL: no memory. */
struct trace_functions *trace_functions_of(struct trace_array *tr);
/* What its lists say; NULL: no memory. The caller frees it. */
u64 *trace_functions_make_set(const struct trace_functions *f);
/* Its lists changed. */
void trace_functions_changed(struct trace_array *tr);
