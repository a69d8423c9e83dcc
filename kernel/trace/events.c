/*
 * Everything behind the static tracepoints: their records, fields, printing and recording
 * functions, made from kernel/base/events.def. The recording functions run in the context of their
 * call sites: any.
 */
/* hot: runs with each event */
#include "kernel/base/events.h"
#include "kernel/task/task.h"
#include "trace/event/event.h"
#include "trace/tracepoint_define.h"

void events_register(void)
{
	trace_events_register(trace_event_list, ARRAY_SIZE(trace_event_list));
}
