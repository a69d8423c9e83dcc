/*
 * What a trace.dat file begins with: formats, names, options and where each CPU's sub-buffers lie.
 * The format is version 6 of trace-cmd's (man 5 trace-cmd.dat.v6); what that page does not say, as
 * trace-cmd reads it: a clock's name stands behind the table of CPUs, options that it does not know
 * are a warning. See dat_header.h for contexts.
 */
#include "trace/export/dat_header.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/event.h"
#include "trace/event/format.h"
#include "trace/event/ledger.h"
#include "trace/event/retired.h"
#include "trace/export/dat_page.h"
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

enum option {
	OPTION_END = 0,
	OPTION_CPUSTAT = 2,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_VERSION = 9,
	OPTION_TRACEID = 11,
};

/* What prints: the same text as a file of tracefs. */
typedef void (*show_fn)(struct seq *s, const void *arg);

/* Prints into twice the room until it fits. */
static void put_shown(struct dat_text *t, show_fn show, const void *arg)
{
	for (size_t size = FIRST_TEXT; !t->failed; size *= 2) {
		char *text = size > MOST_TEXT ? NULL : host_alloc(size);
		struct seq s;

		if (!text) {
			t->failed = true;
			return;
		}
		seq_init(&s, text, size);
		show(&s, arg);
		if (!s.overflow)
			dat_put(t, text, s.len);
		host_free(text);
		if (!s.overflow)
			return;
	}
}

/* The text behind its length, a number of `bytes`. */
static void dat_put_sized(struct dat_text *t, size_t bytes, show_fn show, const void *arg)
{
	u64 at = t->len, length;

	dat_put_zeros(t, bytes);
	put_shown(t, show, arg);
	length = t->len - at - bytes;
	dat_patch(t, at, &length, bytes);
}

/* ---- formats ---- */

static void dat_show_page_format(struct seq *s, const void *arg __maybe_unused)
{
	trace_show_page_format(s);
}

static void dat_show_record_format(struct seq *s, const void *arg __maybe_unused)
{
	seq_puts(s, dat_page_header_event);
}

static void dat_show_format(struct seq *s, const void *call)
{
	trace_event_show_format(s, call);
}

static void dat_put_formats(struct dat_text *t, const struct trace_system *sys)
{
	dat_put_u32(t, sys ? sys->count : 0);
	for (u32 i = 0; sys && i < sys->count; i++)
		dat_put_sized(t, 8, dat_show_format, sys->calls[i]);
}

/* Events that are gone, but not their records. Systems may stand there more than once. */
static u32 put_retired(struct dat_text *t)
{
	const struct trace_retired *kind;
	struct trace_event_call *call;
	u32 n = 0;

	list_for_each_entry (kind, &trace_retired_kinds, node) {
		list_for_each_entry (call, &kind->calls, node) {
			dat_put_string(t, call->class->system);
			dat_put_u32(t, 1);
			dat_put_sized(t, 8, dat_show_format, call);
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
static u32 dat_put_past_of(struct dat_text *t, const struct trace_past *past, bool own)
{
	struct trace_past_text ev;
	u32 n = 0;

	for (u32 i = 0; trace_past_nth(past, i, &ev); i++) {
		if (!ev.last || !strcmp(ev.system, "ftrace") != own)
			continue;
		if (!own) {
			dat_put_string(t, ev.system);
			dat_put_u32(t, 1);
		}
		dat_put_sized(t, 8, dat_show_past_format, ev.format);
		n++;
	}
	return n;
}

static void put_past_formats(struct dat_text *t, const struct trace_past *past)
{
	for (unsigned others = 0; others < 2; others++) {
		u64 at = t->len;
		dat_put_u32(t, 0);
		u32 n = dat_put_past_of(t, past, !others);
		dat_patch(t, at, &n, sizeof(n));
	}
}

/* The tracer's own events first, by themselves. */
static void put_all_formats(struct dat_text *t)
{
	const struct trace_system *own = trace_system_find("ftrace"), *sys;
	u32 systems = 0;
	u64 at;

	dat_put_formats(t, own);
	at = t->len;
	dat_put_u32(t, 0);
	list_for_each_entry (sys, &trace_systems, node) {
		if (sys == own)
			continue;
		dat_put_string(t, sys->name);
		dat_put_formats(t, sys);
		systems++;
	}
	systems += put_retired(t);
	dat_patch(t, at, &systems, sizeof(systems));
}

/* ---- names ---- */

static void dat_show_symbols(struct seq *s, const void *past)
{
	struct host_symbol sym;

	if (past) {
		trace_past_show_symbols(past, s);
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
	if (!past || trace_past_same_kernel(past))
		trace_printk_show_formats(s);
}

static void dat_show_comms(struct seq *s, const void *past)
{
	if (past)
		trace_past_show_comms(past, s);
	else
		trace_comm_show(s);
}

/* ---- options ---- */

static void dat_put_option(struct dat_text *t, enum option id, show_fn show, const void *arg)
{
	dat_put_u16(t, id);
	dat_put_sized(t, 4, show, arg);
}

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

/* Not the same in two traces: by it a host's and a guest's find each other. */
static void put_trace_id(struct dat_text *t)
{
	u64 id = (host_unix_ns() + host_clock_ns(host_clock())) * 0x9e3779b97f4a7c15UL | 1;

	dat_put_u16(t, OPTION_TRACEID);
	dat_put_u32(t, sizeof(id));
	dat_put_u64(t, id);
}

static void put_options(struct dat_text *t, const struct dat_source *src)
{
	const struct trace_past *past = src->tr->past;
	const char *uname = past ? trace_past_release(past) : host_uname();

	dat_put_string(t, "options  ");
	for (unsigned cpu = 0; src->buffer && cpu < host_cpu_count(); cpu++) {
		struct cpu_of of = {src, cpu};

		dat_put_option(t, OPTION_CPUSTAT, dat_show_stats, &of);
	}
	if (!past) /* which hits came to nothing does not outlive a boot */
		dat_put_option(t, OPTION_CPUSTAT, dat_show_ledger, src);
	dat_put_option(t, OPTION_TRACECLOCK, dat_show_clocks_ended, src->tr);
	dat_put_option(t, OPTION_UNAME, dat_show_string, uname);
	dat_put_option(t, OPTION_VERSION, dat_show_string, uname);
	put_trace_id(t);
	dat_put_u16(t, OPTION_END);
}

/* ---- the whole ---- */

static void put_start(struct dat_text *t)
{
	static const u8 magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	static const u8 little_endian_long_8[] = {0, 8};

	dat_put(t, magic, sizeof(magic));
	dat_put_string(t, "6");
	dat_put(t, little_endian_long_8, sizeof(little_endian_long_8));
	dat_put_u32(t, PAGE_SIZE);
}

/* The CPUs' sub-buffers, one CPU's behind the other's, from the next page on. */
static void put_cpus(struct dat_text *t, const struct dat_source *src)
{
	unsigned cpus = host_cpu_count();
	u64 table, at;

	dat_put_string(t, "flyrecord");
	table = t->len;
	dat_put_zeros(t, cpus * 16);
	dat_put_sized(t, 8, dat_show_clocks, src->tr);
	dat_put_zeros(t, -t->len % PAGE_SIZE);
	at = t->len;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		u64 entry[2] = {at, src->pages[cpu] * PAGE_SIZE};

		dat_patch(t, table + cpu * sizeof(entry), entry, sizeof(entry));
		at += entry[1];
	}
}

bool dat_header_make(struct dat_text *t, const struct dat_source *src)
{
	const struct trace_past *past = src->tr->past;

	put_start(t);
	dat_put_string(t, "header_page");
	dat_put_sized(t, 8, dat_show_page_format, NULL);
	dat_put_string(t, "header_event");
	dat_put_sized(t, 8, dat_show_record_format, NULL);
	if (past)
		put_past_formats(t, past);
	else
		put_all_formats(t);
	dat_put_sized(t, 4, dat_show_symbols, past);
	dat_put_sized(t, 4, dat_show_printk, past);
	dat_put_sized(t, 8, dat_show_comms, past);
	dat_put_u32(t, host_cpu_count());
	put_options(t, src);
	put_cpus(t, src);
	return !t->failed;
}
