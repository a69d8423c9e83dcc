/*
 * The hot path of an event, as generated code and the few hand-written recorders use it: between
 * host_enter() and host_preempt_enable(), for each live file, trace_begin(), fill, trace_commit().
 * Any context; no lock, no allocation.
 */
#pragma once

#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/event.h"
#include "trace/event/filter.h"
#include "trace/event/gate.h"
#include "trace/event/pid_filter.h"
#include "trace/host_context.h"
#include "trace/ring/write.h"

typedef u64 trace_word_t __aligned(4); /* a record stands at a multiple of 4 */

struct trace_slot {
	struct ring_buffer *rb;
	struct ring_buffer_event *ev; /* NULL: the record is in scratch, and will be asked about */
	void *scratch;
	u32 size;     /* of the record */
	u32 triggers; /* kinds of triggers that are to act behind it */
	bool looks;   /* triggers are to look at it before */
};

/*
 * What call sites call first has no frame of its own and leaves by a jump: then an event that is
 * dropped costs no more than asking. (The unwinder knows functions without frames:
 * arch/x86_64/cpu/unwind.c.)
 */
#ifdef __clang__
#define TRACE_DISPATCH __trace_text
#else
#define TRACE_DISPATCH __trace_text __attribute__((optimize("optimize-sibling-calls")))
#endif

/*
 * A record in the ring, for a file that wants it, if there is room at once: no function is called.
 * NULL: take the long way; nothing was counted.
 */
static inline __attribute__((always_inline)) void *trace_begin_now(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	slot->rb = file->buffer;
	slot->size = size;
	slot->ev = rb_try_reserve(slot->rb, ctx->cpu, size);
	if (unlikely(!slot->ev))
		return NULL;
	local_inc(&file->counts[ctx->cpu].hit);
	trace_word_t *rec = rb_data(slot->ev, size);
	*rec = ctx->common | id;
	return rec;
}

/*
 * The short way, for the one live file of an event that has one with no bit in `way`. NULL as
 * above.
 */
static inline __attribute__((always_inline)) void *trace_begin_short(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	if (unlikely(!file || READ_ONCE(file->way)))
		return NULL;
	return trace_begin_now(slot, file, ctx, id, size);
}

static inline __attribute__((always_inline)) void trace_commit_short(
    struct trace_slot *slot, const struct host_context *ctx)
{
	rb_commit(slot->rb, ctx->cpu, slot->ev, rb_size(slot->size));
}

/*
 * The events of who runs here are not wanted: counted, and that is all that is done for them.
 * Nobody else wants to know of them, if PID is the only bit of TRACE_WAY_SEVERAL in file->way.
 */
static inline __attribute__((always_inline)) bool trace_drop_pid(struct trace_event_file *file)
{
	u64 cpu = host_cpu();

	if (!READ_ONCE(file->tr->pid_ignore[cpu]))
		return false;
	local_inc(&file->counts[cpu].hit);
	local_inc(&file->counts[cpu].pid_filtered);
	return true;
}

static inline void trace_count_filtered(struct trace_event_file *file)
{
	struct trace_event_count *count = &file->counts[host_cpu()];

	local_inc(&count->hit);
	local_inc(&count->filtered);
}

static inline void trace_count_soft_off(struct trace_event_file *file)
{
	struct trace_event_count *count = &file->counts[host_cpu()];

	local_inc(&count->hit);
	local_inc(&count->soft_off);
}

/*
 * Records what a filter has let pass and is whole, where the ring has no room at once or more is to
 * follow. Ends the section.
 */
void trace_record_image_long(struct trace_event_file *file, const void *rec, u16 id, u32 size);

/* A record of `size` bytes in the ring, common fields filled; NULL: refused and counted. */
static inline __attribute__((always_inline)) void *trace_reserve(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	slot->rb = file->buffer;
	slot->ev = rb_reserve(slot->rb, ctx->cpu, size);
	slot->size = size;
	if (unlikely(!slot->ev)) {
		local_inc(&file->counts[ctx->cpu].lost);
		return NULL;
	}
	trace_word_t *rec = rb_data(slot->ev, size);
	*rec = ctx->common | id;
	return rec;
}

typedef void *trace_reserve_fn(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size);

/* trace_begin() by a copy of trace_reserve() that need not be inline. */
static inline __attribute__((always_inline)) void *trace_begin_by(trace_reserve_fn *reserve,
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx, u16 id,
    u32 size)
{
	local_inc(&file->counts[ctx->cpu].hit);
	slot->triggers = 0;
	if (unlikely(READ_ONCE(file->way) & TRACE_WAY_GATE))
		return trace_gate_begin(slot, file, ctx, id, size);
	return reserve(slot, file, ctx, id, size);
}

/*
 * The long way. Counts the hit and gives a record of `size` bytes to fill, common fields filled, be
 * it in the ring or not yet; NULL: there is to be none, which is counted. file->counts must be
 * there.
 */
static inline __attribute__((always_inline)) void *trace_begin(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	return trace_begin_by(trace_reserve, slot, file, ctx, id, size);
}

/*
 * A stack trace of its own; false: refused and counted. Any context, between host_enter() and
 * host_preempt_enable().
 */
bool trace_record_stack(struct trace_array *tr, const struct host_context *ctx);
/*
 * Writes a record's line to the system's log; set before the first file has TRACE_WAY_PRINT. Any
 * context.
 */
extern void (*trace_record_log)(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);
/*
 * Commits what is in the ring, and does what file->way wants besides: wakes readers, records
 * stacks, writes to the log.
 */
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
