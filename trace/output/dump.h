/* ftrace_dump_on_oops, and dumps that somebody asks for. */
#pragma once

#include "kernel/lib/types.h"

enum { TRACE_DUMP_NONE, TRACE_DUMP_ALL, TRACE_DUMP_ORIG };

/* Makes what a dump needs for each CPU that is up: call it again when more are. 0 or -ENOMEM. Task context; exit gives it back. */
int trace_dump_prepare(void);
void trace_dump_exit(void);
/* The global buffer onto the consoles, all CPUs' or this one's, when the kernel dies: nobody else runs. Once. Any context. */
void trace_dump_last(int mode);
/*
 * If the last boot ended without a word: its events, told in its place. They stay in its instance. At boot, task context under
 * host_lock.
 */
void trace_dump_past(void);
/* The same in a living system, all CPUs'. Under host_lock, any context but NMI. False: not now, this CPU is in the middle of reading. */
bool trace_dump_now(void);
