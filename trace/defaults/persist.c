/*
 * Replaces trace/persist/ and trace/tracefs/lastboot.c where a host does not link them: nothing
 * outlives this boot, so no trace array has a past.
 */
#include "trace/defaults/weak.h"
#include "trace/event/parts.h"
#include "trace/host_symbol.h"
#include "trace/persist/kept.h"
#include "trace/persist/lastboot.h"
#include "trace/tracefs/tables.h"

__weak const struct tracefs_dir tracefs_prevboot_events_dir = {.rows = tracefs_no_rows};

/* ---- this boot's trace, for the next ---- */

__weak bool kept_start(u64 generation __maybe_unused)
{
	return false;
}

__weak void kept_stop(void)
{
}

__weak void kept_update(void)
{
}

__weak void kept_note_clock(const char *name __maybe_unused)
{
}

__weak void kept_note_event(struct trace_event_call *call __maybe_unused)
{
}

__weak void *kept_alloc(unsigned pages __maybe_unused)
{
	return NULL;
}

__weak bool kept_free(void *p __maybe_unused, unsigned pages __maybe_unused)
{
	return false;
}

__weak void kept_note_comms(const void *slots __maybe_unused, size_t size __maybe_unused)
{
}

/* ---- the last boot's trace: nobody asks for what a trace array without a past would say ---- */

__weak u64 trace_lastboot_find(void)
{
	return 0;
}

__weak void trace_lastboot_name(const char *name __maybe_unused)
{
}

__weak void trace_lastboot_offer(void)
{
}

__weak struct trace_array *trace_lastboot_silent(void)
{
	return NULL;
}

__weak void trace_prevboot_free(struct trace_prevboot *past __maybe_unused)
{
}

__weak u64 trace_prevboot_ns(const struct trace_array *tr __maybe_unused, u64 stamp)
{
	return stamp;
}

__weak const struct trace_event_call *trace_prevboot_event(
    const struct trace_prevboot *past __maybe_unused, unsigned id __maybe_unused,
    u32 len __maybe_unused)
{
	return NULL;
}

__weak void trace_prevboot_comm(const struct trace_prevboot *past __maybe_unused,
    s32 pid __maybe_unused, char comm[16] __maybe_unused)
{
}

__weak void trace_prevboot_sym_print(
    const struct trace_prevboot *past __maybe_unused, char *buf, size_t size, u64 addr, bool offset)
{
	host_sym_print(buf, size, addr, offset);
}

__weak bool trace_prevboot_nth(const struct trace_prevboot *past __maybe_unused,
    u32 n __maybe_unused, struct trace_prevboot_text *out __maybe_unused)
{
	return false;
}

__weak void trace_prevboot_show_symbols(
    const struct trace_prevboot *past __maybe_unused, struct seq *s __maybe_unused)
{
}

__weak void trace_prevboot_show_comms(
    const struct trace_prevboot *past __maybe_unused, struct seq *s __maybe_unused)
{
}

__weak const char *trace_prevboot_release(const struct trace_prevboot *past __maybe_unused)
{
	return "";
}

__weak bool trace_prevboot_same_kernel(const struct trace_prevboot *past __maybe_unused)
{
	return false;
}

__weak u64 trace_prevboot_begin(const struct trace_prevboot *past __maybe_unused)
{
	return 0;
}
