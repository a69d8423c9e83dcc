/*
 * What the call sites of TRACE_EVENT_FN tracepoints call: the event's own record if somebody wants
 * it, and the other things that hang on the same nop. Any context; sched_switch runs with the run
 * queue locked.
 */
#include "kernel/events.h"
#include "kernel/task/task.h"
#include "trace/comm.h"
#include "trace/event.h"

extern struct trace_event_call event_sched_switch;

void probe_sched_switch(
    bool preempt, const struct task *prev, const struct task *next, u32 prev_state)
{
	if (READ_ONCE(event_sched_switch.live))
		trace_record_sched_switch(preempt, prev, next, prev_state);
	trace_comm_switch(prev->pid, prev->tgid, prev->comm);
	trace_comm_switch(next->pid, next->tgid, next->comm);
}
