/*
 * print: an expression of C, by the kernel's types, of the machine that stands. See goto.h.
 *
 *   numbers, 'c', $rax ..., names of the kernel's symbols, of the program's, of enum values, of the
 *   event's fields, and `current`, a struct task *; @NAME is the program's alone
 *   -> . [] (TYPE) * & - ~ ! sizeof, binary operators down to ||
 *
 * A symbol has no type of its own: it is a word of its size, its address is &NAME. A cast of an
 * address gives it one: *(struct mm *)0xffff888004f9a000.
 */
#include "tools/trapline/goto/goto.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST    200
#define ITEMS_MOST   64 /* of an array that are printed; of structs: */
#define STRUCTS_MOST 4
#define DEPTH_MOST   4
#define NEST_MOST    200
#define NAME_MOST    256

struct expression {
	struct visit *v;
	const char *at;
	unsigned nest;
	jmp_buf out;
};

/* A value, or a place in memory that has one. */
struct operand {
	struct ctype type;
	uint64_t n; /* the value, or the address */
	bool is_place;
	unsigned shift, bits; /* of a bit field at that place; bits 0: it is none */
};

static _Noreturn void __attribute__((format(printf, 2, 3)))
refuse(struct expression *e, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say("%s", text);
	longjmp(e->out, 1);
}

/* ---- values ---- */

static uint64_t cut(const struct ktypes *k, struct ctype t, uint64_t n)
{
	uint64_t size = ktypes_size(k, t);
	unsigned bits = size < 8 ? 64 - 8 * size : 0;

	if (!size || size >= 8)
		return n;
	n <<= bits;
	return ktypes_is_signed(k, t) ? (uint64_t)((int64_t)n >> bits) : n >> bits;
}

static void read_memory(struct expression *e, uint64_t at, void *to, size_t n)
{
	if (!gdb_memory(&e->v->seek.gdb, at, to, n))
		refuse(e, "there is no memory at 0x%llx", (unsigned long long)at);
}

static bool is_scalar(const struct ktypes *k, struct ctype t)
{
	enum ckind kind = ktypes_kind(k, t);

	return kind == CKIND_NUMBER || kind == CKIND_POINTER || kind == CKIND_ENUM;
}

/* What it is as a number; an array is its address. */
static uint64_t number(struct expression *e, const struct operand *o)
{
	const struct ktypes *k = &e->v->types;
	uint64_t n = 0, size = ktypes_size(k, o->type);

	if (!o->is_place)
		return o->n;
	if (ktypes_kind(k, o->type) == CKIND_ARRAY)
		return o->n;
	if (!is_scalar(k, o->type) || size > 8)
		refuse(e, "that is no number");
	read_memory(e, o->n, &n, size);
	if (o->bits) {
		n = n >> o->shift & ((o->bits < 64 ? 1ULL << o->bits : 0) - 1);
		return n;
	}
	return cut(k, o->type, n);
}

static struct operand value(uint64_t n, struct ctype t)
{
	return (struct operand){.type = t, .n = n};
}

static struct operand word(uint64_t n)
{
	return value(n, (struct ctype){CTYPE_WORD, 0});
}

/* What a pointer leads to, or an array begins with. */
static struct operand target(struct expression *e, const struct operand *o)
{
	const struct ktypes *k = &e->v->types;
	enum ckind kind = ktypes_kind(k, o->type);

	if (kind != CKIND_POINTER && kind != CKIND_ARRAY)
		return (struct operand){
		    .type = {CTYPE_WORD, 0}, .n = number(e, o), .is_place = true};
	return (struct operand){
	    .type = ktypes_target(k, o->type), .n = number(e, o), .is_place = true};
}

/* ---- parsing ---- */

static void blanks(struct expression *e)
{
	while (isspace((unsigned char)*e->at))
		e->at++;
}

static bool take(struct expression *e, const char *text)
{
	blanks(e);
	if (strncmp(e->at, text, strlen(text)))
		return false;
	e->at += strlen(text);
	return true;
}

static bool take_name(struct expression *e, char name[NAME_MOST])
{
	size_t n = 0;

	blanks(e);
	if (!isalpha((unsigned char)*e->at) && *e->at != '_')
		return false;
	while ((isalnum((unsigned char)*e->at) || *e->at == '_') && n < NAME_MOST - 1)
		name[n++] = *e->at++;
	name[n] = '\0';
	return true;
}

/* "struct task **", "unsigned long", after an open parenthesis; false: it is no type. */
static bool take_type(struct expression *e, struct ctype *type)
{
	static const char *const several[] = {
	    "struct", "union", "enum", "unsigned", "signed", "long", "short", "const", "volatile"};
	const char *before = e->at;
	char whole[2 * NAME_MOST] = "", name[NAME_MOST];
	bool more = true;

	while (more && take_name(e, name)) {
		more = false;
		for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++)
			more |= !strcmp(name, several[i]);
		if (!strcmp(name, "const") || !strcmp(name, "volatile"))
			continue;
		if (strlen(whole) + strlen(name) + 2 > sizeof(whole))
			break;
		if (*whole)
			strcat(whole, " ");
		strcat(whole, name);
		blanks(e);
		if (*e->at == '*' || *e->at == ')')
			break;
	}
	if (*whole && ktypes_named(&e->v->types, whole, type)) {
		while (take(e, "*"))
			type->stars++;
		if (take(e, ")"))
			return true;
	}
	e->at = before;
	if (!strncmp(whole, "struct ", 7) || !strncmp(whole, "union ", 6) ||
	    !strncmp(whole, "enum ", 5))
		refuse(e, "there is no type '%s'", whole);
	return false;
}

/* "(TYPE)" */
static bool take_cast(struct expression *e, struct ctype *type)
{
	const char *before = e->at;

	if (take(e, "(") && take_type(e, type))
		return true;
	e->at = before;
	return false;
}

static struct operand binary(struct expression *e, unsigned least);
static struct operand unary(struct expression *e);

static struct operand register_value(struct expression *e)
{
	char name[NAME_MOST] = "";

	take_name(e, name);
	for (size_t i = 0; i < GDB_REGISTERS; i++)
		if (!strcmp(name, gdb_register_names[i]))
			return word(e->v->r[i]);
	refuse(e, "there is no register '$%s'", name);
}

/* The current task of the CPU: what %gs leads to is its struct cpu_local. */
static struct operand current(struct expression *e)
{
	struct ctype t;
	uint64_t n = goto_current(e->v);

	if (!n || !ktypes_named(&e->v->types, "struct task", &t))
		refuse(e, "the current task is not known here");
	t.stars++;
	return value(n, t);
}

/* A field of the event at which the machine stands. */
static bool field(struct expression *e, const char *name, struct operand *o)
{
	const struct record *r = e->v->events ? &e->v->event[e->v->at] : NULL;
	const struct field *f =
	    r && e->v->on_event && r->event ? event_field(r->event, name) : NULL;
	struct value v;

	if (!f)
		return false;
	field_value(f, r->data, r->size, &v);
	*o = word(v.n);
	return v.kind == VALUE_INT || v.kind == VALUE_UINT;
}

static struct operand symbol(struct expression *e, const char *name)
{
	const struct elf_symbol *s = elf_named(&e->v->kernel, name);
	struct operand o;
	uint64_t n;

	if (!strcmp(name, "current"))
		return current(e);
	if (field(e, name, &o))
		return o;
	if (!s && goto_program_symbol(e->v, name, &n))
		return (struct operand){.type = {CTYPE_WORD, 0}, .n = n, .is_place = true};
	if (!s && ktypes_enum_value(&e->v->types, name, &n))
		return word(n);
	if (!s)
		refuse(e, "there is no '%s' here", name);
	if (s->is_function)
		return word(s->address);
	o = (struct operand){.type = {CTYPE_WORD, 0}, .n = s->address, .is_place = true};
	if (s->size == 1 || s->size == 2 || s->size == 4)
		ktypes_named(&e->v->types,
		    s->size == 1   ? "unsigned char"
		    : s->size == 2 ? "unsigned short"
				   : "unsigned",
		    &o.type);
	return o;
}

/* "@NAME": the program's, where the kernel has one, too. */
static struct operand program_symbol(struct expression *e)
{
	char name[NAME_MOST] = "";
	uint64_t n;

	take_name(e, name);
	if (!goto_program_symbol(e->v, name, &n))
		refuse(e, "the program has no '%s'", name);
	return (struct operand){.type = {CTYPE_WORD, 0}, .n = n, .is_place = true};
}

static struct operand primary(struct expression *e)
{
	char name[NAME_MOST], *end;
	struct operand o;

	if (take(e, "(")) {
		o = binary(e, 0);
		if (!take(e, ")"))
			refuse(e, "a ')' is missing before '%s'", e->at);
		return o;
	}
	if (take(e, "$"))
		return register_value(e);
	if (take(e, "@"))
		return program_symbol(e);
	if (take(e, "'")) {
		uint64_t c = (uint8_t)*e->at;
		if (c)
			e->at++;
		if (!c || !take(e, "'"))
			refuse(e, "a ' is missing");
		return word(c);
	}
	if (take_name(e, name))
		return symbol(e, name);
	if (!isdigit((unsigned char)*e->at))
		refuse(e, *e->at ? "'%s' is no value" : "the expression breaks off%s", e->at);
	o = word(strtoull(e->at, &end, 0));
	for (e->at = end; *e->at && strchr("uUlL", *e->at);)
		e->at++;
	return o;
}

static struct operand member(struct expression *e, struct operand o)
{
	char name[NAME_MOST];
	struct cmember m;

	if (!take_name(e, name))
		refuse(e, "which member?");
	if (!o.is_place || !ktypes_find(&e->v->types, o.type, name, &m))
		refuse(e, "it has no member '%s'", name);
	o.type = m.type;
	o.n += m.bit / 8;
	o.shift = m.bit % 8;
	o.bits = m.bit_size;
	return o;
}

static struct operand postfix(struct expression *e)
{
	struct operand o = primary(e), i;

	for (;;) {
		if (take(e, "->")) {
			o = target(e, &o);
			o = member(e, o);
		} else if (take(e, ".")) {
			o = member(e, o);
		} else if (take(e, "[")) {
			i = binary(e, 0);
			if (!take(e, "]"))
				refuse(e, "a ']' is missing before '%s'", e->at);
			o = target(e, &o);
			o.n += number(e, &i) * ktypes_size(&e->v->types, o.type);
		} else {
			return o;
		}
	}
}

static struct operand address_of(struct expression *e, struct operand o)
{
	if (!o.is_place || o.bits)
		refuse(e, "that has no address");
	o.is_place = false;
	if (o.type.id != CTYPE_WORD)
		o.type.stars++;
	return o;
}

static struct operand sizeof_of(struct expression *e)
{
	struct ctype t;

	if (!take_cast(e, &t))
		t = unary(e).type;
	return word(ktypes_size(&e->v->types, t));
}

static struct operand cast(struct expression *e, struct ctype t)
{
	struct operand o = unary(e);

	/* to look at a place as at a struct */
	if (ktypes_kind(&e->v->types, t) == CKIND_STRUCT) {
		if (!o.is_place)
			refuse(e, "a number is no struct: * (TYPE *)");
		o.type = t;
		return o;
	}
	return value(cut(&e->v->types, t, number(e, &o)), t);
}

static struct operand operated(struct expression *e, char operator, struct operand o)
{
	uint64_t n;

	if (operator== '*')
		return target(e, &o);
	if (operator== '&')
		return address_of(e, o);
	n = number(e, &o);
	return word(operator== '-' ? -n : operator== '~' ? ~n : !n);
}

static bool takes_sizeof(struct expression *e)
{
	blanks(e);
	if (strncmp(e->at, "sizeof", 6) || isalnum((unsigned char)e->at[6]) || e->at[6] == '_')
		return false;
	e->at += 6;
	return true;
}

static struct operand unary(struct expression *e)
{
	struct operand o;
	struct ctype t;

	if (++e->nest > NEST_MOST)
		refuse(e, "the expression is too deep");
	if (takes_sizeof(e)) {
		o = sizeof_of(e);
	} else if (take_cast(e, &t)) {
		o = cast(e, t);
	} else if (*e->at && strchr("*&-~!", *e->at)) {
		char operator= * e->at++;
		o = operated(e, operator, unary(e));
	} else {
		o = postfix(e);
	}
	e->nest--;
	return o;
}

enum {
	OR,
	AND,
	BIT_OR,
	BIT_XOR,
	BIT_AND,
	EQUAL,
	UNEQUAL,
	LESS_EQUAL,
	MORE_EQUAL,
	LEFT,
	RIGHT,
	LESS,
	MORE,
	PLUS,
	MINUS,
	TIMES,
	DIVIDE,
	MODULO
};

/* Longer ones first where one begins with another. */
static const struct {
	const char *text;
	unsigned precedence;
} operators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4}, {"&", 5}, {"==", 6}, {"!=", 6},
    {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"<", 7}, {">", 7}, {"+", 9}, {"-", 9}, {"*", 10},
    {"/", 10}, {"%", 10}};

static uint64_t calculate(struct expression *e, size_t operator, uint64_t x, uint64_t y)
{
	if ((operator== DIVIDE || operator== MODULO) && !y)
		refuse(e, "a division by 0");
	switch (operator) {
	case OR:
		return x || y;
	case AND:
		return x && y;
	case BIT_OR:
		return x | y;
	case BIT_XOR:
		return x ^ y;
	case BIT_AND:
		return x & y;
	case EQUAL:
		return x == y;
	case UNEQUAL:
		return x != y;
	case LESS_EQUAL:
		return x <= y;
	case MORE_EQUAL:
		return x >= y;
	case LEFT:
		return y < 64 ? x << y : 0;
	case RIGHT:
		return y < 64 ? x >> y : 0;
	case LESS:
		return x < y;
	case MORE:
		return x > y;
	case PLUS:
		return x + y;
	case MINUS:
		return x - y;
	case TIMES:
		return x * y;
	case DIVIDE:
		return x / y;
	}
	return x % y;
}

static bool take_operator(struct expression *e, unsigned least, size_t *operator)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		const char *before = e->at;
		if (!take(e, operators[i].text))
			continue;
		*operator= i;
		if (operators[i].precedence > least)
			return true;
		e->at = before;
		return false;
	}
	return false;
}

/* Operators that bind more than `least`. */
static struct operand binary(struct expression *e, unsigned least)
{
	const struct ktypes *k = &e->v->types;
	struct operand x = unary(e), y;
	size_t operator;

	while (take_operator(e, least, &operator)) {
		y = binary(e, operators[operator].precedence);
		uint64_t n = number(e, &y);
		if ((operator== PLUS || operator== MINUS) &&
		    ktypes_kind(k, x.type) == CKIND_POINTER) {
			n *= ktypes_size(k, ktypes_target(k, x.type));
			x = value(calculate(e, operator, number(e, &x), n), x.type);
		} else {
			x = word(calculate(e, operator, number(e, &x), n));
		}
	}
	return x;
}

/* ---- printing ---- */

static void print_text(const uint8_t *text, size_t n)
{
	putchar('"');
	for (size_t i = 0; i < n && text[i]; i++)
		if (text[i] == '"' || text[i] == '\\')
			printf("\\%c", text[i]);
		else if (isprint(text[i]))
			putchar(text[i]);
		else
			printf("\\x%02x", text[i]);
	putchar('"');
}

static void print_pointer(struct expression *e, uint64_t n, struct ctype t)
{
	const struct ktypes *k = &e->v->types;
	char name[NAME_MOST];
	uint8_t text[TEXT_MOST];
	size_t have = 0;

	printf("0x%llx", (unsigned long long)n);
	if (n && elf_at(&e->v->kernel, n)) {
		goto_name(e->v, n, name, sizeof(name));
		printf(" <%s>", name);
	}
	if (!n || !ktypes_is_char(k, ktypes_target(k, t)))
		return;
	while (have < sizeof(text) && gdb_memory(&e->v->seek.gdb, n + have, &text[have], 1) &&
	       text[have])
		have++;
	putchar(' ');
	print_text(text, have);
}

static void print_number(struct expression *e, uint64_t n, struct ctype t)
{
	const struct ktypes *k = &e->v->types;
	const char *name = ktypes_kind(k, t) == CKIND_ENUM ? ktypes_enum_name(k, t, n) : NULL;

	if (ktypes_kind(k, t) == CKIND_POINTER)
		print_pointer(e, n, t);
	else if (name)
		printf("%s", name);
	else if (ktypes_is_signed(k, t))
		printf("%lld", (long long)n);
	else if (n < 1 << 20)
		printf("%llu", (unsigned long long)n);
	else
		print_pointer(e, n, (struct ctype){0, 1});
}

static void print_operand(struct expression *e, struct operand o, unsigned depth);

static void print_array(struct expression *e, struct operand o, unsigned depth)
{
	const struct ktypes *k = &e->v->types;
	struct operand item = target(e, &o);
	uint64_t count = ktypes_length(k, o.type), size = ktypes_size(k, item.type);
	uint64_t most = is_scalar(k, item.type) ? ITEMS_MOST : STRUCTS_MOST;
	uint8_t text[TEXT_MOST];

	if (ktypes_is_char(k, item.type) && count <= sizeof(text)) {
		read_memory(e, o.n, text, count);
		print_text(text, count);
		return;
	}
	putchar('{');
	for (uint64_t i = 0; i < count && i < most; i++, item.n += size) {
		fputs(i ? ", " : "", stdout);
		print_operand(e, item, depth);
	}
	fputs(count > most ? ", ...}" : "}", stdout);
}

static void print_struct(struct expression *e, struct operand o, unsigned depth)
{
	struct cmember m;

	if (depth == DEPTH_MOST) {
		fputs("{...}", stdout);
		return;
	}
	puts("{");
	for (size_t i = 0; ktypes_member(&e->v->types, o.type, i, &m); i++) {
		printf("%*s%s%s", (int)(2 * depth + 2), "", m.name, *m.name ? " = " : "");
		print_operand(e,
		    (struct operand){.type = m.type,
			.n = o.n + m.bit / 8,
			.is_place = true,
			.shift = m.bit % 8,
			.bits = m.bit_size},
		    depth + 1);
		putchar('\n');
	}
	printf("%*s}", (int)(2 * depth), "");
}

static void print_operand(struct expression *e, struct operand o, unsigned depth)
{
	const struct ktypes *k = &e->v->types;

	switch (ktypes_kind(k, o.type)) {
	case CKIND_STRUCT:
		print_struct(e, o, depth);
		break;
	case CKIND_ARRAY:
		print_array(e, o, depth);
		break;
	case CKIND_NUMBER:
	case CKIND_POINTER:
	case CKIND_ENUM:
		print_number(e, number(e, &o), o.type);
		break;
	default:
		printf("void at 0x%llx", (unsigned long long)o.n);
	}
}

static struct operand whole(struct expression *e)
{
	struct operand o = binary(e, 0);

	blanks(e);
	if (*e->at)
		refuse(e, "'%s' is too much", e->at);
	return o;
}

bool goto_print(struct visit *v, const char *text, bool hexadecimal)
{
	struct expression e = {.v = v, .at = text};
	struct operand o;

	if (setjmp(e.out))
		return false;
	o = whole(&e);
	if (hexadecimal && is_scalar(&v->types, o.type))
		printf("0x%llx", (unsigned long long)number(&e, &o));
	else
		print_operand(&e, o, 0);
	putchar('\n');
	return true;
}

bool goto_number(struct visit *v, const char *text, uint64_t *n)
{
	struct expression e = {.v = v, .at = text};
	struct operand o;

	if (setjmp(e.out))
		return false;
	o = whole(&e);
	*n = number(&e, &o);
	return true;
}
