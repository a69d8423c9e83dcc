/* Parses a line of a `trigger` file. Pure; modifies the line. */
#pragma once

#include "trace/event/trigger.h"

/* Removes "[!]name" from the line; *rest as in trace_trigger_command.write. */
const struct trace_trigger_command *trace_trigger_parse(char *line, bool *remove, char **rest);
/* Splits "param [if filter]"; a missing part is NULL. An optional param must begin with a digit. */
void trace_trigger_split(char *rest, bool required, char **param, char **filter);
/* Parses "5" or "0x5"; ignores a ":..." after it, as Linux does. 0, -EINVAL, -ERANGE. */
int trace_trigger_parse_count(char *param, u64 *left);
/*
 * Compiles "if EXPRESSION" to a filter for records of the event. 0, -EINVAL, -ENOMEM; as on Linux
 * -ENOENT: a '(' too many; -ESRCH: a missing quote; -EPERM: a ')' too many, or text where "&&",
 * "||" or an operand must be.
 */
int trace_trigger_parse_filter(
    const struct trace_event_call *call, char *text, struct trace_filter **out);
