/* The files `trigger`, and the parameter trace_trigger=. Task context under host_lock. */
#pragma once

#include "trace/event/trigger.h"
#include "trace/trigger/commands.h"
#include "trace/trigger/parse.h"

/*
 * Executes a line of a trigger file, "[!]command[:count] [if filter]"; modifies the line. 0,
 * -EINVAL, -ERANGE, -EEXIST, -ENOMEM, or an error of trace_trigger_parse_filter().
 */
int trace_trigger_store(struct trace_event_file *file, char *line);
/* The file's text. */
void trace_triggers_show(struct seq *s, const struct trace_event_file *file);
/*
 * Executes one EVENT.TRIGGER of the parameter trace_trigger=; modifies the word. Logs refused ones.
 */
void trace_triggers_boot(struct trace_array *tr, char *word);
