/* The fields of events, and their `format`. */
#pragma once

#include "trace/event/event.h"

extern const struct trace_event_field trace_common_fields[];
/* A field of the event or a common one; NULL. */
const struct trace_event_field *trace_event_field(
    const struct trace_event_call *call, const char *name);
/* The `format` file. */
void trace_event_show_format(struct seq *s, const struct trace_event_call *call);
