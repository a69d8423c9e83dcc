/*
 * How synthetic events look: the text of a record, and "print fmt" in format. Task context, except
 * under tp_printk.
 */
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/event/options.h"
#include "trace/host_symbol.h"
#include "trace/output/print.h"

/*
 * As Linux prints them: what is narrower than an int without its sign, though the format has one.
 */
const struct synth_type synth_types[] = {
    {"s64", "%lld", 8, true},
    {"u64", "%llu", 8, false},
    {"s32", "%d", 4, true},
    {"u32", "%u", 4, false},
    {"s16", "%d", 2, false},
    {"u16", "%u", 2, false},
    {"s8", "%d", 1, false},
    {"u8", "%u", 1, false},
    {"char", "%d", 1, false},
    {"unsigned char", "%u", 1, false},
    {"int", "%d", 4, true},
    {"unsigned int", "%u", 4, false},
    {"long", "%ld", 8, true},
    {"unsigned long", "%lu", 8, false},
    {"bool", "%d", 1, false},
    {"pid_t", "%d", 4, true},
    {"gfp_t", "%x", 4, false},
    {.name = NULL},
};

static const char *format_of(const struct synth_field *f)
{
	return f->type ? f->type->fmt : "%s";
}

/* Linux's names of what a gfp_t asks for; those of several bits first. */
static const struct trace_name gfp_names[] = {
    {0x1c24ca, "GFP_TRANSHUGE"},
    {0x1c20ca, "GFP_TRANSHUGE_LIGHT"},
    {0x100cca, "GFP_HIGHUSER_MOVABLE"},
    {0x100cc2, "GFP_HIGHUSER"},
    {0x100cc0, "GFP_USER"},
    {0x400cc0, "GFP_KERNEL_ACCOUNT"},
    {0xcc0, "GFP_KERNEL"},
    {0xc40, "GFP_NOFS"},
    {0xa20, "GFP_ATOMIC"},
    {0xc00, "GFP_NOIO"},
    {0x800, "GFP_NOWAIT"},
    {0x1, "GFP_DMA"},
    {0x2, "__GFP_HIGHMEM"},
    {0x4, "GFP_DMA32"},
    {0x20, "__GFP_HIGH"},
    {0x200, "__GFP_ATOMIC"},
    {0x40, "__GFP_IO"},
    {0x80, "__GFP_FS"},
    {0x2000, "__GFP_NOWARN"},
    {0x4000, "__GFP_RETRY_MAYFAIL"},
    {0x8000, "__GFP_NOFAIL"},
    {0x10000, "__GFP_NORETRY"},
    {0x40000, "__GFP_COMP"},
    {0x100, "__GFP_ZERO"},
    {0x80000, "__GFP_NOMEMALLOC"},
    {0x20000, "__GFP_MEMALLOC"},
    {0x100000, "__GFP_HARDWALL"},
    {0x200000, "__GFP_THISNODE"},
    {0x10, "__GFP_RECLAIMABLE"},
    {0x8, "__GFP_MOVABLE"},
    {0x400000, "__GFP_ACCOUNT"},
    {0x1000, "__GFP_WRITE"},
    {0x400, "__GFP_DIRECT_RECLAIM"},
    {0x800, "__GFP_KSWAPD_RECLAIM"},
    {0x800000, "__GFP_ZEROTAGS"},
    {0, NULL},
};

static void put_number(struct trace_out *out, const struct synth_field *f, const void *at)
{
	u64 v = 0;

	memcpy(&v, at, f->type->size);
	if (f->type->fmt[1] == 'x') {
		seq_hex(out->seq, v, 1);
		seq_printf(out->seq, " (%s)", trace_flags_text(out, v, "|", gfp_names));
	} else if (f->type->negative) {
		seq_printf(out->seq, "%ld", f->type->size == 4 ? (s32)v : (s64)v);
	} else {
		seq_dec(out->seq, v, 1, ' ');
	}
}

/* A frame a line; what is not in the record is not there. */
static void put_stack(struct trace_out *out, const char *rec, u32 len, u32 loc)
{
	u32 at = loc & 0xffff, size = loc >> 16;
	char name[128];
	u64 frame;

	seq_puts(out->seq, "STACK:\n");
	for (u32 i = sizeof(u64); i + sizeof(u64) <= size && at + i + sizeof(u64) <= len;
	     i += sizeof(u64)) {
		memcpy(&frame, rec + at + i, sizeof(frame));
		host_sym_print(name, sizeof(name), frame, true);
		seq_printf(out->seq, "=> %s\n", name);
	}
}

static void put_value(struct trace_out *out, const struct synth_field *f, const void *rec, u32 len)
{
	const char *at = (const char *)rec + f->offset;
	u32 loc;

	if (f->type) {
		put_number(out, f, at);
	} else if (f->size) {
		seq_write(out->seq, at, strnlen(at, f->size));
	} else {
		memcpy(&loc, at, sizeof(loc));
		if (f->is_stack)
			put_stack(out, rec, len, loc);
		else
			seq_puts(out->seq, trace_get_str(rec, len, loc));
	}
}

static u32 field_size(const struct synth_field *f)
{
	return f->type ? f->type->size : f->size ? f->size : sizeof(u32);
}

/* A record from elsewhere may end early: fields beyond its end are not shown. */
void synth_print(struct trace_out *out, const void *rec, u32 len)
{
	const struct trace_entry *ent = rec;
	const struct synth_event *ev = synth_event_of(trace_event_by_id(ent->type));

	for (u32 i = 0; i < ev->n_fields; i++) {
		const struct synth_field *f = &ev->fields[i];
		if (f->offset + field_size(f) > len)
			return;
		if (i && !f[-1].is_stack)
			seq_putc(out->seq, ' ');
		if (out->options & TRACE_OPT_VERBOSE)
			seq_printf(out->seq, "%s ", format_of(f));
		seq_printf(out->seq, "%s=", f->name);
		put_value(out, f, rec, len);
	}
}

void synth_show_fmt(struct seq *s, const struct trace_event_call *call)
{
	const struct synth_event *ev = synth_event_of(call);

	for (u32 i = 0; i < ev->n_fields; i++)
		seq_printf(
		    s, "%s%s=%s", i ? ", " : "\"", ev->fields[i].name, format_of(&ev->fields[i]));
	seq_putc(s, '"');
	for (u32 i = 0; i < ev->n_fields; i++) {
		const struct synth_field *f = &ev->fields[i];
		seq_printf(s,
		    f->is_stack		  ? ", __get_stacktrace(%s)"
		    : synth_is_dynamic(f) ? ", __get_str(%s)"
					  : ", REC->%s",
		    f->name);
	}
}
