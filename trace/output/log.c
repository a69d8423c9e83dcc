/*
 * tp_printk: events as lines of the system's log. A line is made between host_enter() and
 * host_preempt_enable(), in any context.
 */
#include "trace/output/log.h"
#include "trace/event/array.h"
#include "trace/event/record.h"
#include "trace/host_log.h"
#include "trace/output/output.h"
#include "trace/host_lock.h"
#include "trace/output/print.h"

/*
 * A line that the log's own way sets off (printk:console, a spinning lock) is not printed in turn.
 */
static u8 printing[MAX_CPUS]; /* [C] */

/* The record's line into the system's log (tp_printk). */
static void trace_log_record(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len)
{
	struct trace_out out;
	char text[256];
	struct seq s;

	if (printing[ctx->cpu])
		return;
	printing[ctx->cpu] = 1;
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, file->tr->options);
	trace_print_event(&out, rec, len);
	while (s.len && text[s.len - 1] == '\n')
		s.len--;
	host_log("%.*s", (int)s.len, text);
	printing[ctx->cpu] = 0;
}

void trace_set_printk(bool on)
{
	host_assert_locked();
	struct trace_array *tr;

	trace_record_log = trace_log_record;
	list_for_each_entry (tr, &trace_arrays, node)
		trace_array_set_way(tr, TRACE_WAY_PRINT, on);
}
