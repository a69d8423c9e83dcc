/* Fields and the `format` file. Task context; tables are const. */
#include "trace/event/format.h"
#include "kernel/lib/string.h"
#include "trace/event/event.h"

/* The fields that all events have: type, name, offset, size, sign (0 or 1). */
#define COMMON_FIELDS(F)                                                                           \
	F("unsigned short", "common_type", 0, 2, 0)                                                \
	F("unsigned char", "common_flags", 2, 1, 0)                                                \
	F("unsigned char", "common_preempt_count", 3, 1, 0)                                        \
	F("int", "common_pid", 4, 4, 1)

#define COMMON_ROW(type, name, offset, size, sign)                                                 \
	{type, name, offset, size, sign, TRACE_FIELD_NUMBER},
const struct trace_event_field trace_common_fields[] = {COMMON_FIELDS(COMMON_ROW){.name = NULL}};

/* Their lines in each `format` file. */
#define COMMON_LINE(type, name, offset, size, sign)                                                \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
static const char common_text[] = COMMON_FIELDS(COMMON_LINE);

static const struct trace_event_field *find(const struct trace_event_field *f, const char *name)
{
	for (; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

const struct trace_event_field *trace_event_field(
    const struct trace_event_call *call, const char *name)
{
	const struct trace_event_field *f = find(call->class->fields(call), name);

	return f ? f : find(trace_common_fields, name);
}

#define PUT(s, text) seq_write(s, text, sizeof(text) - 1)

/*
 * "char[16]" is written as C has it, with the brackets after the name; __data_loc keeps them with
 * the type. Without a format: an event's text is made when it is first enabled.
 */
static void trace_event_show_field(struct seq *s, const struct trace_event_field *f)
{
	size_t type = strlen(f->type);
	const char *bracket = type && f->type[type - 1] == ']' ? strchr(f->type, '[') : NULL;

	if (bracket && str_has_prefix(f->type, "__data_loc"))
		bracket = NULL;
	PUT(s, "\tfield:");
	seq_write(s, f->type, bracket ? (size_t)(bracket - f->type) : type);
	seq_putc(s, ' ');
	seq_puts(s, f->name);
	if (bracket)
		seq_puts(s, bracket);
	PUT(s, ";\toffset:");
	seq_dec(s, f->offset, 0, ' ');
	PUT(s, ";\tsize:");
	seq_dec(s, f->size, 0, ' ');
	PUT(s, ";\tsigned:");
	seq_putc(s, '0' + f->is_signed);
	PUT(s, ";\n");
}

static void trace_event_show_fields(struct seq *s, const struct trace_event_field *f)
{
	for (; f->name; f++)
		trace_event_show_field(s, f);
}

void trace_event_show_format(struct seq *s, const struct trace_event_call *call)
{
	seq_printf(s, "name: %s\nID: %u\nformat:\n", call->name, call->id);
	if (call->class->show_format) {
		call->class->show_format(s, call);
		return;
	}
	PUT(s, common_text);
	seq_putc(s, '\n');
	trace_event_show_fields(s, call->class->fields(call));
	seq_puts(s, "\nprint fmt: ");
	if (call->class->show_fmt)
		call->class->show_fmt(s, call);
	else if (call->print_fmt)
		seq_puts(s, call->print_fmt);
	seq_putc(s, '\n');
}
