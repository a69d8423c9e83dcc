/*
 * The clocks of trace_clock. Most are the TSC, converted to nanoseconds only on output. Writers
 * call read() in any context.
 */
#include "trace/event/clock.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/parts.h"
#include "trace/event/snapshot.h"
#include "trace/host_clock.h"

#define NS_PER_TICK 10000000 /* of the clock "uptime": 100 Hz, as Linux counts for programs */

static u64 counter;

static u64 trace_clock_read_counter(void)
{
	return atomic_add(&counter, 1);
}

static u64 trace_clock_read_uptime(void)
{
	return host_clock_ns(host_clock()) / NS_PER_TICK;
}

static u64 trace_clock_tai_ns(u64 t)
{
	return host_unix_ns() + host_clock_ns(t);
}

const struct trace_clock trace_clocks[] = {
    {"local", NULL, host_clock_ns, true},
    {"global", NULL, host_clock_ns, true},
    {"counter", trace_clock_read_counter, NULL, false},
    {"uptime", trace_clock_read_uptime, NULL, false},
    {"perf", NULL, host_clock_ns, true},
    {"mono", NULL, host_clock_ns, true},
    {"mono_raw", NULL, host_clock_ns, true},
    {"boot", NULL, host_clock_ns, true},
    {"tai", NULL, trace_clock_tai_ns, true},
    {"x86-tsc", NULL, NULL, false},
    {.name = NULL},
};

u64 trace_clock_ns(const struct trace_array *tr, u64 stamp)
{
	if (unlikely(tr->past))
		return trace_prevboot_ns(tr, stamp);
	return tr->clock->to_ns ? tr->clock->to_ns(stamp) : stamp;
}

void trace_clock_show(struct seq *s, const struct trace_array *tr)
{
	for (const struct trace_clock *c = trace_clocks; c->name; c++)
		seq_printf(s, "%s%s%s%s", c == trace_clocks ? "" : " ", c == tr->clock ? "[" : "",
		    c->name, c == tr->clock ? "]" : "");
	seq_putc(s, '\n');
}

u64 trace_clock_now(const struct trace_array *tr)
{
	return trace_clock_ns(tr, tr->clock->read ? tr->clock->read() : host_clock());
}

int trace_array_set_clock(struct trace_array *tr, const char *name)
{
	const struct trace_clock *clock = trace_clocks;

	while (clock->name && strcmp(clock->name, name))
		clock++;
	if (!clock->name)
		return -EINVAL;
	if (tr->past)
		return -EPERM;
	if (tr == trace_global)
		kept_note_clock(clock->name);
	trace_snapshot_hold(tr);
	tr->clock = clock;
	ring_buffer_set_clock(tr->buffer, clock->read);
	if (tr->snapshot)
		ring_buffer_set_clock(tr->snapshot, clock->read);
	trace_snapshot_release(tr);
	trace_array_clear(tr, -1);
	return 0;
}
