/*
 * Replaces trace/export/ and trace/tracefs/dat.c where a host does not link them: no reader outside
 * finds the formats of events, and trace.dat cannot be read.
 */
#include "trace/defaults/weak.h"
#include "trace/event/parts.h"
#include "trace/export/export.h"
#include "trace/tracefs/tables.h"

__weak const struct tracefs_ops tracefs_dat_ops = {.stream = true};
__weak const struct tracefs_ops tracefs_snapshot_dat_ops = {.stream = true};

__weak int trace_export_event(struct trace_event_call *call __maybe_unused)
{
	return 0;
}

__weak void trace_export_forget(struct trace_event_call *call __maybe_unused)
{
}
