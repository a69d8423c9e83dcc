/*
 * Readers of a trace array that wait for records: for any, or until a CPU's buffer is filled as far
 * as buffer_percent says. The waits: task context, without host_lock. The wake-ups: any context.
 */
#pragma once

#include "trace/event/array.h"

/* Sleeps until cond(arg), looked at after each record. 0 or -EINTR. */
int trace_wait(struct trace_array *tr, bool (*cond)(void *), void *arg);
/*
 * The same, looked at only when some CPU's buffer is filled to tr->buffer_percent (0: after each
 * record).
 */
int trace_wait_filled(struct trace_array *tr, bool (*cond)(void *), void *arg);
/* Sleeps until cond(arg), looked at after each snapshot. 0 or -EINTR. */
int trace_wait_snapshot(struct trace_array *tr, bool (*cond)(void *), void *arg);
/* Whether the CPU has unread records, and is filled to buffer_percent. Task context. */
bool trace_filled(struct trace_array *tr, unsigned cpu);
/*
 * Whether poll() says that there is something to read: with options/block always; of one CPU when
 * it is filled so far. cpu < 0: any.
 */
bool trace_poll(struct trace_array *tr, int cpu);
/* After a record of that CPU was committed. Only when TRACE_WAY_WAKE is set does it matter. */
void trace_wake(struct trace_array *tr, unsigned cpu);
/* After a snapshot was taken. */
void trace_wake_snapshot(struct trace_array *tr);
/*
 * Whatever is there: all look at their condition. Counted in tr->wakes first, for conditions that
 * end by it.
 */
void trace_wake_all(struct trace_array *tr);
