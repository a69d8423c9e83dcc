/* The files of events: one per event and trace array. Task context under host_lock. */
#pragma once

#include "trace/event/event.h"

/* One for every event there is; what the core records by itself is ready. 0 or -ENOMEM. */
int trace_array_add_files(struct trace_array *tr);
void trace_array_remove_files(struct trace_array *tr);

/* The event's file in that array. */
struct trace_event_file *trace_event_file_of(
    struct trace_array *tr, const struct trace_event_call *call);

/*
 * Registers one event after boot: -EEXIST, -ENOMEM, -ENOSPC (no id left). A file appears in every
 * instance. host_lock held.
 */
int trace_event_register(struct trace_event_call *call);
/*
 * Takes an event out again, once nothing of it is in use: -EBUSY while it is live in an instance or
 * has `refs`. Instances that may hold records of it are cleared; when it returns no writer stands
 * on it and its id may be another's. host_lock held.
 */
int trace_event_unregister(struct trace_event_call *call);
bool trace_event_busy(const struct trace_event_call *call);
/* Is it busy with more than being on: with triggers of its own or of others? */
bool trace_event_needed(const struct trace_event_call *call);
/*
 * Takes out one that is off and not busy and leaves its records where they are. True: there may be
 * some, so it keeps its id, and the caller keeps it until they are cleared and
 * trace_event_free_id() was called. host_lock held.
 */
bool trace_event_retire(struct trace_event_call *call);
