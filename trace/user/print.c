/*
 * Prints user events: the text of a record, and "print fmt" in format. Task context, except under
 * tp_printk.
 */
#include "kernel/lib/string.h"
#include "trace/event/options.h"
#include "trace/output/print.h"
#include "trace/user/user.h"

static bool user_event_is_located(const struct trace_event_field *f)
{
	return str_has_prefix(f->type, "__data_loc ") || str_has_prefix(f->type, "__rel_loc ");
}

static bool user_event_is_text(const struct trace_event_field *f)
{
	return strstr(f->type, "char[") || (user_event_is_located(f) && strstr(f->type, "char"));
}

/* NULL: not a number. */
static const char *user_event_number_format(const struct trace_event_field *f)
{
	static const char *const formats[][2] = {
	    [1] = {"%u", "%d"}, [2] = {"%u", "%d"}, [4] = {"%u", "%d"}, [8] = {"%llu", "%lld"}};

	if (user_event_is_located(f) || strchr(f->type, '[') || str_has_prefix(f->type, "struct "))
		return NULL;
	return formats[f->size][f->is_signed];
}

/* What is neither a number nor text has no format of its own: Linux names that of a u64. */
static const char *format_of(const struct trace_event_field *f)
{
	const char *number = user_event_number_format(f);

	return number ? number : strstr(f->type, "char[") ? "%s" : "%llu";
}

void user_event_show_fmt(struct seq *s, const struct trace_event_call *call)
{
	const struct trace_event_field *table = user_event_of(call)->table, *f;

	seq_putc(s, '"');
	for (f = table; f->name; f++)
		seq_printf(s, "%s%s=%s", f == table ? "" : " ", f->name, format_of(f));
	seq_putc(s, '"');
	for (f = table; f->name; f++) {
		bool relative = str_has_prefix(f->type, "__rel_loc ");

		if (user_event_is_located(f) && user_event_is_text(f))
			seq_printf(
			    s, ", %s(%s)", relative ? "__get_rel_str" : "__get_str", f->name);
		else
			seq_printf(s, ", REC->%s", f->name);
	}
}

/* ---- a record ---- */

static void put_number(struct seq *s, const struct trace_event_field *f, const u8 *at)
{
	u32 unused = 64 - 8 * f->size;
	u64 v = 0;

	memcpy(&v, at, f->size);
	if (f->is_signed)
		seq_printf(s, "%ld", (s64)(v << unused) >> unused);
	else
		seq_dec(s, v, 1, ' ');
}

/* Up to the first NUL; what is no character of a line is shown as a dot. */
static void put_text(struct seq *s, const u8 *at, u32 n)
{
	for (u32 i = 0; i < n && at[i]; i++)
		seq_putc(s, is_print(at[i]) ? at[i] : '.');
}

static void put_bytes(struct seq *s, const u8 *at, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		seq_puts(s, i ? ",0x" : "{0x");
		seq_hex(s, at[i], 1);
	}
	seq_puts(s, n ? "}" : "{}");
}

static void user_event_put_data(
    struct seq *s, const struct trace_event_field *f, const u8 *at, u32 n)
{
	if (user_event_is_text(f))
		put_text(s, at, n);
	else
		put_bytes(s, at, n);
}

/* The word was checked when it was written, but records come from elsewhere, too. */
static void put_located(struct seq *s, const struct trace_event_field *f, const u8 *rec, u32 len)
{
	u32 loc;

	memcpy(&loc, rec + f->offset, sizeof(loc));
	u32 from = loc & 0xffff, n = loc >> 16;
	if (str_has_prefix(f->type, "__rel_loc "))
		from += f->offset + sizeof(loc);
	if (from + n > len)
		seq_puts(s, "<OVERFLOW>");
	else
		user_event_put_data(s, f, rec + from, n);
}

/* A record from elsewhere may end early: fields beyond its end are not shown. */
void user_event_print(struct trace_out *out, const void *rec, u32 len)
{
	const struct trace_event_call *call =
	    trace_event_by_id(((const struct trace_entry *)rec)->type);
	const struct trace_event_field *table = user_event_of(call)->table, *f;
	const u8 *bytes = rec;

	for (f = table; f->name && f->size <= len && f->offset <= len - f->size; f++) {
		seq_printf(out->seq, "%s%s=", f == table ? "" : " ", f->name);
		if (user_event_is_located(f))
			put_located(out->seq, f, bytes, len);
		else if (user_event_number_format(f))
			put_number(out->seq, f, bytes + f->offset);
		else
			user_event_put_data(out->seq, f, bytes + f->offset, f->size);
	}
}
