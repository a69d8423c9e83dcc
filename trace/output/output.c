/*
 * Lines of trace output. The columns are printed without a format: they are most of what a line
 * costs. See output.h for contexts.
 */
/* hot: runs with each line */
#include "trace/output/output.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/ftrace.h"
#include "trace/event/parts.h"
#include "trace/host_context.h"
#include "trace/output/fields.h"
#include "trace/output/ftrace.h"
#include "trace/output/print.h"

/* ---- columns ---- */

/*
 * A line's columns are put together in a buffer, from left to right, and handed to the seq in one
 * piece. Each function writes at `at` and returns what follows.
 */
#define COLUMNS_MAX 128

#define RARE __attribute__((cold)) /* few lines come this way: built for size */

static inline char *put_fill(char *at, char ch, long n)
{
	while (n-- > 0)
		*at++ = ch;
	return at;
}

/* Decimal, from the right in `width` columns. */
static inline char *trace_line_put_dec(char *at, u64 v, long width, char fill)
{
	unsigned n = count_dec(v);

	at = put_fill(at, fill, width - n) + n;
	digits_dec(at, v);
	return at;
}

void trace_line_comm_of(const struct trace_line *line, s32 pid, char comm[16])
{
	if (line->tr->past)
		trace_prevboot_comm(line->tr->past, pid, comm);
	else
		trace_comm_find(pid, comm);
}

static void trace_line_comm(const struct trace_line *line, char comm[16])
{
	trace_line_comm_of(line, line->ent->pid, comm);
}

/*
 * "comm-pid ": at most `width` bytes of the name, in as many columns from the right; the pid in 7
 * from the left.
 */
static char *trace_line_put_task(char *at, const struct trace_line *line, unsigned width)
{
	s32 pid = line->ent->pid;
	static const char blanks[17] = "                ";
	u64 number = pid < 0 ? 0 - (u64)pid : (u64)pid;
	unsigned n = count_dec(number) + (pid < 0);
	char comm[16];

	trace_line_comm(line, comm);
	__builtin_memcpy(at, blanks, 16);
	/* And more, which is written over. */
	__builtin_memcpy(at + width - strnlen(comm, width), comm, 16);
	at += width;
	at[0] = at[1] = '-';
	__builtin_memcpy(++at + n, blanks, 8);
	digits_dec(at + n, number);
	return at + MAX(n, 7U) + 1;
}

char *trace_line_put_flags(char *at, const struct trace_entry *ent)
{
	static const char depth[16] = ".123456789abcdef";
	/* By TRACE_FLAG_IRQS_OFF, _IRQS_NOSUPPORT and _BH_OFF, ... */
	static const char irqs[8] = {'.', 'd', 'X', 'd', 'b', 'D', 'b', 'D'};
	/* ... _NEED_RESCHED and _PREEMPT_RESCHED, ... */
	static const char resched[4] = {'.', 'n', 'p', 'N'};
	/* ... _HARDIRQ, _SOFTIRQ and _NMI. */
	static const char context[8] = {'.', 'h', 's', 'H', 'z', 'Z', 'z', 'Z'};
	unsigned flags = ent->flags;

	at[0] = irqs[(flags & 3) | (flags >> 5 & 4)];
	at[1] = resched[(flags >> 2 & 1) | (flags >> 4 & 2)];
	at[2] = context[(flags >> 3 & 3) | (flags >> 4 & 4)];
	at[3] = depth[ent->preempt_count & 15];
	at[4] = depth[ent->preempt_count >> 4];
	return at + TRACE_LINE_FLAGS;
}

static char *trace_line_put_stamp(char *at, const struct trace_line *line, u64 ts)
{
	*at++ = ' ';
	if (!line->tr->clock->in_ns)
		return trace_line_put_dec(at, ts, 12, ' ');
	u64 us = ts / 1000, seconds = us / 1000000;
	unsigned n = count_dec(seconds);
	__builtin_memset(at, ' ', 8);
	at += MAX(n, 5U);
	digits_dec(at, seconds);
	digits_dec(at + 7, us - seconds * 1000000 + 1000000); /* all six; the point is over the 1 */
	*at = '.';
	return at + 7;
}

void trace_print_stamp(struct trace_out *out, u64 before)
{
	char text[COLUMNS_MAX];

	if (out->line)
		seq_write(out->seq, text,
		    trace_line_put_stamp(text, out->line, out->line->ts - before) - text);
}

static char *put_time(char *at, const struct trace_line *line)
{
	at = trace_line_put_stamp(at, line, line->ts);
	*at++ = ':';
	*at++ = ' ';
	return at;
}

static char *put_tgid(char *at, s32 tgid)
{
	*at++ = '(';
	at = tgid ? trace_line_put_dec(at, tgid, 7, ' ') : put_fill(at, '-', 7);
	*at++ = ')';
	*at++ = ' ';
	return at;
}

static void put_columns(struct trace_out *out, const struct trace_line *line)
{
	struct seq *s = out->seq;
	bool fits = s->size - s->len >= COLUMNS_MAX;
	char text[COLUMNS_MAX], *from = fits ? s->buf + s->len : text;
	char *at = trace_line_put_task(from, line, 16);

	if (out->options & TRACE_OPT_RECORD_TGID)
		at = put_tgid(at, line->tr->past ? 0 : trace_tgid_find(line->ent->pid));
	digits_dec(at + 4, 1000 + line->cpu); /* three digits; the bracket is over the 1 */
	at[0] = '[';
	at[4] = ']';
	at[5] = ' ';
	at += 6;
	if (out->options & TRACE_OPT_IRQ_INFO)
		at = trace_line_put_flags(at, line->ent);
	at = put_time(at, line);
	if (fits)
		s->len += at - from;
	else
		seq_write(s, text, at - text);
}

/* ---- columns of latency-format ---- */

char trace_delay_mark(u64 ns)
{
	static const struct {
		u64 above;
		char mark;
	} marks[] = {{1000000000, '$'}, {100000000, '@'}, {10000000, '*'}, {1000000, '#'},
	    {100000, '!'}, {10000, '+'}};

	for (unsigned i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].above)
			return marks[i].mark;
	return ' ';
}

static void put_latency_time(struct trace_out *out, const struct trace_line *line)
{
	bool verbose = out->options & TRACE_OPT_VERBOSE, in_ns = line->tr->clock->in_ns;
	u64 since = line->ts - (line->since ? line->since : line->tr->time_start),
	    next = line->next_ts - line->ts;
	struct seq *s = out->seq;

	if (in_ns) {
		since /= 1000;
		next /= 1000;
	}
	if (verbose && in_ns)
		seq_printf(s, "[%08lx] %ld.%03ldms (+%ld.%03ldms): ", line->ts / 1000, since / 1000,
		    since % 1000, next / 1000, next % 1000);
	else if (verbose)
		seq_printf(s, "[%016lx] %ld (+%ld): ", line->ts, since, next);
	else if (in_ns)
		seq_printf(s, " %4ldus%c: ", since, trace_delay_mark(next * 1000));
	else
		seq_printf(s, " %4ld: ", since);
}

static RARE void put_latency_columns(struct trace_out *out, const struct trace_line *line)
{
	const struct trace_entry *ent = line->ent;
	struct seq *s = out->seq;

	if (out->options & TRACE_OPT_VERBOSE) {
		char comm[16];
		trace_line_comm(line, comm);
		seq_printf(s, "%16s %7d %3d %d %08x %08lx ", comm, ent->pid, line->cpu, ent->flags,
		    ent->preempt_count & 15, line->index);
	} else {
		char text[COLUMNS_MAX], *at = trace_line_put_task(text, line, 8);
		at = trace_line_put_dec(at, line->cpu, 3, ' ');
		at = trace_line_put_flags(at, ent);
		seq_write(s, text, at - text);
	}
	put_latency_time(out, line);
}

/* ---- the event's own words ---- */

static u64 load(const void *p, u32 size, bool is_signed)
{
	u64 v = 0;

	memcpy(&v, p, size);
	if (is_signed && size < 8 && v >> (size * 8 - 1))
		v |= ~0UL << size * 8;
	return v;
}

/* An event whose class prints nothing by itself: name=value of each field. */
static RARE void print_fields(
    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len)
{
	const struct trace_event_field *f = call->class->fields(call);

	for (; f->name; f++) {
		const char *at = (const char *)rec + f->offset;
		if (f->offset + (u32)f->size > len)
			break;
		seq_printf(out->seq, " %s=", f->name);
		if (f->kind == TRACE_FIELD_STRING)
			seq_write(out->seq, at, strnlen(at, f->size));
		else if (f->kind == TRACE_FIELD_DYN_STRING && f->size == 4)
			seq_puts(out->seq, trace_get_str(rec, len, load(at, 4, false)));
		else if (f->size && f->size <= 8) /* 0: an array up to the record's end */
			seq_printf(out->seq, f->is_signed ? "%ld" : "%lu",
			    load(at, f->size, f->is_signed));
	}
}

static const struct trace_event_call *trace_line_event(
    const struct trace_out *out, const struct trace_entry *ent, u32 len)
{
	return out->past ? trace_prevboot_event(out->past, ent->type, len)
			 : trace_event_by_id(ent->type);
}

static void trace_print_words(struct trace_out *out, const struct trace_event_call *call,
    const struct trace_entry *ent, u32 len)
{
	if (!call) {
		seq_printf(out->seq, "Unknown type %d\n", ent->type);
		return;
	}
	if (call->class->print_line) {
		call->class->print_line(out, call, ent, len);
		return;
	}
	seq_puts(out->seq, call->name);
	if (call->class->print) {
		seq_write(out->seq, ": ", 2);
		out->fmt = out->options & TRACE_OPT_HASH_PTR ? call->fmt_hashed : call->fmt;
		call->class->print(out, ent, len);
	} else {
		seq_putc(out->seq, ':');
		print_fields(out, call, ent, len);
	}
	seq_putc(out->seq, '\n');
}

void trace_print_event(struct trace_out *out, const struct trace_entry *ent, u32 len)
{
	trace_print_words(out, trace_line_event(out, ent, len), ent, len);
}

/* ---- raw, hex, bin ---- */

static void trace_put_hex_field(struct seq *s, const void *field, size_t bytes)
{
	seq_hex(s, load(field, bytes, false), bytes * 2);
	seq_putc(s, ' ');
}

/* What an event of no raw form shows in its place. */
static void put_type(struct trace_out *out, const struct trace_line *line)
{
	seq_printf(out->seq, "type: %d\n", line->ent->type);
}

static void trace_put_fields(struct trace_out *out, const struct trace_line *line,
    void (*put)(struct seq *s, const void *field, size_t bytes))
{
	const struct trace_event_call *call = trace_line_event(out, line->ent, line->len);

	if (call && call->class->put_fields)
		call->class->put_fields(out->seq, line->ent, line->len, put);
	else if (call)
		put_type(out, line);
}

static void print_binary(struct trace_out *out, const struct trace_line *line)
{
	u32 cpu = line->cpu;

	if (out->options & TRACE_OPT_CONTEXT_INFO) {
		seq_write(out->seq, &line->ent->pid, sizeof(line->ent->pid));
		seq_write(out->seq, &cpu, sizeof(cpu));
		seq_write(out->seq, &line->ts, sizeof(line->ts));
	}
	trace_put_fields(out, line, seq_write);
}

/* An empty line ends each, as on Linux. */
static void print_hex(struct trace_out *out, const struct trace_line *line)
{
	struct seq *s = out->seq;
	u32 cpu = line->cpu;

	if (out->options & TRACE_OPT_CONTEXT_INFO) {
		trace_put_hex_field(s, &line->ent->pid, sizeof(line->ent->pid));
		trace_put_hex_field(s, &cpu, sizeof(cpu));
		trace_put_hex_field(s, &line->ts, sizeof(line->ts));
	}
	trace_put_fields(out, line, trace_put_hex_field);
	seq_putc(s, '\n');
}

static void print_raw(struct trace_out *out, const struct trace_line *line)
{
	const struct trace_event_call *call = trace_line_event(out, line->ent, line->len);
	struct seq *s = out->seq;

	if (out->options & TRACE_OPT_CONTEXT_INFO)
		seq_printf(s, "%d %d %lu ", line->ent->pid, line->cpu, line->ts);
	if (!call)
		seq_printf(s, "%d ?\n", line->ent->type);
	else if (call->class->print_raw)
		call->class->print_raw(out, call, line->ent, line->len);
	else
		put_type(out, line);
}

/* The first of the three that is on. */
static RARE void print_undecoded(struct trace_out *out, const struct trace_line *line)
{
	if (out->options & TRACE_OPT_BIN)
		print_binary(out, line);
	else if (out->options & TRACE_OPT_HEX)
		print_hex(out, line);
	else
		print_raw(out, line);
}

/* ---- JSON ---- */

static bool print_json(struct trace_out *out, const struct trace_line *line)
{
	const struct trace_event_call *call = trace_event_by_id(line->ent->type);

	if (!call || !call->class->print_json)
		return false;
	call->class->print_json(out, line);
	return true;
}

/* ---- the line ---- */

void trace_print_line(struct trace_out *out, const struct trace_line *line)
{
	out->tmp.len = 0;
	out->line = line;
	if ((out->options & TRACE_OPT_PRINTK) && (out->options & TRACE_OPT_PRINTK_MSGONLY) &&
	    trace_ftrace_message(out, line->ent, line->len))
		return;
	if (out->options & (TRACE_OPT_BIN | TRACE_OPT_HEX | TRACE_OPT_RAW)) {
		print_undecoded(out, line);
		return;
	}
	if ((out->options & TRACE_OPT_EVENTHEADER_JSON) && print_json(out, line))
		return;
	if (out->options & TRACE_OPT_CONTEXT_INFO) {
		if (line->latency)
			put_latency_columns(out, line);
		else
			put_columns(out, line);
	}
	const struct trace_event_call *call = trace_line_event(out, line->ent, line->len);
	if ((out->options & TRACE_OPT_FIELDS) && call && call->id >= TRACE_FTRACE_IDS)
		trace_print_fields(out, call, line->ent, line->len);
	else
		trace_print_words(out, call, line->ent, line->len);
}
