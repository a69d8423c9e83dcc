/*
 * Which tracer an array has: a row per tracer. Task context under host_lock.
 *
 * trace/function/ has `function` and `function_graph`. hwlat.c has its own: tasks that the host
 * runs for it sample the clock with interrupts off, and write a record for each sample that was
 * interrupted by the firmware. critical.c has irqsoff, preemptoff and preemptirqsoff, wakeup.c has
 * wakeup and wakeup_rt, osnoise.c osnoise and timerlat, latency.c what the others share.
 * trace/tracefs/tracer.c and osnoise.c have the files.
 */
#include "trace/tracer/tracer.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_lock.h"
#include "trace/function/function.h"

u64 trace_thresh_ns;

const struct trace_tracer *const trace_tracers[] = {&trace_tracer_timerlat, &trace_tracer_osnoise,
    &trace_tracer_hwlat, &trace_tracer_wakeup_rt, &trace_tracer_wakeup,
    &trace_tracer_preemptirqsoff, &trace_tracer_preemptoff, &trace_tracer_irqsoff,
    &trace_tracer_function_graph, &trace_tracer_function, &trace_tracer_nop, NULL};

static const struct trace_tracer *find(const char *name)
{
	const struct trace_tracer *const *t = trace_tracers;

	while (*t && strcmp((*t)->name, name))
		t++;
	return *t;
}

int trace_tracer_set(struct trace_array *tr, const char *name, bool keep)
{
	host_assert_locked();
	const struct trace_tracer *t = find(name);
	int err = t ? trace_array_expand(tr) : -EINVAL;

	if (err || t == tr->tracer)
		return err;
	if (tr->piped || tr->raw_opens)
		return -EBUSY;
	trace_tracer_drop(tr);
	if (!keep)
		trace_array_clear(tr, -1);
	err = t->init ? t->init(tr) : 0;
	if (!err)
		tr->tracer = t;
	return err;
}

void trace_tracer_set_option(
    struct trace_array *tr, const struct trace_tracer *owner, u32 bit, bool on)
{
	u32 options = on ? tr->tracer_options | bit : tr->tracer_options & ~bit;

	if (options != tr->tracer_options) {
		tr->tracer_options = options;
		owner->options_changed(tr);
	}
}

void trace_tracer_thresh_changed(void)
{
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node)
		if (tr->tracer->options_changed)
			tr->tracer->options_changed(tr);
}

void trace_tracer_switch(struct trace_array *tr, bool on)
{
	void (*fn)(struct trace_array *) = on ? tr->tracer->start : tr->tracer->stop;

	if (fn)
		fn(tr);
}
