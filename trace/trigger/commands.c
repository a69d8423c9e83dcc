/*
 * The commands that events can trigger, one row each. write() and show() run in task context under
 * host_lock; act() runs in any context, between host_enter() and host_preempt_enable().
 *
 * A count limits how often the command may still change something. act() first checks whether there
 * is anything to do, so that hits without effect use no count. It then takes one, and gives it back
 * if another CPU was faster or the action failed.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/event/record.h"
#include "trace/event/snapshot.h"
#include "trace/filter/compile.h"
#include "trace/hist/trigger.h"
#include "trace/host_context.h"
#include "trace/host_memory.h"
#include "trace/probe/probe.h"
#include "trace/trigger/trigger.h"

/* ---- acting; any context ---- */

static __noinline void trace_trigger_switch_recording(struct trace_trigger *t, bool on)
{
	if (trace_trigger_take(t) && !trace_array_set_on(t->file->tr, on))
		trace_trigger_give(t);
}

static void trace_trigger_traceon(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	if (!rb_is_set_on(t->file->tr->buffer))
		trace_trigger_switch_recording(t, true);
}

static void trace_trigger_traceoff(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	if (rb_is_set_on(t->file->tr->buffer))
		trace_trigger_switch_recording(t, false);
}

static void trace_trigger_snapshot(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	struct host_context ctx;

	if (!trace_trigger_take(t))
		return;
	if (hit->ctx)
		ctx = *hit->ctx;
	else
		host_context(&ctx);
	if (!trace_snapshot_take(t->file->tr, &ctx)) {
		trace_trigger_give(t);
		trace_trigger_missed(t);
	}
}

static void trace_trigger_stacktrace(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	if (trace_trigger_take(t) && !trace_record_stack(t->file->tr, hit->ctx)) {
		trace_trigger_give(t);
		trace_trigger_missed(t);
	}
}

static void trace_trigger_switch_event(struct trace_trigger *t, bool on)
{
	bool is_on = !(READ_ONCE(t->target->way) & TRACE_WAY_SOFT_OFF);

	if (is_on != on && trace_trigger_take(t) &&
	    !trace_file_way(t->target, TRACE_WAY_SOFT_OFF, !on))
		trace_trigger_give(t);
}

static void trace_trigger_enable_event(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	trace_trigger_switch_event(t, true);
}

static void trace_trigger_disable_event(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	trace_trigger_switch_event(t, false);
}

static void trace_trigger_enable_hist(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	hist_trigger_set_paused(t, false);
}

static void trace_trigger_disable_hist(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	hist_trigger_set_paused(t, true);
}

/* ---- lines ---- */

struct trace_event_file *trace_trigger_parse_target(struct trace_array *tr, char **param)
{
	char *system = strsep(param, ":");
	char *name = strsep(param, ":");
	struct trace_event_call *call = name ? trace_event_find(system, name) : NULL;

	if (!call || (call->flags & TRACE_CALL_NO_ENABLE))
		return NULL;
	return trace_event_file_of(tr, call);
}

/* The parts of a line that a trigger keeps. */
static int parse_trigger(struct trace_trigger *t, char *param, char *filter)
{
	int err = param ? trace_trigger_parse_count(param, &t->left) : 0;

	if (!err && filter)
		err = trace_trigger_parse_filter(t->file->call, filter, &t->filter);
	return err;
}

static int add(const struct trace_trigger *form, char *param, char *filter)
{
	struct trace_trigger *t = host_alloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = *form;
	int err = parse_trigger(t, param, filter);
	if (!err && trace_trigger_find(t->file, t->command->kind, t->target))
		err = -EEXIST;
	if (!err)
		err = trace_trigger_add(t);
	if (err)
		trace_trigger_free(t);
	return err;
}

/*
 * To remove one its kind is enough, and its target if there is one; the rest of the line is not
 * looked at.
 */
static int trace_trigger_write(const struct trace_trigger_command *command,
    struct trace_event_file *file, bool remove, char *rest)
{
	bool has_target = command->flags & TRACE_TRIGGER_TARGET;
	struct trace_trigger form = {
	    .command = command, .file = file, .left = TRACE_TRIGGER_UNLIMITED};
	char *param, *filter;

	trace_trigger_split(rest, has_target, &param, &filter);
	if (has_target) {
		form.target = trace_trigger_parse_target(file->tr, &param);
		if (!form.target)
			return -EINVAL;
	}
	if (!remove)
		return add(&form, param, filter);
	trace_trigger_remove(trace_trigger_find(file, command->kind, form.target));
	return 0;
}

void trace_trigger_show_rest(struct seq *s, const struct trace_trigger *t)
{
	u64 left = atomic_load_relaxed(&t->left);

	if (left == TRACE_TRIGGER_UNLIMITED)
		seq_puts(s, ":unlimited");
	else
		seq_printf(s, ":count=%ld", (long)left);
	if (t->filter)
		seq_printf(s, " if %s", trace_filter_text(t->filter));
	seq_putc(s, '\n');
}

void trace_trigger_show(struct seq *s, const struct trace_trigger *t)
{
	seq_puts(s, t->command->name);
	if (t->target)
		seq_printf(s, ":%s:%s", t->target->call->class->system, t->target->call->name);
	trace_trigger_show_rest(s, t);
}

/* ---- the table ---- */

#define ROW(name_, kind_, flags_, ...)                                                             \
	{                                                                                          \
		.name = #name_, .kind = TRACE_TRIGGER_##kind_, .flags = flags_,                    \
		.write = trace_trigger_write, .act = trace_trigger_##name_,                        \
		.show = trace_trigger_show, ##__VA_ARGS__                                          \
	}

/*
 * A trigger that acts after the record makes all triggers of its event wait for the record, as on
 * Linux.
 */
const struct trace_trigger_command trace_trigger_commands[] = {
    ROW(traceon, ONOFF, TRACE_TRIGGER_FUNCTION),
    ROW(traceoff, ONOFF, TRACE_TRIGGER_FUNCTION | TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_POST),
    ROW(snapshot, SNAPSHOT, TRACE_TRIGGER_FUNCTION | TRACE_TRIGGER_POST, .arm = trace_snapshot_arm,
	.disarm = trace_snapshot_disarm),
    ROW(stacktrace, STACKTRACE, TRACE_TRIGGER_FUNCTION | TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_POST),
    ROW(enable_event, EVENT, TRACE_TRIGGER_FUNCTION | TRACE_TRIGGER_TARGET),
    ROW(disable_event, EVENT, TRACE_TRIGGER_FUNCTION | TRACE_TRIGGER_TARGET),
    ROW(enable_hist, HIST_EVENT, TRACE_TRIGGER_TARGET),
    ROW(disable_hist, HIST_EVENT, TRACE_TRIGGER_TARGET),
    {"hist", TRACE_TRIGGER_HIST, TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_LAST,
	.write = hist_trigger_write, .act = hist_trigger_act, .show = hist_trigger_show,
	.release = hist_trigger_release},
    {"set_wprobe", TRACE_TRIGGER_WATCH, TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_LATER,
	.write = wprobe_trigger_write, .act = wprobe_trigger_set, .show = wprobe_trigger_show,
	.release = wprobe_trigger_release},
    {"clear_wprobe", TRACE_TRIGGER_WATCH, TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_LATER,
	.write = wprobe_trigger_write, .act = wprobe_trigger_clear, .show = wprobe_trigger_show,
	.release = wprobe_trigger_release},
    {.name = NULL},
};
