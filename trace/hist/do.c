/*
 * Runs actions of histograms when their event fires: any context, between host_enter() and
 * host_preempt_enable(). Also shows the data that they saved: task context under host_lock.
 */
#include "kernel/lib/atomic.h"
#include "trace/dynevent/synth.h"
#include "trace/event/array.h"
#include "trace/event/snapshot.h"
#include "trace/event/trigger.h"
#include "trace/hist/hist.h"
#include "trace/host_context.h"

/* ---- doing: any context ---- */

static void hist_trace_synth(
    const struct hist_action *a, const struct host_context *ctx, const u64 *refs)
{
	u64 vals[SYNTH_FIELDS_MAX];

	for (u32 i = 0; i < a->n_params; i++)
		vals[i] = refs[a->refs[i]];
	synth_event_record(a->synth, ctx, vals);
}

static void hist_take_snapshot(
    struct hist *h, struct hist_snapshot *shot, const struct host_context *ctx)
{
	if (trace_snapshot_take(h->file->tr, ctx))
		atomic_store_release(&shot->taken, true);
}

/*
 * After the record. If another hit of this CPU came in between, it has taken the snapshot of both.
 */
void hist_take_snapshots(struct hist *h, const struct host_context *ctx)
{
	const u64 mine = 1UL << ctx->cpu;

	for (u32 i = 0; i < h->n_actions; i++) {
		struct hist_snapshot *shot = h->actions[i]->shot;

		if (!shot || !(atomic_load(&shot->due) & mine))
			continue;
		atomic_and(&shot->due, ~mine);
		hist_take_snapshot(h, shot, ctx);
	}
}

/*
 * Only for what is more than in any entry before (or another than last time). As on Linux, the
 * snapshot contains the record of this hit, which is made later.
 */
static void do_snapshot(struct hist *h, struct hist_action *a, struct hist_entry *e, u64 value,
    const struct host_context *ctx, u32 *after)
{
	struct hist_snapshot *shot = a->shot;
	u64 before = atomic_load(&shot->value);

	if (a->handler == HIST_ONMAX ? value <= before : value == before)
		return;
	if (!atomic_cas(&shot->value, before, value))
		return;
	atomic_store_release(&shot->entry, e);
	if (!after) {
		hist_take_snapshot(h, shot, ctx);
		return;
	}
	atomic_or(&shot->due, 1UL << ctx->cpu);
	*after |= TRACE_TRIGGER_HIST;
}

static void do_tracked(struct hist *h, struct hist_action *a, struct hist_entry *e,
    const struct host_context *ctx, const void *rec, u32 len, const u64 *refs, u32 *after)
{
	u64 value = refs[a->ref->ref_index], before;

	do { /* another CPU may have a larger one at this moment */
		before = hist_var(h->map, e, a->best);
		if (a->handler == HIST_ONMAX ? value <= before : value == before)
			return;
	} while (!hist_change_var(h->map, e, a->best, before, value));
	if (a->kind == HIST_SAVE)
		hist_store_params(h, e, h->save_vars, h->n_save_vars, ctx, rec, len);
	else if (a->kind == HIST_SNAPSHOT)
		do_snapshot(h, a, e, value, ctx, after);
	else
		hist_trace_synth(a, ctx, refs);
}

/*
 * An action may set off what leads back here: it ends there, counted. Interrupts nest, too. A round
 * takes up to 2 KiB of the stack, which has 16.
 */
#define DEPTH_MAX 4
static u8 depth[MAX_CPUS]; /* [C] */

void hist_run_actions(struct hist *h, struct hist_entry *e, const struct host_context *ctx,
    const void *rec, u32 len, const u64 *refs, u32 *after)
{
	if (depth[ctx->cpu] == DEPTH_MAX) {
		local_inc(&h->file->counts[ctx->cpu].trigger_missed);
		return;
	}
	depth[ctx->cpu]++;
	for (u32 i = 0; i < h->n_actions; i++) {
		struct hist_action *a = h->actions[i];
		if (a->handler == HIST_ONMATCH)
			hist_trace_synth(a, ctx, refs);
		else
			do_tracked(h, a, e, ctx, rec, len, refs, after);
	}
	depth[ctx->cpu]--;
}

/* ---- showing what they kept ---- */

static void show_saved_stack(struct seq *s, const char *name, const u64 *frames)
{
	seq_printf(s, "  %s:\n", name);
	if (frames)
		hist_show_frames(s, frames);
}

static void show_saved(struct seq *s, const struct hist *h, struct hist_entry *e)
{
	for (u32 i = 0; i < h->n_save_vars; i++) {
		const struct hist_field *var = h->save_vars[i]->var;
		u64 v = hist_var(h->map, e, var->index);
		if (var->flags & HIST_STACKTRACE)
			show_saved_stack(s, var->var_name, (const u64 *)v);
		else if (var->flags & HIST_IS_STRING)
			seq_printf(s, "  %s: %-32s", var->var_name, v ? (const char *)v : "");
		else
			seq_printf(s, "  %s: %10lu", var->var_name, v);
	}
}

void hist_show_tracked(struct seq *s, const struct hist *h, struct hist_entry *e)
{
	for (u32 i = 0; i < h->n_actions; i++) {
		const struct hist_action *a = h->actions[i];
		if (a->handler == HIST_ONMATCH || a->kind == HIST_SNAPSHOT)
			continue;
		seq_printf(s, "\n\t%s: %10lu", a->handler == HIST_ONMAX ? "max" : "changed",
		    hist_var(h->map, e, a->best));
		show_saved(s, h, e);
	}
}

void hist_show_snapshot(struct seq *s, const struct hist *h)
{
	for (u32 i = 0; i < h->n_actions; i++) {
		const struct hist_action *a = h->actions[i];
		if (!a->shot || !atomic_load_acquire(&a->shot->taken))
			continue;
		seq_printf(s,
		    "\nSnapshot taken (see tracing/snapshot).  Details:\n"
		    "\ttriggering value { %s(%s) }: %10lu\ttriggered by event with key: ",
		    a->handler == HIST_ONMAX ? "onmax" : "onchange", a->tracked,
		    atomic_load(&a->shot->value));
		hist_show_key(s, h, atomic_load_acquire(&a->shot->entry));
		seq_putc(s, '\n');
	}
}
