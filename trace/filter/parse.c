/*
 * Parses one predicate of a filter's text (field, operator, value) and selects its test. Task
 * context; does not modify the text, and copies patterns to the filter's memory.
 *
 * Error positions are Linux's: one character after the parser's position.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/format.h"
#include "trace/filter/priv.h"

/* Fields of every event, though no record has them; an event's own of the same name goes first. */
static const struct trace_event_field virtual_fields[] = {
    {.type = "int", .name = "CPU", .size = 4, .is_signed = true, .kind = FILTER_FIELD_CPU},
    {.type = "int", .name = "cpu", .size = 4, .is_signed = true, .kind = FILTER_FIELD_CPU},
    {.type = "int", .name = "common_cpu", .size = 4, .is_signed = true, .kind = FILTER_FIELD_CPU},
    {.type = "char *", .name = "COMM", .kind = FILTER_FIELD_COMM},
    {.type = "char *", .name = "comm", .kind = FILTER_FIELD_COMM},
    {.name = NULL},
};

static const char *here(const struct filter_parser *p)
{
	return p->text + p->at;
}

static void filter_skip_spaces(struct filter_parser *p)
{
	while (is_space(*here(p)))
		p->at++;
}

static bool filter_is_word_char(char c)
{
	return is_alnum(c) || c == '_';
}

static bool filter_field_is_string(const struct trace_event_field *f)
{
	switch (f->kind) {
	case TRACE_FIELD_STRING:
	case TRACE_FIELD_DYN_STRING:
	case TRACE_FIELD_REL_STRING:
	case TRACE_FIELD_PTR_STRING:
	case FILTER_FIELD_COMM:
		return true;
	default:
		return false;
	}
}

/* ---- the field ---- */

static const struct trace_event_field *filter_find_field(
    const struct trace_event_field *f, const char *name, size_t len)
{
	for (; f->name; f++)
		if (strlen(f->name) == len && !memcmp(f->name, name, len))
			return f;
	return NULL;
}

bool trace_filter_virtual_field(const char *name)
{
	return filter_find_field(virtual_fields, name, strlen(name));
}

static bool filter_take_token(struct filter_parser *p, const char *word)
{
	if (!str_has_prefix(here(p), word))
		return false;
	p->at += strlen(word);
	return true;
}

/*
 * No operand where one must be. Only a text that ends there, or has nothing but parentheses, is
 * EINVAL to Linux's triggers.
 */
static int fail_operand(struct filter_parser *p)
{
	bool is_empty = !p->text[strspn(p->text, " \t\n()")];

	return filter_fail_as(
	    p, *here(p) && !is_empty ? -EPERM : -EINVAL, FILTER_NO_FIELD, p->at + 1);
}

static int parse_field(struct filter_parser *p, struct filter_operand *o)
{
	const char *name = here(p);

	while (filter_is_word_char(*here(p)))
		p->at++;
	size_t len = here(p) - name;
	if (!len)
		return fail_operand(p);
	o->field = filter_find_field(p->call->class->fields(p->call), name, len);
	if (!o->field)
		o->field = filter_find_field(virtual_fields, name, len);
	if (!o->field)
		o->field = filter_find_field(trace_common_fields, name, len);
	if (!o->field)
		return filter_fail(p, FILTER_NO_FIELD, p->at + 1);
	o->user = filter_take_token(p, ".ustring");
	o->function = !o->user && filter_take_token(p, ".function");
	return 0;
}

/* ---- the operator ---- */

static int parse_op(struct filter_parser *p, struct filter_operand *o)
{
	/* As enum filter_op; the longer of two with the same start is first there. */
	static const char *const ops[FILTER_OPS] = {"~", "!=", "==", "<=", "<", ">=", ">", "&"};

	filter_skip_spaces(p);
	for (o->op = 0; o->op < FILTER_OPS; o->op++)
		if (filter_take_token(p, ops[o->op])) {
			filter_skip_spaces(p);
			return 0;
		}
	return filter_fail(p, FILTER_INVALID_OP, p->at + 1);
}

/* ---- a text as the value ---- */

static filter_test string_test(const struct filter_operand *o)
{
	switch (o->field->kind) {
	case TRACE_FIELD_STRING:
		return filter_test_string;
	case TRACE_FIELD_DYN_STRING:
		return filter_test_dyn;
	case TRACE_FIELD_REL_STRING:
		return filter_test_rel;
	case FILTER_FIELD_COMM:
		return filter_test_comm;
	default:
		return o->user ? filter_test_user : filter_test_pointer;
	}
}

static bool is_string_op(enum filter_op op)
{
	return op == FILTER_OP_GLOB || op == FILTER_OP_NE || op == FILTER_OP_EQ;
}

/* len bytes at `text`, which `then` follows. */
static int filter_parse_string(struct filter_parser *p, const struct filter_operand *o,
    struct filter_insn *in, const char *text, size_t len)
{
	if (len >= FILTER_STRING_MAX)
		return filter_fail(p, FILTER_TOO_LONG, text + len - p->text + 1);
	char *pattern = p->room;
	p->room += len + 1;
	memcpy(pattern, text, len);
	in->negate = o->op == FILTER_OP_NE;
	filter_text_prepare(in, pattern, len, o->op == FILTER_OP_GLOB);
	in->test = string_test(o);
	in->size = o->field->size;
	return 0;
}

/* The quote that ends it is there: the whole text was looked through for that. */
static int parse_quoted(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in)
{
	const char *start = here(p) + 1, *end = strchr(start, start[-1]);

	if (!is_string_op(o->op))
		return filter_fail(p, FILTER_ILLEGAL_OP, p->at + 1);
	if (!filter_field_is_string(o->field))
		return filter_fail(p, FILTER_EXPECT_NUMBER, p->at + 1);
	int err = filter_parse_string(p, o, in, start, end - start);
	p->at = end + 1 - p->text;
	return err;
}

/*
 * A name needs no quotes: letters, digits and _./:- after a letter or '_', up to a blank or what
 * may follow a predicate.
 */
static int parse_bare(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in)
{
	const char *start = here(p), *end = start;

	while (filter_is_word_char(*end) || (*end && strchr("./:-", *end)))
		end++;
	if (is_digit(*start) || (!filter_is_word_char(*start) && *start != '/') ||
	    (*end && !is_space(*end) && !strchr(")&|", *end)))
		return filter_fail(p, FILTER_INVALID_VALUE, p->at + 1);
	if (!is_string_op(o->op))
		return filter_fail(p, FILTER_ILLEGAL_OP, p->at + 1);
	int err = filter_parse_string(p, o, in, start, end - start);
	p->at = end - p->text;
	return err;
}

/* ---- the whole ---- */

static int parse_value(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert)
{
	char c = *here(p);

	if (o->function)
		return filter_parse_function(p, o, in, invert);
	if (c == '\'' && o->field->kind == TRACE_FIELD_NUMBER && o->field->size == 1)
		return filter_parse_char(p, o, in, invert);
	if (c == '\'' || c == '"')
		return parse_quoted(p, o, in);
	if (is_digit(c) || c == '-') {
		if (filter_field_is_string(o->field))
			return filter_fail(p, FILTER_EXPECT_STRING, p->at + 1);
		return filter_parse_number(p, o, in, invert);
	}
	if (str_has_prefix(here(p), filter_field_is_string(o->field) ? "CPUS{" : "CPUS"))
		return filter_parse_cpus(p, o, in, invert);
	if (filter_field_is_string(o->field))
		return parse_bare(p, o, in);
	return filter_fail(p, FILTER_INVALID_VALUE, p->at + 1);
}

/* What of a record the test reads. */
static void note_needs(struct trace_filter *f, const struct trace_event_field *field)
{
	if (field->kind >= FILTER_FIELD_CPU)
		return;
	f->fixed = MAX(f->fixed, field->offset + field->size);
	f->common |= field->offset < sizeof(struct trace_entry);
}

int filter_parse_predicate(struct filter_parser *p, struct filter_insn *in, bool *invert)
{
	struct filter_operand o;
	int err = parse_field(p, &o);

	if (!err)
		err = parse_op(p, &o);
	if (err)
		return err;
	*invert = false;
	in->offset = o.field->offset;
	in->kind = FILTER_TEST;
	err = parse_value(p, &o, in, invert);
	if (!err)
		note_needs(p->f, o.field);
	return err;
}
