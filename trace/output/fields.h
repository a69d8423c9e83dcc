/* options/fields: a record as its fields, whatever the event would say of itself. */
#pragma once

#include "trace/event/event.h"

/* "name: field=value ...\n". Contexts as trace/output/output.h has them. */
void trace_print_fields(
    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len);
