/* Settings of the tracer function_graph, for tracefs. Task context under host_lock. */
#pragma once

#include "trace/function/function.h"

/* set_graph_function, set_graph_notrace: a bit for each function, NULL: none. 0 or -ENOMEM. */
int trace_graph_set_list(enum trace_function_list which, const u64 *list);
/* max_graph_depth; 0: no limit. */
u32 trace_graph_depth(void);
void trace_graph_set_depth(u32 depth);
