/*
 * The work after a record is committed: stacks, waking readers, the system's log. Called between
 * host_enter() and host_preempt_enable(), in any context.
 */
/* hot: runs with each event */
#include "trace/event/record.h"
#include "kernel/lib/string.h"
#include "trace/event/ftrace.h"
#include "trace/event/wait.h"
#include "trace/host_context.h"
#include "trace/host_stack.h"
#include "trace/host_system.h"

#define FRAMES_MAX 32

/*
 * A record that follows another one: nobody asks about it, and nothing follows it. False: refused,
 * and counted.
 */
static bool trace_record_behind(
    struct trace_event_file *file, const struct host_context *ctx, const void *image, u32 size)
{
	const u32 head = sizeof(struct trace_entry);
	struct trace_slot slot;

	local_inc(&file->counts[ctx->cpu].hit);
	char *rec = trace_reserve(&slot, file, ctx, size);
	if (!rec)
		return false;
	memcpy(rec + head, (const char *)image + head, size - head);
	ring_buffer_unlock_commit(slot.rb, slot.ev);
	return true;
}

bool trace_record_stack(struct trace_array *tr, const struct host_context *ctx)
{
	u64 image[sizeof(struct rec_stack) / sizeof(u64) + FRAMES_MAX];
	struct rec_stack *rec = (struct rec_stack *)image;
	u32 n = host_stack(&image[sizeof(*rec) / sizeof(u64)], FRAMES_MAX);

	rec->size = n;
	rec->pad = 0;
	return trace_record_behind(
	    trace_ftrace_file(tr, TRACE_STACK), ctx, rec, sizeof(*rec) + n * sizeof(u64));
}

static void record_user_stack(struct trace_array *tr, const struct host_context *ctx)
{
	struct rec_user_stack rec = {0};
	u64 frames[TRACE_USER_FRAMES] = {0};

	if (!host_user_stack(frames, TRACE_USER_FRAMES))
		return;
	rec.tgid = host_tgid(ctx->pid);
	memcpy(rec.caller, frames, sizeof(frames));
	trace_record_behind(trace_ftrace_file(tr, TRACE_USER_STACK), ctx, &rec, sizeof(rec));
}

void (*trace_record_log)(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);

void trace_commit_bare(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	trace_record_end(slot);
	if (READ_ONCE(file->way) & TRACE_WAY_WAKE)
		trace_wake(file->tr, ctx->cpu);
}

__noinline void trace_commit_reserved(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	u32 way = READ_ONCE(file->way);

	if (way & TRACE_WAY_PRINT) /* the record is ours only until it is committed */
		trace_record_log(file, ctx, rb_data(slot->ev, slot->size), slot->size);
	trace_record_end(slot);
	if (way & TRACE_WAY_STACK)
		trace_record_stack(file->tr, ctx);
	if (way & TRACE_WAY_USER_STACK)
		record_user_stack(file->tr, ctx);
	if (way & TRACE_WAY_WAKE)
		trace_wake(file->tr, ctx->cpu);
}
