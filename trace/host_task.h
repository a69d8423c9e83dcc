/*
 * Tasks as the scheduler sees them, for the latency tracers. Weak: pid and name of the current task
 * alone, and the tracer `wakeup` refuses to begin.
 */
#pragma once

#include "kernel/lib/types.h"

struct host_task {
	s32 pid;
	char comm[16];
	u32 uid;
	s32 nice;
	u32 policy, rt_priority; /* Linux's numbers */
};

/* `task`: the host's name for it, as below; NULL: the current one. Any context. */
void host_task_of(const void *task, struct host_task *out);

/* A task at a wake-up or a switch. */
struct host_sched {
	const void *task; /* the host's name for it, while it lives */
	u32 pid, cpu;
	u8 prio, state; /* Linux's numbers; of states: as in "RSDTtXZPI" */
};

/*
 * Makes the host call the other two, or stops that; false: the host cannot. trace_wakeup_woken():
 * `curr` made a task runnable. trace_wakeup_switched(): a CPU switches tasks. Both run with
 * interrupts off, and must not wake a task. Task context under host_lock. After a stop and
 * host_synchronize(), no CPU runs them.
 */
bool host_wakeups_watch(bool on);
void trace_wakeup_woken(const struct host_sched *woken, const struct host_sched *curr);
void trace_wakeup_switched(const struct host_sched *prev, const struct host_sched *next);
