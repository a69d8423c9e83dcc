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
 * The host calls these two from now on, or not any more; false: it cannot. They run with interrupts
 * off, and must not wake anybody: a task became runnable, woken by `curr`; a CPU goes from one to
 * another. Task context under host_lock. After going off and host_synchronize(), no CPU is in them.
 */
bool host_wakeups_watch(bool on);
void trace_wakeup_woken(const struct host_sched *woken, const struct host_sched *curr);
void trace_wakeup_switched(const struct host_sched *prev, const struct host_sched *next);
