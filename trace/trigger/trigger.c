/*
 * The files `trigger`, and the parameter trace_trigger=. Task context under host_lock.
 * trace/event/trigger.c has the list.
 */
#include "trace/trigger/trigger.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/host_lock.h"
#include "trace/host_log.h"

/* ---- the file ---- */

int trace_trigger_store(struct trace_event_file *file, char *line)
{
	host_assert_locked();
	bool remove;
	char *rest;
	const struct trace_trigger_command *command = trace_trigger_parse(line, &remove, &rest);

	return command ? command->write(command, file, remove, rest) : -EINVAL;
}

void trace_triggers_show(struct seq *s, const struct trace_event_file *file)
{
	const struct trace_trigger_command *command = trace_trigger_commands;
	bool shown = false;

	for (struct trace_trigger *t = file->triggers; t; t = t->next)
		if (t->command->show) { /* an event probe's has none: its user did not write it */
			t->command->show(s, t);
			shown = true;
		}
	if (shown)
		return;
	seq_puts(s, "# Available triggers:\n#");
	for (; command->name; command++)
		if (!(command->flags & TRACE_TRIGGER_LATER))
			seq_printf(s, " %s", command->name);
	seq_putc(s, '\n');
}

/* ---- trace_trigger= ---- */

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
