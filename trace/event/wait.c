/* Waiting for records: see wait.h. Counts under host_lock; writers look at them without. */
#include "trace/event/wait.h"
#include "kernel/lib/atomic.h"
#include "trace/event/event.h"
#include "trace/host_lock.h"
#include "trace/host_wait.h"

static int trace_wait_on(
    struct trace_array *tr, struct host_waiters *w, u32 *count, bool (*cond)(void *), void *arg)
{
	int err;

	host_lock();
	WRITE_ONCE(*count, *count + 1);
	if (tr->readers + tr->full_readers == 1)
		trace_array_set_way(tr, TRACE_WAY_WAKE, true);
	host_unlock();
	err = host_wait(w, cond, arg);
	host_lock();
	WRITE_ONCE(*count, *count - 1);
	if (tr->readers + tr->full_readers == 0)
		trace_array_set_way(tr, TRACE_WAY_WAKE, false);
	host_unlock();
	return err;
}

int trace_wait(struct trace_array *tr, bool (*cond)(void *), void *arg)
{
	return trace_wait_on(tr, tr->waiters, &tr->readers, cond, arg);
}

int trace_wait_filled(struct trace_array *tr, bool (*cond)(void *), void *arg)
{
	if (!READ_ONCE(tr->buffer_percent))
		return trace_wait(tr, cond, arg);
	return trace_wait_on(tr, tr->full_waiters, &tr->full_readers, cond, arg);
}

/* No record is of interest to it, so none is sent the long way. */
int trace_wait_snapshot(struct trace_array *tr, bool (*cond)(void *), void *arg)
{
	return host_wait(tr->waiters, cond, arg);
}

bool trace_filled(struct trace_array *tr, unsigned cpu)
{
	u32 percent = READ_ONCE(tr->buffer_percent);

	return (!percent || ring_buffer_filled(tr->buffer, cpu, percent)) &&
	       !ring_buffer_empty_cpu(tr->buffer, cpu);
}

bool trace_poll(struct trace_array *tr, int cpu)
{
	if (tr->options & TRACE_OPT_BLOCK)
		return true;
	if (cpu < 0)
		return !ring_buffer_empty(tr->buffer);
	return trace_filled(tr, cpu);
}

void trace_wake(struct trace_array *tr, unsigned cpu)
{
	if (READ_ONCE(tr->readers))
		host_wake(tr->waiters);
	if (READ_ONCE(tr->full_readers) &&
	    ring_buffer_filled(tr->buffer, cpu, READ_ONCE(tr->buffer_percent)))
		host_wake(tr->full_waiters);
}

void trace_wake_snapshot(struct trace_array *tr)
{
	host_wake(tr->waiters);
}

void trace_wake_all(struct trace_array *tr)
{
	atomic_add(&tr->wakes, 1);
	host_wake(tr->waiters);
	host_wake(tr->full_waiters);
}
