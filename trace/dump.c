/*
 * The buffer on every console: when the kernel dies (ftrace_dump_on_oops), or when a key asks for it. Any context. Records are consumed,
 * and recording stays off. A dying kernel's other CPUs stand still, and what locks they held are taken from them.
 */
#include "trace/dump.h"
#include "kernel/lib/string.h"
#include "trace/lastboot.h"
#include "trace/output.h"
#include "trace/print.h"
#include "trace/reader.h"
#include "trace/record.h"

static char text[4096]; /* of a line; the dying kernel's stack may be short */

/* Line by line. */
static void say_text(const struct seq *s)
{
	for (char *rest = text, *end = text + s->len; rest < end;) {
		char *newline = memchr(rest, '\n', end - rest);
		size_t n = newline ? (size_t)(newline - rest) : (size_t)(end - rest);
		host_say("%.*s", (int)n, rest);
		rest += n + 1;
	}
}

#define RULE "---------------------------------"

static void dump_line(const struct trace_line *line, u64 lost)
{
	struct trace_out out;
	struct seq s;

	if (lost)
		host_say("CPU:%u [LOST %lu EVENTS]", line->cpu, lost);
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, line->tr->options);
	trace_print_line(&out, line);
	say_text(&s);
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

static bool has_events(int only_cpu)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		if ((only_cpu < 0 || (int)cpu == only_cpu) &&
		    !ring_buffer_empty_cpu(trace_global->buffer, cpu))
			return true;
	return false;
}

static void dump(int only_cpu)
{
	host_say("Dumping ftrace buffer:");
	if (!has_events(only_cpu)) {
		host_say("   (ftrace buffer empty)");
		return;
	}
	host_say(RULE);
	for (u64 lines = 0; dump_next(trace_global, only_cpu, lines); lines++)
		;
	host_say(RULE);
}

static int cpu_of_mode(int mode)
{
	if (mode == TRACE_DUMP_ORIG)
		return host_cpu();
	if (mode != TRACE_DUMP_ALL)
		host_say("Bad dumping mode, switching to all CPUs dump");
	return -1;
}

static u32 dumping; /* [A] */

void trace_dump_last(int mode)
{
	if (!trace_global || mode == TRACE_DUMP_NONE || atomic_xchg(&dumping, 1))
		return;
	ring_buffer_record_off(trace_global->buffer);
	ring_buffer_break_locks(trace_global->buffer);
	dump(cpu_of_mode(mode));
}

bool trace_dump_now(void)
{
	if (!trace_global || ring_buffer_reads_here(trace_global->buffer) ||
	    atomic_xchg(&dumping, 1))
		return false;
	ring_buffer_record_off(trace_global->buffer);
	dump(-1);
	atomic_store(&dumping, 0);
	return true;
}

void trace_dump_past(void)
{
	struct trace_array *tr = trace_lastboot_silent();
	struct trace_reader r;
	struct seq s;

	if (!tr || trace_reader_init(&r, tr, tr->buffer, -1))
		return;
	host_say("Dumping ftrace buffer of the last boot:");
	host_say(RULE);
	seq_init(&s, text, sizeof(text));
	if (!trace_reader_start(&r))
		while (trace_reader_next(&r, &s)) {
			say_text(&s);
			seq_init(&s, text, sizeof(text));
		}
	host_say(RULE);
	trace_reader_free(&r);
}
