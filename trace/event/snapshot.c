/*
 * The spare buffer of a trace array: allocating, freeing and swapping it. trace_snapshot_take()
 * runs in any context; all else in task context under host_lock.
 *
 * tr->snapshot_lock excludes swaps from each other and from operations on a whole buffer. Its value
 * names the holder, so that code which interrupted the holder does not wait for it. Writers need no
 * lock: see ring_buffer_swap().
 */
#include "trace/event/snapshot.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "trace/event/clock.h"
#include "trace/event/ledger.h"
#include "trace/event/tracer.h"
#include "trace/event/wait.h"
#include "trace/host_context.h"
#include "trace/host_lock.h"
#include "trace/host_cpus.h"

#define HELD	  0xffffffffU /* by a task; else the number of a CPU, plus 1 */
#define SPINS	  100000      /* what another CPU does with the lock is far shorter */
#define NOW_TRIES 1000

void trace_snapshot_hold(struct trace_array *tr)
{
	while (!atomic_cas(&tr->snapshot_lock, 0U, HELD))
		host_relax();
}

void trace_snapshot_release(struct trace_array *tr)
{
	atomic_store_release(&tr->snapshot_lock, 0);
}

static bool lock_here(struct trace_array *tr, u32 cpu)
{
	for (unsigned i = 0; i < SPINS; i++) {
		u32 holder = atomic_load(&tr->snapshot_lock);

		if (holder == HELD || holder == cpu + 1)
			return false;
		if (!holder && atomic_cas(&tr->snapshot_lock, 0U, cpu + 1))
			return true;
		host_relax();
	}
	return false;
}

/* 0, -EBUSY, -EINVAL (the sizes differ). */
static int trace_snapshot_exchange(struct trace_array *tr, u32 cpu)
{
	int err = -EBUSY;

	if (!lock_here(tr, cpu))
		return err;
	struct ring_buffer *spare = atomic_load(&tr->snapshot);
	if (spare)
		err = ring_buffer_swap(tr->buffer, spare);
	trace_snapshot_release(tr);
	if (!err)
		trace_wake_snapshot(tr);
	return err;
}

static bool trace_snapshot_count(struct trace_array *tr, bool done)
{
	if (!done)
		atomic_add(&tr->snapshot_missed, 1);
	return done;
}

bool trace_snapshot_take(struct trace_array *tr, const struct host_context *ctx)
{
	return trace_snapshot_count(
	    tr, !tr->tracer->shows_longest && !trace_snapshot_exchange(tr, ctx->cpu));
}

bool trace_snapshot_swap(struct trace_array *tr, const struct host_context *ctx)
{
	return trace_snapshot_count(tr, !trace_snapshot_exchange(tr, ctx->cpu));
}

/* ---- the spare buffer ---- */

static int trace_snapshot_match_sizes(struct trace_array *tr, struct ring_buffer *spare)
{
	int err = 0;

	for (unsigned cpu = 0; cpu < host_cpu_count() && !err; cpu++)
		err = ring_buffer_resize(spare, ring_buffer_size(tr->buffer, cpu), cpu);
	return err;
}

int trace_snapshot_match(struct trace_array *tr)
{
	return tr->snapshot ? trace_snapshot_match_sizes(tr, tr->snapshot) : 0;
}

int trace_snapshot_alloc(struct trace_array *tr)
{
	host_assert_locked();
	u32 mode = (tr->options & TRACE_OPT_OVERWRITE ? RB_FL_OVERWRITE : 0) |
		   (tr == trace_global ? RB_FL_KEPT : 0) |
		   RB_FL_ORDER * ring_buffer_order(tr->buffer);

	if (tr->snapshot)
		return 0;
	if (tr->snapshot_opens)
		return -EBUSY;
	struct ring_buffer *spare =
	    ring_buffer_alloc(ring_buffer_size(tr->buffer, 0), mode, tr->clock->read);
	if (!spare || trace_snapshot_match_sizes(tr, spare)) {
		ring_buffer_free(spare);
		return -ENOMEM;
	}
	atomic_store_release(&tr->snapshot, spare);
	return 0;
}

/* Who takes a snapshot, and who writes in a ring that was exchanged meanwhile, is in a section. */
int trace_snapshot_free(struct trace_array *tr)
{
	host_assert_locked();
	if (tr->snapshot_users)
		return -EBUSY;
	struct ring_buffer *spare = tr->snapshot;
	trace_snapshot_hold(tr);
	atomic_store(&tr->snapshot, NULL);
	tr->snapshot_frees++;
	trace_snapshot_release(tr);
	if (spare) {
		host_synchronize();
		trace_ledger_close_buffer(tr, spare);
		ring_buffer_free(spare);
	}
	return 0;
}

int trace_snapshot_arm(struct trace_array *tr)
{
	int err = tr->mapped ? -EBUSY : trace_snapshot_alloc(tr);

	if (!err)
		tr->snapshot_users++;
	return err;
}

void trace_snapshot_disarm(struct trace_array *tr)
{
	tr->snapshot_users--;
}

int trace_snapshot_now(struct trace_array *tr)
{
	if (tr->trace_opens || tr->mapped || tr->tracer->shows_longest)
		return -EBUSY;
	int err = trace_snapshot_alloc(tr);
	if (err)
		return err;
	trace_snapshot_hold(tr);
	err = trace_snapshot_match(tr);
	trace_snapshot_release(tr);
	if (err)
		return err;
	err = -EBUSY;
	for (unsigned i = 0; i < NOW_TRIES && err == -EBUSY; i++) {
		struct host_context ctx;
		host_enter(&ctx);
		err = trace_snapshot_exchange(tr, ctx.cpu);
		host_preempt_enable();
	}
	return err;
}

void trace_snapshot_clear(struct trace_array *tr, int cpu)
{
	if (!tr->snapshot)
		return;
	trace_snapshot_hold(tr);
	if (cpu < 0)
		ring_buffer_reset(tr->snapshot);
	else
		ring_buffer_reset_cpu(tr->snapshot, cpu);
	trace_snapshot_release(tr);
}
