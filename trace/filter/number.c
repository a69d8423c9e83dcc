/*
 * Predicates whose value is a number, a character, a set of CPUs or a function. Task context.
 *
 * A comparison becomes a range of the field's own type: as on Linux, the constant is truncated to
 * the field's width.
 */
/* hot: runs with each event */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/host_symbol.h"

#define NUMBER_MAX 24 /* characters of a number, and of a function's address: one less */

static const char *here(const struct filter_parser *p)
{
	return p->text + p->at;
}

/* Numbers of these kinds and sizes can be compared. */
static bool is_number(const struct trace_event_field *f)
{
	bool fits = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

	return fits && (f->kind == TRACE_FIELD_NUMBER || f->kind == FILTER_FIELD_CPU ||
			   f->kind == TRACE_FIELD_ARRAY);
}

/* ---- comparisons ---- */

/* The constant as the field would hold it, widened. */
static u64 cut(const struct trace_event_field *f, u64 v)
{
	u32 unused = 64 - 8 * f->size;

	return f->is_signed ? (u64)((s64)(v << unused) >> unused) : v << unused >> unused;
}

static u64 lowest(const struct trace_event_field *f)
{
	return f->is_signed ? ~0UL << (8 * f->size - 1) : 0;
}

static u64 highest(const struct trace_event_field *f)
{
	return f->is_signed ? ~lowest(f) : ~0UL >> (64 - 8 * f->size);
}

/* a < b is !(a >= b): no range is ever empty. */
static void set_range(const struct trace_event_field *f, enum filter_op op, u64 v,
    struct filter_insn *in, bool *invert)
{
	bool above = op == FILTER_OP_GE || op == FILTER_OP_LT;
	bool below = op == FILTER_OP_LE || op == FILTER_OP_GT;

	*invert = op == FILTER_OP_LT || op == FILTER_OP_GT || op == FILTER_OP_NE;
	in->first = below ? lowest(f) : v;
	in->span = (above ? highest(f) : v) - in->first;
	if (f->kind == FILTER_FIELD_CPU)
		in->test = filter_test_cpu_range;
	else
		filter_set_range(in, f->size, f->is_signed);
}

static void filter_set_comparison(const struct trace_event_field *f, enum filter_op op, u64 v,
    struct filter_insn *in, bool *invert)
{
	v = cut(f, v);
	if (op != FILTER_OP_AND) {
		set_range(f, op, v, in, invert);
		return;
	}
	in->mask = v;
	in->test = f->kind == FILTER_FIELD_CPU ? filter_test_cpu_bits : filter_test_bits(f->size);
}

/* The word at hand, without its end; 0 or -EINVAL. */
static int take_digits(struct filter_parser *p, char *to)
{
	const char *start = here(p), *end = start + (*start == '-');

	while (is_alnum(*end))
		end++;
	if (end - start >= NUMBER_MAX)
		return filter_fail(p, FILTER_TOO_LONG, end - p->text + 1);
	memcpy(to, start, end - start);
	to[end - start] = '\0';
	p->at = end - p->text;
	return 0;
}

int filter_parse_number(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert)
{
	const struct trace_event_field *f = o->field;
	size_t start = p->at;
	char digits[NUMBER_MAX];
	u64 v;

	if (o->op == FILTER_OP_GLOB || !is_number(f))
		return filter_fail(p, FILTER_ILLEGAL_OP, start + 1);
	int err = take_digits(p, digits);
	if (err)
		return err;
	err = f->is_signed ? parse_s64(digits, 0, (s64 *)&v) : parse_u64(digits, 0, &v);
	if (err)
		return filter_fail(p, FILTER_ILLEGAL_NUMBER, start + 1);
	filter_set_comparison(f, o->op, v, in, invert);
	return 0;
}

/* 'c' for a field of one byte; \0 \n \t \r \\ as in C. */
int filter_parse_char(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert)
{
	static const char names[] = "0ntr\\", values[] = "\0\n\t\r\\";
	const char *s = here(p) + 1;
	char c = *s++;

	if (o->op == FILTER_OP_GLOB)
		return filter_fail(p, FILTER_EXPECT_NUMBER, p->at + 1);
	if (c == '\\' && *s && strchr(names, *s))
		c = values[strchr(names, *s++) - names];
	else if (c == '\'')
		return filter_fail(p, FILTER_EXPECT_NUMBER, p->at + 1);
	if (*s != '\'')
		return filter_fail(p, FILTER_EXPECT_NUMBER, p->at + 1);
	p->at = s + 1 - p->text;
	filter_set_comparison(o->field, o->op, (u64)c, in, invert);
	return 0;
}

/* ---- functions ---- */

/* An address in it, or its name; its start and size. */
static bool find_function(const char *word, u64 *start, u64 *size)
{
	u64 addr;

	if (!is_digit(*word)) {
		*start = host_sym_find(word, size);
		return *start && *size;
	}
	return !parse_u64(word, 0, &addr) && host_sym_of(addr, start, size) && *size;
}

/* field.function == name: the address lies in the function. */
int filter_parse_function(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert)
{
	const char *start = here(p), *end = start;
	char word[FILTER_STRING_MAX];
	u64 addr, size;

	if (o->field->kind != TRACE_FIELD_NUMBER || o->field->size != sizeof(long))
		return filter_fail(p, FILTER_ILLEGAL_OP, p->at + 1);
	if (o->op != FILTER_OP_EQ && o->op != FILTER_OP_NE)
		return filter_fail(p, FILTER_INVALID_OP, p->at + 1);
	while (is_alnum(*end) || *end == '_' || *end == '.')
		end++;
	p->at = end - p->text;
	if (end == start)
		return filter_fail(p, FILTER_INVALID_VALUE, p->at + 1);
	if (end - start >= FILTER_STRING_MAX)
		return filter_fail(p, FILTER_TOO_LONG, p->at + 1);
	memcpy(word, start, end - start);
	word[end - start] = '\0';
	if (!find_function(word, &addr, &size))
		return filter_fail(p, FILTER_NO_FUNCTION, p->at + 1);
	in->first = addr;
	in->span = size - 1;
	filter_set_range(in, sizeof(long), false);
	*invert = o->op == FILTER_OP_NE;
	return 0;
}

/* ---- sets of CPUs ---- */

/* A number of a list; MAX_CPUS for none or too large a one. */
static u32 list_number(const char **s)
{
	u32 n = 0;

	if (!is_digit(**s))
		return MAX_CPUS;
	for (; is_digit(**s); (*s)++)
		n = MIN(n * 10 + (**s - '0'), (u32)MAX_CPUS);
	return n;
}

/*
 * "a", "a-b" or "a-b:of/group": of each group, its first CPUs. "all" and "N" are all and the last
 * there can be.
 */
static bool list_range(const char **s, u64 *set)
{
	u32 from, to, of = 1, group = 1;

	if (str_has_prefix(*s, "all")) {
		*s += 3;
		from = 0;
		to = MAX_CPUS - 1;
	} else {
		from = to = **s == 'N' ? (++*s, MAX_CPUS - 1) : list_number(s);
		if (**s == '-') {
			++*s;
			to = **s == 'N' ? (++*s, MAX_CPUS - 1) : list_number(s);
		}
	}
	if (**s == ':') {
		++*s;
		of = list_number(s);
		if (*(*s)++ != '/')
			return false;
		group = list_number(s);
	}
	if (to >= MAX_CPUS || from > to || !group || of > group)
		return false;
	for (u32 cpu = from; cpu <= to; cpu++)
		if ((cpu - from) % group < of)
			*set |= 1UL << cpu;
	return true;
}

/* Commas between; blanks around them do not matter. */
static bool parse_list(const char *s, const char *end, u64 *set)
{
	*set = 0;
	for (;;) {
		while (s < end && (*s == ',' || is_space(*s)))
			s++;
		if (s == end)
			return true;
		if (!list_range(&s, set) || (s < end && *s != ',' && !is_space(*s)))
			return false;
	}
}

/* A scalar is the set of that one CPU: equal to no set of several. */
static void set_scalar(const struct trace_event_field *f, enum filter_op op, u64 set,
    struct filter_insn *in, bool *invert)
{
	bool cpu = f->kind == FILTER_FIELD_CPU, single = set && !(set & (set - 1));

	*invert = op == FILTER_OP_NE;
	in->mask = op == FILTER_OP_AND || single ? set : 0;
	in->test = cpu ? filter_test_cpu_in : filter_test_cpu_set(f->size);
}

int filter_parse_cpus(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert)
{
	const struct trace_event_field *f = o->field;
	bool is_mask = f->kind == TRACE_FIELD_DYN_ARRAY && strstr(f->type, "cpumask");
	u64 set;

	if (!(is_mask || is_number(f)) ||
	    (o->op != FILTER_OP_EQ && o->op != FILTER_OP_NE && o->op != FILTER_OP_AND))
		return filter_fail(p, FILTER_ILLEGAL_OP, p->at + 1);
	p->at += strlen("CPUS");
	if (p->text[p->at++] != '{')
		return filter_fail(p, FILTER_MISSING_OPEN, p->at + 1);
	const char *start = here(p), *end = strchr(start, '}');
	if (!end)
		return filter_fail(p, FILTER_MISSING_CLOSE, strlen(p->text) + 1);
	p->at = end - p->text;
	if (start == end || !parse_list(start, end, &set))
		return filter_fail(p, FILTER_BAD_CPULIST, p->at + 1);
	p->at++;
	if (!is_mask) {
		set_scalar(f, o->op, set, in, invert);
		return 0;
	}
	in->mask = set;
	in->same = o->op != FILTER_OP_AND;
	in->negate = o->op == FILTER_OP_NE;
	in->test = filter_test_mask;
	return 0;
}
