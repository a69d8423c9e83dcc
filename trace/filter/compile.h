/*
 * Filters: boolean expressions over the fields of a record, for `filter` files and the `if` of
 * triggers. trace_filter_create() compiles the text once, in task context, to a small program that
 * any context may run.
 */
#pragma once

#include "trace/event/event.h"
#include "trace/event/filter.h"

struct trace_filter_error {
	const char *text; /* "Field not found" ...; static */
	u32 pos; /* column of the caret; Linux counts up to two beyond the end of the text */
	/* errno for a trigger's `if`: Linux's parser returns special numbers for some errors */
	int code;
};

/*
 * Compiles `text` (without blanks at its end) for records of `call`. 0; -EINVAL, with the reason in
 * *err; -ENOMEM. Task context. The source of the language: events.txt, section 5.
 */
int trace_filter_create(const struct trace_event_call *call, const char *text,
    struct trace_filter **out, struct trace_filter_error *err);
/* True if filters accept this field for every event although no record has it: cpu, comm ... */
bool trace_filter_virtual_field(const char *name);
/* The text that the file shows. */
const char *trace_filter_text(const struct trace_filter *f);
