/*
 * Snapshots: a second ring buffer of the same sizes as the one that is recorded into. Taking a
 * snapshot exchanges the two, ring by ring: nothing is copied and no writer waits, and what the
 * spare buffer held comes back to be recorded over. The file `snapshot` and the trigger of that
 * name use this.
 *
 * Legend: task context under host_lock unless said otherwise.
 */
#pragma once

#include "trace/event/array.h"
#include "trace/host_context.h"

/*
 * The spare buffer, with the sizes that the main one has: it follows when those change. There
 * already: 0. -ENOMEM; -EBUSY: somebody has `snapshot` open for reading, and sees none.
 */
int trace_snapshot_alloc(struct trace_array *tr);
/* -EBUSY: somebody counts on it. Who reads it comes to the end. */
int trace_snapshot_free(struct trace_array *tr);
/*
 * Allocates, and counts a user who may take one at any time: until it is disarmed the spare buffer
 * stays. 0 or -ENOMEM; -EBUSY: a program maps the buffer.
 */
int trace_snapshot_arm(struct trace_array *tr);
void trace_snapshot_disarm(struct trace_array *tr);

/*
 * Takes a snapshot, of all CPUs. Any context, NMI included, between host_enter() and
 * host_preempt_enable(). False, and counted in tr->snapshot_missed: there is no spare buffer, or
 * somebody is at work on either: a reader whom this interrupted between taking a lock and giving it
 * back, a change of size. Nothing happened then. Who is in the middle of `trace` comes to its end
 * there.
 */
bool trace_snapshot_take(struct trace_array *tr, const struct host_context *ctx);
/* The same for a tracer with shows_longest, the only one that takes snapshots then. */
bool trace_snapshot_swap(struct trace_array *tr, const struct host_context *ctx);
/*
 * The same for the file: allocates. -ENOMEM; -EBUSY: `trace` is open for reading, a program maps
 * the buffer, or the tracer has the spare one.
 */
int trace_snapshot_now(struct trace_array *tr);
void trace_snapshot_clear(
    struct trace_array *tr, int cpu); /* cpu < 0: all. The spare buffer, if there is one */

/*
 * Around whatever stops, resets or resizes either buffer: nothing is exchanged meanwhile. They do
 * not nest.
 */
void trace_snapshot_hold(struct trace_array *tr);
void trace_snapshot_release(struct trace_array *tr);
/* Gives the spare buffer the sizes of the main one. 0 or -ENOMEM. Held. */
int trace_snapshot_match(struct trace_array *tr);
