/* The files of events: one per event and trace array. Task context under host_lock. */
#pragma once

#include "trace/event/event.h"

/*
 * Creates a file for every registered event; those of ftrace:* are ready to record. 0 or -ENOMEM.
 */
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
 * Unregisters an event that is not in use: -EBUSY while it is live in an instance or has `refs`.
 * Clears the instances that may hold records of it. On return no writer uses the event, and its id
 * may be reused. host_lock held.
 */
int trace_event_unregister(struct trace_event_call *call);
bool trace_event_busy(const struct trace_event_call *call);
/*
 * True if the event is in use apart from being enabled: by its own triggers or by those of others.
 */
bool trace_event_needed(const struct trace_event_call *call);
/*
 * Unregisters an event that is off and not busy, but leaves its records in the rings. Returns true
 * if records may exist: the event then keeps its id, and the caller keeps the event until the
 * records are cleared and trace_event_free_id() was called. host_lock held.
 */
bool trace_event_retire(struct trace_event_call *call);
