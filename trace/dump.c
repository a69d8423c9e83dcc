/*
 * The last words of the tracer: the buffer into the system's log when the kernel dies (ftrace_dump_on_oops). Any context; nobody else
 * runs any more, so no lock is taken and records are consumed.
 */
#include "trace/dump.h"
#include "kernel/lib/string.h"
#include "trace/output.h"
#include "trace/print.h"
#include "trace/record.h"

static void dump_line(const struct trace_line *line, u64 lost)
{
	static char text[4096]; /* the dying kernel's stack may be short */
	struct trace_out out;
	struct seq s;

	if (lost)
		host_log("CPU:%u [LOST %lu EVENTS]", line->cpu, lost);
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, line->tr->options);
	trace_print_line(&out, line);
	for (char *rest = text, *end = text + s.len; rest < end;) {
		char *newline = memchr(rest, '\n', end - rest);
		size_t n = newline ? (size_t)(newline - rest) : (size_t)(end - rest);
		host_log("%.*s", (int)n, rest);
		rest += n + 1;
	}
}

/* The oldest of the CPUs' records, printed and consumed. */
static bool dump_next(struct trace_array *tr, int only_cpu, u64 index)
{
	u64 best_stamp = 0, best_lost = 0, stamp, lost;
	struct ring_buffer_event *best = NULL;
	unsigned best_cpu = 0;

	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		if (only_cpu >= 0 && (int)cpu != only_cpu)
			continue;
		struct ring_buffer_event *ev = ring_buffer_peek(tr->buffer, cpu, &stamp, &lost);
		if (ev && (!best || stamp < best_stamp)) {
			best = ev;
			best_cpu = cpu;
			best_stamp = stamp;
			best_lost = lost;
		}
	}
	if (!best)
		return false;
	struct trace_line line = {
	    .tr = tr,
	    .ent = ring_buffer_event_data(best),
	    .len = ring_buffer_data_length(best),
	    .cpu = best_cpu,
	    .ts = trace_clock_ns(tr, best_stamp),
	    .index = index,
	    .latency = true,
	};
	line.next_ts = line.ts;
	dump_line(&line, best_lost);
	ring_buffer_consume(tr->buffer, best_cpu, &stamp, &lost);
	return true;
}

void trace_dump(int mode)
{
	static u32 done;

	if (!trace_global || mode == TRACE_DUMP_NONE || atomic_xchg(&done, 1))
		return;
	ring_buffer_record_off(trace_global->buffer);
	host_log("Dumping ftrace buffer:");
	int cpu = mode == TRACE_DUMP_ORIG ? (int)host_cpu() : -1;
	bool any = false;
	for (unsigned c = 0; c < host_cpu_count() && !any; c++)
		any = (cpu < 0 || (int)c == cpu) && !ring_buffer_empty_cpu(trace_global->buffer, c);
	if (!any) {
		host_log("   (ftrace buffer empty)");
		return;
	}
	host_log("---------------------------------");
	for (u64 lines = 0; dump_next(trace_global, cpu, lines); lines++)
		;
	host_log("---------------------------------");
}
