/*
 * options/fields: the fields of a record in the order of `format`, each by its type alone. A field
 * that does not lie in the record is shown as Linux does, as <OVERFLOW>. See output.h for contexts.
 */
#include "trace/output/fields.h"
#include "kernel/lib/string.h"
#include "trace/host_copy.h"
#include "trace/output/print.h"

#define TEXT_MAX 128 /* of a string that a record points at */

/* One record being shown. */
struct shown {
	struct trace_out *out;
	const char *rec;
	u32 len;
};

/* The bytes of a field, or those that its __data_loc or __rel_loc word leads to; NULL: outside. */
static const char *field_bytes(const struct shown *sh, const struct trace_event_field *f, u32 *n)
{
	u32 at = f->offset, loc;

	*n = f->size;
	if (f->kind == TRACE_FIELD_REL_STRING || str_has_prefix(f->type, "__data_loc")) {
		memcpy(&loc, sh->rec + at, sizeof(loc));
		at = (loc & 0xffff) +
		     (f->kind == TRACE_FIELD_REL_STRING ? f->offset + sizeof(loc) : 0);
		*n = loc >> 16;
	}
	return at <= sh->len && *n <= sh->len - at ? sh->rec + at : NULL;
}

static void put_number(struct seq *s, const char *at, u32 size)
{
	u64 v = 0;

	memcpy(&v, at, size);
	if (size == 1 && v >= ' ' && (v < 127 || v >= 0xa0)) /* Latin-1, as Linux */
		seq_printf(s, "'%c'", (char)v);
	if (size == 1)
		seq_printf(s, "(%lu)", v);
	else
		seq_printf(s, "0x%lx (%ld)", v, size == 4 ? (s32)v : (s64)v);
}

static void trace_fields_bytes(struct seq *s, const char *at, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (i)
			seq_putc(s, ',');
		seq_hex(s, (u8)at[i], 2);
	}
}

/* Bytes that do not print are dots; then all of them follow in hex. */
static void put_text(struct seq *s, const char *at, u32 n)
{
	bool all = true;

	for (u32 i = 0; i < n; i++) {
		bool prints = at[i] >= ' ' && at[i] < 127;
		seq_putc(s, prints ? at[i] : '.');
		all &= prints;
	}
	for (u32 i = 0; !all && i < n; i++) {
		seq_puts(s, i ? ":" : " (");
		seq_hex(s, (u8)at[i], 2);
	}
	if (!all)
		seq_putc(s, ')');
}

/* The first word of a stack is their count. */
static void put_stack(const struct shown *sh, const char *at, u32 n)
{
	u64 frame;

	for (u32 i = sizeof(frame); i + sizeof(frame) <= n; i += sizeof(frame)) {
		if (i > sizeof(frame))
			seq_putc(sh->out->seq, ',');
		memcpy(&frame, at + i, sizeof(frame));
		trace_print_ip(sh->out, frame);
	}
}

/* A text of the kernel's is shown, if it is this boot's; of a program's there is the address. */
static void put_pointed(const struct shown *sh, const char *at)
{
	struct seq *s = sh->out->seq;
	char text[TEXT_MAX];
	u64 addr;
	u32 n = 0;
	bool there = !sh->out->past;

	memcpy(&addr, at, sizeof(addr));
	while (there && n < sizeof(text)) {
		there = !host_copy_kernel(&text[n], (const void *)(addr + n), 1);
		if (there && !text[n++])
			break;
	}
	seq_puts(s, "(0x");
	seq_hex(s, addr, 16);
	if (there) {
		seq_putc(s, ':');
		seq_write(s, text, strnlen(text, n));
	}
	seq_putc(s, ')');
}

static void put_value(const struct shown *sh, const struct trace_event_field *f)
{
	struct seq *s = sh->out->seq;
	const char *at = NULL;
	u32 n = 0;

	if (f->offset + (u64)f->size <= sh->len)
		at = field_bytes(sh, f, &n);
	if (!at) {
		seq_puts(s, "<OVERFLOW>");
		return;
	}
	switch (f->kind) {
	case TRACE_FIELD_STRING:
		seq_write(s, at, strnlen(at, n));
		return;
	case TRACE_FIELD_DYN_STRING:
	case TRACE_FIELD_REL_STRING:
		put_text(s, at, strnlen(at, n));
		return;
	case TRACE_FIELD_PTR_STRING:
		put_pointed(sh, at);
		return;
	case TRACE_FIELD_STACK:
		put_stack(sh, at, n);
		return;
	case TRACE_FIELD_NUMBER:
		if (n == 1 || n == 2 || n == 4 || n == 8) {
			put_number(s, at, n);
			return;
		}
		trace_fields_bytes(s, at, n);
		return;
	default:
		trace_fields_bytes(s, at, n);
	}
}

void trace_print_fields(
    struct trace_out *out, const struct trace_event_call *call, const void *rec, u32 len)
{
	const struct shown sh = {.out = out, .rec = rec, .len = len};
	const struct trace_event_field *f = call->class->fields(call);

	seq_printf(out->seq, "%s:", call->name);
	for (; f->name; f++) {
		seq_printf(out->seq, " %s=", f->name);
		put_value(&sh, f);
	}
	seq_putc(out->seq, '\n');
}
