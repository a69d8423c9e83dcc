/*
 * The list of an event's triggers: calling them, putting one in, taking it out. Calling is for any context, between host_enter() and
 * host_exit(), without lock or allocation; the rest runs in task context under host_lock.
 *
 * A trigger comes in by these steps, the last of which is one store:
 *   A1 everything is made that it or its target will need; only this can fail
 *   A2 its target comes to life, off if it was not on (soft mode)
 *   A3 the file says whether any of its triggers looks at records: from now on they are built
 *   A4 the trigger is linked in front; writers call it
 *   A5 the file says that it has triggers, and comes to life as in A2
 * and goes by these:
 *   R1 it is unlinked; a walker that stands on it finds on by its pointer
 *   R2 all writers have left the list as it was
 *   R3 its target, then its file, lose a user: only now, for until R2 it may have switched its target on or off
 *   R4 it is freed, or kept for another time
 */
#include "trace/trigger.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/gate.h"
#include "trace/record.h"
#include "trace/trace_array.h"

/* ---- when an event is hit ------------------------------------------------------------------------------------ */

/* Behind the record, not now? */
static bool is_post(const struct trace_trigger_command *command, const void *rec)
{
	return command->flags &
	       (rec ? TRACE_TRIGGER_POST | TRACE_TRIGGER_POST_RECORD : TRACE_TRIGGER_POST);
}

u32 trace_triggers_call(
    struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len)
{
	const struct trace_trigger_hit hit = {ctx, rec, len};
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);
	u32 kinds = 0;

	for (; t; t = atomic_load_acquire(&t->next)) {
		/* Without a record only where a filter comes in just now: the writer asked before A3. */
		if (t->filter && (!rec || !trace_filter_match(t->filter, rec, len)))
			continue;
		if (is_post(t->command, rec))
			kinds |= t->command->kind;
		else
			t->command->act(t, &hit);
	}
	return kinds;
}

void trace_triggers_post(struct trace_event_file *file, const struct host_context *ctx, u32 kinds)
{
	const struct trace_trigger_hit hit = {.ctx = ctx};
	struct trace_trigger *t = atomic_load_acquire(&file->triggers);

	for (; t; t = atomic_load_acquire(&t->next))
		if (t->command->kind & kinds)
			t->command->act(t, &hit);
}

static __noinline void post_alone(struct trace_event_file *file)
{
	struct host_context ctx;
	u32 kinds = 0;

	for (struct trace_trigger *t = file->triggers; t; t = atomic_load_acquire(&t->next))
		if (!t->filter && (t->command->flags & TRACE_TRIGGER_POST))
			kinds |= t->command->kind;
	host_context(&ctx);
	trace_triggers_post(file, &ctx, kinds);
}

void trace_triggers_alone(struct trace_event_file *file)
{
	static const struct trace_trigger_hit hit;
	struct trace_trigger *t = atomic_load_acquire(&file->triggers), *later = NULL;

	trace_count_soft_off(file);
	for (; t; t = atomic_load_acquire(&t->next)) {
		if (unlikely(t->filter))
			continue; /* comes in just now */
		if (t->command->flags & TRACE_TRIGGER_POST)
			later = t;
		else
			t->command->act(t, &hit);
	}
	if (later)
		post_alone(later->file);
	host_exit();
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

/* ---- the list ------------------------------------------------------------------------------------------------ */

struct trace_trigger *trace_trigger_find(
    const struct trace_event_file *file, u32 kind, const struct trace_event_file *target)
{
	struct trace_trigger *t = file->triggers;

	while (t && (t->command->kind != kind || t->target != target))
		t = t->next;
	return t;
}

static bool looks(const struct trace_trigger *t)
{
	return t->filter || (t->command->flags & TRACE_TRIGGER_LOOKS);
}

/* The events ftrace:* are recorded by the tracer itself: nothing to keep alive. */
static void keep_live(struct trace_event_file *file, int users)
{
	if (!(file->call->flags & TRACE_CALL_NO_ENABLE))
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

static bool is_judged(const struct trace_trigger *t)
{
	return t->filter && !t->filter->looks;
}

/* What the triggers of the file, and `more` (or NULL), want of the record. */
static u8 record_wanted(const struct trace_event_file *file, const struct trace_trigger *more)
{
	bool any = more && looks(more), all_judged = !more || is_judged(more);

	for (const struct trace_trigger *t = file->triggers; t; t = t->next) {
		any |= looks(t);
		all_judged &= is_judged(t);
	}
	const struct trace_trigger *only = more ? more : file->triggers;
	bool alone = only && (more ? !file->triggers : !only->next);
	if (alone && only->look && !only->filter)
		return TRACE_TRIGGERS_OWN;
	return !any	    ? TRACE_TRIGGERS_BLIND
	       : all_judged ? TRACE_TRIGGERS_JUDGED
			    : TRACE_TRIGGERS_LOOK;
}

/* What the file tells its writers of the list. */
static void update_file(struct trace_event_file *file)
{
	WRITE_ONCE(file->trigger_record, record_wanted(file, NULL));
	if (!file->triggers)
		trace_file_way(file, TRACE_WAY_TRIGGER, false);
}

/* A1. The buffer's size last: it can be seen. */
int trace_trigger_prepare(struct trace_trigger *t)
{
	int err = t->target ? trace_file_prepare(t->target) : 0;

	if (!err && looks(t))
		err = trace_gate_prepare();
	if (!err)
		err = trace_file_prepare(t->file);
	if (!err && t->command->arm)
		err = t->command->arm(t->file->tr);
	return err;
}

void trace_trigger_link(struct trace_trigger *t)
{
	if (t->target)
		trace_file_soft(t->target, 1);				/* A2 */
	WRITE_ONCE(t->file->trigger_record, record_wanted(t->file, t)); /* A3 */
	link(t);							/* A4 */
	trace_file_way(t->file, TRACE_WAY_TRIGGER, true);		/* A5 */
	keep_live(t->file, 1);
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
static void let_go(struct trace_trigger *t)
{
	if (t->target)
		trace_file_soft(t->target, -1);
	keep_live(t->file, -1);
	if (t->command->disarm)
		t->command->disarm(t->file->tr);
}

/* R2 to R4 for all that were unlinked. */
static void bury(struct trace_trigger *dead)
{
	struct trace_trigger *next;

	if (dead)
		host_synchronize();
	for (; dead; dead = next) {
		next = dead->dead;
		let_go(dead);
		trace_trigger_free(dead);
	}
}

void trace_trigger_cut(struct trace_trigger *t)
{
	unlink(t);
	update_file(t->file);
	host_synchronize();
	let_go(t);
}

void trace_trigger_remove(struct trace_trigger *t)
{
	if (!t)
		return;
	unlink(t); /* R1 */
	update_file(t->file);
	bury(t);
}

void trace_triggers_clear(struct trace_array *tr)
{
	struct trace_event_file *file;
	struct trace_trigger *dead = NULL;

	list_for_each_entry (file, &tr->files, node) {
		for (struct trace_trigger *t = file->triggers; t; t = t->next) {
			if (t->command->kind == TRACE_TRIGGER_FEED)
				continue;
			unlink(t);
			t->dead = dead;
			dead = t;
		}
		update_file(file);
	}
	bury(dead);
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

int trace_trigger_store(struct trace_event_file *file, char *line)
{
	bool remove;
	char *rest;
	const struct trace_trigger_command *command = trace_trigger_parse(line, &remove, &rest);

	return command ? command->write(command, file, remove, rest) : -EINVAL;
}

void trace_triggers_show(struct seq *s, const struct trace_event_file *file)
{
	const struct trace_trigger_command *command = trace_trigger_commands;

	for (struct trace_trigger *t = file->triggers; t; t = t->next)
		if (t->command->show)
			t->command->show(s, t);
	if (file->triggers)
		return;
	seq_puts(s, "# Available triggers:\n#");
	for (; command->name; command++)
		seq_printf(s, " %s", command->name);
	seq_putc(s, '\n');
}

/* ---- trace_trigger= ------------------------------------------------------------------------------------------ */

/* As on Linux the event is named without its system: all events of this name. */
static void boot_trigger(struct trace_array *tr, const char *event, const char *text)
{
	struct trace_event_file *file;
	char line[256];
	int err = -ENOENT;

	list_for_each_entry (file, &tr->files, node) {
		if (strcmp(file->call->name, event))
			continue;
		err = strscpy(line, text, sizeof(line)) < 0 ? -EINVAL
							    : trace_trigger_store(file, line);
		if (err)
			break;
	}
	if (err)
		host_log("Failed to register trigger '%s' on event %s", text, event);
}

void trace_triggers_boot(struct trace_array *tr, char *word)
{
	char *event = strsep(&word, ".");

	if (word)
		boot_trigger(tr, event, word);
}
