/* The table of trigger commands. */
#pragma once

#include "trace/event/trigger.h"

extern const struct trace_trigger_command trace_trigger_commands[]; /* ends with a NULL name */

/* Shows a trigger that has a count, and perhaps a target or a filter. Task context, host_lock. */
void trace_trigger_show(struct seq *s, const struct trace_trigger *t);
/* Shows the rest of the line: the count, the filter, the newline. */
void trace_trigger_show_rest(struct seq *s, const struct trace_trigger *t);
/*
 * Removes SYSTEM:EVENT from the front of *param and returns the event's file in the array; NULL:
 * there is no such event, or it cannot be enabled. Sets *param to NULL if nothing follows.
 */
struct trace_event_file *trace_trigger_parse_target(struct trace_array *tr, char **param);
