/*
 * The hot path of an event, as generated code and the few hand-written recorders use it: between
 * host_enter() and host_exit(), for each live file, trace_begin(), fill, trace_commit(). Any
 * context; no lock, no allocation.
 */
#pragma once

#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"
#include "trace/event.h"
#include "trace/ring_buffer_write.h"
#include "trace/trace_array.h"

typedef u64 trace_common_t __aligned(4); /* a record stands at a multiple of 4 */

struct trace_slot {
	struct ring_buffer *rb;
	struct ring_buffer_event *ev;
	u32 size; /* of the record */
};

/*
 * The short way, for the one file of an event that has one, when nothing hangs on it and the ring has room: no function is called.
 * NULL: take the long way; nothing was counted.
 */
static inline __attribute__((always_inline)) void *trace_begin_short(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	if (unlikely(!file || file->after))
		return NULL;
	slot->rb = file->buffer;
	slot->size = size;
	slot->ev = rb_try_reserve(slot->rb, ctx->cpu, size);
	if (unlikely(!slot->ev))
		return NULL;
	local_inc(&file->counts[ctx->cpu].hit);
	trace_common_t *rec = rb_data(slot->ev, size);
	*rec = ctx->common | id;
	return rec;
}

static inline __attribute__((always_inline)) void trace_commit_short(
    struct trace_slot *slot, const struct host_context *ctx)
{
	rb_commit(slot->rb, ctx->cpu, slot->ev, rb_size(slot->size));
}

/* The long way. Counts the hit and reserves a record of `size` bytes, common fields filled; NULL: refused and counted. */
static inline void *trace_begin(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	struct trace_event_count *count = &file->counts[ctx->cpu];

	local_inc(&count->hit);
	slot->rb = file->buffer;
	slot->ev = rb_reserve(slot->rb, ctx->cpu, size);
	slot->size = size;
	if (unlikely(!slot->ev)) {
		local_inc(&count->lost);
		return NULL;
	}
	trace_common_t *rec = rb_data(slot->ev, size);
	*rec = ctx->common | id;
	return rec;
}

/* After a commit, when file->after has bits: wakes readers, records stacks. */
void trace_after_commit(struct trace_event_file *file, struct host_context ctx);
/* Before it: the record's line into the system's log (tp_printk). */
void trace_tp_printk(
    struct trace_event_file *file, struct host_context ctx, const void *rec, u32 len);

static inline void trace_commit(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	u32 after = file->after & TRACE_AFTER_WORK;

	if (unlikely(after & TRACE_AFTER_PRINT)) {
		/* The record is ours only until it is committed. */
		const void *rec = ring_buffer_event_data(slot->ev);
		trace_tp_printk(file, *ctx, rec, ring_buffer_data_length(slot->ev));
	}
	rb_commit(slot->rb, ctx->cpu, slot->ev, rb_size(slot->size));
	if (unlikely(after))
		trace_after_commit(file, *ctx);
}
