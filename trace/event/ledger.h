/*
 * The ledger of a trace array: what became of every hit, per CPU and per event.
 * Nothing is counted for it alone: it adds up what events and rings count anyway, and keeps what
 * both take with them when they go. Task context under host_lock.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/event/event.h"

/* What is gone, of one CPU: of events that were removed and of a spare buffer that was freed. */
struct trace_ledger {
	struct trace_event_count events;
	struct ring_buffer_totals rings;
};

int trace_ledger_create(struct trace_array *tr); /* 0 or -ENOMEM */
void trace_ledger_free(struct trace_array *tr);
/* Before the counts of a file, the rings of a buffer go. */
void trace_ledger_close_file(struct trace_event_file *file);
void trace_ledger_close_buffer(struct trace_array *tr, struct ring_buffer *rb);
/* The file trace_ledger: a line for each equation, and whether all of them hold. 0 or -ENOMEM. */
int trace_ledger_show(struct seq *s, struct trace_array *tr);
