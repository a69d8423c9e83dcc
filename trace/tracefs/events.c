/* set_event's writes and the directories under events/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/event/file.h"
#include "trace/event/format.h"
#include "trace/event/ftrace.h"
#include "trace/event/word.h"
#include "trace/filter/compile.h"
#include "trace/filter/file.h"
#include "trace/hist/trigger.h"
#include "trace/host_memory.h"
#include "trace/output/stats.h"
#include "trace/ring/ring.h"
#include "trace/tracefs/tables.h"
#include "trace/trigger/trigger.h"

/* ---- set_event ---- */

/*
 * Takes one word, as Linux does: who has more to say writes the rest, and gets the error of the
 * word that is wrong.
 */
static ssize tracefs_set_event_write(struct tracefs_file *f, const void *buf, size_t n)
{
	char word[TRACE_WORD_MAX + 1];

	if (n == 0)
		return 0;
	ssize taken = trace_word_take(buf, n, word);
	int err = taken > 0 && *word ? trace_set_event_word(tracefs_array(&f->node), word) : 0;
	return err ? err : taken;
}

const struct tracefs_ops tracefs_set_event_ops = {.write = tracefs_set_event_write};

/* ---- all filters, all triggers ---- */

#define LIST_COLUMN 32

static void tracefs_put_event(struct seq *s, const struct trace_event_call *call)
{
	size_t n = strlen(call->system->name) + strlen(call->name) + 1;

	seq_printf(s, "%s:%s%*s", call->system->name, call->name,
	    n < LIST_COLUMN ? (int)(LIST_COLUMN - n) : 1, "");
}

int tracefs_show_filters(struct seq *s, const struct tracefs_node *node)
{
	struct trace_event_call *call;

	list_for_each_entry (call, &trace_events, node) {
		const struct trace_event_file *file =
		    trace_event_file_of(tracefs_array(node), call);
		if (!file || !file->filter)
			continue;
		tracefs_put_event(s, call);
		trace_filter_show(s, file);
	}
	return 0;
}

int tracefs_show_triggers(struct seq *s, const struct tracefs_node *node)
{
	struct trace_event_call *call;

	list_for_each_entry (call, &trace_events, node) {
		const struct trace_event_file *file =
		    trace_event_file_of(tracefs_array(node), call);
		for (struct trace_trigger *t = file ? file->triggers : NULL; t; t = t->next) {
			if (!t->command->show)
				continue;
			tracefs_put_event(s, call);
			t->command->show(s, t);
		}
	}
	return 0;
}

/* ---- an event's directory ---- */

static struct trace_event_file *file_of(const struct tracefs_node *node)
{
	return node->ctx;
}

static int parse_switch(const char *line, bool *on)
{
	u64 v;
	int err = parse_u64(line, 10, &v);

	if (err || v > 1)
		return err ? err : -EINVAL;
	*on = v;
	return 0;
}

static int tracefs_show_enable(struct seq *s, const struct tracefs_node *node)
{
	const struct trace_event_file *file = file_of(node);

	seq_printf(s, "%d%s\n", trace_file_is_on(file), trace_file_is_soft(file) ? "*" : "");
	return 0;
}

static int tracefs_store_enable(const struct tracefs_node *node, char *line)
{
	struct trace_event_file *file = file_of(node);
	bool on;
	int err = parse_switch(line, &on);

	return err ? err : trace_files_enable(&file, 1, on);
}

static int tracefs_show_format(struct seq *s, const struct tracefs_node *node)
{
	trace_event_show_format(s, file_of(node)->call);
	return 0;
}

static int tracefs_show_id(struct seq *s, const struct tracefs_node *node)
{
	seq_printf(s, "%u\n", file_of(node)->call->id);
	return 0;
}

static int tracefs_show_filter(struct seq *s, const struct tracefs_node *node)
{
	trace_filter_show(s, file_of(node));
	return 0;
}

static int tracefs_store_filter(const struct tracefs_node *node, char *line)
{
	return trace_filter_store(file_of(node), line);
}

static int tracefs_show_trigger(struct seq *s, const struct tracefs_node *node)
{
	trace_triggers_show(s, file_of(node));
	return 0;
}

/* As on Linux: hists, and the triggers that pause and continue them. */
static int tracefs_clear_trigger(const struct tracefs_node *node)
{
	hist_triggers_clear(file_of(node));
	trace_triggers_clear_kind(file_of(node), TRACE_TRIGGER_HIST_EVENT);
	return 0;
}

static int tracefs_show_hist(struct seq *s, const struct tracefs_node *node)
{
	return hist_triggers_show(s, file_of(node));
}

static ssize tracefs_trigger_write(struct tracefs_file *f, const void *buf, size_t n)
{
	if (n == 0)
		return 0;
	if (n >= PAGE_SIZE)
		return -EINVAL;
	char *line = host_alloc(n + 1);
	if (!line)
		return -ENOMEM;
	memcpy(line, buf, n);
	int err = trace_trigger_store(file_of(&f->node), line);
	host_free(line);
	return err ? err : (ssize)n;
}

static const struct tracefs_ops trigger_ops = {.write = tracefs_trigger_write};

static bool tracefs_event_has_enable(const struct tracefs_node *dir)
{
	return !(file_of(dir)->call->flags & TRACE_CALL_NO_ENABLE);
}

static bool tracefs_event_has_enabled(const struct tracefs_node *dir)
{
	return file_of(dir)->call->flags & TRACE_CALL_ENABLED;
}

/* Of the events ftrace:* the tracer asks for the triggers of print alone. */
static bool tracefs_event_has_trigger(const struct tracefs_node *dir)
{
	return tracefs_event_has_enable(dir) || file_of(dir)->call->id == TRACE_PRINT;
}

static const struct tracefs_row event_rows[] = {
    {"enable", 0640, .show = tracefs_show_enable, .store = tracefs_store_enable,
	.cut = TRACEFS_NUMBER, .exists = tracefs_event_has_enable},
    {"enabled", 0640, .show = tracefs_show_enable, .store = tracefs_store_enable,
	.cut = TRACEFS_NUMBER, .exists = tracefs_event_has_enabled},
    {"filter", 0640, .show = tracefs_show_filter, .store = tracefs_store_filter,
	.max = PAGE_SIZE - 1, .exists = tracefs_event_has_enable},
    {"format", 0440, .show = tracefs_show_format},
    {"hist", 0440, .show = tracefs_show_hist},
    {"id", 0440, .show = tracefs_show_id},
    {"inject", 0200, .ops = &tracefs_inject_ops},
    {"trigger", 0640, .show = tracefs_show_trigger, .clear = tracefs_clear_trigger,
	.ops = &trigger_ops, .exists = tracefs_event_has_trigger},
    {.name = NULL},
};
static const struct tracefs_dir event_dir = {.rows = event_rows};
static const struct tracefs_row event_row = {.mode = 0750, .dir = &event_dir};

/* ---- a system's: ctx is the trace array, arg the system ---- */

static struct trace_system *system_of(const struct tracefs_node *node)
{
	return node->arg == TRACEFS_ALL_CPUS ? NULL : (struct trace_system *)node->arg;
}

static const char *system_name(const struct tracefs_node *node)
{
	struct trace_system *sys = system_of(node);

	return sys ? sys->name : NULL;
}

static int tracefs_show_state(struct seq *s, const struct tracefs_node *node)
{
	seq_putc(s, trace_events_state(tracefs_array(node), system_name(node)));
	seq_putc(s, '\n');
	return 0;
}

static int tracefs_store_state(const struct tracefs_node *node, char *line)
{
	bool on;
	int err = parse_switch(line, &on);

	return err ? err : trace_set_events(tracefs_array(node), NULL, system_name(node), NULL, on);
}

static int tracefs_show_system_filter(struct seq *s, const struct tracefs_node *node)
{
	trace_filter_show_system(s, tracefs_array(node), system_of(node));
	return 0;
}

static int tracefs_store_system_filter(const struct tracefs_node *node, char *line)
{
	return trace_filter_store_system(tracefs_array(node), system_of(node), line);
}

static bool tracefs_system_has_enable(const struct tracefs_node *dir)
{
	return !(system_of(dir)->calls[0]->flags & TRACE_CALL_NO_ENABLE);
}

static bool tracefs_is_row(const struct tracefs_row *rows, const char *name)
{
	while (rows->name && !str_equal(rows->name, name))
		rows++;
	return rows->name;
}

static const struct tracefs_row system_rows[];

/*
 * Names of programs' events may be such as no file can have, or as one beside them has: those have
 * no directory.
 */
static bool tracefs_can_be_shown(const struct trace_event_call *call)
{
	const char *name = call->name;

	return *name && strcmp(name, ".") && strcmp(name, "..") && !strchr(name, '/') &&
	       strlen(name) <= TRACEFS_NAME_MAX && !tracefs_is_row(system_rows, name);
}

static bool tracefs_fill_event(
    const struct tracefs_node *dir, const struct trace_event_call *call, struct tracefs_node *out)
{
	struct trace_event_file *file = call ? trace_event_file_of(tracefs_array(dir), call) : NULL;

	if (file)
		tracefs_fill_object(out, dir, &event_row, file, TRACEFS_ALL_CPUS, &call->handle);
	return file;
}

static u64 tracefs_event_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	const struct trace_system *sys = system_of(dir);
	const struct trace_event_call *best = NULL;

	for (u32 i = 0; i < sys->count; i++)
		if (sys->calls[i]->handle.number > after && tracefs_can_be_shown(sys->calls[i]) &&
		    (!best || sys->calls[i]->handle.number < best->handle.number))
			best = sys->calls[i];
	if (!tracefs_fill_event(dir, best, out))
		return 0;
	tracefs_put_name(name, best->name);
	return best->handle.number;
}

static bool tracefs_event_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	const struct trace_event_call *call = trace_event_find(system_name(dir), name);

	return call && tracefs_can_be_shown(call) && tracefs_fill_event(dir, call, out);
}

static const struct tracefs_row system_rows[] = {
    {"enable", 0640, .show = tracefs_show_state, .store = tracefs_store_state,
	.cut = TRACEFS_NUMBER, .exists = tracefs_system_has_enable},
    {"filter", 0640, .show = tracefs_show_system_filter, .store = tracefs_store_system_filter,
	.max = PAGE_SIZE - 1, .exists = tracefs_system_has_enable},
    {.name = NULL},
};
static const struct tracefs_dir system_dir = {
    .rows = system_rows, .next = tracefs_event_next, .find = tracefs_event_find};
static const struct tracefs_row system_row = {.mode = 0750, .dir = &system_dir};

/* ---- events/ ---- */

static int tracefs_show_header_page(struct seq *s, const struct tracefs_node *node)
{
	trace_show_page_format(s, ring_buffer_page_size(tracefs_array(node)->buffer));
	return 0;
}

/* Contract C3's word, in the words of Linux's file. */
static int tracefs_show_header_event(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_printf(s,
	    "# compressed entry header\n"
	    "\ttype        :    2 bits\n"
	    "\tlen         :    3 bits\n"
	    "\ttime_delta  :   27 bits\n"
	    "\tarray       :   32 bits\n"
	    "\n"
	    "\tpadding     : type == %d\n"
	    "\ttime_extent : type == %d\n"
	    "\ttime_stamp  : type == %d\n"
	    "\tdata        : type == %d\n"
	    "\tdata of more than 28 bytes : len == 0, length in array[0]\n",
	    RINGBUF_TYPE_PADDING, RINGBUF_TYPE_TIME_EXTENT, RINGBUF_TYPE_TIME_STAMP,
	    RINGBUF_TYPE_DATA);
	return 0;
}

static const struct tracefs_row events_rows[];

static void fill_system(
    const struct tracefs_node *dir, struct trace_system *sys, struct tracefs_node *out)
{
	tracefs_fill_object(out, dir, &system_row, dir->ctx, (long)sys, &sys->handle);
}

static u64 tracefs_system_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	struct trace_system *sys, *best = NULL;

	list_for_each_entry (sys, &trace_systems, node)
		if (sys->handle.number > after && !tracefs_is_row(events_rows, sys->name) &&
		    (!best || sys->handle.number < best->handle.number))
			best = sys;
	if (!best)
		return 0;
	fill_system(dir, best, out);
	tracefs_put_name(name, best->name);
	return best->handle.number;
}

static bool tracefs_system_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	struct trace_system *sys = trace_system_find(name);

	if (sys)
		fill_system(dir, sys, out);
	return sys;
}

static const struct tracefs_row events_rows[] = {
    {"enable", 0640, .show = tracefs_show_state, .store = tracefs_store_state,
	.cut = TRACEFS_NUMBER},
    {"header_event", 0440, .show = tracefs_show_header_event},
    {"header_page", 0440, .show = tracefs_show_header_page},
    {.name = NULL},
};
const struct tracefs_dir tracefs_events_dir = {
    .rows = events_rows, .next = tracefs_system_next, .find = tracefs_system_find};
