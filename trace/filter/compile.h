/*
 * Filters: boolean expressions over the fields of a record, as `filter` files and the `if` of
 * triggers take them. The text is compiled once, in task context, to a small program that any
 * context may run.
 */
#pragma once

#include "trace/event/event.h"
#include "trace/event/filter.h"

struct trace_filter_error {
	const char *text; /* "Field not found" ...; static */
	u32 pos; /* column of the caret; Linux counts up to two beyond the end of the text */
	/*
	 * what a trigger's `if` is refused with: Linux's parser has numbers of its own for some
	 * errors
	 */
	int code;
};

/*
 * Compiles `text` (without blanks at its end) for records of `call`. 0; -EINVAL, *err says why;
 * -ENOMEM. Task context. The source of the language: events.txt, section 5.
 */
int trace_filter_create(const struct trace_event_call *call, const char *text,
    struct trace_filter **out, struct trace_filter_error *err);
/* Is this a field that every event has in filters, though no record has it: cpu, comm ...? */
bool trace_filter_virtual_field(const char *name);
/* What the file shows. */
const char *trace_filter_text(const struct trace_filter *f);
