/* The gate of events (trace/event/gate.c) decides whether an event is recorded. */
#pragma once

#include "kernel/lib/types.h"

struct host_context;
struct trace_event_file;

/*
 * Allocates scratch memory for every present CPU that lacks it. Task context under host_lock. 0 or
 * -ENOMEM.
 */
int trace_gate_prepare(void);
void trace_gate_exit(void);

/* ---- any context, between host_preempt_disable() and host_preempt_enable() ---- */

/*
 * The general path of an event, for all files that want it, of which `file` is the first. `image`
 * is the whole record, with room for whole words; it has all fields of fixed size. The gate fills
 * in the common ones.
 */
void trace_gate(struct trace_event_file *file, void *image, u32 size);
/* The same if no image could be built: counts the event. */
void trace_gate_no_image(struct trace_event_file *file, u32 size);
/* trace_gate() in a context that the caller has read. `image` is NULL if there was no room. */
void trace_gate_in(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size);
/* The same for this file alone. */
void trace_gate_in_one(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size);
/* As trace_gate_in_one(), slower, but returns false if the ring refused the record. */
bool trace_gate_one(
    struct trace_event_file *file, const struct host_context *ctx, void *image, u32 size);

/* The same for a record that has common fields of its own. */
void trace_gate_whole(
    struct trace_event_file *file, const struct host_context *ctx, const void *record, u32 size);

/*
 * Takes scratch memory for an image of this size. After the gate has seen the image, the caller
 * gives it back, last taken first. NULL: no room, and nothing to give back.
 */
void *trace_image(u32 size);
void trace_image_end(u32 size);

/*
 * The dispatcher of an event calls these before it builds an image. Each counts the event and ends
 * the preempt-disabled section. The first two are the reasons why an event is idle
 * (trace/event/record.h); the third is for an event that is on only for triggers that do not need
 * the record.
 */
void trace_gate_unwanted(struct trace_event_file *file);
void trace_gate_lost_off(struct trace_event_file *file);
void trace_gate_alone(struct trace_event_file *file);
/* Counts an event that is idle. */
void trace_gate_count_idle(struct trace_event_file *file);
/* trace_record_full() for an event with no other flag. */
bool trace_gate_full(struct trace_event_file *file, u32 size);
