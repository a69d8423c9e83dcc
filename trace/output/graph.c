/*
 * The lines of function_graph: calls indented by their depth, a call and its return in one line if
 * nothing lies between. Other events stand in between as comments. Contexts are those of output.h.
 *
 * What a line needs to know of those before it on its CPU is in struct trace_graph_cpu; without it
 * (the last words, an event of another tracer's) each record has a line by itself.
 */
#include "trace/output/graph.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/ftrace.h"
#include "trace/event/tracer.h"
#include "trace/host_cpus.h"
#include "trace/host_function.h"
#include "trace/output/ftrace.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/output/reader.h"

#define INDENT	   2
#define DEPTHS	   50 /* of calls whose ends are compared with their beginnings, as on Linux */
#define TASK_WIDTH 14
#define NS_PER_US  1000UL
#define ERRNO_MAX  4095

/* Of a CPU, after its last line. */
struct trace_graph_cpu {
	bool seen, in_irq;	   /* has a line; in what funcgraph-irqs hides ... */
	s32 pid, depth, irq_depth; /* ... since a call of this depth */
	u64 open[DEPTHS];	   /* functions begun, by depth; 0: none */
};

struct graph_line {
	struct trace_out *out;
	const struct trace_line *line;
	struct trace_graph_cpu *cpu; /* NULL: not known */
	u32 options;		     /* TRACE_GRAPH_* */
};

static bool trace_graph_has_columns(const struct graph_line *g)
{
	return g->out->options & TRACE_OPT_CONTEXT_INFO;
}

/* ---- columns ---- */

static void trace_graph_put_cpu(struct seq *s, unsigned cpu)
{
	seq_printf(s, " %*u) ", host_cpu_count() > 100 ? 3 : host_cpu_count() > 10 ? 2 : 1, cpu);
}

/* "comm-pid" in the middle of its columns; seven bytes of the name. */
static void trace_graph_put_task(struct graph_line *g, s32 pid)
{
	char comm[16], text[32];

	trace_line_comm_of(g->line, pid, comm);
	comm[7] = '\0';
	int n = fmt_snprintf(text, sizeof(text), "%s-%d", comm, pid);
	int blanks = n < TASK_WIDTH ? TASK_WIDTH - n : 0;
	seq_printf(g->out->seq, "%*s%s%*s", blanks / 2, "", text, blanks - blanks / 2, "");
}

static void trace_graph_put_switch(struct graph_line *g)
{
	static const char rule[] = " ------------------------------------------\n";
	struct trace_graph_cpu *c = g->cpu;
	struct seq *s = g->out->seq;
	s32 pid = g->line->ent->pid, before;

	if (!c || (c->seen && c->pid == pid))
		return;
	before = c->pid;
	c->pid = pid;
	if (!c->seen) {
		c->seen = true;
		return;
	}
	seq_puts(s, rule);
	trace_graph_put_cpu(s, g->line->cpu);
	trace_graph_put_task(g, before);
	seq_puts(s, " => ");
	trace_graph_put_task(g, pid);
	seq_printf(s, "\n%s\n", rule);
}

static void trace_graph_put_columns(struct graph_line *g)
{
	struct seq *s = g->out->seq;

	if (!trace_graph_has_columns(g))
		return;
	if (g->options & TRACE_GRAPH_ABSTIME)
		seq_printf(s, "%5lu.%06lu |  ", g->line->ts / (NS_PER_US * 1000000),
		    g->line->ts / NS_PER_US % 1000000);
	if (g->options & TRACE_GRAPH_RELTIME)
		seq_printf(s, "%9lu us |  ", (g->line->ts - g->line->since) / NS_PER_US);
	if (g->options & TRACE_GRAPH_CPU)
		trace_graph_put_cpu(s, g->line->cpu);
	if (g->options & TRACE_GRAPH_PROC) {
		trace_graph_put_task(g, g->line->ent->pid);
		seq_puts(s, " | ");
	}
	if (g->out->options & TRACE_OPT_LATENCY_FMT) {
		char flags[TRACE_LINE_FLAGS];

		trace_line_put_flags(flags, g->line->ent);
		seq_putc(s, ' ');
		seq_write(s, flags, sizeof(flags));
		seq_puts(s, " | ");
	}
}

static bool trace_graph_has_duration(const struct graph_line *g)
{
	return (g->options & TRACE_GRAPH_DURATION) && trace_graph_has_columns(g);
}

void trace_print_duration(struct seq *s, u64 ns)
{
	u64 us = ns / NS_PER_US;
	char digits[DIGITS_MAX], *end = digits + sizeof(digits);
	int n = end - digits_dec(end, us), decimals = MIN(7 - n, 3);

	seq_printf(s, "%lu", us);
	if (decimals > 0) {
		static const u64 units[] = {1000, 100, 10, 1};

		seq_printf(s, ".%0*lu", decimals, ns % NS_PER_US / units[decimals]);
		n += 1 + decimals;
	}
	seq_printf(s, " us %*s", n < 8 ? 8 - n : 0, "");
}

static void trace_graph_put_duration(struct graph_line *g, u64 ns)
{
	struct seq *s = g->out->seq;

	if (!trace_graph_has_duration(g))
		return;
	seq_putc(s, g->options & TRACE_GRAPH_OVERHEAD ? trace_delay_mark(ns) : ' ');
	seq_putc(s, ' ');
	trace_print_duration(s, ns);
	seq_puts(s, "|  ");
}

static void trace_graph_put_no_duration(struct graph_line *g)
{
	if (trace_graph_has_duration(g))
		seq_puts(g->out->seq, "              |  ");
}

static void trace_graph_indent(struct graph_line *g, s32 depth)
{
	seq_printf(g->out->seq, "%*s", MAX(depth, 0) * INDENT, "");
}

/* ---- interrupts ---- */

/* A line of its own before the function in which an interrupt begins, and after it. */
static void trace_graph_put_irq(struct graph_line *g, u64 func, const char *arrow)
{
	if (g->out->past || !host_function_of_irq(func))
		return;
	trace_graph_put_columns(g);
	seq_printf(g->out->seq, trace_graph_has_duration(g) ? "  %s |\n" : "%s\n", arrow);
}

#define IRQ_BEGINS "==========>"
#define IRQ_ENDS   "<=========="

static bool trace_graph_hides_irqs(const struct graph_line *g)
{
	return g->cpu && !(g->options & TRACE_GRAPH_IRQS);
}

/* Is the call an interrupt's, and not to be shown? */
static bool trace_graph_hides_entry(struct graph_line *g, const struct rec_graph_entry *rec)
{
	struct trace_graph_cpu *c = g->cpu;

	if (!trace_graph_hides_irqs(g))
		return false;
	if (!c->in_irq && host_function_of_irq(rec->func)) {
		c->in_irq = true;
		c->irq_depth = rec->depth;
	}
	return c->in_irq;
}

static bool trace_graph_hides_exit(struct graph_line *g, const struct rec_graph_exit *rec)
{
	struct trace_graph_cpu *c = g->cpu;

	if (!trace_graph_hides_irqs(g) || !c->in_irq)
		return false;
	c->in_irq = c->irq_depth < rec->depth;
	return true;
}

/* ---- calls ---- */

/* The name alone. */
static void trace_graph_put_name(struct graph_line *g, u64 func)
{
	u64 options = g->out->options;

	g->out->options &= ~(TRACE_OPT_SYM_OFFSET | TRACE_OPT_SYM_ADDR);
	trace_print_ip(g->out, func);
	g->out->options = options;
}

/* What an error is, as a number below zero; 0: the value is none. */
static s64 trace_graph_error(u64 value)
{
	s64 v = value >> 31 == 1 ? (s32)value : (s64)value;

	return v < 0 && v >= -ERRNO_MAX ? v : 0;
}

/* Linux 6.12's " = VALUE", and " ret=VALUE" of 6.13, which has the return address, too. */
static void trace_graph_put_value(struct graph_line *g, u64 value)
{
	s64 error = g->options & TRACE_GRAPH_RETVAL_HEX ? 0 : trace_graph_error(value);

	seq_puts(g->out->seq, g->options & TRACE_GRAPH_RETADDR ? " ret=" : " = ");
	if (error)
		seq_printf(g->out->seq, "%ld", error);
	else
		seq_printf(g->out->seq, "0x%lx", value);
}

static bool trace_graph_has_retaddr(const struct graph_line *g, const struct rec_graph_entry *rec)
{
	return rec->ent.type == TRACE_GRAPH_RETADDR_ENT && (g->options & TRACE_GRAPH_RETADDR);
}

/* Always with the offset: a function may call another in several places. */
static void trace_graph_put_retaddr(struct graph_line *g, const struct rec_graph_entry *rec)
{
	u64 options = g->out->options;

	seq_puts(g->out->seq, " <-");
	g->out->options |= TRACE_OPT_SYM_OFFSET;
	trace_print_ip(g->out, container_of(rec, struct rec_graph_retaddr_entry, entry)->retaddr);
	g->out->options = options;
}

static void trace_graph_leaf(
    struct graph_line *g, const struct rec_graph_entry *rec, const struct rec_graph_exit *ret)
{
	struct seq *s = g->out->seq;

	if (g->cpu) {
		g->cpu->depth = rec->depth - 1;
		if ((u32)rec->depth < DEPTHS)
			g->cpu->open[rec->depth] = 0;
	}
	trace_graph_put_duration(g, ret->rettime - ret->calltime);
	trace_graph_indent(g, rec->depth);
	trace_graph_put_name(g, rec->func);
	seq_puts(s, "();");
	if (trace_graph_has_retaddr(g, rec) || (g->options & TRACE_GRAPH_RETVAL)) {
		seq_puts(s, " /*");
		if (trace_graph_has_retaddr(g, rec))
			trace_graph_put_retaddr(g, rec);
		if (g->options & TRACE_GRAPH_RETVAL)
			trace_graph_put_value(g, ret->retval);
		seq_puts(s, " */");
	}
	seq_putc(s, '\n');
	trace_graph_put_irq(g, rec->func, IRQ_ENDS);
}

static void trace_graph_open(struct graph_line *g, const struct rec_graph_entry *rec)
{
	if (g->cpu) {
		g->cpu->depth = rec->depth;
		if ((u32)rec->depth < DEPTHS)
			g->cpu->open[rec->depth] = rec->func;
	}
	trace_graph_put_no_duration(g);
	trace_graph_indent(g, rec->depth);
	trace_graph_put_name(g, rec->func);
	seq_puts(g->out->seq, "() {");
	if (trace_graph_has_retaddr(g, rec)) {
		seq_puts(g->out->seq, " /*");
		trace_graph_put_retaddr(g, rec);
		seq_puts(g->out->seq, " */");
	}
	seq_putc(g->out->seq, '\n');
}

static bool trace_graph_is_leaf(const struct graph_line *g, const struct rec_graph_entry *rec,
    const struct trace_entry *next, u32 len)
{
	const struct rec_graph_exit *ret = (const struct rec_graph_exit *)next;

	return next && next->type == TRACE_GRAPH_RET && len >= sizeof(*ret) &&
	       next->pid == g->line->ent->pid && ret->func == rec->func;
}

static enum trace_printed trace_graph_entry(struct graph_line *g, const struct rec_graph_entry *rec,
    const struct trace_entry *next, u32 len)
{
	if (trace_graph_hides_entry(g, rec))
		return TRACE_PRINTED;
	trace_graph_put_switch(g);
	trace_graph_put_irq(g, rec->func, IRQ_BEGINS);
	trace_graph_put_columns(g);
	if (trace_graph_is_leaf(g, rec, next, len)) {
		trace_graph_leaf(g, rec, (const struct rec_graph_exit *)next);
		return TRACE_PRINTED_BOTH;
	}
	trace_graph_open(g, rec);
	return TRACE_PRINTED;
}

/* Is it the end of the call that is open at its depth? That is closed. */
static bool trace_graph_closes(struct graph_line *g, const struct rec_graph_exit *rec)
{
	bool same = true;

	if (!g->cpu)
		return true;
	g->cpu->depth = rec->depth - 1;
	if ((u32)rec->depth < DEPTHS) {
		same = g->cpu->open[rec->depth] == rec->func;
		g->cpu->open[rec->depth] = 0;
	}
	return same;
}

static void trace_graph_exit(struct graph_line *g, const struct rec_graph_exit *rec)
{
	struct seq *s = g->out->seq;

	if (trace_graph_hides_exit(g, rec))
		return;
	bool named =
	    !trace_graph_closes(g, rec) || (g->options & (TRACE_GRAPH_TAIL | TRACE_GRAPH_RETVAL));
	trace_graph_put_switch(g);
	trace_graph_put_columns(g);
	trace_graph_put_duration(g, rec->rettime - rec->calltime);
	trace_graph_indent(g, rec->depth);
	seq_putc(s, '}');
	if (named) {
		seq_puts(s, " /* ");
		trace_graph_put_name(g, rec->func);
		if (g->options & TRACE_GRAPH_RETVAL)
			trace_graph_put_value(g, rec->retval);
		seq_puts(s, " */");
	}
	seq_putc(s, '\n');
	if (g->options & TRACE_GRAPH_OVERRUN)
		seq_printf(s, " (Overruns: %u)\n", rec->overrun);
	trace_graph_put_irq(g, rec->func, IRQ_ENDS);
}

static void trace_graph_comment(struct graph_line *g)
{
	const struct trace_line *line = g->line;
	struct seq *s = g->out->seq;
	s32 depth = g->cpu ? g->cpu->depth : 0;

	trace_graph_put_switch(g);
	trace_graph_put_columns(g);
	trace_graph_put_no_duration(g);
	if (depth > 0)
		trace_graph_indent(g, depth + 1);
	seq_puts(s, "/* ");
	if (!trace_ftrace_message(g->out, line->ent, line->len))
		trace_print_event(g->out, line->ent, line->len);
	if (!s->overflow && s->buf[s->len - 1] == '\n')
		s->len--;
	seq_puts(s, " */\n");
}

static u32 trace_graph_entry_size(const struct trace_entry *ent)
{
	return ent->type == TRACE_GRAPH_ENT ? sizeof(struct rec_graph_entry)
					    : sizeof(struct rec_graph_retaddr_entry);
}

static enum trace_printed trace_graph_print_with(u32 options, struct trace_out *out,
    const struct trace_line *line, void *cpu, const struct trace_entry *next, u32 next_len)
{
	struct graph_line g = {out, line, cpu, options};
	const void *rec = line->ent;

	switch (line->ent->type) {
	case TRACE_GRAPH_ENT:
	case TRACE_GRAPH_RETADDR_ENT:
		if (line->len < trace_graph_entry_size(line->ent))
			return TRACE_PRINTED;
		return trace_graph_entry(&g, rec, next, next_len);
	case TRACE_GRAPH_RET:
		if (line->len >= sizeof(struct rec_graph_exit))
			trace_graph_exit(&g, rec);
		return TRACE_PRINTED;
	case TRACE_FN:
	case TRACE_STACK:
		return TRACE_NOT_PRINTED;
	default:
		trace_graph_comment(&g);
		return TRACE_PRINTED;
	}
}

void trace_graph_print_event(struct trace_out *out,
    const struct trace_event_call *call __maybe_unused, const void *rec __maybe_unused,
    u32 len __maybe_unused)
{
	if (out->line)
		trace_graph_print_with(
		    out->line->tr->tracer_options, out, out->line, NULL, NULL, 0);
}

/* ---- header ---- */

static void trace_graph_latency_header(struct seq *s, u32 options)
{
	int n = 0;

	if (options & TRACE_GRAPH_ABSTIME)
		n += 16;
	if (options & TRACE_GRAPH_RELTIME)
		n += 16;
	if (options & TRACE_GRAPH_CPU)
		n += 4;
	if (options & TRACE_GRAPH_PROC)
		n += 17;
	seq_printf(s, "#%*s  _-----=> irqs-off        \n", n, "");
	seq_printf(s, "#%*s / _----=> need-resched    \n", n, "");
	seq_printf(s, "#%*s| / _---=> hardirq/softirq \n", n, "");
	seq_printf(s, "#%*s|| / _--=> preempt-depth   \n", n, "");
	seq_printf(s, "#%*s||| /                      \n", n, "");
}

/* The two lines over the columns. */
static const struct {
	u32 option; /* 0: latency-format */
	const char *first, *second;
} titles[] = {
    {TRACE_GRAPH_ABSTIME, "     TIME       ", "      |         "},
    {TRACE_GRAPH_RELTIME, "   REL TIME     ", "      |         "},
    {TRACE_GRAPH_CPU, " CPU", " |  "},
    {TRACE_GRAPH_PROC, "  TASK/PID       ", "   |    |        "},
    {0, "||||   ", "||||   "},
    {TRACE_GRAPH_DURATION, "  DURATION   ", "   |   |      "},
};

static void trace_graph_header_with(u32 options, struct seq *s, const struct trace_reader *r)
{
	bool latency = r->tr->options & TRACE_OPT_LATENCY_FMT;

	if (latency && !trace_print_latency_head(s, r))
		return;
	if (latency)
		trace_graph_latency_header(s, options);
	for (unsigned second = 0; second < 2; second++) {
		seq_putc(s, '#');
		for (unsigned i = 0; i < ARRAY_SIZE(titles); i++)
			if (titles[i].option ? options & titles[i].option : latency)
				seq_puts(s, second ? titles[i].second : titles[i].first);
		seq_puts(s,
		    second ? "               |   |   |   |\n" : "               FUNCTION CALLS\n");
	}
}

/* options: an expression of the array, tr. */
#define PRINTER(name, options)                                                                     \
	static void name##_header(struct seq *s, const struct trace_reader *r)                     \
	{                                                                                          \
		const struct trace_array *tr __maybe_unused = r->tr;                               \
		trace_graph_header_with(options, s, r);                                            \
	}                                                                                          \
	static enum trace_printed name##_line(struct trace_out *out,                               \
	    const struct trace_line *line, void *cpu, const struct trace_entry *next, u32 len)     \
	{                                                                                          \
		const struct trace_array *tr __maybe_unused = line->tr;                            \
		return trace_graph_print_with(options, out, line, cpu, next, len);                 \
	}                                                                                          \
	const struct trace_printer name = {                                                        \
	    .cpu_size = sizeof(struct trace_graph_cpu),                                            \
	    .header = name##_header,                                                               \
	    .line = name##_line,                                                                   \
	}

#define CRITICAL_COLUMNS                                                                           \
	(TRACE_GRAPH_RELTIME | TRACE_GRAPH_CPU | TRACE_GRAPH_PROC | TRACE_GRAPH_DURATION)
PRINTER(trace_graph_printer, tr->tracer_options);
PRINTER(trace_graph_critical_printer, CRITICAL_COLUMNS);
PRINTER(trace_graph_wakeup_printer, CRITICAL_COLUMNS | TRACE_GRAPH_OVERHEAD | TRACE_GRAPH_IRQS);
