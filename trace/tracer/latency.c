/*
 * Starting and ending a latency tracer, and reporting what it found. The lock keeps reports of
 * several CPUs apart; an NMI neither reports nor waits for it.
 */
#include "trace/tracer/latency.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "trace/event/record.h"
#include "trace/event/snapshot.h"
#include "trace/host_clock.h"

/* Without the second a record could not be compared with its latency; the third keeps the buffer
 * that is read. */
#define OPTIONS_SET (TRACE_OPT_OVERWRITE | TRACE_OPT_LATENCY_FMT | TRACE_OPT_PAUSE_ON_TRACE)

#define CYCLES_MEASURED (1UL << 32) /* a distance long enough for the scale */

u64 trace_latency_mult;
static u32 report_lock; /* [A] */

static void trace_latency_set_options(struct trace_array *tr, u64 options)
{
	for (u64 left = OPTIONS_SET; left; left &= left - 1) {
		u64 bit = left & -left;

		trace_array_set_option(tr, bit, options & bit);
	}
}

int trace_latency_start(struct trace_array *tr)
{
	int err = trace_snapshot_arm(tr);

	if (err)
		return err;
	tr->latency_options = tr->options;
	trace_latency_set_options(tr, OPTIONS_SET);
	u64 now = host_cycles();
	trace_latency_mult = host_clock_ns(now + CYCLES_MEASURED) - host_clock_ns(now);
	tr->max_latency_ns = 0;
	return 0;
}

/* The spare buffer goes, unless somebody else takes snapshots. */
void trace_latency_stop(struct trace_array *tr)
{
	trace_latency_set_options(tr, tr->latency_options);
	trace_snapshot_disarm(tr);
	trace_snapshot_free(tr);
	tr->longest = (struct trace_latency){0};
}

int trace_latency_option(struct trace_array *tr __maybe_unused, u64 bit, bool on)
{
	return bit == TRACE_OPT_OVERWRITE && !on ? -EINVAL : 0;
}

void trace_latency_report(struct trace_array *tr, const struct host_context *ctx,
    const struct trace_latency *found, u32 reports)
{
	while (!atomic_cas(&report_lock, 0U, 1U))
		host_relax();
	if (trace_latency_is_long(tr, found->ns)) {
		trace_record_stack(tr, ctx);
		if (reports == READ_ONCE(tr->latency_reports) && trace_snapshot_swap(tr, ctx)) {
			tr->longest = *found;
			WRITE_ONCE(tr->max_latency_ns, found->ns);
			WRITE_ONCE(tr->latency_reports, reports + 1);
		}
	}
	atomic_store_release(&report_lock, 0);
}
