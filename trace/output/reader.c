/* Merging the CPUs' records into lines. Task context under host_lock. */
#include "trace/output/reader.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/event/tracer.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/output/print.h"

static bool trace_reader_has_cpu(const struct trace_reader *r, unsigned cpu)
{
	if (r->longest.alone && r->longest.cpu != cpu)
		return false;
	return r->cpu < 0 || r->cpu == (int)cpu;
}

/* The reader hides records older than this. */
static u64 trace_reader_since(const struct trace_reader *r)
{
	return r->shows_longest ? r->longest.start : r->tr->time_start;
}

/* The tracer's printer begins. Without memory its lines are as if each were the first. */
static void trace_reader_forget(struct trace_reader *r)
{
	const struct trace_tracer *t = r->tr->tracer;

	r->printer = r->tr->options & TRACE_OPT_DISPLAY_GRAPH && t->graph ? t->graph : t->printer;
	host_free(r->known);
	r->known = r->printer ? host_alloc((r->cpus + 1) * r->printer->cpu_size) : NULL;
}

/* For the copy of a record, which may be of any size since sub-buffers have become larger. */
static bool trace_reader_room(struct trace_reader *r, u32 size)
{
	char *copy = size <= r->copy_room ? r->copy : host_alloc(size);

	if (!copy)
		return false;
	if (copy != r->copy) {
		host_free(r->copy);
		r->copy = copy;
		r->copy_room = size;
	}
	return true;
}

/* From now on the line's record is the copy, cut if there is no memory for all of it. */
static void trace_reader_copy(struct trace_reader *r, struct trace_line *line)
{
	if (!trace_reader_room(r, line->len))
		line->len = r->copy_room;
	memcpy(r->copy, line->ent, line->len);
}

int trace_reader_init(
    struct trace_reader *r, struct trace_array *tr, struct ring_buffer *buffer, int cpu)
{
	*r =
	    (struct trace_reader){.tr = tr, .buffer = buffer, .cpu = cpu, .cpus = host_cpu_count()};
	r->symbols =
	    host_alloc(sizeof(*r->symbols) + r->cpus * (sizeof(*r->heads) + sizeof(*r->queue)));
	if (!r->symbols || !trace_reader_room(r, RB_MAX_DATA)) {
		host_free(r->symbols);
		return -ENOMEM;
	}
	r->heads = (struct trace_head *)(r->symbols + 1);
	r->queue = (u8 *)(r->heads + r->cpus);
	trace_reader_forget(r);
	return 0;
}

void trace_reader_free(struct trace_reader *r)
{
	trace_reader_finish(r);
	host_free(r->known);
	host_free(r->copy);
	host_free(r->symbols);
}

static struct trace_line trace_reader_line_of(
    const struct trace_reader *r, const struct trace_head *h)
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

static void trace_reader_begin_line(
    struct trace_reader *r, struct trace_out *out, struct seq *s, struct trace_line *line)
{
	trace_out_init(out, s, r->tr->options);
	out->symbols = r->symbols;
	out->past = r->tr->past;
	line->index = r->lines++;
	line->since = trace_reader_since(r);
	line->latency = r->tr->options & TRACE_OPT_LATENCY_FMT;
}

static void trace_reader_print_line(struct trace_reader *r, struct seq *s, struct trace_line *line)
{
	struct trace_out out;

	trace_reader_begin_line(r, &out, s, line);
	trace_print_line(&out, line);
}

/* ---- lines of the tracer's own ---- */

static char *trace_reader_known(const struct trace_reader *r, unsigned cpu)
{
	return r->known ? r->known + cpu * r->printer->cpu_size : NULL;
}

/* False: it is not the tracer's to print. *both: with the next one. */
static bool trace_reader_print_own(struct trace_reader *r, struct seq *s, struct trace_line *line,
    const struct ring_buffer_event *next, bool *both)
{
	struct trace_out out;

	trace_reader_begin_line(r, &out, s, line);
	out.line = line;
	enum trace_printed done = r->printer->line(&out, line, trace_reader_known(r, line->cpu),
	    next ? ring_buffer_event_data((struct ring_buffer_event *)next) : NULL,
	    next ? ring_buffer_data_length((struct ring_buffer_event *)next) : 0);
	*both = done == TRACE_PRINTED_BOTH;
	return done != TRACE_NOT_PRINTED;
}

/* ---- trace ---- */

/* What is handed out is a copy that stays until the next is asked for. */
static void trace_reader_advance(struct trace_head *h)
{
	bool missed;

	h->ev = ring_buffer_live_next(h->live, &h->stamp, &missed);
	h->lost = h->ev && missed;
}

/* Is a's next record before b's? Of two of one time the lower CPU's is. */
static bool trace_reader_is_before(const struct trace_reader *r, unsigned a, unsigned b)
{
	u64 x = r->heads[a].stamp, y = r->heads[b].stamp;

	return x < y || (x == y && a < b);
}

/* Puts the CPU into the queue at this place, or below those that come before it. */
static void trace_reader_sink(struct trace_reader *r, unsigned at, unsigned cpu)
{
	unsigned below;

	while ((below = 2 * at + 1) < r->queued) {
		if (below + 1 < r->queued &&
		    trace_reader_is_before(r, r->queue[below + 1], r->queue[below]))
			below++;
		if (trace_reader_is_before(r, cpu, r->queue[below]))
			break;
		r->queue[at] = r->queue[below];
		at = below;
	}
	r->queue[at] = cpu;
}

/* All CPUs that have a next record. */
static void trace_reader_line_up(struct trace_reader *r)
{
	r->queued = 0;
	for (unsigned cpu = 0; cpu < r->cpus; cpu++)
		if (r->heads[cpu].ev)
			r->queue[r->queued++] = cpu;
	for (unsigned at = r->queued / 2; at-- > 0;)
		trace_reader_sink(r, at, r->queue[at]);
}

/* The CPU whose next record is the oldest; NULL: nothing left. */
static struct trace_head *trace_reader_oldest(const struct trace_reader *r)
{
	return r->queued ? &r->heads[r->queue[0]] : NULL;
}

/* The oldest record gives way to the next one of its CPU. */
static void trace_reader_step(struct trace_reader *r)
{
	unsigned cpu = r->queue[0];

	trace_reader_advance(&r->heads[cpu]);
	if (!r->heads[cpu].ev) {
		if (!--r->queued)
			return;
		cpu = r->queue[r->queued];
	}
	trace_reader_sink(r, 0, cpu);
}

/* So does one that need not be the oldest. */
static void trace_reader_step_at(struct trace_reader *r, struct trace_head *h)
{
	trace_reader_advance(h);
	trace_reader_line_up(r);
}

/* Hides records from before the last clearing, or the latency, that a snapshot has brought back. */
static void hide_cleared(struct trace_reader *r, struct trace_head *h)
{
	struct ring_buffer_stats st;
	u64 n = 0;

	for (; h->ev && trace_clock_ns(r->tr, h->stamp) < trace_reader_since(r); n++)
		trace_reader_advance(h);
	if (!n)
		return;
	ring_buffer_stats(r->buffer, h - r->heads, &st);
	r->hidden += n;
	r->hidden_overruns += st.overrun;
}

/* Copies the latency: the tracer may find the next one while this reader shows this one. */
static void trace_reader_take_longest(struct trace_reader *r)
{
	const struct trace_array *tr = r->tr;
	u32 reports;

	r->shows_longest = r->buffer != tr->buffer && tr->tracer->shows_longest;
	do {
		reports = atomic_load(&tr->latency_reports);
		r->longest = r->shows_longest ? tr->longest : (struct trace_latency){0};
	} while (reports % 2 || reports != atomic_load(&tr->latency_reports));
}

int trace_reader_start(struct trace_reader *r)
{
	r->lines = r->started = r->hidden = r->hidden_overruns = 0;
	trace_reader_forget(r);
	trace_reader_take_longest(r);
	r->annotate = ring_buffer_overruns(r->buffer);
	for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
		struct trace_head *h = &r->heads[cpu];
		if (!trace_reader_has_cpu(r, cpu))
			continue;
		h->live = ring_buffer_live_start(r->buffer, cpu);
		if (!h->live) {
			trace_reader_finish(r);
			return -ENOMEM;
		}
		trace_reader_advance(h);
		if (r->buffer == r->tr->buffer || r->shows_longest)
			hide_cleared(r, h);
	}
	trace_reader_line_up(r);
	return 0;
}

void trace_reader_finish(struct trace_reader *r)
{
	r->queued = 0;
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

/*
 * A line that shows the time until the next one, or has the next record in it, needs the record to
 * outlive the step to that.
 */
static void print_with_next(
    struct trace_reader *r, struct seq *s, struct trace_line *line, struct trace_head *h)
{
	bool both = false;

	trace_reader_copy(r, line);
	line->ent = (const struct trace_entry *)r->copy;
	trace_reader_step(r);
	if (r->printer && trace_reader_print_own(r, s, line, h->lost ? NULL : h->ev, &both)) {
		if (both)
			trace_reader_step_at(r, h);
		return;
	}
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
	struct trace_line line = trace_reader_line_of(r, h);
	if (h->lost)
		seq_printf(s, "CPU:%u [LOST EVENTS]\n", cpu);
	put_start(r, s, cpu);
	if ((r->tr->options & TRACE_OPT_LATENCY_FMT) || r->printer) {
		print_with_next(r, s, &line, h);
	} else {
		trace_reader_print_line(r, s, &line);
		trace_reader_step(r);
	}
	return true;
}

/* ---- trace_pipe ---- */

static bool trace_reader_consume_head(struct trace_reader *r, struct trace_head *h)
{
	bool done = ring_buffer_consume_peeked(r->buffer, h - r->heads, h->ev);

	h->ev = NULL;
	return done;
}

bool trace_reader_empty(const struct trace_reader *r)
{
	if (r->held.tr)
		return false;
	if (r->cpu >= 0)
		return ring_buffer_empty_cpu(r->buffer, r->cpu);
	return ring_buffer_empty(r->buffer);
}

/* The oldest record; NULL: there is none. */
static struct trace_head *trace_reader_peek_oldest(struct trace_reader *r)
{
	struct trace_head *best = NULL;

	for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
		struct trace_head *h = &r->heads[cpu];
		if (!trace_reader_has_cpu(r, cpu))
			continue;
		h->ev = ring_buffer_peek(r->buffer, cpu, &h->stamp, &h->lost);
		if (h->ev && (!best || h->stamp < best->stamp))
			best = h;
	}
	return best;
}

/* Takes the oldest record from its ring. False: there is none. */
static bool trace_reader_hold(struct trace_reader *r)
{
	struct trace_head *h;

	do {
		h = trace_reader_peek_oldest(r);
		if (!h)
			return false;
		r->held = trace_reader_line_of(r, h);
		r->held_lost = h->lost;
		trace_reader_copy(r, &r->held);
	} while (!trace_reader_consume_head(r, h));
	r->held.ent = (const struct trace_entry *)r->copy;
	if (r->known)
		memcpy(trace_reader_known(r, r->cpus), trace_reader_known(r, r->held.cpu),
		    r->printer->cpu_size);
	return true;
}

/* Its line may have been made before, and not taken: then the printer is where it was. */
static bool trace_reader_peek_held(struct trace_reader *r, struct seq *s, unsigned *cpu_found)
{
	struct trace_line *line = &r->held;
	bool both;
	u64 lost;

	if (line->tr && r->known)
		memcpy(trace_reader_known(r, line->cpu), trace_reader_known(r, r->cpus),
		    r->printer->cpu_size);
	if (!line->tr && !trace_reader_hold(r))
		return false;
	*cpu_found = line->cpu;
	r->with_held = ring_buffer_peek(r->buffer, line->cpu, NULL, &lost);
	if (r->held_lost)
		seq_printf(s, "CPU:%u [LOST %lu EVENTS]\n", line->cpu, r->held_lost);
	if (!trace_reader_print_own(r, s, line, lost ? NULL : r->with_held, &both))
		trace_reader_print_line(r, s, line);
	if (!both)
		r->with_held = NULL;
	return true;
}

bool trace_reader_peek(struct trace_reader *r, struct seq *s, unsigned *cpu_found)
{
	if (r->printer)
		return trace_reader_peek_held(r, s, cpu_found);
	struct trace_head *h = trace_reader_peek_oldest(r);
	if (!h)
		return false;
	*cpu_found = h - r->heads;
	struct trace_line line = trace_reader_line_of(r, h);
	if (h->lost)
		seq_printf(s, "CPU:%u [LOST %lu EVENTS]\n", line.cpu, h->lost);
	trace_reader_print_line(r, s, &line);
	return true;
}

bool trace_reader_consume(struct trace_reader *r, unsigned cpu)
{
	if (!r->held.tr)
		return trace_reader_consume_head(r, &r->heads[cpu]);
	if (r->with_held)
		ring_buffer_consume_peeked(r->buffer, cpu, r->with_held);
	r->held.tr = NULL;
	return true;
}
