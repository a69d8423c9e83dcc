/*
 * Arithmetic expansion by precedence climbing. Values wrap as two's complement. `depth` bounds recursion; `dry` counts the
 * operands that C would not evaluate (right of && || and the other branch of ?:): no assignment, no division error there.
 */
#include "kernel/shell/arith.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/shell/scan.h"

#define ARITH_DEPTH 12

struct arith {
	const char *p;
	struct sh_vars *vars;
	const char *error;
	int depth, dry;
};

struct operand {
	s64 value;
	const char *name; /* of a variable: may be assigned to */
	size_t name_len;
};

static struct operand parse_assign(struct arith *a);
static struct operand parse_comma(struct arith *a);

static struct operand bad(struct arith *a, const char *why)
{
	if (!a->error)
		a->error = why;
	return (struct operand){0};
}

static void blanks(struct arith *a)
{
	a->p += strspn(a->p, " \t\n\r");
}

/* A number as C writes it. False: none at s. */
static bool number(const char *s, const char **end, s64 *out)
{
	unsigned base = 10;

	if (!is_digit(*s))
		return false;
	if (s[0] == '0' && (s[1] | 32) == 'x' &&
	    (is_digit(s[2]) || ((s[2] | 32) >= 'a' && (s[2] | 32) <= 'f'))) {
		base = 16;
		s += 2;
	} else if (s[0] == '0') {
		base = 8;
	}
	*out = parse_digits(s, end, base);
	return true;
}

static s64 variable(struct arith *a, const char *name, size_t n)
{
	const char *s = sh_var_getn(a->vars, name, n), *end;
	bool minus;
	s64 v;

	if (!s)
		return 0;
	s += strspn(s, " \t\n");
	minus = *s == '-';
	s += minus || *s == '+';
	if (!*s)
		return 0;
	if (!number(s, &end, &v) || end[strspn(end, " \t\n")]) {
		bad(a, "arithmetic syntax error");
		return 0;
	}
	return minus ? -(u64)v : (u64)v;
}

static void store(struct arith *a, struct operand *o, s64 value)
{
	char text[24];

	o->value = value;
	if (a->dry || a->error)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)value);
	if (sh_var_setn(a->vars, o->name, o->name_len, text))
		bad(a, "cannot assign");
}

/* ++x and --x; also plain signs. */
static struct operand parse_unary(struct arith *a);

static struct operand parse_primary(struct arith *a)
{
	struct operand o = {0};
	size_t n;

	blanks(a);
	if (*a->p == '(') {
		a->p++;
		o = parse_comma(a);
		blanks(a);
		if (*a->p != ')')
			return bad(a, "arithmetic syntax error");
		a->p++;
		o.name = NULL;
		return o;
	}
	if (number(a->p, &a->p, &o.value)) {
		if (sh_name_char(*a->p))
			return bad(a, "arithmetic syntax error");
		return o;
	}
	n = sh_name_len(a->p);
	if (!n)
		return bad(a, "arithmetic syntax error");
	o.name = a->p;
	o.name_len = n;
	a->p += n;
	o.value = variable(a, o.name, n);
	return o;
}

static struct operand parse_postfix(struct arith *a)
{
	struct operand o = parse_primary(a);
	s64 old = o.value;

	blanks(a);
	if (!o.name || a->p[0] != a->p[1] || (*a->p != '+' && *a->p != '-'))
		return o;
	store(a, &o, *a->p == '+' ? (u64)old + 1 : (u64)old - 1);
	a->p += 2;
	return (struct operand){.value = old};
}

static struct operand parse_unary(struct arith *a)
{
	struct operand o;
	char op;

	blanks(a);
	op = *a->p;
	if (!op || !strchr("+-!~", op))
		return parse_postfix(a);
	if (++a->depth > ARITH_DEPTH)
		return bad(a, "arithmetic too deeply nested");
	if ((op == '+' || op == '-') && a->p[1] == op && sh_name_start(a->p[2])) {
		a->p += 2;
		o = parse_primary(a);
		store(a, &o, op == '+' ? (u64)o.value + 1 : (u64)o.value - 1);
	} else {
		a->p++;
		o = parse_unary(a);
		o.value = op == '-'   ? (s64) - (u64)o.value
			  : op == '!' ? !o.value
			  : op == '~' ? ~o.value
				      : o.value;
	}
	a->depth--;
	o.name = NULL;
	return o;
}

enum op {
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_ADD,
	OP_SUB,
	OP_SHL,
	OP_SHR,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_LAND,
	OP_LOR
};

static const struct binary {
	char text[3];
	u8 level; /* higher binds stronger */
	enum op op;
} binaries[] = {
    {"<<", 8, OP_SHL},
    {">>", 8, OP_SHR},
    {"<=", 7, OP_LE},
    {">=", 7, OP_GE},
    {"==", 6, OP_EQ},
    {"!=", 6, OP_NE},
    {"&&", 2, OP_LAND},
    {"||", 1, OP_LOR},
    {"*", 10, OP_MUL},
    {"/", 10, OP_DIV},
    {"%", 10, OP_MOD},
    {"+", 9, OP_ADD},
    {"-", 9, OP_SUB},
    {"<", 7, OP_LT},
    {">", 7, OP_GT},
    {"&", 5, OP_AND},
    {"^", 4, OP_XOR},
    {"|", 3, OP_OR},
};

static const struct binary *binary_at(const char *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(binaries); i++)
		if (str_has_prefix(p, binaries[i].text)) {
			size_t n = strlen(binaries[i].text);

			/* `+=` and the like are assignments. */
			if (p[n] == '=' && binaries[i].level != 7 && binaries[i].level != 6)
				return NULL;
			return &binaries[i];
		}
	return NULL;
}

static s64 divide(struct arith *a, enum op op, s64 x, s64 y)
{
	if (!y) {
		if (!a->dry)
			bad(a, "divide by zero");
		return 0;
	}
	if (y == -1)
		return op == OP_DIV ? (s64) - (u64)x : 0;
	return op == OP_DIV ? x / y : x % y;
}

static s64 compute(struct arith *a, enum op op, s64 x, s64 y)
{
	switch (op) {
	case OP_MUL:
		return (u64)x * (u64)y;
	case OP_DIV:
	case OP_MOD:
		return divide(a, op, x, y);
	case OP_ADD:
		return (u64)x + (u64)y;
	case OP_SUB:
		return (u64)x - (u64)y;
	case OP_SHL:
		return (u64)x << (y & 63);
	case OP_SHR:
		return x >> (y & 63);
	case OP_LT:
		return x < y;
	case OP_LE:
		return x <= y;
	case OP_GT:
		return x > y;
	case OP_GE:
		return x >= y;
	case OP_EQ:
		return x == y;
	case OP_NE:
		return x != y;
	case OP_AND:
		return x & y;
	case OP_XOR:
		return x ^ y;
	case OP_OR:
		return x | y;
	case OP_LAND:
		return x && y;
	case OP_LOR:
		return x || y;
	}
	return 0;
}

static struct operand parse_binary(struct arith *a, int level)
{
	struct operand left = parse_unary(a);
	const struct binary *b;

	for (;;) {
		bool skip;
		s64 right;

		blanks(a);
		b = binary_at(a->p);
		if (a->error || !b || b->level < level)
			return left;
		a->p += strlen(b->text);
		skip = (b->op == OP_LAND && !left.value) || (b->op == OP_LOR && left.value);
		a->dry += skip;
		right = parse_binary(a, b->level + 1).value;
		a->dry -= skip;
		left = (struct operand){.value = compute(a, b->op, left.value, right)};
	}
}

static struct operand parse_ternary(struct arith *a)
{
	struct operand cond = parse_binary(a, 1), yes, no;
	bool take = cond.value != 0;

	blanks(a);
	if (*a->p != '?' || a->error)
		return cond;
	a->p++;
	a->dry += !take;
	yes = parse_assign(a);
	a->dry -= !take;
	blanks(a);
	if (*a->p != ':')
		return bad(a, "arithmetic syntax error");
	a->p++;
	a->dry += take;
	no = parse_assign(a);
	a->dry -= take;
	return (struct operand){.value = take ? yes.value : no.value};
}

/* The operator of an assignment at p: its length, 0 for none; *b is NULL for the plain one. */
static size_t assignment_at(const char *p, const struct binary **b)
{
	*b = NULL;
	if (p[0] == '=' && p[1] != '=')
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(binaries); i++) {
		size_t n = strlen(binaries[i].text);

		if (binaries[i].level < 3 || binaries[i].level == 7 || binaries[i].level == 6)
			continue;
		if (str_has_prefix(p, binaries[i].text) && p[n] == '=') {
			*b = &binaries[i];
			return n + 1;
		}
	}
	return 0;
}

static struct operand parse_assign(struct arith *a)
{
	const struct binary *b;
	struct operand left, right;
	size_t n;

	if (++a->depth > ARITH_DEPTH)
		return bad(a, "arithmetic too deeply nested");
	left = parse_ternary(a);
	blanks(a);
	n = a->error ? 0 : assignment_at(a->p, &b);
	if (n && !left.name) {
		left = bad(a, "arithmetic syntax error");
	} else if (n) {
		a->p += n;
		right = parse_assign(a);
		store(a, &left, b ? compute(a, b->op, left.value, right.value) : right.value);
		left.name = NULL;
	}
	a->depth--;
	return left;
}

static struct operand parse_comma(struct arith *a)
{
	struct operand o = parse_assign(a);

	for (blanks(a); *a->p == ',' && !a->error; blanks(a)) {
		a->p++;
		o = parse_assign(a);
	}
	return o;
}

int sh_arith(struct sh_vars *v, const char *text, s64 *out, const char **error)
{
	struct arith a = {.p = text, .vars = v};
	struct operand o = {0};

	blanks(&a);
	if (*a.p)
		o = parse_comma(&a);
	blanks(&a);
	if (!a.error && *a.p)
		a.error = "arithmetic syntax error";
	*error = a.error;
	*out = o.value;
	return a.error ? -EINVAL : 0;
}
