/* Merging the CPUs' records into lines. Task context under host_lock. */
#include "trace/output/reader.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/output/print.h"

static bool has_cpu(const struct trace_reader *r, unsigned cpu)
{
	return r->cpu < 0 || r->cpu == (int)cpu;
}

int trace_reader_init(
    struct trace_reader *r, struct trace_array *tr, struct ring_buffer *buffer, int cpu)
{
	*r =
	    (struct trace_reader){.tr = tr, .buffer = buffer, .cpu = cpu, .cpus = host_cpu_count()};
	r->symbols = host_alloc(sizeof(*r->symbols) + r->cpus * sizeof(*r->heads) + RB_PAGE_DATA);
	if (!r->symbols)
		return -ENOMEM;
	r->heads = (struct trace_head *)(r->symbols + 1);
	r->copy = (char *)(r->heads + r->cpus);
	return 0;
}

void trace_reader_free(struct trace_reader *r)
{
	trace_reader_finish(r);
	host_free(r->symbols);
}

/* The CPU whose next record is the oldest; NULL: nothing left. */
static struct trace_head *trace_reader_oldest(const struct trace_reader *r)
{
	struct trace_head *best = NULL;

	for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
		struct trace_head *h = &r->heads[cpu];
		if (h->ev && (!best || h->stamp < best->stamp))
			best = h;
	}
	return best;
}

static struct trace_line line_of(const struct trace_reader *r, const struct trace_head *h)
{
	u64 ts = trace_clock_ns(r->tr, h->stamp);

	return (struct trace_line){
	    .tr = r->tr,
	    .ent = ring_buffer_event_data(h->ev),
	    .len = ring_buffer_data_length(h->ev),
	    .cpu = h - r->heads,
	    .ts = ts,
	    .next_ts = ts,
	};
}

static void trace_reader_print_line(struct trace_reader *r, struct seq *s, struct trace_line *line)
{
	struct trace_out out;

	trace_out_init(&out, s, r->tr->options);
	out.symbols = r->symbols;
	out.past = r->tr->past;
	line->index = r->lines++;
	line->latency = r->tr->options & TRACE_OPT_LATENCY_FMT;
	trace_print_line(&out, line);
}

/* ---- trace ---- */

/* What is handed out is a copy that stays until the next is asked for. */
static void trace_reader_advance(struct trace_head *h)
{
	bool missed;

	h->ev = ring_buffer_live_next(h->live, &h->stamp, &missed);
	h->lost = h->ev && missed;
}

/* What a snapshot has brought back from before the last clearing. */
static void hide_cleared(struct trace_reader *r, struct trace_head *h)
{
	struct ring_buffer_stats st;
	u64 n = 0;

	for (; h->ev && trace_clock_ns(r->tr, h->stamp) < r->tr->time_start; n++)
		trace_reader_advance(h);
	if (!n)
		return;
	ring_buffer_stats(r->buffer, h - r->heads, &st);
	r->hidden += n;
	r->hidden_overruns += st.overrun;
}

int trace_reader_start(struct trace_reader *r)
{
	r->lines = r->started = r->hidden = r->hidden_overruns = 0;
	r->annotate = ring_buffer_overruns(r->buffer);
	for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
		struct trace_head *h = &r->heads[cpu];
		if (!has_cpu(r, cpu))
			continue;
		h->live = ring_buffer_live_start(r->buffer, cpu);
		if (!h->live) {
			trace_reader_finish(r);
			return -ENOMEM;
		}
		trace_reader_advance(h);
		if (r->buffer == r->tr->buffer)
			hide_cleared(r, h);
	}
	return 0;
}

void trace_reader_finish(struct trace_reader *r)
{
	for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
		struct trace_head *h = &r->heads[cpu];
		ring_buffer_live_finish(h->live);
		*h = (struct trace_head){.live = NULL};
	}
}

/*
 * Where a buffer that has overrun begins: before that, the other CPUs' records stand alone. Not
 * said on the first line.
 */
static void put_start(struct trace_reader *r, struct seq *s, unsigned cpu)
{
	if (!r->annotate || !(r->tr->options & TRACE_OPT_ANNOTATE) || r->started & 1UL << cpu)
		return;
	r->started |= 1UL << cpu;
	if (r->lines)
		seq_printf(s, "##### CPU %u buffer started ####\n", cpu);
}

/* A line that tells how long until the next one needs the record to outlive the step to that. */
static void print_with_next(
    struct trace_reader *r, struct seq *s, struct trace_line *line, struct trace_head *h)
{
	memcpy(r->copy, line->ent, line->len);
	line->ent = (const struct trace_entry *)r->copy;
	trace_reader_advance(h);
	h = trace_reader_oldest(r);
	if (h)
		line->next_ts = trace_clock_ns(r->tr, h->stamp);
	trace_reader_print_line(r, s, line);
}

bool trace_reader_next(struct trace_reader *r, struct seq *s)
{
	struct trace_head *h = trace_reader_oldest(r);

	if (!h)
		return false;
	unsigned cpu = h - r->heads;
	struct trace_line line = line_of(r, h);
	if (h->lost)
		seq_printf(s, "CPU:%u [LOST EVENTS]\n", cpu);
	put_start(r, s, cpu);
	if (r->tr->options & TRACE_OPT_LATENCY_FMT) {
		print_with_next(r, s, &line, h);
	} else {
		trace_reader_print_line(r, s, &line);
		trace_reader_advance(h);
	}
	return true;
}

/* ---- trace_pipe ---- */

bool trace_reader_empty(const struct trace_reader *r)
{
	if (r->cpu >= 0)
		return ring_buffer_empty_cpu(r->buffer, r->cpu);
	return ring_buffer_empty(r->buffer);
}

bool trace_reader_peek(struct trace_reader *r, struct seq *s, unsigned *cpu_found)
{
	for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
		struct trace_head *h = &r->heads[cpu];
		if (has_cpu(r, cpu))
			h->ev = ring_buffer_peek(r->buffer, cpu, &h->stamp, &h->lost);
	}
	struct trace_head *h = trace_reader_oldest(r);
	if (!h)
		return false;
	*cpu_found = h - r->heads;
	struct trace_line line = line_of(r, h);
	if (h->lost)
		seq_printf(s, "CPU:%u [LOST %lu EVENTS]\n", line.cpu, h->lost);
	trace_reader_print_line(r, s, &line);
	return true;
}

bool trace_reader_consume(struct trace_reader *r, unsigned cpu)
{
	struct trace_head *h = &r->heads[cpu];
	bool done = ring_buffer_consume_peeked(r->buffer, cpu, h->ev);

	h->ev = NULL;
	return done;
}
