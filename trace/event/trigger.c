/*
 * The list of an event's triggers: calling, inserting and removing them. Calling runs in any
 * context, between host_enter() and host_preempt_enable(), without lock or allocation; the rest
 * runs in task context under host_lock.
 *
 * A trigger comes in by these steps, the last of which is one store:
 *   A1 everything is made that it or its target will need; only this can fail
 *   A2 its target comes to life, off if it was not on (soft mode)
 *   A3 if it looks at records, the file says so: from now on they are built for the triggers
 *   A4 the trigger is linked in front; writers call it
 *   A5 the file says that it has triggers, and comes to life as in A2
 * and goes by these:
 *   R1 it is unlinked; a walker that stands on it finds on by its pointer
 *   R2 all writers have left the list as it was
 *   R3 its target, then its file, lose a user: only now, for until R2 it may have switched its
 *      target on or off
 *   R4 it is freed, or kept for another time
 *
 * trace/trigger/parse.c cuts up a line of a `trigger` file; commands.c there has a row per command.
 *
 * Soft mode. An event that has a trigger, or that a trigger may switch on, is enabled without being
 * recorded: its call sites fire, and a flag of its file says that it is off for the buffer
 * (enable.c in trace/event).
 */
/* hot: runs with each event */
#include "trace/event/trigger.h"
#include "kernel/lib/atomic.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/filter.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

/* ---- when an event is hit ---- */

u32 trace_triggers_call(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len)
{
	u32 kinds = 0;
	const struct trace_trigger_hit hit = {.ctx = ctx, .rec = rec, .len = len, .after = &kinds};
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);

	for (; t; t = atomic_load_acquire(&t->next)) {
		if (!rec && trace_trigger_looks(t))
			continue; /* just linked in: the writer asked before A3 */
		if (t->filter && !trace_filter_match(t->filter, rec, len))
			continue;
		if (rec && (t->command->flags & TRACE_TRIGGER_POST))
			kinds |= t->command->kind;
		else
			t->command->act(t, &hit);
	}
	return kinds;
}

void trace_triggers_call_unseen(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len)
{
	const struct trace_trigger_hit hit = {.ctx = ctx, .rec = rec, .len = len};
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);

	for (; t; t = atomic_load_acquire(&t->next))
		if ((t->command->flags & TRACE_TRIGGER_UNSEEN) &&
		    (!t->filter || trace_filter_match(t->filter, rec, len)))
			t->command->act(t, &hit);
}

static void trace_triggers_call_kinds(
    struct trace_event_file *file, const struct trace_trigger_hit *hit, u32 kinds)
{
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);

	for (; t; t = atomic_load_acquire(&t->next))
		if (t->command->kind & kinds)
			t->command->act(t, hit);
}

void trace_triggers_post(struct trace_event_file *file, const struct host_context *ctx, u32 kinds)
{
	const u32 snapshots = TRACE_TRIGGER_SNAPSHOT | TRACE_TRIGGER_HIST;
	const struct trace_trigger_hit hit = {.ctx = ctx, .post = true};

	if (kinds & snapshots)
		trace_triggers_call_kinds(file, &hit, kinds & snapshots);
	if (kinds & ~snapshots)
		trace_triggers_call_kinds(file, &hit, kinds & ~snapshots);
}

bool trace_trigger_take(struct trace_trigger *t)
{
	u64 left;

	do {
		left = atomic_load_relaxed(&t->left);
		if (!left || left == TRACE_TRIGGER_UNLIMITED)
			return left;
	} while (!atomic_cas(&t->left, left, left - 1));
	return true;
}

void trace_trigger_give(struct trace_trigger *t)
{
	if (atomic_load_relaxed(&t->left) != TRACE_TRIGGER_UNLIMITED)
		atomic_add(&t->left, 1);
}

void trace_trigger_missed(struct trace_trigger *t)
{
	local_inc(&t->file->counts[host_cpu()].trigger_missed);
}

/* ---- the list ---- */

struct trace_trigger *trace_trigger_find(
    const struct trace_event_file *file, u32 kind, const struct trace_event_file *target)
{
	struct trace_trigger *t = file->triggers;

	while (t && (t->command->kind != kind || t->target != target))
		t = t->next;
	return t;
}

/* The events ftrace:* are recorded by the tracer itself: nothing to keep alive. */
static void keep_live(const struct trace_trigger *t, int users)
{
	struct trace_event_file *file = t->file;

	if (file->call->flags & TRACE_CALL_NO_ENABLE)
		return;
	if (t->command->flags & TRACE_TRIGGER_UNSEEN)
		file->unseen_users += users;
	trace_file_soft(file, users);
}

static void link(struct trace_trigger *t)
{
	struct trace_trigger **at = &t->file->triggers;

	while (*at && (t->command->flags & TRACE_TRIGGER_LAST))
		at = &(*at)->next;
	t->next = *at;
	atomic_store_release(at, t);
}

static void unlink(struct trace_trigger *t)
{
	struct trace_trigger **at = &t->file->triggers;

	while (*at != t)
		at = &(*at)->next;
	atomic_store_release(at, t->next);
}

/* Clears the flags for which no trigger is left in the list. */
static void trace_triggers_update_file(struct trace_event_file *file)
{
	const struct trace_trigger *t = file->triggers;

	while (t && !trace_trigger_looks(t))
		t = t->next;
	if (!t)
		trace_file_way(file, TRACE_WAY_LOOKS, false);
	if (!file->triggers)
		trace_file_way(file, TRACE_WAY_TRIGGER, false);
}

static void trace_trigger_give_keys(const struct trace_trigger *t)
{
	trace_file_give_key(t->file);
	if (t->target)
		trace_file_give_key(t->target);
}

static int trace_trigger_take_keys(const struct trace_trigger *t)
{
	int err = t->target ? trace_file_take_key(t->target) : 0;

	if (err)
		return err;
	err = trace_file_take_key(t->file);
	if (err && t->target)
		trace_file_give_key(t->target);
	return err;
}

/* A1. The buffer's size last: it can be seen. */
int trace_trigger_prepare(struct trace_trigger *t)
{
	int err = host_memory_check("a trigger", 0);

	if (!err && t->target)
		err = trace_file_prepare(t->target);
	if (!err)
		err = trace_file_prepare(t->file);
	if (!err)
		err = trace_trigger_take_keys(t);
	if (!err && t->command->arm) {
		err = t->command->arm(t->file->tr);
		if (err)
			trace_trigger_give_keys(t);
	}
	return err;
}

void trace_trigger_link(struct trace_trigger *t)
{
	if (t->target)
		trace_file_soft(t->target, 1); /* A2 */
	if (trace_trigger_looks(t))
		trace_file_way(t->file, TRACE_WAY_LOOKS, true); /* A3 */
	link(t);						/* A4 */
	trace_file_way(t->file, TRACE_WAY_TRIGGER, true);	/* A5 */
	keep_live(t, 1);
}

int trace_trigger_add(struct trace_trigger *t)
{
	int err = trace_trigger_prepare(t);

	if (!err)
		trace_trigger_link(t);
	return err;
}

void trace_trigger_free(struct trace_trigger *t)
{
	if (!t)
		return;
	trace_filter_free(t->filter);
	if (t->command->release)
		t->command->release(t);
	host_free(t);
}

/* R3. */
void trace_trigger_disarm(struct trace_trigger *t)
{
	if (t->target)
		trace_file_soft(t->target, -1);
	keep_live(t, -1);
	if (t->command->disarm)
		t->command->disarm(t->file->tr);
}

/* R2 to R4 for all that were unlinked. */
static void trace_triggers_free(struct trace_trigger *dead)
{
	struct trace_trigger *next;

	if (dead)
		host_synchronize();
	for (; dead; dead = next) {
		next = dead->dead;
		trace_trigger_disarm(dead);
		trace_trigger_free(dead);
	}
}

void trace_trigger_cut(struct trace_trigger *t)
{
	unlink(t);
	trace_triggers_update_file(t->file);
	host_synchronize();
	trace_trigger_disarm(t);
}

void trace_trigger_remove(struct trace_trigger *t)
{
	if (!t)
		return;
	unlink(t); /* R1 */
	trace_triggers_update_file(t->file);
	trace_triggers_free(t);
}

/* R1 for all triggers of these kinds: puts them in front of those in *dead. */
static void unlink_kinds(struct trace_event_file *file, u32 kinds, struct trace_trigger **dead)
{
	for (struct trace_trigger *t = file->triggers; t; t = t->next) {
		if (!(t->command->kind & kinds))
			continue;
		unlink(t);
		t->dead = *dead;
		*dead = t;
	}
	trace_triggers_update_file(file);
}

void trace_triggers_clear_kind(struct trace_event_file *file, u32 kind)
{
	struct trace_trigger *dead = NULL;

	unlink_kinds(file, kind, &dead);
	trace_triggers_free(dead);
}

void trace_triggers_clear(struct trace_array *tr)
{
	struct trace_event_file *file;
	struct trace_trigger *dead = NULL;

	list_for_each_entry (file, &tr->files, node)
		unlink_kinds(file, ~(u32)TRACE_TRIGGER_FEED, &dead);
	trace_triggers_free(dead);
}
