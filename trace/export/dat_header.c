/*
 * The parts of what a trace.dat file begins with, as this kernel has them: formats, names, options.
 * dat_head.c puts them together. See dat_header.h for contexts.
 */
#include "trace/export/dat_header.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/event.h"
#include "trace/event/format.h"
#include "trace/event/ledger.h"
#include "trace/event/retired.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"
#include "trace/host_system.h"
#include "trace/output/printk.h"
#include "trace/output/stats.h"
#include "trace/persist/lastboot.h"

#define FIRST_TEXT 4096
#define MOST_TEXT  (64UL << 20)

/* What prints: the same text as a file of tracefs. */
typedef void (*show_fn)(struct seq *s, const void *arg);

struct dat_shown {
	show_fn show;
	const void *arg;
};
#define SHOWN(show, arg) ((struct dat_part){dat_put_shown, &(struct dat_shown){show, arg}})

/* Prints into twice the room until it fits. */
static void dat_put_shown(struct dat_sink *to, const void *shown)
{
	struct dat_text *t = container_of(to, struct dat_text, to);
	const struct dat_shown *it = shown;

	for (size_t size = FIRST_TEXT; !t->failed; size *= 2) {
		char *text = size > MOST_TEXT ? NULL : host_alloc(size);
		struct seq s;

		if (!text) {
			t->failed = true;
			return;
		}
		seq_init(&s, text, size);
		it->show(&s, it->arg);
		if (!s.overflow)
			to->put(to, text, s.len);
		host_free(text);
		if (!s.overflow)
			return;
	}
}

/* ---- formats ---- */

static void dat_show_page_format(struct seq *s, const void *page_size)
{
	trace_show_page_format(s, *(const u32 *)page_size);
}

static void dat_show_format(struct seq *s, const void *call)
{
	trace_event_show_format(s, call);
}

static void dat_put_formats(struct dat_sink *to, const struct trace_system *sys)
{
	dat_put_u32(to, sys ? sys->count : 0);
	for (u32 i = 0; sys && i < sys->count; i++)
		dat_put_sized(to, 8, SHOWN(dat_show_format, sys->calls[i]));
}

/* Events that are gone, but not their records. Systems may stand there more than once. */
static u32 dat_put_retired(struct dat_sink *to)
{
	const struct trace_retired *kind;
	struct trace_event_call *call;
	u32 n = 0;

	list_for_each_entry (kind, &trace_retired_kinds, node) {
		list_for_each_entry (call, &kind->calls, node) {
			dat_put_string(to, call->class->system);
			dat_put_u32(to, 1);
			dat_put_sized(to, 8, SHOWN(dat_show_format, call));
			n++;
		}
	}
	return n;
}

static void dat_show_past_format(struct seq *s, const void *text)
{
	seq_puts(s, text);
}

/* Those of another boot: the tracer's own, or all others, each in a system by itself. How many. */
static u32 dat_put_past_of(struct dat_sink *to, const struct trace_prevboot *past, bool own)
{
	struct trace_prevboot_text ev;
	u32 n = 0;

	for (u32 i = 0; trace_prevboot_nth(past, i, &ev); i++) {
		if (!ev.last || !strcmp(ev.system, "ftrace") != own)
			continue;
		if (!own) {
			dat_put_string(to, ev.system);
			dat_put_u32(to, 1);
		}
		dat_put_sized(to, 8, SHOWN(dat_show_past_format, ev.format));
		n++;
	}
	return n;
}

static void dat_put_past_formats(struct dat_sink *to, const void *past)
{
	for (unsigned others = 0; others < 2; others++) {
		u64 at = to->len;
		dat_put_u32(to, 0);
		u32 n = dat_put_past_of(to, past, !others);
		to->patch(to, at, &n, sizeof(n));
	}
}

/* The tracer's own events first, by themselves. */
static void dat_put_all_formats(struct dat_sink *to, const void *arg __maybe_unused)
{
	const struct trace_system *own = trace_system_find("ftrace"), *sys;
	u32 systems = 0;
	u64 at;

	dat_put_formats(to, own);
	at = to->len;
	dat_put_u32(to, 0);
	list_for_each_entry (sys, &trace_systems, node) {
		if (sys == own)
			continue;
		dat_put_string(to, sys->name);
		dat_put_formats(to, sys);
		systems++;
	}
	systems += dat_put_retired(to);
	to->patch(to, at, &systems, sizeof(systems));
}

/* ---- names ---- */

static void dat_show_symbols(struct seq *s, const void *past)
{
	struct host_symbol sym;

	if (past) {
		trace_prevboot_show_symbols(past, s);
		return;
	}
	for (unsigned i = 0; host_sym_nth(i, &sym) && !s->overflow; i++) {
		seq_hex(s, sym.start, 16);
		seq_printf(s, " %c %s\n", sym.type, sym.name);
	}
}

/* Records have the addresses of these texts: another kernel's are not known. */
static void dat_show_printk(struct seq *s, const void *past)
{
	if (!past || trace_prevboot_same_kernel(past))
		trace_printk_show_formats(s);
}

static void dat_show_comms(struct seq *s, const void *past)
{
	if (past)
		trace_prevboot_show_comms(past, s);
	else
		trace_comm_show(s);
}

/* ---- options ---- */

struct cpu_of {
	const struct dat_source *src;
	unsigned cpu;
};

static void dat_show_stats(struct seq *s, const void *arg)
{
	const struct cpu_of *of = arg;

	seq_printf(s, "CPU: %u\n", of->cpu);
	trace_show_stats(s, of->src->tr, of->src->buffer, of->cpu);
	seq_putc(s, '\0');
}

static void dat_show_ledger(struct seq *s, const void *arg)
{
	const struct dat_source *src = arg;

	seq_puts(s, "Ledger:\n");
	if (trace_ledger_show(s, src->tr))
		seq_puts(s, "no memory\n");
	seq_putc(s, '\0');
}

static void dat_show_clocks(struct seq *s, const void *arg)
{
	trace_clock_show(s, arg);
}

static void dat_show_clocks_ended(struct seq *s, const void *arg)
{
	trace_clock_show(s, arg);
	seq_putc(s, '\0');
}

static void dat_show_string(struct seq *s, const void *text)
{
	seq_puts(s, text);
	seq_putc(s, '\0');
}

static void dat_put_options(struct dat_sink *to, const void *arg)
{
	const struct dat_source *src = arg;
	const struct trace_prevboot *past = src->tr->past;
	const char *uname = past ? trace_prevboot_release(past) : host_uname();

	for (unsigned cpu = 0; src->buffer && cpu < host_cpu_count(); cpu++) {
		struct cpu_of of = {src, cpu};

		dat_put_option(to, DAT_OPTION_CPUSTAT, SHOWN(dat_show_stats, &of));
	}
	if (!past) /* which hits came to nothing does not outlive a boot */
		dat_put_option(to, DAT_OPTION_CPUSTAT, SHOWN(dat_show_ledger, src));
	dat_put_option(to, DAT_OPTION_TRACECLOCK, SHOWN(dat_show_clocks_ended, src->tr));
	dat_put_option(to, DAT_OPTION_UNAME, SHOWN(dat_show_string, uname));
	dat_put_option(to, DAT_OPTION_VERSION, SHOWN(dat_show_string, uname));
	dat_put_trace_id(to, host_unix_ns() + host_clock_ns(host_clock()));
}

bool dat_header_make(struct dat_text *t, const struct dat_source *src)
{
	const struct trace_prevboot *past = src->tr->past;

	dat_head_put(
	    &t->to, &(struct dat_head){
			.page_format = SHOWN(dat_show_page_format, &src->page_size),
			.formats = {past ? dat_put_past_formats : dat_put_all_formats, past},
			.symbols = SHOWN(dat_show_symbols, past),
			.printks = SHOWN(dat_show_printk, past),
			.comms = SHOWN(dat_show_comms, past),
			.options = {dat_put_options, src},
			.clock = SHOWN(dat_show_clocks, src->tr),
			.cpus = host_cpu_count(),
			.page_size = src->page_size,
			.pages = src->pages,
		    });
	return !t->failed;
}
