/*
 * Prints probe events: lines, "print fmt", and the whole format of legacy events. Task context,
 * except under tp_printk. Records may come from elsewhere (inject): only their length is trusted.
 */
#include "kernel/lib/string.h"
#include "trace/event/format.h"
#include "trace/event/options.h"
#include "trace/host_symbol.h"
#include "trace/output/print.h"
#include "trace/probe/probe.h"

/* All probes of an event have the same arguments; this one is there as long as the event. */
static const struct trace_probe *probe_of(const struct trace_event_call *call)
{
	return probe_event_of(call)->first;
}

const struct trace_event_field *probe_event_table(const struct trace_event_call *call)
{
	return probe_event_of(call)->table;
}

static u64 probe_load_word(const void *rec, u32 at)
{
	u64 v;

	memcpy(&v, (const char *)rec + at, sizeof(v));
	return v;
}

static void probe_print_ip(struct trace_out *out, u64 ip, bool offset)
{
	u64 options = out->options;

	out->options = offset ? options | TRACE_OPT_SYM_OFFSET : options & ~TRACE_OPT_SYM_OFFSET;
	trace_print_ip(out, ip);
	out->options = options;
}

/* ---- values ---- */

static u64 number_at(const struct probe_type *t, const char *at)
{
	u64 v = 0;

	memcpy(&v, at, t->size);
	return t->is_signed ? (u64)((s64)(v << (64 - 8 * t->size)) >> (64 - 8 * t->size)) : v;
}

static void put_number(struct trace_out *out, const struct probe_type *t, const char *at)
{
	char name[160];
	u64 v = number_at(t, at);

	switch (t->text) {
	case PROBE_SIGNED:
		seq_printf(out->seq, "%ld", (long)v);
		break;
	case PROBE_HEX:
		seq_puts(out->seq, "0x");
		seq_hex(out->seq, v, 1);
		break;
	case PROBE_CHAR:
		seq_printf(out->seq, "'%c'", (char)v);
		break;
	case PROBE_SYMBOL:
		host_sym_print(name, sizeof(name), v, true);
		seq_puts(out->seq, name);
		break;
	default:
		seq_dec(out->seq, v, 1, ' ');
		break;
	}
}

static void put_string(struct trace_out *out, const char *at, const void *rec, u32 len)
{
	u32 loc;

	memcpy(&loc, at, sizeof(loc));
	if (loc >> 16)
		seq_printf(out->seq, "\"%s\"", trace_get_str(rec, len, loc));
	else
		seq_puts(out->seq, "(fault)");
}

static void put_arg(struct trace_out *out, const struct probe_arg *arg, const void *rec, u32 len)
{
	const char *at = (const char *)rec + arg->offset;

	for (u32 i = 0; i < (arg->count ? arg->count : 1); i++, at += arg->type->size) {
		if (arg->count)
			seq_putc(out->seq, i ? ',' : '{');
		if (probe_is_string(arg->type))
			put_string(out, at, rec, len);
		else
			put_number(out, arg->type, at);
	}
	if (arg->count)
		seq_putc(out->seq, '}');
}

static u32 arg_end(const struct probe_arg *arg)
{
	return arg->offset + probe_arg_size(arg);
}

/* ---- today's ---- */

static void put_place(struct trace_out *out, const struct trace_probe *tp, const void *rec)
{
	if (tp->probed) {
		seq_printf(out->seq, "%s.%s", tp->probed->class->system, tp->probed->name);
		return;
	}
	if (tp->is_return) {
		probe_print_ip(out, probe_load_word(rec, 16), true);
		seq_puts(out->seq, " <- ");
	}
	probe_print_ip(out, probe_load_word(rec, 8), !tp->is_return);
}

static void probe_print(struct trace_out *out, const void *rec, u32 len)
{
	const struct trace_probe *tp =
	    probe_of(trace_event_by_id(((const struct trace_entry *)rec)->type));

	if (len < probe_head(tp))
		return;
	seq_putc(out->seq, '(');
	put_place(out, tp, rec);
	seq_putc(out->seq, ')');
	for (u32 i = 0; i < tp->n_args && arg_end(&tp->args[i]) <= len; i++) {
		seq_printf(out->seq, " %s=", tp->args[i].name);
		put_arg(out, &tp->args[i], rec, len);
	}
}

static void probe_show_print_fmt(struct seq *s, const struct trace_event_call *call)
{
	const struct trace_probe *tp = probe_of(call);

	seq_puts(s, tp->probed ? "\"" : tp->is_return ? "\"(%lx <- %lx)" : "\"(%lx)");
	for (u32 i = 0; i < tp->n_args; i++) {
		const struct probe_arg *arg = &tp->args[i];
		seq_printf(s, " %s=%s", arg->name, arg->count ? "{" : "");
		for (u32 k = 0; k < (arg->count ? arg->count : 1); k++)
			seq_printf(s, "%s%s", k ? "," : "", arg->type->fmt);
		seq_puts(s, arg->count ? "}" : "");
	}
	seq_puts(s, tp->probed	    ? "\""
		    : tp->is_return ? "\", REC->__probe_func, REC->__probe_ret_ip"
				    : "\", REC->__probe_ip");
	for (u32 i = 0; i < tp->n_args; i++) {
		const struct probe_arg *arg = &tp->args[i];
		bool string = probe_is_string(arg->type);
		for (u32 k = 0; k < (arg->count ? arg->count : 1); k++) {
			seq_printf(s, string ? ", __get_str(%s" : ", REC->%s", arg->name);
			if (arg->count)
				seq_printf(s, "[%u]", k);
			seq_puts(s, string ? ")" : "");
		}
	}
}

/* ---- legacy events ---- */

static void probe_print_legacy(
    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len)
{
	const struct trace_probe *tp = probe_of(call);

	if (len < probe_head(tp))
		return;
	if (tp->is_return) {
		probe_print_ip(out, probe_load_word(rec, 24), true);
		seq_puts(out->seq, " <- ");
	}
	probe_print_ip(out, probe_load_word(rec, 16), !tp->is_return);
	seq_putc(out->seq, ':');
	for (u32 i = 0; i < tp->n_args && arg_end(&tp->args[i]) <= len; i++)
		seq_printf(out->seq, " 0x%lx", (long)probe_load_word(rec, tp->args[i].offset));
	seq_putc(out->seq, '\n');
}

static void probe_show_legacy_format(struct seq *s, const struct trace_event_call *call)
{
	const struct trace_probe *tp = probe_of(call);
	u32 at = 16;

	for (const struct trace_event_field *f = trace_common_fields; f->name; f++)
		seq_printf(s, "\tfield:%s %s;\toffset:%u;\tsize:%u;\n", f->type, f->name, f->offset,
		    f->size);
	seq_puts(s, "\tfield:int common_tgid;\toffset:8;\tsize:4;\n\n");
	seq_printf(s, "\tfield: unsigned long %s;\toffset:%u;tsize:8;\n",
	    tp->is_return ? "func" : "ip", at);
	if (tp->is_return)
		seq_printf(s, "\tfield: unsigned long ret_ip;\toffset:%u;tsize:8;\n", at += 8);
	seq_printf(s, "\tfield: int nargs;\toffset:%u;tsize:4;\n", at + 8);
	for (u32 i = 0; i < tp->n_args; i++)
		seq_printf(s, "\tfield: unsigned long arg%u;\toffset:%u;tsize:8;\n", i,
		    tp->args[i].offset);
	seq_putc(s, '\n');
	for (u32 i = 0; i < tp->n_args; i++)
		seq_printf(s, "\talias: %s;\toriginal: arg%u;\n", tp->args[i].name, i);
	seq_puts(s, tp->is_return ? "\nprint fmt: \"%lx <- %lx:" : "\nprint fmt: \"%lx:");
	for (u32 i = 0; i < tp->n_args; i++)
		seq_puts(s, " 0x%lx");
	seq_puts(s, tp->is_return ? "\", ret_ip, func" : "\", ip");
	for (u32 i = 0; i < tp->n_args; i++)
		seq_printf(s, ", arg%u", i);
	seq_putc(s, '\n');
}

void probe_class_init(struct trace_event_class *class, const struct trace_probe *tp)
{
	class->fields = probe_event_table;
	if (tp->old) {
		class->print_line = probe_print_legacy;
		class->show_format = probe_show_legacy_format;
	} else {
		class->print = probe_print;
		class->show_fmt = probe_show_print_fmt;
	}
}
