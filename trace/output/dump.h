/* ftrace_dump_on_oops, and dumps that somebody asks for. */
#pragma once

#include "kernel/lib/types.h"

struct trace_array;

enum { TRACE_DUMP_NONE, TRACE_DUMP_ALL, TRACE_DUMP_ORIG };

/*
 * Makes what a dump needs for each CPU that is up: call it again when more are. 0 or -ENOMEM. Task
 * context; exit gives it back.
 */
int trace_dump_prepare(void);
/* The same for sub-buffers of so many bytes, before there are any. Task context under host_lock. */
int trace_dump_make_room(size_t page_size);
void trace_dump_exit(void);
/*
 * The global buffer onto the consoles, all CPUs' or this one's, when the kernel dies: nobody else
 * runs. Once. Any context.
 */
void trace_dump_last(int mode);
/*
 * The same in a living system, all CPUs'. Under host_lock, any context but NMI. False: not now,
 * this CPU is in the middle of reading.
 */
bool trace_dump_now(void);
/*
 * Recording is off from now on, and the same comes as soon as it can; mode: TRACE_DUMP_ALL, or
 * TRACE_DUMP_ORIG for this CPU's alone. Any context.
 */
void trace_dump_soon(int mode);
/*
 * The events of an array that shows the last boot, told in its place; they stay there. NULL:
 * nothing. At boot, task context under host_lock.
 */
void trace_dump_past(struct trace_array *tr);
