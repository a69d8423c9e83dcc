/* The gate of events (trace/event/gate.c): where it is decided whether an event is recorded. */
#pragma once

#include "kernel/lib/types.h"

struct host_context;
struct trace_event_file;

/*
 * Scratch memory for every CPU there is now. Task context under host_lock, cheap when it is there.
 * 0 or -ENOMEM.
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
/* The same where there was no room for an image: the event is counted. */
void trace_gate_no_image(struct trace_event_file *file, u32 size);
/* trace_gate() in a context that the caller has read. `image` may be NULL: there was no room. */
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
 * Scratch memory for an image of that size, to be given back after the gate has seen it; what
 * is taken last is given back first. NULL: there is no room, and nothing to give back.
 */
void *trace_image(u32 size);
void trace_image_end(u32 size);

/*
 * The dispatcher of an event calls these before there is an image. Each counts the event and ends
 * the section. The first two are the reasons by which an event is idle (trace/event/record.h); the
 * third is for an event that is on for its triggers alone, none of which looks at the record.
 */
void trace_gate_unwanted(struct trace_event_file *file);
void trace_gate_lost_off(struct trace_event_file *file);
void trace_gate_alone(struct trace_event_file *file);
/* Counts an event that is idle. */
void trace_gate_count_idle(struct trace_event_file *file);
/* trace_record_full() where nothing else is asked about the event. */
bool trace_gate_full(struct trace_event_file *file, u32 size);
