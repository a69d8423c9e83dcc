/*
 * Functions that the core of events calls in optional parts above it. Each part defines its
 * functions; trace/defaults/ has weak ones for hosts that do not link the part. Task context under
 * host_lock, unless stated otherwise.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;
struct trace_array;
struct trace_event_call;
struct trace_prevboot;

/* ---- trace/persist: the trace that outlives this boot ---- */

/* The global array has a new clock. */
void kept_note_clock(const char *name);
/* Called before the first record of the event. */
void kept_note_event(struct trace_event_call *call);
/*
 * Memory for the table of names; NULL: no room. kept_free() returns false for memory from
 * elsewhere.
 */
void *kept_alloc(unsigned pages);
bool kept_free(void *p, unsigned pages);
void kept_note_comms(const void *slots, size_t size);

/*
 * ---- trace/persist: an array that shows what another boot recorded; where not said, contexts are
 * those of trace/output/print.h ----
 */

/* Task context under host_lock. */
void trace_prevboot_free(struct trace_prevboot *past);
u64 trace_prevboot_ns(const struct trace_array *tr, u64 stamp);
/*
 * The event of a record, printed by its fields, or by this boot's own code if the format is the
 * same; NULL: its format did not survive.
 */
const struct trace_event_call *trace_prevboot_event(
    const struct trace_prevboot *past, unsigned id, u32 len);
void trace_prevboot_comm(const struct trace_prevboot *past, s32 pid, char comm[16]);
void trace_prevboot_sym_print(
    const struct trace_prevboot *past, char *buf, size_t size, u64 addr, bool offset);

/* ---- trace/export: formats, for readers outside the machine ---- */

/*
 * Called before the event's first record: stores its format where these readers find it. 0 or
 * -ENOMEM.
 */
int trace_export_event(struct trace_event_call *call);
/* The event is removed. */
void trace_export_forget(struct trace_event_call *call);

/* ---- trace/hist ---- */

/*
 * True if a histogram of the instance has variables, or refers to one: the instance then cannot be
 * removed.
 */
bool hist_triggers_hold(const struct trace_array *tr);

/* ---- trace/function ---- */

/* A line of the ledger: calls that function_graph followed, and what became of their returns. */
void trace_functions_show_calls(struct seq *s, const struct trace_array *tr);

/* The array is about to be freed; its tracer is nop. */
void trace_functions_drop(struct trace_array *tr);
