/*
 * The files of runtime verification: rv/. A write is at most one byte longer than the longest name,
 * as on Linux: "!" or the line's end. Task context under host_lock.
 */
#include "trace/rv/rv.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/tracefs/tables.h"

#define RV_LINE_MAX (RV_NAME_MAX + 2)

/* Linux's switches of this kind: a digit or a word, of which the first letters count. */
static int tracefs_parse_rv_switch(const char *line, bool *on)
{
	char first = *line | 32, second = first ? line[1] | 32 : '\0';

	if (*line == '1' || first == 'y' || first == 't' || (first == 'o' && second == 'n'))
		*on = true;
	else if (*line == '0' || first == 'n' || first == 'f' || (first == 'o' && second == 'f'))
		*on = false;
	else
		return -EINVAL;
	return 0;
}

static void tracefs_show_rv_switch(struct seq *s, bool on)
{
	seq_puts(s, on ? "1\n" : "0\n");
}

/* ---- the switches ---- */

static int tracefs_show_monitoring(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	tracefs_show_rv_switch(s, rv_is_monitoring());
	return 0;
}

static int tracefs_store_monitoring(const struct tracefs_node *node __maybe_unused, char *line)
{
	bool on;
	int err = tracefs_parse_rv_switch(line, &on);

	if (!err)
		rv_set_monitoring(on);
	return err;
}

static int tracefs_show_reacting(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	tracefs_show_rv_switch(s, rv_is_reacting());
	return 0;
}

static int tracefs_store_reacting(const struct tracefs_node *node __maybe_unused, char *line)
{
	bool on;
	int err = tracefs_parse_rv_switch(line, &on);

	if (!err)
		rv_set_reacting(on);
	return err;
}

/* ---- lists ---- */

static int tracefs_show_monitors(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	const struct rv_monitor *m;

	list_for_each_entry (m, &rv_monitors, node)
		seq_printf(s, "%s\n", m->name);
	return 0;
}

static int tracefs_show_enabled_monitors(
    struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	const struct rv_monitor *m;

	list_for_each_entry (m, &rv_monitors, node)
		if (m->enabled)
			seq_printf(s, "%s\n", m->name);
	return 0;
}

static int tracefs_switch_monitor(struct rv_monitor *m, bool on)
{
	if (on)
		return rv_enable(m);
	rv_disable(m);
	return 0;
}

/* A write of blanks changes nothing. */
static int tracefs_store_enabled_monitors(
    const struct tracefs_node *node __maybe_unused, char *line)
{
	const char *name = strstrip(line);
	bool on = *name != '!';

	name += !on;
	if (!*name)
		return 0;
	struct rv_monitor *m = rv_find(name);
	return m ? tracefs_switch_monitor(m, on) : -EINVAL;
}

static int tracefs_clear_enabled_monitors(const struct tracefs_node *node __maybe_unused)
{
	rv_disable_all();
	return 0;
}

static int tracefs_show_reactors(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	for (const struct rv_reactor *r = rv_reactors; r->name; r++)
		seq_printf(s, "%s\n", r->name);
	return 0;
}

/* ---- define ---- */

static int tracefs_show_definitions(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	rv_define_show(s);
	return 0;
}

static int tracefs_clear_definitions(const struct tracefs_node *node __maybe_unused)
{
	return rv_define_clear();
}

static ssize tracefs_write_definitions(
    struct tracefs_file *f __maybe_unused, const void *buf, size_t n)
{
	int err = rv_define(buf, n);

	return err ? err : (ssize)n;
}

static const struct tracefs_ops define_ops = {.write = tracefs_write_definitions};

/* ---- monitors/NAME/: ctx is the monitor ---- */

static struct rv_monitor *monitor_of(const struct tracefs_node *node)
{
	return node->ctx;
}

static int tracefs_show_monitor_desc(struct seq *s, const struct tracefs_node *node)
{
	seq_printf(s, "%s\n", monitor_of(node)->description);
	return 0;
}

static int tracefs_show_monitor_enable(struct seq *s, const struct tracefs_node *node)
{
	tracefs_show_rv_switch(s, monitor_of(node)->enabled);
	return 0;
}

static int tracefs_store_monitor_enable(const struct tracefs_node *node, char *line)
{
	bool on;
	int err = tracefs_parse_rv_switch(line, &on);

	return err ? err : tracefs_switch_monitor(monitor_of(node), on);
}

static int tracefs_show_monitor_reactors(struct seq *s, const struct tracefs_node *node)
{
	for (const struct rv_reactor *r = rv_reactors; r->name; r++)
		seq_printf(s, r == monitor_of(node)->reactor ? "[%s]\n" : "%s\n", r->name);
	return 0;
}

static int tracefs_store_monitor_reactors(const struct tracefs_node *node, char *line)
{
	const char *name = strstrip(line);

	return *name ? rv_set_reactor(monitor_of(node), name) : 0;
}

static const struct tracefs_row monitor_rows[] = {
    {"desc", 0440, .show = tracefs_show_monitor_desc},
    {"enable", 0640, .show = tracefs_show_monitor_enable, .store = tracefs_store_monitor_enable},
    {"reactors", 0640, .show = tracefs_show_monitor_reactors,
	.store = tracefs_store_monitor_reactors, .max = RV_LINE_MAX},
    {.name = NULL},
};
static const struct tracefs_dir monitor_dir = {.rows = monitor_rows};
static const struct tracefs_row monitor_row = {.mode = 0750, .dir = &monitor_dir};

static u64 tracefs_monitor_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	struct rv_monitor *m;

	list_for_each_entry (m, &rv_monitors, node)
		if (m->handle.number > after) {
			tracefs_fill_object(
			    out, dir, &monitor_row, m, TRACEFS_ALL_CPUS, &m->handle);
			tracefs_put_name(name, m->name);
			return m->handle.number;
		}
	return 0;
}

static bool tracefs_monitor_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	struct rv_monitor *m = rv_find(name);

	if (m)
		tracefs_fill_object(out, dir, &monitor_row, m, TRACEFS_ALL_CPUS, &m->handle);
	return m;
}

static const struct tracefs_dir monitors_dir = {
    .rows = tracefs_no_rows, .next = tracefs_monitor_next, .find = tracefs_monitor_find};

static const struct tracefs_row rv_rows[] = {
    {"available_monitors", 0440, .show = tracefs_show_monitors},
    {"available_reactors", 0440, .show = tracefs_show_reactors},
    {"define", 0640, .show = tracefs_show_definitions, .clear = tracefs_clear_definitions,
	.ops = &define_ops},
    {"enabled_monitors", 0640, .show = tracefs_show_enabled_monitors,
	.store = tracefs_store_enabled_monitors, .max = RV_LINE_MAX,
	.clear = tracefs_clear_enabled_monitors},
    {"monitoring_on", 0640, .show = tracefs_show_monitoring, .store = tracefs_store_monitoring},
    {"monitors", 0750, .dir = &monitors_dir},
    {"reacting_on", 0640, .show = tracefs_show_reacting, .store = tracefs_store_reacting},
    {.name = NULL},
};
const struct tracefs_dir tracefs_rv_dir = {.rows = rv_rows};
