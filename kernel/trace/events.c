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

/* A lock is two hits and more: they would be most of any trace. */
static struct trace_event_call *const asked[] = {
    &event_irq_disable, &event_irq_enable, &event_preempt_disable, &event_preempt_enable};

void events_register(void)
{
	trace_events_register(trace_event_list, ARRAY_SIZE(trace_event_list));
	for (unsigned i = 0; i < ARRAY_SIZE(asked); i++)
		asked[i]->flags |= TRACE_CALL_ASKED;
}
