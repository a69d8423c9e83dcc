/*
 * What follows a record: stacks, the wake-up of readers, the system's log. Called between
 * host_enter() and host_preempt_enable(), any context.
 */
/* hot: runs with each event */
#include "trace/event/record.h"
#include "kernel/lib/string.h"
#include "trace/event/builtin.h"
#include "trace/event/wait.h"
#include "trace/host_context.h"
#include "trace/host_stack.h"
#include "trace/host_system.h"

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

void (*trace_record_log)(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);

__noinline void trace_commit_reserved(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	u32 way = READ_ONCE(file->way);

	if (way & TRACE_WAY_PRINT) /* the record is ours only until it is committed */
		trace_record_log(file, ctx, rb_data(slot->ev, slot->size), slot->size);
	rb_commit(slot->rb, ctx->cpu, slot->ev, rb_size(slot->size));
	if (way & TRACE_WAY_STACK)
		trace_record_stack(file->tr, ctx);
	if (way & TRACE_WAY_USER_STACK)
		record_user_stack(file->tr, ctx);
	if (way & TRACE_WAY_WAKE)
		trace_wake(file->tr, ctx->cpu);
}

void trace_record_image_long(struct trace_event_file *file, const void *rec, u16 id, u32 size)
{
	struct host_context ctx;
	struct trace_slot slot;

	host_context(&ctx);
	local_inc(&file->counts[ctx.cpu].hit);
	char *to = trace_reserve(&slot, file, &ctx, id, size);
	if (to) {
		memcpy(to + sizeof(ctx.common), (const char *)rec + sizeof(ctx.common),
		    size - sizeof(ctx.common));
		trace_commit_reserved(&slot, file, &ctx);
	}
	host_preempt_enable();
}
