/*
 * What decides about an event before it is recorded: triggers, the switch of soft mode, pid lists,
 * filters. Called from the long way of an event between host_enter() and host_preempt_enable(), any
 * context; no lock, no allocation.
 *
 * Nothing is reserved for a record before it has passed: it is built in scratch memory of this CPU,
 * asked about, and copied into the ring. So what is filtered leaves no hole there, and triggers act
 * also when the ring would refuse the record.
 *
 *   G1 triggers, when none of them looks at records, act now.
 *   G2 its task is not wanted, or the event is off: that is all; but if a trigger must look at the
 *      record, off is not enough.
 *   G3 neither filter nor trigger looks at the record: it is built in the ring.
 *   G4 else it is built in scratch; its writer fills it and comes back to trace_gate_commit().
 *   G5 triggers that look at records act, and with them all others.
 *   G6 off (G5 may have changed that), unwanted task, filter, too early: not recorded, and counted
 *      under the first of these.
 *   G7 it is copied into the ring, which may refuse it.
 *   G8 those triggers act that are to come behind the record.
 *
 * Scratch is a stack: a writer takes from its top at G4 and gives back behind G7. Whoever
 * interrupts it in between has given back by the time it goes on, so plain reads and writes of
 * `used` do: interrupted between the two, it takes what the other had.
 */
/* hot: runs with each event */
#include "trace/event/gate.h"
#include "kernel/lib/errno.h"
#include "trace/event/filter.h"
#include "trace/event/pid_filter.h"
#include "trace/event/record.h"
#include "trace/event/trigger.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

/* Four records of the largest size: task, softirq, irq, NMI. Most are a hundredth of that. */
#define SCRATCH_SIZE (4 * PAGE_SIZE)

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

int trace_gate_cpus_up(void)
{
	return scratch[0] ? trace_gate_prepare() : 0;
}

void trace_gate_exit(void)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		host_free(scratch[cpu]);
		scratch[cpu] = NULL;
	}
}

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* NULL: no room. */
static ALWAYS_INLINE void *scratch_take(unsigned cpu, u32 size)
{
	struct scratch *s = scratch[cpu];
	u64 used = s ? READ_ONCE(s->used) : SCRATCH_SIZE;

	if (size > SCRATCH_SIZE - used)
		return NULL;
	WRITE_ONCE(s->used, used + ALIGN_UP(size, 8U));
	return s->bytes + used;
}

static ALWAYS_INLINE void scratch_give_back(unsigned cpu, u32 size)
{
	WRITE_ONCE(scratch[cpu]->used, scratch[cpu]->used - ALIGN_UP(size, 8U));
}

static u64 *unwanted_task(struct trace_event_file *file, const struct host_context *ctx, u32 way)
{
	if ((way & TRACE_WAY_PID) && trace_pid_ignored(file->tr, ctx))
		return &file->counts[ctx->cpu].pid_filtered;
	return NULL;
}

/* Where an event is counted that is off, or whose task is not wanted; NULL: neither. */
static u64 *unwanted(struct trace_event_file *file, const struct host_context *ctx, u32 way)
{
	if (way & TRACE_WAY_SOFT_OFF)
		return &file->counts[ctx->cpu].soft_off;
	return unwanted_task(file, ctx, way);
}

static ALWAYS_INLINE void *build_in_scratch(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	trace_word_t *rec = scratch_take(ctx->cpu, size);

	slot->ev = NULL;
	slot->scratch = rec;
	slot->size = size;
	if (rec)
		*rec = ctx->common | id;
	else
		local_inc(&file->counts[ctx->cpu].too_deep);
	return rec;
}

static __noinline void *trace_gate_begin_slowly(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, u16 id, u32 size)
{
	u32 way = READ_ONCE(file->way), triggers = 0;
	bool looks = (way & TRACE_WAY_TRIGGER) && READ_ONCE(file->trigger_record);
	void *rec;

	if ((way & TRACE_WAY_TRIGGER) && !looks)
		triggers = trace_triggers_call(file, ctx, NULL, 0);			/* G1 */
	u64 *reason = looks ? unwanted_task(file, ctx, way) : unwanted(file, ctx, way); /* G2 */

	if (reason) {
		local_inc(reason);
		if (triggers)
			trace_triggers_post(file, ctx, triggers);
		return NULL;
	}
	if (looks || (way & TRACE_WAY_FILTER))
		rec = build_in_scratch(slot, file, ctx, id, size); /* G4 */
	else
		rec = trace_reserve(slot, file, ctx, id, size); /* G3 */
	slot->triggers = triggers;
	slot->looks = looks;
	if (!rec && triggers)
		trace_triggers_post(file, ctx, triggers);
	return rec;
}

/*
 * Straight to G4 for the most frequent: a trigger looks at the record, and nobody asks for the
 * task.
 */
void *trace_gate_begin(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	u32 way = READ_ONCE(file->way) & (TRACE_WAY_TRIGGER | TRACE_WAY_PID);

	if (unlikely(way != TRACE_WAY_TRIGGER || !READ_ONCE(file->trigger_record)))
		return trace_gate_begin_slowly(slot, file, ctx, id, size);
	slot->looks = true;
	return build_in_scratch(slot, file, ctx, id, size);
}

/*
 * Linux reserves room for the record before G5, and gets none while recording is off: what its
 * triggers switch on then begins with the next event. It reserves after G5 if the event has a
 * filter or is off.
 */
static bool is_too_early(const struct trace_event_file *file)
{
	return !rb_is_set_on(file->tr->buffer) &&
	       !(READ_ONCE(file->way) & (TRACE_WAY_FILTER | TRACE_WAY_SOFT_OFF));
}

/*
 * G5. Most events have one trigger: it is called from here. Returns whether the event came too
 * early to be recorded.
 */
static ALWAYS_INLINE bool call_triggers(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, const void *rec)
{
	const struct trace_trigger *t = atomic_load_acquire(&file->triggers);

	if (likely(t && !READ_ONCE(t->next) && !t->filter &&
		   !(t->command->flags & TRACE_TRIGGER_POST))) {
		const struct trace_trigger_hit hit = {ctx, rec, slot->size};
		t->command->act((struct trace_trigger *)t, &hit);
		return false;
	}
	bool too_early = is_too_early(file);
	slot->triggers |= trace_triggers_call(file, ctx, rec, slot->size);
	return too_early;
}

/* G6. */
static u64 *refusal(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 size)
{
	u64 *reason = unwanted(file, ctx, READ_ONCE(file->way));
	const struct trace_filter *filter = READ_ONCE(file->filter);

	if (!reason && filter && !trace_filter_match(filter, rec, size))
		reason = &file->counts[ctx->cpu].filtered;
	return reason;
}

static __noinline void trace_gate_record_scratch(struct trace_slot *slot,
    struct trace_event_file *file, const struct host_context *ctx, bool too_early)
{
	trace_word_t *rec = slot->scratch;
	u64 *reason = refusal(file, ctx, rec, slot->size);

	if (!reason && too_early) {
		rb_count_disabled(file->buffer, ctx->cpu);
		reason = &file->counts[ctx->cpu].lost;
	}
	if (reason) {
		local_inc(reason);
		return;
	}
	void *to = trace_reserve(slot, file, ctx, (u16)*rec, slot->size); /* G7 */
	if (to) {
		memcpy(to, rec, slot->size);
		trace_commit_reserved(slot, file, ctx);
	}
}

static ALWAYS_INLINE void commit_scratch(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	bool too_early = slot->looks && call_triggers(slot, file, ctx, slot->scratch);

	if (likely(READ_ONCE(file->way) & TRACE_WAY_SOFT_OFF))
		local_inc(&file->counts[ctx->cpu].soft_off);
	else
		trace_gate_record_scratch(slot, file, ctx, too_early);
	scratch_give_back(ctx->cpu, slot->size);
}

void trace_gate_commit(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx)
{
	if (likely(!slot->ev))
		commit_scratch(slot, file, ctx);
	else
		trace_commit_reserved(slot, file, ctx);
	if (unlikely(slot->triggers))
		trace_triggers_post(file, ctx, slot->triggers); /* G8 */
}
