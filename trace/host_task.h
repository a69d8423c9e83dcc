/*
 * What a task is to the scheduler, for the header of a latency trace. Weak: pid and name alone.
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

void host_current_task(struct host_task *out); /* any context */
