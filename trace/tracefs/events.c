/* set_event's writes and the directories under events/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/builtin.h"
#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/event/file.h"
#include "trace/event/format.h"
#include "trace/event/word.h"
#include "trace/filter/compile.h"
#include "trace/filter/file.h"
#include "trace/hist/trigger.h"
#include "trace/host_memory.h"
#include "trace/output/stats.h"
#include "trace/ring/ring.h"
#include "trace/tracefs/tfs.h"
#include "trace/trigger/trigger.h"

/* ---- set_event ---- */

/* Takes one word, as Linux does: who has more to say writes the rest, and gets the error of the word that is wrong. */
static ssize set_event_write(struct tfs_file *f, const void *buf, size_t n)
{
	char word[TRACE_WORD_MAX + 1];

	if (n == 0)
		return 0;
	ssize taken = trace_word_take(buf, n, word);
	int err = taken > 0 && *word ? trace_set_event_word(tfs_array(&f->node), word) : 0;
	return err ? err : taken;
}

const struct tfs_ops tfs_set_event_ops = {.write = set_event_write};

/* ---- an event's directory ---- */

static struct trace_event_file *file_of(const struct tfs_node *node)
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

static int show_enable(struct seq *s, const struct tfs_node *node)
{
	const struct trace_event_file *file = file_of(node);

	seq_printf(s, "%d%s\n", trace_file_is_on(file), file->soft_users ? "*" : "");
	return 0;
}

static int store_enable(const struct tfs_node *node, char *line)
{
	struct trace_event_file *file = file_of(node);
	bool on;
	int err = parse_switch(line, &on);

	return err ? err : trace_files_enable(&file, 1, on);
}

static int show_format(struct seq *s, const struct tfs_node *node)
{
	trace_event_show_format(s, file_of(node)->call);
	return 0;
}

static int show_id(struct seq *s, const struct tfs_node *node)
{
	seq_printf(s, "%u\n", file_of(node)->call->id);
	return 0;
}

static int show_filter(struct seq *s, const struct tfs_node *node)
{
	trace_filter_show(s, file_of(node));
	return 0;
}

static int store_filter(const struct tfs_node *node, char *line)
{
	return trace_filter_store(file_of(node), line);
}

static int show_trigger(struct seq *s, const struct tfs_node *node)
{
	trace_triggers_show(s, file_of(node));
	return 0;
}

/* As on Linux: hists, and the triggers that pause and continue them. */
static int clear_trigger(const struct tfs_node *node)
{
	hist_triggers_clear(file_of(node));
	trace_triggers_clear_kind(file_of(node), TRACE_TRIGGER_HIST_EVENT);
	return 0;
}

static int show_hist(struct seq *s, const struct tfs_node *node)
{
	return hist_triggers_show(s, file_of(node));
}

static ssize trigger_write(struct tfs_file *f, const void *buf, size_t n)
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

static const struct tfs_ops trigger_ops = {.write = trigger_write};

static bool event_has_enable(const struct tfs_node *dir)
{
	return !(file_of(dir)->call->flags & TRACE_CALL_NO_ENABLE);
}

static bool event_has_enabled(const struct tfs_node *dir)
{
	return file_of(dir)->call->flags & TRACE_CALL_ENABLED;
}

/* Of the events ftrace:* the tracer asks for the triggers of print alone. */
static bool event_has_trigger(const struct tfs_node *dir)
{
	return event_has_enable(dir) || file_of(dir)->call->id == TRACE_PRINT;
}

static const struct tfs_row event_rows[] = {
    {"enable", 0640, .show = show_enable, .store = store_enable, .cut = TFS_NUMBER,
	.exists = event_has_enable},
    {"enabled", 0640, .show = show_enable, .store = store_enable, .cut = TFS_NUMBER,
	.exists = event_has_enabled},
    {"filter", 0640, .show = show_filter, .store = store_filter, .max = PAGE_SIZE - 1,
	.exists = event_has_enable},
    {"format", 0440, .show = show_format},
    {"hist", 0440, .show = show_hist},
    {"id", 0440, .show = show_id},
    {"inject", 0200, .ops = &tfs_inject_ops},
    {"trigger", 0640, .show = show_trigger, .clear = clear_trigger, .ops = &trigger_ops,
	.exists = event_has_trigger},
    {.name = NULL},
};
static const struct tfs_dir event_dir = {.rows = event_rows};
static const struct tfs_row event_row = {.mode = 0750, .dir = &event_dir};

/* ---- a system's: ctx is the trace array, arg the system ---- */

static struct trace_system *system_of(const struct tfs_node *node)
{
	return node->arg == TFS_ALL_CPUS ? NULL : (struct trace_system *)node->arg;
}

static const char *system_name(const struct tfs_node *node)
{
	struct trace_system *sys = system_of(node);

	return sys ? sys->name : NULL;
}

static int show_state(struct seq *s, const struct tfs_node *node)
{
	seq_putc(s, trace_events_state(tfs_array(node), system_name(node)));
	seq_putc(s, '\n');
	return 0;
}

static int store_state(const struct tfs_node *node, char *line)
{
	bool on;
	int err = parse_switch(line, &on);

	return err ? err : trace_set_events(tfs_array(node), NULL, system_name(node), NULL, on);
}

static int show_system_filter(struct seq *s, const struct tfs_node *node)
{
	trace_filter_show_system(s, tfs_array(node), system_of(node));
	return 0;
}

static int store_system_filter(const struct tfs_node *node, char *line)
{
	return trace_filter_store_system(tfs_array(node), system_of(node), line);
}

static bool system_has_enable(const struct tfs_node *dir)
{
	return !(system_of(dir)->calls[0]->flags & TRACE_CALL_NO_ENABLE);
}

static bool is_row(const struct tfs_row *rows, const char *name)
{
	while (rows->name && strcmp(rows->name, name))
		rows++;
	return rows->name;
}

static const struct tfs_row system_rows[];

/* Names of programs' events may be such as no file can have, or as one beside them has: those have no directory. */
static bool can_be_shown(const struct trace_event_call *call)
{
	const char *name = call->name;

	return *name && strcmp(name, ".") && strcmp(name, "..") && !strchr(name, '/') &&
	       strlen(name) <= TFS_NAME_MAX && !is_row(system_rows, name);
}

static bool fill_event(
    const struct tfs_node *dir, const struct trace_event_call *call, struct tfs_node *out)
{
	struct trace_event_file *file = call ? trace_event_file_of(tfs_array(dir), call) : NULL;

	if (file)
		tfs_fill_object(out, dir, &event_row, call->name, file, TFS_ALL_CPUS, &call->life);
	return file;
}

static u64 event_next(const struct tfs_node *dir, u64 after, struct tfs_node *out)
{
	const struct trace_system *sys = system_of(dir);
	const struct trace_event_call *best = NULL;

	for (u32 i = 0; i < sys->count; i++)
		if (sys->calls[i]->life.number > after && can_be_shown(sys->calls[i]) &&
		    (!best || sys->calls[i]->life.number < best->life.number))
			best = sys->calls[i];
	return fill_event(dir, best, out) ? best->life.number : 0;
}

static bool event_find(const struct tfs_node *dir, const char *name, struct tfs_node *out)
{
	const struct trace_event_call *call = trace_event_find(system_name(dir), name);

	return call && can_be_shown(call) && fill_event(dir, call, out);
}

static const struct tfs_row system_rows[] = {
    {"enable", 0640, .show = show_state, .store = store_state, .cut = TFS_NUMBER,
	.exists = system_has_enable},
    {"filter", 0640, .show = show_system_filter, .store = store_system_filter, .max = PAGE_SIZE - 1,
	.exists = system_has_enable},
    {.name = NULL},
};
static const struct tfs_dir system_dir = {
    .rows = system_rows, .next = event_next, .find = event_find};
static const struct tfs_row system_row = {.mode = 0750, .dir = &system_dir};

/* ---- events/ ---- */

static int show_header_page(struct seq *s, const struct tfs_node *node __maybe_unused)
{
	trace_show_page_format(s);
	return 0;
}

/* Contract C3's word, in the words of Linux's file. */
static int show_header_event(struct seq *s, const struct tfs_node *node __maybe_unused)
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

static const struct tfs_row events_rows[];

static void fill_system(const struct tfs_node *dir, struct trace_system *sys, struct tfs_node *out)
{
	tfs_fill_object(out, dir, &system_row, sys->name, dir->ctx, (long)sys, &sys->life);
}

static u64 system_next(const struct tfs_node *dir, u64 after, struct tfs_node *out)
{
	struct trace_system *sys, *best = NULL;

	list_for_each_entry (sys, &trace_systems, node)
		if (sys->life.number > after && !is_row(events_rows, sys->name) &&
		    (!best || sys->life.number < best->life.number))
			best = sys;
	if (!best)
		return 0;
	fill_system(dir, best, out);
	return best->life.number;
}

static bool system_find(const struct tfs_node *dir, const char *name, struct tfs_node *out)
{
	struct trace_system *sys = trace_system_find(name);

	if (sys)
		fill_system(dir, sys, out);
	return sys;
}

static const struct tfs_row events_rows[] = {
    {"enable", 0640, .show = show_state, .store = store_state, .cut = TFS_NUMBER},
    {"header_event", 0440, .show = show_header_event},
    {"header_page", 0440, .show = show_header_page},
    {.name = NULL},
};
const struct tfs_dir tfs_events_dir = {
    .rows = events_rows, .next = system_next, .find = system_find};
