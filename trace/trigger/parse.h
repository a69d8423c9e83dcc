/* Parsing a line of a `trigger` file: pure, cuts its line up. */
#pragma once

#include "trace/event/trigger.h"

/* Cuts "[!]name" off the line; *rest as in trace_trigger_command.write. */
const struct trace_trigger_command *trace_trigger_parse(char *line, bool *remove, char **rest);
/*
 * Divides "param [if filter]"; what is not there is NULL. A param that is not required begins with
 * a digit.
 */
void trace_trigger_split(char *rest, bool required, char **param, char **filter);
/* "5", "0x5", also with ":..." behind, which is ignored as on Linux. 0, -EINVAL, -ERANGE. */
int trace_trigger_parse_count(char *param, u64 *left);
/*
 * "if EXPRESSION": the filter for records of the event. 0, -EINVAL, -ENOMEM; as on Linux -ENOENT: a
 * '(' too many, -ESRCH: a quote, -EPERM: a ')', or text where "&&" or "||" or an operand must be.
 */
int trace_trigger_parse_filter(
    const struct trace_event_call *call, char *text, struct trace_filter **out);
