/*
 * The buffer on every console: when the kernel dies (ftrace_dump_on_oops), or when a key asks for
 * it. Any context. Records stay in the buffer, for the next boot reads them there
 * (trace/persist/lastboot.c); recording stays off. The other CPUs of a dying kernel stand still,
 * and the dump takes their readers' locks from them. `dumping` keeps two dumps from running at once
 * and protects `heads` and `text`.
 */
#include "trace/output/dump.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_log.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/output/reader.h"

static char text[4096]; /* of a line; the dying kernel's stack may be short */

/* Line by line. */
static void trace_dump_say(const struct seq *s)
{
	for (char *rest = text, *end = text + s->len; rest < end;) {
		char *newline = memchr(rest, '\n', end - rest);
		size_t n = newline ? (size_t)(newline - rest) : (size_t)(end - rest);
		host_say("%.*s", (int)n, rest);
		rest += n + 1;
	}
}

#define RULE "---------------------------------"

static void trace_dump_line(const struct trace_line *line, u64 lost)
{
	struct trace_out out;
	struct seq s;

	if (lost == RB_LOST_UNKNOWN)
		host_say("CPU:%u [LOST EVENTS]", line->cpu);
	else if (lost)
		host_say("CPU:%u [LOST %lu EVENTS]", line->cpu, lost);
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, line->tr->options);
	trace_print_line(&out, line);
	trace_dump_say(&s);
}

/* ---- the CPUs' records, in the order of their times ---- */

/* A place in each CPU's ring. A dump allocates nothing, so they are made when the CPUs come up. */
static struct dump_head {
	struct ring_buffer_live *live; /* NULL: the CPU has none */
	struct ring_buffer_event *ev;  /* its next record; NULL: no more */
	u64 stamp;
} heads[MAX_CPUS];

static size_t page_room = PAGE_SIZE; /* the largest sub-buffer that fits into a place */

int trace_dump_prepare(void)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		if (!heads[cpu].live)
			heads[cpu].live = ring_buffer_live_alloc(page_room);
		if (!heads[cpu].live)
			return -ENOMEM;
	}
	return 0;
}

/* No dump runs meanwhile but the dying kernel's, which does not come back here. */
int trace_dump_make_room(size_t page_size)
{
	struct ring_buffer_live *live[MAX_CPUS];
	unsigned n = 0;

	if (page_size <= page_room)
		return 0;
	while (n < MAX_CPUS && heads[n].live && (live[n] = ring_buffer_live_alloc(page_size)))
		n++;
	if (n < MAX_CPUS && heads[n].live) {
		while (n--)
			ring_buffer_live_finish(live[n]);
		return -ENOMEM;
	}
	page_room = page_size;
	while (n--) {
		struct ring_buffer_live *old = heads[n].live;

		WRITE_ONCE(heads[n].live, live[n]);
		ring_buffer_live_finish(old);
	}
	return 0;
}

void trace_dump_exit(void)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		ring_buffer_live_finish(heads[cpu].live);
		heads[cpu].live = NULL;
	}
	page_room = PAGE_SIZE;
}

static void advance(struct dump_head *h)
{
	bool missed;

	h->ev = ring_buffer_live_next(h->live, &h->stamp, &missed);
}

static void begin(struct trace_array *tr, int only_cpu)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct dump_head *h = &heads[cpu];

		h->ev = NULL;
		if (!h->live || (only_cpu >= 0 && (int)cpu != only_cpu))
			continue;
		if (ring_buffer_live_restart(h->live, tr->buffer, cpu))
			advance(h);
	}
}

/* NULL: there are no more. */
static struct dump_head *trace_dump_oldest(void)
{
	struct dump_head *best = NULL;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		if (heads[cpu].ev && (!best || heads[cpu].stamp < best->stamp))
			best = &heads[cpu];
	return best;
}

static void dump_record(struct trace_array *tr, const struct dump_head *h, u64 index)
{
	struct trace_line line = {
	    .tr = tr,
	    .ent = ring_buffer_event_data(h->ev),
	    .len = ring_buffer_data_length(h->ev),
	    .cpu = h - heads,
	    .ts = trace_clock_ns(tr, h->stamp),
	    .index = index,
	    .latency = true,
	};
	line.next_ts = line.ts;
	trace_dump_line(&line, ring_buffer_live_lost(h->live));
}

static void trace_dump_cpus(int only_cpu)
{
	struct trace_array *tr = trace_global;
	struct dump_head *h;

	host_say("Dumping ftrace buffer:");
	begin(tr, only_cpu);
	if (!trace_dump_oldest()) {
		host_say("   (ftrace buffer empty)");
		return;
	}
	host_say(RULE);
	for (u64 lines = 0; (h = trace_dump_oldest()); lines++) {
		dump_record(tr, h, lines);
		advance(h);
	}
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
	trace_dump_cpus(cpu_of_mode(mode));
}

static bool trace_dump_living(int only_cpu)
{
	if (!trace_global || ring_buffer_reads_here(trace_global->buffer) ||
	    atomic_xchg(&dumping, 1))
		return false;
	ring_buffer_record_off(trace_global->buffer);
	trace_dump_cpus(only_cpu);
	atomic_store(&dumping, 0);
	return true;
}

bool trace_dump_now(void)
{
	return trace_dump_living(-1);
}

static s32 wanted_cpu; /* [A] of the dump that is to come; -1: of all */

static bool trace_dump_wanted(void)
{
	return trace_dump_living(atomic_load(&wanted_cpu));
}

void trace_dump_soon(int mode)
{
	trace_array_set_on(trace_global, false);
	atomic_store(&wanted_cpu, cpu_of_mode(mode));
	host_lock_soon(trace_dump_wanted);
}

void trace_dump_past(struct trace_array *tr)
{
	struct trace_reader r;
	struct seq s;

	if (!tr || trace_reader_init(&r, tr, tr->buffer, -1))
		return;
	host_say("Dumping ftrace buffer of the last boot:");
	host_say(RULE);
	seq_init(&s, text, sizeof(text));
	if (!trace_reader_start(&r))
		while (trace_reader_next(&r, &s)) {
			trace_dump_say(&s);
			seq_init(&s, text, sizeof(text));
		}
	host_say(RULE);
	trace_reader_free(&r);
}
