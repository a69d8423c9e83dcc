/*
 * Filters: boolean expressions over the fields of a record, as `filter` files and the `if` of triggers take them. The text is
 * compiled once, in task context, to a small program that any context may run.
 */
#pragma once

#include "trace/event/event.h"
#include "trace/event/filter.h"

struct trace_filter_error {
	const char *text; /* "Field not found" ...; static */
	u32 pos; /* column of the caret; Linux counts up to two beyond the end of the text */
	int code; /* what a trigger's `if` is refused with: Linux's parser has numbers of its own for some errors */
};

/*
 * Compiles `text` (without blanks at its end) for records of `call`. 0; -EINVAL, *err says why; -ENOMEM. Task context.
 * The source of the language: events.txt, section 5.
 */
int trace_filter_create(const struct trace_event_call *call, const char *text,
    struct trace_filter **out, struct trace_filter_error *err);
/* Is this a field that every event has in filters, though no record has it: cpu, comm ...? */
bool trace_filter_virtual_field(const char *name);
/* One that lets all pass and shows `text` with the reason it was refused for. NULL: no memory. */
struct trace_filter *trace_filter_create_refused(
    const char *text, const struct trace_filter_error *err);
/* What the file shows. */
const char *trace_filter_text(const struct trace_filter *f);
void trace_filter_error_log(
    struct trace_array *tr, const char *text, const struct trace_filter_error *err);

/*
 * The files `filter` of an event and of a system (events.txt, 5.2 to 5.4). The line is cut up. 0, -EINVAL (it is in the file and
 * in error_log why), -ENOMEM (nothing has changed). host_lock held.
 */
int trace_filter_store(struct trace_event_file *file, char *line);
void trace_filter_show(struct seq *s, const struct trace_event_file *file);
struct trace_system;
int trace_filter_store_system(struct trace_array *tr, struct trace_system *sys, char *line);
void trace_filter_show_system(
    struct seq *s, const struct trace_array *tr, const struct trace_system *sys);
