/*
 * How the table of names of tasks lies in memory: the next boot reads it there, if the memory is
 * kept.
 */
#pragma once

#include "kernel/lib/types.h"

/* An entry of the table of names of tasks. */
struct trace_comm_slot {
	char comm[16];
	s32 pid; /* 0: free */
};
