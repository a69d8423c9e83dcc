/*
 * Waiting for records of a trace array: for any record, or until a CPU's buffer is filled to
 * buffer_percent. Waits: task context, without host_lock. Wake-ups: any context.
 */
#pragma once

#include "trace/event/array.h"

/* Sleeps until cond(arg), tested after each record. 0 or -EINTR. */
int trace_wait(struct trace_array *tr, bool (*cond)(void *), void *arg);
/*
 * The same, tested only when some CPU's buffer is filled to tr->buffer_percent (0: after each
 * record).
 */
int trace_wait_filled(struct trace_array *tr, bool (*cond)(void *), void *arg);
/* Sleeps until cond(arg), tested after each snapshot. 0 or -EINTR. */
int trace_wait_snapshot(struct trace_array *tr, bool (*cond)(void *), void *arg);
/* True if the CPU's buffer has unread records and is filled to buffer_percent. Task context. */
bool trace_filled(struct trace_array *tr, unsigned cpu);
/*
 * True if poll() reports data: always with options/block; for one CPU when its buffer is filled to
 * buffer_percent. cpu < 0: any CPU.
 */
bool trace_poll(struct trace_array *tr, int cpu);
/* Called after a commit on that CPU; needed only if TRACE_WAY_WAKE is set. */
void trace_wake(struct trace_array *tr, unsigned cpu);
/* After a snapshot was taken. */
void trace_wake_snapshot(struct trace_array *tr);
/*
 * Makes all waiters test their conditions. Increments tr->wakes first, for conditions that depend
 * on it.
 */
void trace_wake_all(struct trace_array *tr);
