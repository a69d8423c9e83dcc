/* The table of trigger commands. */
#pragma once

#include "trace/event/trigger.h"

extern const struct trace_trigger_command trace_trigger_commands[]; /* ends with a NULL name */

/* The line of those with a count, and perhaps a target or a filter. Task context, host_lock. */
void trace_trigger_show(struct seq *s, const struct trace_trigger *t);
/* Its end: the count, the filter, the line feed. */
void trace_trigger_show_rest(struct seq *s, const struct trace_trigger *t);
/*
 * SYSTEM:EVENT off the front of *param: the file of an event that can be switched, in that array;
 * NULL. *param is NULL after that if nothing stands behind it.
 */
struct trace_event_file *trace_trigger_parse_target(struct trace_array *tr, char **param);
