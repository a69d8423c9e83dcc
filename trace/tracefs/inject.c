/*
 * inject: an event made by hand, "field=value field="text" ...". Fields that are not named are 0 or
 * empty. Task context. Decode, then act: the whole line is turned into a record before anything is
 * recorded.
 */
#include "trace/tracefs/inject.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/enable.h"
#include "trace/event/format.h"
#include "trace/event/record.h"
#include "trace/filter/compile.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/tracefs/tables.h"

#define STRING_MAX 256

struct injection {
	const struct trace_event_call *call;
	char *rec;
	size_t len, room; /* of rec: used; at most */
};

struct assignment {
	const struct trace_event_field *field;
	char *text; /* of a string, unescaped as it stands; NULL: a number */
	u64 number;
};

static bool is_string(const struct trace_event_field *f)
{
	return f->kind == TRACE_FIELD_STRING || f->kind == TRACE_FIELD_DYN_STRING ||
	       f->kind == TRACE_FIELD_REL_STRING || f->kind == TRACE_FIELD_PTR_STRING;
}

static bool is_word(char c)
{
	return is_alnum(c) || c == '_';
}

static char *tracefs_inject_skip_blanks(char *p)
{
	while (is_space(*p))
		p++;
	return p;
}

/* Decimal, 0x, 0 octal; up to a blank. */
static int parse_number(char **at, const struct trace_event_field *f, u64 *out)
{
	char *start = *at, *p = start + (*start == '-');
	int err;

	while (is_alnum(*p))
		p++;
	char end = *p;
	if (end && !is_space(end))
		return -EINVAL;
	*p = '\0';
	err = f->is_signed ? parse_s64(start, 0, (s64 *)out) : parse_u64(start, 0, out);
	*p = end;
	*at = p;
	return err;
}

/* In either quote; a backslash keeps what follows from ending it, and stays. */
static int parse_text(char **at, char **out)
{
	char *start = *at + 1, quote = **at, *p = start;

	for (; *p && *p != quote; p++)
		if (*p == '\\' && p[1])
			p++;
	if (!*p || p - start >= STRING_MAX)
		return -EINVAL;
	*p = '\0';
	*out = start;
	*at = p + 1;
	return 0;
}

static int parse_name(
    char **at, const struct trace_event_call *call, const struct trace_event_field **out)
{
	char *start = *at, *p = start;

	while (is_word(*p))
		p++;
	if (p == start)
		return -EINVAL;
	char end = *p;
	*p = '\0';
	*out = trace_event_field(call, start);
	bool is_virtual = !*out && trace_filter_virtual_field(start);
	*p = end;
	*at = p;
	return *out ? 0 : is_virtual ? -EINVAL : -ENOENT;
}

static int parse_assignment(char **at, const struct trace_event_call *call, struct assignment *a)
{
	char *p = *at;
	int err = parse_name(&p, call, &a->field);

	if (err)
		return err;
	p = tracefs_inject_skip_blanks(p);
	if (*p != '=')
		return -EINVAL;
	p = tracefs_inject_skip_blanks(p + 1);
	a->text = NULL;
	if (is_digit(*p) || *p == '-')
		err = is_string(a->field) ? -EINVAL : parse_number(&p, a->field, &a->number);
	else if (*p == '\'' || *p == '"')
		err = is_string(a->field) ? parse_text(&p, &a->text) : -EINVAL;
	else
		err = -EINVAL;
	*at = p;
	return err;
}

static int tracefs_inject_put_text(
    struct injection *in, const struct trace_event_field *f, const char *text)
{
	static const char empty[] = "";
	size_t len = strlen(text) + 1;
	u32 loc, at;

	switch (f->kind) {
	case TRACE_FIELD_STRING:
		if (f->size)
			strscpy(in->rec + f->offset, text, f->size);
		return 0;
	case TRACE_FIELD_DYN_STRING:
	case TRACE_FIELD_REL_STRING:
		if (len > in->room - in->len)
			return -E2BIG;
		at = in->len - (f->kind == TRACE_FIELD_REL_STRING ? f->offset + sizeof(loc) : 0);
		loc = len << 16 | at;
		memcpy(in->rec + in->len, text, len);
		memcpy(in->rec + f->offset, &loc, sizeof(loc));
		in->len += len;
		return 0;
	default: /* no pointer from outside is believed */
		memcpy(in->rec + f->offset, &(const char *){empty}, sizeof(char *));
		return 0;
	}
}

/* A record's type is not for the writer to choose: it says how all the rest is read. */
static int put_number(struct injection *in, const struct trace_event_field *f, u64 v)
{
	if (f->offset < sizeof(u16) ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return -EINVAL;
	if (f->kind == TRACE_FIELD_DYN_ARRAY || f->kind == TRACE_FIELD_STACK)
		return -EINVAL;
	memcpy(in->rec + f->offset, &v, f->size);
	return 0;
}

/* All fields 0 or empty, the common ones as of here. 0 or -E2BIG: no record can hold the fields. */
static int start_record(struct injection *in)
{
	const struct trace_event_field *f = in->call->class->fields(in->call);
	struct host_context ctx;

	in->len = MAX((size_t)in->call->class->fixed, sizeof(struct trace_entry));
	for (const struct trace_event_field *p = f; p->name; p++)
		in->len = MAX(in->len, (size_t)p->offset + p->size);
	if (in->len > in->room)
		return -E2BIG;
	memset(in->rec, 0, in->len);
	host_enter(&ctx);
	host_preempt_enable();
	ctx.common |= in->call->id;
	memcpy(in->rec, &ctx.common, sizeof(ctx.common));
	for (; f->name; f++)
		if (f->kind == TRACE_FIELD_PTR_STRING)
			tracefs_inject_put_text(in, f, "");
	return 0;
}

/* The parser of `inject`: builds a record of `call` in `rec` (RB_MAX_DATA bytes); its length or
 * negative errno. */
static long trace_inject_parse(
    const struct trace_event_call *call, char *line, void *rec, size_t room)
{
	struct injection in = {.call = call, .rec = rec, .room = room};
	struct assignment a;
	char *p = strstrip(line);
	int err = start_record(&in);

	if (err)
		return err;
	while (*p) {
		err = parse_assignment(&p, call, &a);
		if (!err)
			err = a.text ? tracefs_inject_put_text(&in, a.field, a.text)
				     : put_number(&in, a.field, a.number);
		if (err)
			return err;
		p = tracefs_inject_skip_blanks(p);
	}
	return in.len;
}

/*
 * An event that is not live is recorded all the same. What soft mode left behind says no until its
 * last writer has left it.
 */
static void come_off_soft_mode(struct trace_event_file *file)
{
	if (!(file->flags & TRACE_FILE_LIVE) && (file->way & TRACE_WAY_SOFT_OFF)) {
		host_synchronize();
		trace_file_way(file, TRACE_WAY_SOFT_OFF, false);
	}
}

int tracefs_inject(struct trace_event_file *file, const void *rec, size_t len)
{
	struct host_context ctx;

	come_off_soft_mode(file);
	host_enter(&ctx);
	trace_gate_whole(file, &ctx, rec, len);
	host_preempt_enable();
	return 0;
}

/* ---- the file ---- */

static ssize tracefs_inject_read(struct tracefs_file *f __maybe_unused, void *buf __maybe_unused,
    size_t n __maybe_unused, u64 *pos __maybe_unused)
{
	return -EPERM;
}

static ssize tracefs_inject_write(struct tracefs_file *f, const void *buf, size_t n)
{
	struct trace_event_file *file = f->node.ctx;

	if (n >= PAGE_SIZE)
		return -EINVAL;
	if (trace_file_counts(file))
		return -ENOMEM;
	char *line = host_alloc(PAGE_SIZE + RB_MAX_DATA);
	if (!line)
		return -ENOMEM;
	char *rec = line + PAGE_SIZE;
	memcpy(line, buf, n);
	long len = trace_inject_parse(file->call, line, rec, RB_MAX_DATA);
	if (len > 0)
		tracefs_inject(file, rec, len);
	host_free(line);
	return len < 0 ? len : (ssize)n;
}

const struct tracefs_ops tracefs_inject_ops = {
    .read = tracefs_inject_read, .write = tracefs_inject_write};
