/*
 * Called by the call sites of TRACE_EVENT_FN tracepoints: records the event if it is enabled, and
 * calls the other users of the same nop. Any context; sched_switch runs with the run queue locked.
 */
/* hot: runs with each event */
#include "kernel/base/events.h"
#include "kernel/task/task.h"
#include "trace/event/comm.h"
#include "trace/event/consumer.h"
#include "trace/event/event.h"
#include "trace/event/pid_filter.h"

extern struct trace_event_call event_sched_switch, event_sched_waking, event_sched_wakeup,
    event_sched_wakeup_new, event_sched_process_fork, event_sched_process_free, event_task_rename;

void probe_sched_switch(
    bool preempt, const struct task *prev, const struct task *next, u32 prev_state)
{
	trace_pid_switch_begin(prev->pid, next->pid);
	if (trace_event_wanted(&event_sched_switch))
		trace_record_sched_switch(preempt, prev, next, prev_state);
	trace_pid_switch_end(next->pid);
	trace_comm_switch_out(prev->pid, prev->tgid, prev->comm);
	trace_comm_switch_in(next->pid, next->tgid, next->comm);
}

/* sched_waking saves no names, as on Linux: sched_wakeup comes after it. */
static void save_no_names(const struct task *waker, const struct task *woken)
{
	(void)waker, (void)woken;
}

static void save_names(const struct task *waker, const struct task *woken)
{
	trace_comm_wakeup(waker->pid, waker->tgid, waker->comm);
	trace_comm_wakeup(woken->pid, woken->tgid, woken->comm);
}

/* The run queue is locked: interrupts are off. */
#define WAKEUP_PROBE(name, save)                                                                   \
	void probe_##name(const struct task *p)                                                    \
	{                                                                                          \
		trace_pid_wakeup_begin(p->pid);                                                    \
		if (trace_event_wanted(&event_##name))                                             \
			trace_record_##name(p);                                                    \
		trace_pid_wakeup_end(current()->pid);                                              \
		save(current(), p);                                                                \
	}
WAKEUP_PROBE(sched_waking, save_no_names)
WAKEUP_PROBE(sched_wakeup, save_names)
WAKEUP_PROBE(sched_wakeup_new, save_names)

void probe_task_rename(const struct task *p, const char *newcomm)
{
	if (trace_event_wanted(&event_task_rename))
		trace_record_task_rename(p, newcomm);
	preempt_disable();
	trace_comm_rename(p->pid, p->tgid, newcomm);
	preempt_enable();
}

void probe_sched_process_fork(const struct task *parent, const struct task *child)
{
	if (trace_event_wanted(&event_sched_process_fork))
		trace_record_sched_process_fork(parent, child);
	preempt_disable();
	trace_pid_fork(parent->pid, child->pid);
	preempt_enable();
}

void probe_sched_process_free(const struct task *p)
{
	if (trace_event_wanted(&event_sched_process_free))
		trace_record_sched_process_free(p);
	preempt_disable();
	trace_pid_free(p->pid);
	preempt_enable();
}
