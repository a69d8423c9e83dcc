/* The files `filter`, of an event and of a system. */
#pragma once

#include "trace/filter/compile.h"

/*
 * Creates a filter that passes every record and shows the refused `text` with the reason. NULL: no
 * memory.
 */
struct trace_filter *trace_filter_create_refused(
    const char *text, const struct trace_filter_error *err);
void trace_filter_error_log(
    struct trace_array *tr, const char *text, const struct trace_filter_error *err);

/*
 * The files `filter` of an event and of a system (events.txt, 5.2 to 5.4). The functions modify the
 * line. 0; -EINVAL: the file and error_log show the reason; -ENOMEM: nothing has changed. host_lock
 * held.
 */
int trace_filter_store(struct trace_event_file *file, char *line);
void trace_filter_show(struct seq *s, const struct trace_event_file *file);
int trace_filter_store_system(struct trace_array *tr, struct trace_system *sys, char *line);
void trace_filter_show_system(
    struct seq *s, const struct trace_array *tr, const struct trace_system *sys);
