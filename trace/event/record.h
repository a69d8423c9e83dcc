/*
 * Recording an event. All recorders follow this pattern: static tracepoints, system calls, probes,
 * events of programs, synthetic events, and tracers with a record of their own.
 *
 *	host_preempt_disable();
 *	file = READ_ONCE(call->live);                  the first file that wants the event; or NULL
 *	rec = trace_record(&slot, file, size);
 *	if (likely(rec)) {                             the fast path: a record in the ring
 *		fill in what follows the common fields
 *		trace_record_end(&slot);
 *	} else if (!trace_record_idle(file) && !trace_record_full(file, size)) {
 *		fill in the same in an image of the record   (the general path)
 *		trace_gate(file, image, size);
 *	}
 *	host_preempt_enable();
 *
 * An image is a local variable, or scratch memory of the CPU (trace_image) if its size is not
 * known. The gate (trace/event/gate.h) decides about it, and finds the other files that want the
 * event. A tracer that records into one instance calls trace_gate_one(), and gets its file from
 * trace_ftrace_file().
 *
 * trace_record() and trace_record_end() are inline and call no function. They run in any context,
 * NMI included, on any number of CPUs; writers nest, so an interrupt between them may record, too.
 */
#pragma once

#include "kernel/lib/atomic.h"
#include "trace/event/array.h"
#include "trace/event/event.h"
#include "trace/event/gate.h"
#include "trace/host_context.h"
#include "trace/ring/write.h"

typedef u64 trace_word_t __aligned(4); /* a record stands at a multiple of 4 */

/* A record in a ring that is not committed yet. */
struct trace_slot {
	struct ring_buffer *rb;
	struct ring_buffer_event *ev;
	unsigned long cpu;
	size_t size;			  /* of the record */
	struct rb_cpu_buffer *cpu_buffer; /* trace_record_at() alone */
};

/*
 * For the functions that call sites call first: they have no frame and leave by a jump, so that
 * dropping an event costs no more than the test. (The unwinder knows functions without frames:
 * arch/x86_64/cpu/unwind.c.)
 */
#define TRACE_DISPATCH __trace_text LEAVES_BY_JUMP

/*
 * An event is idle if it is dropped regardless of its record: recording is off or the task is not
 * wanted, and no other flag needs the event.
 */
static inline __attribute__((always_inline)) bool trace_is_off(
    const struct trace_event_file *file, u32 way)
{
	return way == TRACE_WAY_OFF && !rb_is_set_on(file->buffer);
}

static inline __attribute__((always_inline)) bool trace_is_unwanted(
    const struct trace_event_file *file, u32 way)
{
	return (way & TRACE_WAY_ASKS) == TRACE_WAY_PID &&
	       READ_ONCE(file->tr->pid_ignore[host_cpu()]);
}

/* If the event is idle, counts it and returns true. */
static inline __attribute__((always_inline)) bool trace_record_idle(struct trace_event_file *file)
{
	u32 way = READ_ONCE(file->way);

	if (likely(!(way & (TRACE_WAY_OFF | TRACE_WAY_PID))) ||
	    !(trace_is_off(file, way) || trace_is_unwanted(file, way)))
		return false;
	trace_gate_count_idle(file);
	return true;
}

/* True if at most TRACE_WAY_FULL is set. */
static inline __attribute__((always_inline)) bool trace_is_plain(u32 way)
{
	return !(way & ~(u32)TRACE_WAY_FULL);
}

/* For an event with no other flag: if the ring is full, counts the event and returns true. */
static inline __attribute__((always_inline)) bool trace_drop_full(
    struct trace_event_file *file, u32 size)
{
	const unsigned long cpu = host_cpu();

	if (!rb_refuse_full(file->buffer, cpu, size))
		return false;
	local_inc(&file->counts[cpu].hit);
	local_inc(&file->counts[cpu].lost);
	return true;
}

/* The same for an event whose flags are not known; only if an earlier hit found the ring full. */
static inline __attribute__((always_inline)) bool trace_record_full(
    struct trace_event_file *file, u32 size)
{
	return READ_ONCE(file->way) == TRACE_WAY_FULL && trace_gate_full(file, size);
}

/* The fast path's two halves: the room in the ring, and the hit with the common fields. */
static inline __attribute__((always_inline)) bool trace_slot_reserve(
    struct trace_slot *slot, struct trace_event_file *file, u32 size)
{
	if (unlikely(!rb_fits_record(size)))
		return false;
	slot->rb = file->buffer;
	slot->cpu = host_cpu();
	slot->size = size;
	slot->ev = rb_try_reserve(slot->rb, slot->cpu, rb_payload(size));
	return slot->ev;
}

static inline __attribute__((always_inline)) void *trace_slot_open(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	local_inc(&file->counts[slot->cpu].hit);
	trace_word_t *rec = rb_data(slot->ev, slot->size);
	*rec = ctx->common | file->id;
	return rec;
}

/* trace_record() where file->way is known to be 0. */
static inline __attribute__((always_inline)) void *trace_record_now(
    struct trace_slot *slot, struct trace_event_file *file, u32 size)
{
	struct host_context ctx;

	if (unlikely(!trace_slot_reserve(slot, file, size)))
		return NULL;
	host_context(&ctx);
	return trace_slot_open(slot, file, &ctx);
}

/*
 * Reserves a record of `size` bytes in the file's ring and fills in the common fields, if file->way
 * is 0 and the fast path has room. NULL: take the general path; nothing was counted.
 */
static inline __attribute__((always_inline)) void *trace_record(
    struct trace_slot *slot, struct trace_event_file *file, u32 size)
{
	return unlikely(READ_ONCE(file->way)) ? NULL : trace_record_now(slot, file, size);
}

/* The same in a context that the caller has read; the general path is then trace_gate_in(). */
static inline __attribute__((always_inline)) void *trace_record_in(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u32 size)
{
	if (unlikely(READ_ONCE(file->way)) || unlikely(!trace_slot_reserve(slot, file, size)))
		return NULL;
	return trace_slot_open(slot, file, ctx);
}

/*
 * trace_record_in() in two halves for a caller that has read the clock, host_cycles(), on this CPU,
 * and knows that file->way is 0. The second is trace_slot_open(). Then trace_record_at_end().
 */
static inline __attribute__((always_inline)) bool trace_record_at(
    struct trace_slot *slot, struct trace_event_file *file, u32 size, u64 now)
{
	if (unlikely(!rb_fits_record(size)))
		return false;
	slot->cpu = host_cpu();
	slot->size = size;
	slot->cpu_buffer = HIDE(rb_cpu_buffer_of(file->buffer, slot->cpu));
	slot->ev = rb_try_reserve_at(slot->cpu_buffer, rb_payload(size), now);
	return slot->ev;
}

static inline __attribute__((always_inline)) void trace_record_at_end(const struct trace_slot *slot)
{
	rb_commit_at(slot->cpu_buffer, slot->ev, rb_size(slot->size));
}

static inline __attribute__((always_inline)) void trace_record_end(const struct trace_slot *slot)
{
	rb_commit(slot->rb, slot->cpu, slot->ev, rb_size(slot->size));
}

/*
 * trace_record_now() in two halves, for a payload that fits and is a multiple of 4. `size` is
 * rb_size_of(payload), which a hit then need not compute. The caller reads the context between the
 * halves.
 */
static inline __attribute__((always_inline)) bool trace_record_sized(
    struct trace_slot *slot, struct trace_event_file *file, u32 payload, u32 size)
{
	slot->rb = file->buffer;
	slot->cpu = host_cpu();
	slot->size = size;
	slot->ev = rb_try_reserve_sized(slot->rb, slot->cpu, payload, size);
	return slot->ev;
}

static inline __attribute__((always_inline)) trace_word_t *trace_record_sized_open(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx,
    u32 payload)
{
	local_inc(&file->counts[slot->cpu].hit);
	trace_word_t *rec = (trace_word_t *)((char *)slot->ev + (slot->size - payload));
	*rec = ctx->common | file->id;
	return rec;
}

static inline __attribute__((always_inline)) void trace_record_sized_end(
    const struct trace_slot *slot)
{
	rb_commit(slot->rb, slot->cpu, slot->ev, slot->size);
}

/*
 * Reserves a record of `size` bytes in the ring and fills in the common fields, for the gate and
 * for marks, which have no filters. NULL: refused, and counted as lost. The caller counts the hit.
 */
static inline __attribute__((always_inline)) void *trace_reserve(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u32 size)
{
	slot->rb = file->buffer;
	slot->cpu = ctx->cpu;
	slot->size = size;
	slot->ev = rb_reserve(slot->rb, slot->cpu, size);
	if (unlikely(!slot->ev)) {
		local_inc(&file->counts[slot->cpu].lost);
		return NULL;
	}
	trace_word_t *rec = rb_data(slot->ev, size);
	*rec = ctx->common | file->id;
	return rec;
}

/*
 * Commits a record and does what file->way requests: wakes readers, records stacks, writes to the
 * log.
 */
void trace_commit_reserved(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx);
/* The same for a mark, without stacks and log. */
void trace_commit_bare(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx);

/* A stack trace of its own; false: refused and counted. */
bool trace_record_stack(struct trace_array *tr, const struct host_context *ctx);
/*
 * Writes a record's line to the system's log; set before the first file has TRACE_WAY_PRINT. Any
 * context.
 */
extern void (*trace_record_log)(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len);
