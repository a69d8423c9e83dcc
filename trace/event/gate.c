/*
 * The gate handles events that the fast path (trace/event/record.h) cannot: with triggers, soft
 * mode, PID lists, filters, several instances, or a ring without immediate room. The dispatcher of
 * an event (trace/tracepoint_define.h) only selects the function of this file to call. Any context,
 * between host_preempt_disable() and host_preempt_enable(); no lock, no allocation.
 *
 * The caller has built an image of the record, on its stack or in scratch memory of this CPU. The
 * gate fills in the common fields, tests the image, and copies it into the rings that shall record
 * it. So a filtered event leaves no hole in a ring, and triggers act even if the ring refuses the
 * record. For each file:
 *
 *   G1 The hit is counted.
 *   G2 If a trigger looks at the record (TRACE_WAY_LOOKS) and the PID list excludes the task, the
 *      hit is counted so, and only triggers of the kernel itself act (TRACE_TRIGGER_UNSEEN).
 *      Otherwise all triggers act on the image, except for those that act last
 *      (TRACE_TRIGGER_POST).
 *   G3 If no trigger looks at the record, all triggers act now, even for an excluded task, and G6
 *      has nothing to do.
 *   G4 The event is not recorded if soft mode, the PID list or the filter excludes it, or if it
 *      came too early. The first of these reasons is counted. G2 and G3 may have changed soft mode.
 *   G5 Otherwise the image is copied into the ring. The ring may refuse it, which is counted.
 *   G6 The triggers that act last act, whether or not the event was recorded.
 *
 * So the filter of an event decides only whether the event is recorded. It never suppresses a
 * trigger: the trigger's own `if` does that.
 *
 * ask() has shortcuts to the same result for frequent cases: only a filter, a full ring, only one
 * trigger, only a PID list, only several instances. Two cases need no image: an idle event
 * (trace_record_idle), and one that is on only for triggers that do not need the record
 * (trace_gate_alone). The dispatcher of an event (trace/tracepoint_define.h) tests for these two
 * first.
 *
 * Scratch memory is a stack: trace_image() takes from its top, trace_image_end() gives back. A
 * nested writer gives its memory back before the interrupted one continues, so plain reads and
 * writes of `used` suffice.
 */
/* hot: runs with each event */
#include "trace/event/gate.h"
#include "kernel/lib/errno.h"
#include "trace/event/enable.h"
#include "trace/event/filter.h"
#include "trace/event/pid_filter.h"
#include "trace/event/record.h"
#include "trace/event/trigger.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

/* Four records of the largest size: task, softirq, irq, NMI. Most are a hundredth of that. */
#define SCRATCH_SIZE (4 * PAGE_SIZE)

/*
 * One CPU's ring may be full while another's is not. The latter's events look in vain then, so now
 * and then one of them says that no ring is full; not each, or both CPUs would write the word.
 */
#define FULL_HITS 64

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- scratch memory ---- */

struct scratch {
	u64 used; /* [C] */
	u8 bytes[];
};

static struct scratch *scratch[MAX_CPUS]; /* [A] made once */

int trace_gate_prepare(void)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		struct scratch *s = scratch[cpu];

		if (!s && !(s = host_alloc(sizeof(*s) + SCRATCH_SIZE)))
			return -ENOMEM;
		atomic_store_release(&scratch[cpu], s);
	}
	return 0;
}

void trace_gate_exit(void)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		host_free(scratch[cpu]);
		scratch[cpu] = NULL;
	}
}

void *trace_image(u32 size)
{
	struct scratch *s = scratch[host_cpu()];
	u64 used = s ? READ_ONCE(s->used) : SCRATCH_SIZE;

	if (unlikely(size > RB_MAX_DATA || size > SCRATCH_SIZE - used))
		return NULL;
	WRITE_ONCE(s->used, used + ALIGN_UP(size, 8U));
	u8 *image = s->bytes + used;
	*(u32 *)(image + (size - 1) / 4 * 4) = 0; /* a ring has whole words */
	return image;
}

void trace_image_end(u32 size)
{
	struct scratch *s = scratch[host_cpu()];

	WRITE_ONCE(s->used, s->used - ALIGN_UP(size, 8U));
}

/* ---- into the ring ---- */

/* What an event is asked about. */
struct hit {
	const struct host_context *ctx;
	const trace_word_t *rec; /* NULL: there was no room for an image */
	u32 size;
};

/* Whole words after the common fields, the last one first. */
static ALWAYS_INLINE void copy_fields(trace_word_t *to, const trace_word_t *from, u64 payload)
{
	u64 at = payload - sizeof(struct trace_entry);

	if (unlikely(at & sizeof(u32))) {
		at -= sizeof(u32);
		*(u32 *)((char *)(to + 1) + at) = *(const u32 *)((const char *)(from + 1) + at);
	}
	for (; at; at -= sizeof(*to)) {
		*(trace_word_t *)((char *)to + at) =
		    *(const trace_word_t *)((const char *)from + at);
		barrier(); /* or the compiler makes a call of it */
	}
}

/* G5; false: refused, and counted. */
static ALWAYS_INLINE bool put(struct trace_event_file *file, const struct host_context *ctx,
    const trace_word_t *image, u64 size, u32 way)
{
	struct trace_slot slot = {.rb = file->buffer, .cpu = ctx->cpu, .size = size};

	slot.ev = rb_reserve(slot.rb, slot.cpu, size);
	if (unlikely(!slot.ev)) {
		local_inc(&file->counts[slot.cpu].lost);
		return false;
	}
	trace_word_t *to = rb_data(slot.ev, size);
	*to = *image;
	copy_fields(to, image, rb_payload(size));
	if (unlikely(way & (TRACE_WAY_AFTER | TRACE_WAY_PRINT)))
		trace_commit_reserved(&slot, file, ctx);
	else
		trace_record_end(&slot);
	return true;
}

/* In two copies: the compiler knows where the fields of a small record are. */
static __noinline bool trace_gate_put(struct trace_event_file *file, const struct host_context *ctx,
    const trace_word_t *image, u64 size, u32 way)
{
	if (size > RB_MAX_DATA || size < sizeof(struct trace_entry))
		__builtin_unreachable();
	return likely(size <= RB_SMALL_MAX) ? put(file, ctx, image, size, way)
					    : put(file, ctx, image, size, way);
}

/*
 * G5 without an image, which is never longer than the smallest sub-buffer takes: the ring is asked
 * all the same if it would count why not.
 */
static __noinline void trace_gate_refuse(struct trace_event_file *file, const struct hit *hit)
{
	struct trace_slot slot;

	if (hit->size > ring_buffer_max_data(file->buffer))
		trace_reserve(&slot, file, hit->ctx, hit->size);
	else
		local_inc(&file->counts[hit->ctx->cpu].too_deep);
}

/* ---- one file ---- */

/*
 * Linux reserves room for the record before triggers look at it, and gets none while recording is
 * off: what its triggers switch on then begins with the next event. It reserves after them if the
 * event has a filter or is off.
 */
static ALWAYS_INLINE bool is_too_early(const struct trace_event_file *file, u32 way)
{
	return !(way & (TRACE_WAY_FILTER | TRACE_WAY_SOFT_OFF)) &&
	       unlikely(!rb_is_set_on(file->tr->buffer));
}

/* G4: where the event is counted that is not recorded; NULL: it is. */
static ALWAYS_INLINE u64 *refusal(
    struct trace_event_file *file, const struct hit *hit, u32 way, bool too_early)
{
	struct trace_event_count *count = &file->counts[hit->ctx->cpu];
	const struct trace_filter *filter;

	if (way & TRACE_WAY_SOFT_OFF)
		return &count->soft_off;
	if ((way & TRACE_WAY_PID) && trace_pid_ignored(file->tr, hit->ctx))
		return &count->pid_filtered;
	if ((way & TRACE_WAY_FILTER) && hit->rec && (filter = READ_ONCE(file->filter)) &&
	    !trace_filter_match(filter, hit->rec, hit->size))
		return &count->filtered;
	if (unlikely(too_early)) {
		rb_count_disabled(file->buffer, hit->ctx->cpu);
		return &count->lost;
	}
	return NULL;
}

/* G4 and G5. False: it was to be recorded, but could not be. */
static ALWAYS_INLINE bool record_asked(
    struct trace_event_file *file, const struct hit *hit, u32 way, bool too_early)
{
	u64 *reason = refusal(file, hit, way, too_early);

	if (reason) {
		local_inc(reason);
		return reason != &file->counts[hit->ctx->cpu].lost;
	}
	if (likely(hit->rec))
		return trace_gate_put(file, hit->ctx, hit->rec, hit->size, way);
	trace_gate_refuse(file, hit);
	return false;
}

/* False: it was to be recorded, but could not be. */
static ALWAYS_INLINE bool ask_file(struct trace_event_file *file, const struct hit *hit)
{
	u32 way = READ_ONCE(file->way), after = 0;
	bool too_early = false;

	local_inc(&file->counts[hit->ctx->cpu].hit); /* G1 */
	if ((way & TRACE_WAY_LOOKS) && likely(hit->rec)) {
		if (unlikely(way & TRACE_WAY_PID) && trace_pid_ignored(file->tr, hit->ctx)) {
			local_inc(&file->counts[hit->ctx->cpu].pid_filtered);
			trace_triggers_call_unseen(file, hit->ctx, hit->rec, hit->size);
			return true;
		}
		too_early = is_too_early(file, way);
		after = trace_triggers_call(file, hit->ctx, hit->rec, hit->size); /* G2 */
		way = READ_ONCE(file->way);
	} else if (way & TRACE_WAY_TRIGGER) {
		trace_triggers_call(file, hit->ctx, NULL, 0); /* G3 */
		way = READ_ONCE(file->way);
	}
	bool recorded = record_asked(file, hit, way, too_early);
	if (unlikely(after))
		trace_triggers_post(file, hit->ctx, after); /* G6 */
	return recorded;
}

/* ---- all that is asked, in order ---- */

/* All files from this one on that want the event, or this one alone. */
static ALWAYS_INLINE bool ask_files(struct trace_event_file *file, const struct host_context *ctx,
    const trace_word_t *rec, u32 size, const bool all)
{
	const struct hit hit = {.ctx = ctx, .rec = rec, .size = size};
	bool recorded;

	do {
		recorded = ask_file(file, &hit);
	} while (all && (file = READ_ONCE(file->next_live)));
	return recorded;
}

static ALWAYS_INLINE void put_common(
    trace_word_t *image, const struct trace_event_file *file, const struct host_context *ctx)
{
	if (likely(image))
		*image = ctx->common | file->id;
}

void trace_gate_whole(
    struct trace_event_file *file, const struct host_context *ctx, const void *record, u32 size)
{
	ask_files(file, ctx, record, size, false);
}

/* The context, which is read here if the caller has not. */
static ALWAYS_INLINE const struct host_context *context(
    const struct host_context *ctx, struct host_context *here)
{
	if (ctx)
		return ctx;
	host_context(here);
	return here;
}

static __noinline void trace_gate_walk(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size, bool all)
{
	struct host_context here;

	ctx = context(ctx, &here);
	put_common(image, file, ctx);
	ask_files(file, ctx, image, size, all);
}

/* ---- the shorter ways ---- */

static ALWAYS_INLINE void count_hit(struct trace_event_count *count, u64 *reason)
{
	local_inc(&count->hit);
	local_inc(reason);
}

static ALWAYS_INLINE struct trace_event_count *count_of(struct trace_event_file *file)
{
	return &file->counts[host_cpu()];
}

static ALWAYS_INLINE void count_off(struct trace_event_file *file)
{
	count_hit(count_of(file), &count_of(file)->soft_off);
}

static ALWAYS_INLINE void count_filtered(struct trace_event_file *file)
{
	count_hit(count_of(file), &count_of(file)->filtered);
}

/*
 * The event has no condition, or has passed them all, but the fast path found no room. The ring's
 * general path makes room, or counts why there is none.
 */
static __noinline void trace_gate_retry(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u64 size)
{
	struct host_context here;
	struct trace_slot slot = {.rb = file->buffer, .cpu = host_cpu(), .size = size};

	local_inc(&file->counts[slot.cpu].hit);
	slot.ev = rb_reserve(slot.rb, slot.cpu, size);
	if (unlikely(!slot.ev)) {
		local_inc(&file->counts[slot.cpu].lost);
		if (!READ_ONCE(file->way)) /* cheaper the next time */
			trace_file_way(
			    file, rb_is_set_on(slot.rb) ? TRACE_WAY_FULL : TRACE_WAY_OFF, true);
		return;
	}
	if (unlikely(READ_ONCE(file->way) & TRACE_WAY_FULL) &&
	    !(file->counts[slot.cpu].hit % FULL_HITS))
		trace_file_way(file, TRACE_WAY_FULL, false);
	trace_word_t *to = rb_data(slot.ev, size);
	*to = context(ctx, &here)->common | file->id;
	copy_fields(to, image, rb_payload(size));
	trace_record_end(&slot);
}

/* As trace_record_now(), for a size that the compiler does not know. */
static ALWAYS_INLINE bool try_now(
    struct trace_event_file *file, const struct host_context *ctx, const void *image, u64 payload)
{
	struct ring_buffer *rb = file->buffer;
	unsigned long cpu = host_cpu();
	struct host_context here;
	struct ring_buffer_event *ev = rb_try_reserve(rb, cpu, payload);

	if (unlikely(!ev))
		return false;
	local_inc(&file->counts[cpu].hit);
	trace_word_t *to = rb_data(ev, payload);
	*to = context(ctx, &here)->common | file->id;
	copy_fields(to, image, payload);
	rb_commit(rb, cpu, ev, rb_size_of(payload));
	return true;
}

/* An event that has passed. The compiler knows where the fields of a small record are. */
static TRACE_DISPATCH __noinline void trace_gate_passed_small(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u64 payload)
{
	if (payload > RB_SMALL_MAX)
		__builtin_unreachable();
	if (unlikely(!try_now(file, ctx, image, payload)))
		trace_gate_retry(file, ctx, image, payload);
}

static TRACE_DISPATCH __noinline void trace_gate_passed_large(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u64 payload)
{
	if (payload <= RB_SMALL_MAX)
		__builtin_unreachable();
	if (unlikely(!try_now(file, ctx, image, payload)))
		trace_gate_retry(file, ctx, image, payload);
}

static ALWAYS_INLINE void trace_gate_passed(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u64 size)
{
	u64 payload = rb_payload(size);

	if (likely(payload <= RB_SMALL_MAX))
		trace_gate_passed_small(file, ctx, image, payload);
	else
		trace_gate_passed_large(file, ctx, image, payload);
}

/* Several instances want the event. Those with a condition of their own are asked in order. */
static ALWAYS_INLINE void put_in_several(
    struct trace_event_file *file, const struct host_context *ctx, trace_word_t *image, u64 payload)
{
	struct host_context here;

	ctx = context(ctx, &here);
	put_common(image, file, ctx);
	do {
		if (READ_ONCE(file->way) & ~(u32)TRACE_WAY_MORE ||
		    unlikely(!try_now(file, ctx, image, payload)))
			trace_gate_whole(file, ctx, image, payload);
	} while ((file = READ_ONCE(file->next_live)));
}

static __noinline void trace_gate_several_small(
    struct trace_event_file *file, const struct host_context *ctx, trace_word_t *image, u64 payload)
{
	if (payload > RB_SMALL_MAX)
		__builtin_unreachable();
	put_in_several(file, ctx, image, payload);
}

static __noinline void trace_gate_several_large(
    struct trace_event_file *file, const struct host_context *ctx, trace_word_t *image, u64 payload)
{
	if (payload <= RB_SMALL_MAX)
		__builtin_unreachable();
	put_in_several(file, ctx, image, payload);
}

/* The event's only condition is a filter, which looks at more than numbers from `in` on. */
static TRACE_DISPATCH __noinline void trace_gate_filtered(struct trace_event_file *file,
    const struct host_context *ctx, trace_word_t *image, u64 size, const struct filter_insn *in)
{
	struct host_context here;

	if (unlikely(READ_ONCE(file->filter)->common))
		put_common(image, file, context(ctx, &here));
	if (trace_filter_run_tests(in, image, size))
		trace_gate_passed(file, ctx, image, size);
	else
		count_filtered(file);
}

/* G4 and G5 after a trigger has changed what the event is asked. */
static __noinline void trace_gate_finish(struct trace_event_file *file,
    const struct host_context *ctx, void *image, u32 size, bool too_early)
{
	struct host_context here;

	ctx = context(ctx, &here);
	put_common(image, file, ctx);
	const struct hit hit = {.ctx = ctx, .rec = image, .size = size};
	local_inc(&file->counts[ctx->cpu].hit);
	record_asked(file, &hit, READ_ONCE(file->way), too_early);
}

/*
 * Is the event's one trigger to act, and can it by nothing but the image? FILTER_OPEN: that has to
 * be asked in order.
 */
static ALWAYS_INLINE enum filter_verdict simple_trigger(
    const struct trace_trigger *t, const void *image)
{
	const struct filter_insn *in;

	if (unlikely(!t || READ_ONCE(t->next)) ||
	    (!t->look && unlikely(t->command->flags & (TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_POST))))
		return FILTER_OPEN;
	if (!t->filter)
		return FILTER_YES;
	in = t->filter->start;
	return trace_filter_run_numbers(&in, image);
}

static __noinline void trace_gate_look_common(struct trace_event_file *file,
    const struct host_context *ctx, trace_word_t *image, struct trace_trigger *t)
{
	struct host_context here;

	put_common(image, file, context(ctx, &here));
	t->look(t, image);
}

static ALWAYS_INLINE void look(struct trace_event_file *file, const struct host_context *ctx,
    trace_word_t *image, struct trace_trigger *t)
{
	if (unlikely(t->look_common))
		trace_gate_look_common(file, ctx, image, t);
	else
		t->look(t, image);
}

/* The trigger that looks at the event changes nothing for it. */
static TRACE_DISPATCH __noinline void trace_gate_look_record(struct trace_event_file *file,
    const struct host_context *ctx, trace_word_t *image, u64 size, struct trace_trigger *t)
{
	look(file, ctx, image, t);
	trace_gate_passed(file, ctx, image, size);
}

/* It may have switched recording, or the event, on or off. */
static TRACE_DISPATCH __noinline void trace_gate_act(struct trace_event_file *file,
    const struct host_context *ctx, trace_word_t *image, u64 size, struct trace_trigger *t)
{
	static const struct trace_trigger_hit hit;
	u32 way = READ_ONCE(file->way);
	bool too_early = way & TRACE_WAY_LOOKS && is_too_early(file, way);

	t->command->act(t, &hit);
	way = READ_ONCE(file->way);
	if (way & TRACE_WAY_SOFT_OFF)
		count_off(file);
	else if (likely(
		     !too_early && !(way & (TRACE_WAY_AFTER | TRACE_WAY_PRINT | TRACE_WAY_FILTER))))
		trace_gate_passed(file, ctx, image, size);
	else
		trace_gate_finish(file, ctx, image, size, too_early);
}

/* The event has triggers and no other condition. */
static TRACE_DISPATCH __noinline void trace_gate_trigger(struct trace_event_file *file,
    const struct host_context *ctx, trace_word_t *image, u64 size, bool all)
{
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);
	enum filter_verdict verdict = simple_trigger(t, image);
	bool is_off = READ_ONCE(file->way) & TRACE_WAY_SOFT_OFF;

	if (unlikely(verdict == FILTER_OPEN)) {
		trace_gate_walk(file, ctx, image, size, all);
	} else if (verdict == FILTER_YES && !t->look) {
		trace_gate_act(file, ctx, image, size, t);
	} else if (is_off) {
		count_off(file);
		if (verdict == FILTER_YES)
			look(file, ctx, image, t);
	} else if (verdict == FILTER_YES) {
		trace_gate_look_record(file, ctx, image, size, t);
	} else {
		trace_gate_passed(file, ctx, image, size);
	}
}

/* Recording was off, or a ring full, when nothing else was asked. */
static __noinline void trace_gate_off(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size, bool all)
{
	trace_file_way(file, TRACE_WAY_FULL, false);
	if (rb_is_set_on(file->buffer))
		trace_file_way(file, TRACE_WAY_OFF, false);
	trace_gate_walk(file, ctx, image, size, all);
}

/* ---- the gate ---- */

/* All files from this one on that want the event, or this one alone; ctx NULL: not read yet. */
static ALWAYS_INLINE void ask(struct trace_event_file *file, const struct host_context *ctx,
    void *image, u32 size, const bool all)
{
	const u32 way = READ_ONCE(file->way) & ~(u32)(all ? 0 : TRACE_WAY_MORE);

	if (unlikely(!image)) {
		trace_gate_walk(file, ctx, NULL, size, all);
	} else if (way == TRACE_WAY_FILTER) {
		/* A writer that sees this bit finds a filter: trace/filter/file.c. */
		const struct filter_insn *in = READ_ONCE(file->filter)->start;
		enum filter_verdict verdict = trace_filter_run_numbers(&in, image);

		if (verdict == FILTER_NO)
			count_filtered(file);
		else if (verdict == FILTER_YES)
			trace_gate_passed(file, ctx, image, size);
		else
			trace_gate_filtered(file, ctx, image, size, in);
	} else if (trace_is_plain(way)) {
		trace_gate_retry(file, ctx, image, size);
	} else if ((way & ~(u32)(TRACE_WAY_SOFT_OFF | TRACE_WAY_LOOKS)) == TRACE_WAY_TRIGGER) {
		struct trace_trigger *t = atomic_load_acquire(&file->triggers);

		if (way & TRACE_WAY_SOFT_OFF && t && t->look && !t->filter && !READ_ONCE(t->next)) {
			count_off(file);
			look(file, ctx, image, t);
		} else {
			trace_gate_trigger(file, ctx, image, size, all);
		}
	} else if (way == TRACE_WAY_PID && !READ_ONCE(file->tr->pid_ignore[host_cpu()])) {
		trace_gate_passed(file, ctx, image, size);
	} else if (way == TRACE_WAY_MORE) {
		u64 payload = rb_payload(size);

		if (payload <= RB_SMALL_MAX)
			trace_gate_several_small(file, ctx, image, payload);
		else
			trace_gate_several_large(file, ctx, image, payload);
	} else if (way & (TRACE_WAY_OFF | TRACE_WAY_FULL)) {
		trace_gate_off(file, ctx, image, size, all);
	} else {
		trace_gate_walk(file, ctx, image, size, all);
	}
}

TRACE_DISPATCH void trace_gate(struct trace_event_file *file, void *image, u32 size)
{
	ask(file, NULL, image, size, true);
}

TRACE_DISPATCH void trace_gate_in(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size)
{
	ask(file, ctx, image, size, true);
}

TRACE_DISPATCH void trace_gate_in_one(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size)
{
	ask(file, ctx, image, size, false);
}

bool trace_gate_one(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size)
{
	put_common(image, file, ctx);
	return ask_files(file, ctx, image, size, false);
}

void trace_gate_no_image(struct trace_event_file *file, u32 size)
{
	trace_gate_walk(file, NULL, NULL, size, true);
}

static ALWAYS_INLINE void count_unwanted(struct trace_event_file *file)
{
	count_hit(count_of(file), &count_of(file)->pid_filtered);
}

static ALWAYS_INLINE void count_lost_off(struct trace_event_file *file)
{
	count_hit(count_of(file), &count_of(file)->lost);
	rb_count_disabled(file->buffer, host_cpu());
}

void trace_gate_count_idle(struct trace_event_file *file)
{
	if (READ_ONCE(file->way) & TRACE_WAY_OFF)
		count_lost_off(file);
	else
		count_unwanted(file);
}

bool trace_gate_full(struct trace_event_file *file, u32 size)
{
	return trace_drop_full(file, size);
}

TRACE_DISPATCH void trace_gate_unwanted(struct trace_event_file *file)
{
	count_unwanted(file);
	host_preempt_enable();
}

TRACE_DISPATCH void trace_gate_lost_off(struct trace_event_file *file)
{
	count_lost_off(file);
	host_preempt_enable();
}

void trace_gate_alone(struct trace_event_file *file)
{
	static const struct trace_trigger_hit hit;
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);

	count_off(file);
	for (; t; t = atomic_load_acquire(&t->next))
		if (likely(!trace_trigger_looks(t))) /* else it was linked in just now */
			t->command->act(t, &hit);
	host_preempt_enable();
}
