/* The files `trigger`, and the parameter trace_trigger=. Task context under host_lock. */
#pragma once

#include "trace/event/trigger.h"
#include "trace/trigger/commands.h"
#include "trace/trigger/parse.h"

/*
 * A line of a trigger file, "[!]command[:count] [if filter]"; it is cut up. 0, -EINVAL, -ERANGE,
 * -EEXIST, -ENOMEM; of a filter: what trace_trigger_parse_filter() says.
 */
int trace_trigger_store(struct trace_event_file *file, char *line);
/* The file's text. */
void trace_triggers_show(struct seq *s, const struct trace_event_file *file);
/*
 * One EVENT.TRIGGER of the parameter trace_trigger=; the word is cut up. The log reports
 * what is refused.
 */
void trace_triggers_boot(struct trace_array *tr, char *word);
