/*
 * What decides about an event before it is recorded. Called from the long way of an event between host_enter() and host_exit(), any
 * context; no lock, no allocation.
 */
#include "trace/pid_filter.h"
#include "trace/record.h"

void *trace_gate_begin(struct trace_slot *slot, struct trace_event_file *file,
    const struct host_context *ctx, u16 id, u32 size)
{
	u32 way = READ_ONCE(file->way);

	if (way & TRACE_WAY_SOFT_OFF) {
		local_inc(&file->counts[ctx->cpu].soft_off);
		return NULL;
	}
	if ((way & TRACE_WAY_PID) && trace_pid_ignored(file->tr, ctx)) {
		local_inc(&file->counts[ctx->cpu].pid_filtered);
		return NULL;
	}
	return trace_reserve(slot, file, ctx, id, size);
}
