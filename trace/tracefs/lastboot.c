/*
 * events/ of an instance that shows another boot: a directory per system and event, with the format
 * it had. Under host_lock.
 */
#include "kernel/lib/string.h"
#include "trace/persist/lastboot.h"
#include "trace/tracefs/tables.h"

/* Event number `arg` of those the other boot had. */
static int tracefs_prevboot_show_format(struct seq *s, const struct tracefs_node *node)
{
	struct trace_prevboot_text t;

	if (trace_prevboot_nth(tracefs_array(node)->past, node->arg, &t))
		seq_puts(s, t.format);
	return 0;
}

static int tracefs_prevboot_show_id(struct seq *s, const struct tracefs_node *node)
{
	struct trace_prevboot_text t;

	if (trace_prevboot_nth(tracefs_array(node)->past, node->arg, &t))
		seq_printf(s, "%u\n", t.id);
	return 0;
}

static const struct tracefs_row event_rows[] = {
    {"format", 0440, .show = tracefs_prevboot_show_format},
    {"id", 0440, .show = tracefs_prevboot_show_id},
    {.name = NULL},
};
static const struct tracefs_dir event_dir = {.rows = event_rows};
static const struct tracefs_row event_row = {.mode = 0750, .dir = &event_dir};

/*
 * Of events with the same system, or the same name in it, the last stands for all: the number may
 * have been given again.
 */
static bool tracefs_prevboot_is_last(const struct tracefs_node *dir, u32 n, const char *name)
{
	struct trace_prevboot_text t, later;

	trace_prevboot_nth(tracefs_array(dir)->past, n, &t);
	for (u32 i = n + 1; trace_prevboot_nth(tracefs_array(dir)->past, i, &later); i++)
		if (!strcmp(t.system, later.system) && (!name || !strcmp(name, later.name)))
			return false;
	return true;
}

/* dir->arg is an event of the system. */
static u64 tracefs_prevboot_event_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	struct trace_prevboot_text own, t;

	trace_prevboot_nth(tracefs_array(dir)->past, dir->arg, &own);
	for (u32 i = after; trace_prevboot_nth(tracefs_array(dir)->past, i, &t); i++)
		if (!strcmp(t.system, own.system) && tracefs_prevboot_is_last(dir, i, t.name)) {
			tracefs_fill(out, dir, &event_row, i);
			tracefs_put_name(name, t.name);
			return i + 1;
		}
	return 0;
}

static bool tracefs_prevboot_event_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	char entry[TRACEFS_NAME_MAX + 1];
	u64 after = 0;

	while ((after = tracefs_prevboot_event_next(dir, after, out, entry)))
		if (!strcmp(entry, name))
			return true;
	return false;
}

static const struct tracefs_dir system_dir = {.rows = tracefs_no_rows,
    .next = tracefs_prevboot_event_next,
    .find = tracefs_prevboot_event_find};
static const struct tracefs_row system_row = {.mode = 0750, .dir = &system_dir};

static u64 tracefs_prevboot_system_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	struct trace_prevboot_text t;

	for (u32 i = after; trace_prevboot_nth(tracefs_array(dir)->past, i, &t); i++)
		if (tracefs_prevboot_is_last(dir, i, NULL)) {
			tracefs_fill(out, dir, &system_row, i);
			tracefs_put_name(name, t.system);
			return i + 1;
		}
	return 0;
}

static bool tracefs_prevboot_system_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	char entry[TRACEFS_NAME_MAX + 1];
	u64 after = 0;

	while ((after = tracefs_prevboot_system_next(dir, after, out, entry)))
		if (!strcmp(entry, name))
			return true;
	return false;
}

const struct tracefs_dir tracefs_prevboot_events_dir = {.rows = tracefs_no_rows,
    .next = tracefs_prevboot_system_next,
    .find = tracefs_prevboot_system_find};
