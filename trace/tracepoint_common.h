/*
 * What the functions that tracepoint_define.h makes of events share. Copies in the file of the
 * events: there the compiler sees which registers they leave alone, and whether it pays to have
 * them inline.
 */
#pragma once

#include "trace/event/record.h"
#include "trace/host_context.h"

static inline void *trace_event_reserve(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	return trace_reserve(slot, file, ctx, id, size);
}

static inline __attribute__((always_inline)) void trace_event_put_common(void *rec, u16 id)
{
	struct host_context ctx;

	host_context(&ctx);
	*(trace_word_t *)rec = ctx.common | id;
}

/*
 * Records an image that its filter has let pass and that is whole, by the short way if that can be.
 */
static inline __attribute__((always_inline)) void trace_event_record_image(
    struct trace_event_file *file, const void *rec, u16 id, u32 size)
{
	const u32 more = ~(u32)(TRACE_WAY_FILTER | TRACE_WAY_PID);
	struct host_context ctx;
	struct trace_slot slot;
	char *to = NULL;

	if (likely(!(file->way & more))) { /* one look, as part of the test: no READ_ONCE() */
		host_context(&ctx);
		to = trace_begin_now(&slot, file, &ctx, id, size);
	}
	if (unlikely(!to)) {
		trace_record_image_long(file, rec, id, size);
		return;
	}
	__builtin_memcpy(to + sizeof(ctx.common), (const char *)rec + sizeof(ctx.common),
	    size - sizeof(ctx.common));
	trace_commit_short(&slot, &ctx);
	host_preempt_enable();
}
