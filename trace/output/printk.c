/*
 * trace_printk(): text from kernel code into the trace of the array that has the option
 * trace_printk_dest. What is recorded is the format's address and the arguments; the text is made
 * when somebody reads it. Any context.
 */
#include "trace/output/printk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/ftrace.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/output/bprintf.h"

#define WORDS_MAX 240 /* of arguments */
#define FORMATS	  256 /* remembered for printk_formats: a power of two */

/* Formats seen, at their hash or the next free place. Entries are only added. [A] */
static const char *formats[FORMATS];

static void trace_printk_remember(const char *fmt)
{
	u32 at = (u64)fmt * 0x9e3779b97f4a7c15UL >> 32;

	for (u32 i = 0; i < FORMATS; i++) {
		const char **place = &formats[(at + i) % FORMATS];
		const char *there = READ_ONCE(*place);
		if (there == fmt)
			return;
		if (!there && atomic_cas(place, (const char *)NULL, fmt))
			return;
	}
}

void trace_printk_place(u64 *where, u64 *count)
{
	*where = (u64)formats;
	*count = FORMATS;
}

void trace_printk_string(const char *text)
{
	trace_printk_remember(text);
}

static void show_escaped(struct seq *s, const char *fmt)
{
	for (; *fmt; fmt++) {
		if (*fmt == '\n')
			seq_puts(s, "\\n");
		else if (*fmt == '\t')
			seq_puts(s, "\\t");
		else if (*fmt == '"' || *fmt == '\\')
			seq_printf(s, "\\%c", *fmt);
		else
			seq_putc(s, *fmt);
	}
}

void trace_printk_show_formats(struct seq *s)
{
	for (u32 i = 0; i < FORMATS; i++) {
		const char *fmt = READ_ONCE(formats[i]);
		if (!fmt)
			continue;
		seq_printf(s, "0x%lx : \"", (u64)fmt);
		show_escaped(s, fmt);
		seq_puts(s, "\"\n");
	}
}

static bool trace_printk_is_taken(void)
{
	bool takes;

	host_preempt_disable();
	struct trace_array *tr = READ_ONCE(trace_printk_array);
	takes = tr && (tr->options & TRACE_OPT_PRINTK);
	host_preempt_enable();
	return takes;
}

/* Between host_enter() and host_preempt_enable(): the array stays that long. */
static struct trace_event_file *trace_printk_file(enum trace_ftrace_id id)
{
	return trace_ftrace_file(READ_ONCE(trace_printk_array), id);
}

int trace_vprintk(u64 ip, const char *fmt, va_list ap)
{
	struct host_context ctx;
	va_list again;

	if (!trace_printk_is_taken())
		return 0;
	trace_printk_remember(fmt);
	va_copy(again, ap);
	u32 words = bprintf_encode(NULL, 0, fmt, again);
	va_end(again);
	if (words > WORDS_MAX)
		return -E2BIG;
	const u32 size = sizeof(struct rec_bprint) + words * 4;
	host_enter(&ctx);
	struct trace_event_file *file = trace_printk_file(TRACE_BPRINT);
	struct rec_bprint *rec = trace_image(size);
	if (rec) {
		rec->ip = ip;
		rec->fmt = fmt;
		bprintf_encode(rec->buf, words, fmt, ap);
	}
	bool recorded = trace_gate_one(file, &ctx, rec, size);
	if (rec)
		trace_image_end(size);
	host_preempt_enable();
	return recorded ? (int)(words * 4) : -EBUSY;
}

int trace_printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = trace_vprintk((u64)__builtin_return_address(0), fmt, ap);
	va_end(ap);
	return n;
}

int trace_puts(const char *str)
{
	struct host_context ctx;

	if (!trace_printk_is_taken())
		return 0;
	trace_printk_remember(str);
	struct rec_bputs rec = {.ip = (u64)__builtin_return_address(0), .str = str};
	host_enter(&ctx);
	bool recorded = trace_gate_one(trace_printk_file(TRACE_BPUTS), &ctx, &rec, sizeof(rec));
	host_preempt_enable();
	return recorded ? (int)strlen(str) : -EBUSY;
}
