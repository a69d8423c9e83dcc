/* Fields and the `format` file. Task context; tables are const. */
#include "trace/event/format.h"
#include "kernel/lib/string.h"
#include "trace/event/event.h"

const struct trace_event_field trace_common_fields[] = {
    {"unsigned short", "common_type", 0, 2, false, TRACE_FIELD_NUMBER},
    {"unsigned char", "common_flags", 2, 1, false, TRACE_FIELD_NUMBER},
    {"unsigned char", "common_preempt_count", 3, 1, false, TRACE_FIELD_NUMBER},
    {"int", "common_pid", 4, 4, true, TRACE_FIELD_NUMBER},
    {.name = NULL},
};

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

/*
 * "char[16]" is written as C has it, with the brackets behind the name; __data_loc keeps them with
 * the type.
 */
static void trace_event_show_fields(struct seq *s, const struct trace_event_field *f)
{
	for (; f->name; f++) {
		const char *bracket =
		    str_has_prefix(f->type, "__data_loc") ? NULL : strchr(f->type, '[');
		int type_len = bracket ? bracket - f->type : (int)strlen(f->type);

		seq_printf(s, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type_len,
		    f->type, f->name, bracket ? bracket : "", f->offset, f->size, f->is_signed);
	}
}

void trace_event_show_format(struct seq *s, const struct trace_event_call *call)
{
	seq_printf(s, "name: %s\nID: %u\nformat:\n", call->name, call->id);
	if (call->class->show_format) {
		call->class->show_format(s, call);
		return;
	}
	trace_event_show_fields(s, trace_common_fields);
	seq_putc(s, '\n');
	trace_event_show_fields(s, call->class->fields(call));
	seq_puts(s, "\nprint fmt: ");
	if (call->class->show_fmt)
		call->class->show_fmt(s, call);
	else if (call->print_fmt)
		seq_puts(s, call->print_fmt);
	seq_putc(s, '\n');
}
