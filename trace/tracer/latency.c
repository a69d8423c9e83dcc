/*
 * Starting and ending a latency tracer, and reporting what it found. The lock keeps reports of
 * several CPUs apart; an NMI neither reports nor waits for it.
 */
#include "trace/tracer/latency.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "trace/event/record.h"
#include "trace/event/snapshot.h"
#include "trace/function/function.h"
#include "trace/host_clock.h"

#define CYCLES_MEASURED (1UL << 32) /* a distance long enough for the scale */

u64 trace_latency_mult;
static u32 report_lock; /* [A] */

static void trace_latency_set_options(struct trace_array *tr, u64 which, u64 options)
{
	for (; which; which &= which - 1) {
		u64 bit = which & -which;

		trace_array_set_option(tr, bit, options & bit);
	}
}

int trace_latency_start(struct trace_array *tr, u64 options)
{
	int err = trace_snapshot_arm(tr);

	if (err)
		return err;
	tr->latency_options = tr->options;
	tr->latency_set = options;
	trace_latency_set_options(tr, options, options);
	u64 now = host_cycles();
	trace_latency_mult = host_clock_ns(now + CYCLES_MEASURED) - host_clock_ns(now);
	tr->max_latency_ns = 0;
	return 0;
}

/* Frees the spare buffer, unless another user takes snapshots. */
void trace_latency_stop(struct trace_array *tr)
{
	trace_latency_set_options(tr, tr->latency_set, tr->latency_options);
	trace_snapshot_disarm(tr);
	trace_snapshot_free(tr);
	tr->longest = (struct trace_latency){0};
}

int trace_latency_option(struct trace_array *tr __maybe_unused, u64 bit, bool on)
{
	return bit == TRACE_OPT_OVERWRITE && !on ? -EINVAL : 0;
}

int trace_latency_set_functions(struct trace_array *tr, struct trace_latency_functions *f, bool on)
{
	int err = 0;

	if (on == f->on)
		return 0;
	if (on)
		err = f->is_graph ? trace_graph_start(tr, &f->graph)
				  : trace_functions_start(tr, &f->hook);
	else
		trace_functions_stop(tr);
	if (!err)
		f->on = on;
	return err;
}

int trace_latency_set_graph(struct trace_array *tr, struct trace_latency_functions *f, bool graph)
{
	bool before = f->is_graph;

	trace_latency_set_functions(tr, f, false);
	f->is_graph = graph;
	tr->max_latency_ns = 0;
	trace_array_clear(tr, -1);
	int err = trace_latency_set_functions(tr, f, tr->options & TRACE_OPT_FUNCTION);
	if (err)
		f->is_graph = before;
	return err;
}

/* For a record when the ring turns a page, or a reader waits for records. */
bool trace_latency_call_long(struct trace_event_file *file, u64 ip, u64 parent)
{
	struct host_context ctx;
	struct trace_slot slot;

	if (!ring_buffer_record_is_on(file->buffer))
		return false;
	host_context(&ctx);
	local_inc(&file->counts[ctx.cpu].hit);
	struct rec_function *rec = trace_reserve(&slot, file, &ctx, sizeof(*rec));
	if (rec) {
		rec->ip = ip;
		rec->parent_ip = parent;
		trace_commit_bare(&slot, file, &ctx);
	}
	return true;
}

void trace_latency_report(struct trace_array *tr, const struct host_context *ctx,
    const struct trace_latency *found, u32 reports)
{
	while (!atomic_cas(&report_lock, 0U, 1U))
		host_relax();
	if (trace_latency_is_long(tr, found->ns) && reports == READ_ONCE(tr->latency_reports) &&
	    trace_snapshot_swap(tr, ctx)) {
		atomic_store(&tr->latency_reports, reports + 1);
		tr->longest = *found;
		WRITE_ONCE(tr->max_latency_ns, found->ns);
		atomic_store_release(&tr->latency_reports, reports + 2);
	}
	atomic_store_release(&report_lock, 0);
}
