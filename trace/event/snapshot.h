/*
 * Snapshots: a spare ring buffer of the same sizes as the one that events are recorded into. Taking
 * a snapshot swaps the two, ring by ring: nothing is copied and no writer waits, and new events
 * overwrite what the spare buffer held. The file `snapshot` and the trigger of that name use this.
 *
 * Legend: task context under host_lock unless said otherwise.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/host_context.h"

/*
 * Allocates the spare buffer with the sizes of the main one; later resizes apply to both. 0, also
 * if it exists; -ENOMEM; -EBUSY: `snapshot` is open for reading, and showed no snapshot.
 */
int trace_snapshot_alloc(struct trace_array *tr);
/* -EBUSY: it has users. Its readers reach the end of file. */
int trace_snapshot_free(struct trace_array *tr);
/*
 * Allocates the spare buffer and adds a user that may take a snapshot at any time: the buffer stays
 * until trace_snapshot_disarm(). 0 or -ENOMEM; -EBUSY: a program maps the buffer.
 */
int trace_snapshot_arm(struct trace_array *tr);
void trace_snapshot_disarm(struct trace_array *tr);

/*
 * Takes a snapshot, of all CPUs. Any context, NMI included, between host_enter() and
 * host_preempt_enable(). Returns false, and counts it in tr->snapshot_missed, if there is no spare
 * buffer or either buffer is busy: with a reader that the caller interrupted while it held a lock,
 * or with a resize. Nothing has changed then. A reader in the middle of `trace` reaches the end of
 * file.
 */
bool trace_snapshot_take(struct trace_array *tr, const struct host_context *ctx);
/* The same for a tracer with shows_longest, the only one that takes snapshots then. */
bool trace_snapshot_swap(struct trace_array *tr, const struct host_context *ctx);
/*
 * The same for the file `snapshot`; allocates the spare buffer if needed. -ENOMEM; -EBUSY: `trace`
 * is open for reading, a program maps the buffer, or the tracer uses the spare one.
 */
int trace_snapshot_now(struct trace_array *tr);
void trace_snapshot_clear(
    struct trace_array *tr, int cpu); /* cpu < 0: all. The spare buffer, if there is one */

/* Prevent a swap while the caller stops, resets or resizes either buffer. They do not nest. */
void trace_snapshot_hold(struct trace_array *tr);
void trace_snapshot_release(struct trace_array *tr);
/* Gives the spare buffer the sizes of the main one. 0 or -ENOMEM. Held. */
int trace_snapshot_match(struct trace_array *tr);
