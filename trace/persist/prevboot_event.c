/*
 * Formats as events. The text is what the file `format` shows: "name: N\nID: n\nformat:\n", a line
 * per field, an empty line, more fields, an empty line, "print fmt: ...". The fields before the
 * first empty line are the common ones. Task context, under host_lock; the text may be damaged, and
 * nothing in it is believed.
 */
#include "trace/persist/prevboot_event.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/format.h"
#include "trace/event/ftrace.h"
#include "trace/host_memory.h"
#include "trace/ring/ring.h"

static const struct trace_event_field *prevboot_event_fields(const struct trace_event_call *call)
{
	return container_of(call, struct prevboot_event, call)->fields;
}

/*
 * "\tfield:TYPE NAME[N];\toffset:N;\tsize:N;\tsigned:N;" in pieces of `line`, which is cut up.
 * False: it is none.
 */
static bool parse_field(char *line, struct trace_event_field *f)
{
	char *decl = line + strlen("\tfield:"), *offset = strstr(decl, ";\toffset:");
	char *size = offset ? strstr(offset, ";\tsize:") : NULL;
	char *is_signed = size ? strstr(size, ";\tsigned:") : NULL, *name, *bracket;
	const char *end;

	if (!is_signed)
		return false;
	*offset = '\0';
	u64 at = parse_digits(offset + strlen(";\toffset:"), &end, 10);
	u64 bytes = parse_digits(size + strlen(";\tsize:"), &end, 10);
	name = strrchr(decl, ' ');
	if (!name || at > RB_MAX_DATA || bytes > RB_MAX_DATA)
		return false;
	*name++ = '\0';
	bracket = strchr(name, '[');
	if (bracket)
		*bracket = '\0';
	*f = (struct trace_event_field){.type = decl,
	    .name = name,
	    .offset = at,
	    .size = bytes,
	    .is_signed = is_signed[strlen(";\tsigned:")] == '1'};
	if (str_has_prefix(decl, "__data_loc char"))
		f->kind = TRACE_FIELD_DYN_STRING;
	else if (bracket && (!strcmp(decl, "char") || !strcmp(decl, "const char")))
		f->kind = TRACE_FIELD_STRING;
	else if (bracket || str_has_prefix(decl, "__data_loc"))
		f->kind = TRACE_FIELD_ARRAY;
	return *name;
}

/*
 * The fields of `copy`, which is cut up; how many, -1: it is no format. With `fields` NULL they are
 * only counted.
 */
static long prevboot_event_parse_fields(char *copy, struct trace_event_field *fields)
{
	char *line;
	long n = 0;
	bool own = false;

	while ((line = strsep(&copy, "\n"))) {
		if (!*line) {
			if (own)
				break;
			own = true;
		} else if (own && str_has_prefix(line, "\tfield:")) {
			if (fields && !parse_field(line, &fields[n]))
				return -1;
			n++;
		} else if (own) {
			break;
		}
	}
	return n;
}

/* "name: N\nID: n\n" */
static bool parse_head(struct prevboot_event *ev, char *copy, u16 id)
{
	char *name = strsep(&copy, "\n"), *number = strsep(&copy, "\n");
	const char *end;

	if (!number || !str_has_prefix(name, "name: ") || !str_has_prefix(number, "ID: ") ||
	    parse_digits(number + 4, &end, 10) != id || !name[6])
		return false;
	ev->call.name = name + 6;
	return true;
}

static int parse(struct prevboot_event *ev, u16 id)
{
	size_t n = strlen(ev->text) + 1;
	char *head = ev->names, *rest = head + n;
	long count;

	memcpy(head, ev->text, n);
	memcpy(rest, ev->text, n);
	count = prevboot_event_parse_fields(head, NULL);
	memcpy(head, ev->text, n);
	if (count < 0 || !parse_head(ev, head, id))
		return -EINVAL;
	ev->fields = host_alloc((count + 1) * sizeof(*ev->fields));
	if (!ev->fields)
		return -ENOMEM;
	return prevboot_event_parse_fields(rest, ev->fields) < 0 ? -EINVAL : 0;
}

int prevboot_event_make(struct prevboot_event *ev, u16 id, const char *system, const char *format)
{
	size_t n = strlen(format) + 1, system_n = strlen(system) + 1;

	*ev = (struct prevboot_event){.text = host_alloc(n), .names = host_alloc(2 * n + system_n)};
	if (!ev->text || !ev->names) {
		prevboot_event_free(ev);
		return -ENOMEM;
	}
	memcpy(ev->text, format, n);
	memcpy(ev->names + 2 * n, system, system_n);
	ev->class = (struct trace_event_class){
	    .system = ev->names + 2 * n, .fields = prevboot_event_fields};
	ev->call.class = &ev->class;
	ev->call.id = id;
	int err = parse(ev, id);
	if (err)
		prevboot_event_free(ev);
	return err;
}

void prevboot_event_free(struct prevboot_event *ev)
{
	host_free(ev->text);
	host_free(ev->names);
	host_free(ev->fields);
	*ev = (struct prevboot_event){.live = 0};
}

static bool same_format(const struct trace_event_call *call, const char *text)
{
	size_t n = strlen(text) + 1;
	char *buf = host_alloc(n);
	struct seq s;
	bool same;

	if (!buf)
		return false;
	seq_init(&s, buf, n);
	trace_event_show_format(&s, call);
	same = !s.overflow && s.len == n - 1 && !memcmp(buf, text, s.len);
	host_free(buf);
	return same;
}

/*
 * Where its fixed fields end; of those that point at text of the kernel's, 0: they are printed as
 * numbers.
 */
static u32 fixed_size(const struct trace_event_call *call)
{
	u32 end = 0;

	for (const struct trace_event_field *f = call->class->fields(call); f->name; f++) {
		if (f->kind == TRACE_FIELD_PTR_STRING && call->class->print)
			return 0;
		end = MAX(end, (u32)f->offset + f->size);
	}
	return end;
}

/*
 * The builtin events look at lengths by themselves; pointers to formats mean something in the same
 * kernel only.
 */
void prevboot_event_match(struct prevboot_event *ev, bool same_kernel)
{
	const struct trace_event_call *call = trace_event_by_id(ev->call.id);
	bool builtin = ev->call.id < TRACE_FTRACE_IDS;

	if (!call || strcmp(call->class->system, ev->class.system) || !same_format(call, ev->text))
		return;
	ev->live_size = builtin ? sizeof(struct trace_entry) : fixed_size(call);
	if (same_kernel || (builtin && call->id != TRACE_BPRINT && call->id != TRACE_BPUTS))
		ev->live = ev->live_size ? call->handle.number : 0;
}

const struct trace_event_call *prevboot_event_call(const struct prevboot_event *ev, u32 len)
{
	const struct trace_event_call *call = ev->live ? trace_event_by_id(ev->call.id) : NULL;

	return call && call->handle.number == ev->live && len >= ev->live_size ? call : &ev->call;
}
