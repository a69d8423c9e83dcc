/*
 * What the core of events asks of the parts above it that a host may leave out. Each part defines
 * its functions; trace/defaults/ has weak ones for the host that does not link it. Task context
 * under host_lock, unless said.
 */
#pragma once

#include "kernel/lib/types.h"

struct seq;
struct trace_array;
struct trace_event_call;
struct trace_prevboot;

/* ---- trace/persist: the trace that outlives this boot ---- */

/* The clock of the global array. */
void kept_note_clock(const char *name);
/* Before the first record of that event. */
void kept_note_event(struct trace_event_call *call);
/* For a table of names: NULL: no room. kept_free(): false: not from there. */
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
 * The event of a record, by its fields or by this boot's own printing if that is the same; NULL:
 * its format did not survive.
 */
const struct trace_event_call *trace_prevboot_event(
    const struct trace_prevboot *past, unsigned id, u32 len);
void trace_prevboot_comm(const struct trace_prevboot *past, s32 pid, char comm[16]);
void trace_prevboot_sym_print(
    const struct trace_prevboot *past, char *buf, size_t size, u64 addr, bool offset);

/* ---- trace/export: formats, for readers outside the machine ---- */

/* Before the event's first record: keeps its format where they find it. 0 or -ENOMEM. */
int trace_export_event(struct trace_event_call *call);
/* The event goes. */
void trace_export_forget(struct trace_event_call *call);

/* ---- trace/hist ---- */

/*
 * Does a histogram of the instance have variables, or refer to one? Such an instance cannot be
 * removed.
 */
bool hist_triggers_hold(const struct trace_array *tr);

/* ---- trace/function ---- */

/* A line of the ledger: calls that function_graph followed, and what became of their returns. */
void trace_functions_show_calls(struct seq *s, const struct trace_array *tr);

/* The array goes away; it has tracer nop. */
void trace_functions_drop(struct trace_array *tr);
