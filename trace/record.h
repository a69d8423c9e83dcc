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
	struct ring_buffer_event *ev; /* NULL: the record is in scratch, and will be asked about */
	void *scratch;
	u32 size;     /* of the record */
	u32 triggers; /* kinds of triggers that are to act behind it */
	bool looks;   /* triggers are to look at it before */
};

/*
 * The short way, for the one file of an event that has one with no bit in `way`, when the ring has room: no function is called.
 * NULL: take the long way; nothing was counted.
 */
static inline __attribute__((always_inline)) void *trace_begin_short(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	if (unlikely(!file || READ_ONCE(file->way)))
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

/* trace_begin() for files with bits of TRACE_WAY_GATE, the hit counted (trace/gate.c). */
void *trace_gate_begin(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size);

/* trace_commit() of a slot in scratch, or with triggers to follow. */
void trace_gate_commit(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx);

/* A record of `size` bytes in the ring, common fields filled; NULL: refused and counted. */
static inline void *trace_reserve(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	slot->rb = file->buffer;
	slot->ev = rb_reserve(slot->rb, ctx->cpu, size);
	slot->size = size;
	if (unlikely(!slot->ev)) {
		local_inc(&file->counts[ctx->cpu].lost);
		return NULL;
	}
	trace_common_t *rec = rb_data(slot->ev, size);
	*rec = ctx->common | id;
	return rec;
}

/*
 * The long way. Counts the hit and gives a record of `size` bytes to fill, common fields filled, be it in the ring or not yet;
 * NULL: there is to be none, which is counted. file->counts must be there.
 */
static inline void *trace_begin(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	local_inc(&file->counts[ctx->cpu].hit);
	slot->triggers = 0;
	if (unlikely(READ_ONCE(file->way) & TRACE_WAY_GATE))
		return trace_gate_begin(slot, file, ctx, id, size);
	return trace_reserve(slot, file, ctx, id, size);
}

/* A stack trace of its own; false: refused and counted. Any context, between host_enter() and host_exit(). */
bool trace_record_stack(struct trace_array *tr, const struct host_context *ctx);
/* Commits what is in the ring, and does what file->way wants besides: wakes readers, records stacks, writes to the log. */
void trace_commit_reserved(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx);

static inline void trace_commit(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	if (unlikely(!slot->ev || slot->triggers))
		trace_gate_commit(slot, file, ctx);
	else if (unlikely(READ_ONCE(file->way) & (TRACE_WAY_AFTER | TRACE_WAY_PRINT)))
		trace_commit_reserved(slot, file, ctx);
	else
		rb_commit(slot->rb, ctx->cpu, slot->ev, rb_size(slot->size));
}
