/* What the gate of events (trace/event/gate.c) needs before a filter or a trigger is set. */
#pragma once

#include "kernel/lib/types.h"

struct host_context;
struct trace_event_file;
struct trace_slot;

/*
 * Scratch memory for every CPU there is now. Task context under host_lock, cheap when it is there.
 * 0 or -ENOMEM.
 */
int trace_gate_prepare(void);
/* The same for CPUs that came up since, if it was ever wanted. */
int trace_gate_cpus_up(void);
void trace_gate_exit(void);

/* trace_begin() for files with bits of TRACE_WAY_GATE, the hit counted (trace/event/gate.c). */
void *trace_gate_begin(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size);
/* trace_commit() of a slot in scratch, or with triggers to follow. */
void trace_gate_commit(
    struct trace_slot *slot, struct trace_event_file *file, const struct host_context *ctx);
