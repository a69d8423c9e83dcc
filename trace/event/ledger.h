/*
 * The ledger of a trace array: the outcome of every hit, per CPU and per event. It has no counters
 * of its own: it adds up those of events and rings, and saves the counts of events and rings that
 * are removed. Task context under host_lock.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/event.h"

/* One CPU's saved counts: of removed events, and of a freed snapshot buffer. */
struct trace_ledger {
	struct trace_event_count events;
	struct ring_buffer_totals rings;
};

int trace_ledger_create(struct trace_array *tr); /* 0 or -ENOMEM */
void trace_ledger_free(struct trace_array *tr);
/* Saves the counts of a file, or of a buffer's rings, before they are freed. */
void trace_ledger_close_file(struct trace_event_file *file);
void trace_ledger_close_buffer(struct trace_array *tr, struct ring_buffer *rb);
/* The file trace_ledger: a line for each equation, and whether all of them hold. 0 or -ENOMEM. */
int trace_ledger_show(struct seq *s, struct trace_array *tr);
