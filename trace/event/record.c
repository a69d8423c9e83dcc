/*
 * What follows a record: stacks, the wake-up of readers, the system's log. Called between host_enter() and host_preempt_enable(), any context.
 */
/* hot: runs with each event */
#include "trace/event/record.h"
#include "kernel/lib/string.h"
#include "trace/event/builtin.h"
#include "trace/host_context.h"
#include "trace/host_log.h"
#include "trace/host_stack.h"
#include "trace/host_system.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/output/wait.h"

#define FRAMES_MAX 32

bool trace_record_stack(struct trace_array *tr, const struct host_context *ctx)
{
	struct trace_event_file *file = trace_builtin_file(tr, TRACE_STACK);
	u64 frames[FRAMES_MAX];
	struct trace_slot slot;

	u32 n = host_stack(frames, FRAMES_MAX);
	struct rec_stack *rec =
	    trace_begin(&slot, file, ctx, TRACE_STACK, sizeof(*rec) + n * sizeof(u64));
	if (!rec)
		return false;
	rec->size = n;
	memcpy(rec->caller, frames, n * sizeof(u64));
	ring_buffer_unlock_commit(slot.rb, slot.ev);
	return true;
}

static void record_user_stack(struct trace_array *tr, const struct host_context *ctx)
{
	struct trace_event_file *file = trace_builtin_file(tr, TRACE_USER_STACK);
	u64 frames[TRACE_USER_FRAMES] = {0};
	struct trace_slot slot;

	if (!host_user_stack(frames, TRACE_USER_FRAMES))
		return;
	struct rec_user_stack *rec = trace_begin(&slot, file, ctx, TRACE_USER_STACK, sizeof(*rec));
	if (!rec)
		return;
	rec->tgid = host_tgid(ctx->pid);
	memcpy(rec->caller, frames, sizeof(frames));
	ring_buffer_unlock_commit(slot.rb, slot.ev);
}

/* A line that the log's own way sets off (printk:console, a spinning lock) is not printed in turn. */
static u8 printing[MAX_CPUS]; /* [C] */

/* The record's line into the system's log (tp_printk). */
static void print_record(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len)
{
	struct trace_out out;
	char text[256];
	struct seq s;

	if (printing[ctx->cpu])
		return;
	printing[ctx->cpu] = 1;
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, file->tr->options);
	trace_print_event(&out, rec, len);
	while (s.len && text[s.len - 1] == '\n')
		s.len--;
	host_log("%.*s", (int)s.len, text);
	printing[ctx->cpu] = 0;
}

__noinline void trace_commit_reserved(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	u32 way = READ_ONCE(file->way);

	if (way & TRACE_WAY_PRINT) /* the record is ours only until it is committed */
		print_record(file, ctx, rb_data(slot->ev, slot->size), slot->size);
	rb_commit(slot->rb, ctx->cpu, slot->ev, rb_size(slot->size));
	if (way & TRACE_WAY_STACK)
		trace_record_stack(file->tr, ctx);
	if (way & TRACE_WAY_USER_STACK)
		record_user_stack(file->tr, ctx);
	if (way & TRACE_WAY_WAKE)
		trace_wake(file->tr, ctx->cpu);
}
