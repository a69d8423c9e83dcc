/*
 * The language of probes' arguments, today's: [NAME=]BODY[:TYPE], BODY one of %REG, $VAR, @ADDR, @SYM[+|-offs], \IMM, \"TEXT",
 * +|-[u]offs(BODY). Task context; nothing but the probe's own memory changes. What is refused and where the caret stands is as in
 * Linux.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/probe.h"

#define STACK_MAX 2048 /* words of the kernel's stack, as Linux bounds $stackN */

#define NUMBER(bits, size)                                                                         \
	{"u" #bits, "u" #bits, size == 8 ? "%Lu" : "%u", size, PROBE_UNSIGNED, false},             \
	    {"s" #bits, "s" #bits, size == 8 ? "%Ld" : "%d", size, PROBE_SIGNED, true},            \
	{                                                                                          \
		"x" #bits, "u" #bits, size == 8 ? "0x%Lx" : "0x%x", size, PROBE_HEX, false         \
	}

static const struct probe_type types[] = {
    {"string", "__data_loc char[]", "\\\"%s\\\"", 4, PROBE_STRING, true},
    {"ustring", "__data_loc char[]", "\\\"%s\\\"", 4, PROBE_USTRING, true},
    {"symstr", "__data_loc char[]", "\\\"%s\\\"", 4, PROBE_SYMSTR, true},
    NUMBER(8, 1),
    NUMBER(16, 2),
    NUMBER(32, 4),
    NUMBER(64, 8),
    {"char", "char", "'%c'", 1, PROBE_CHAR, false},
    {"symbol", "u64", "%pS", 8, PROBE_SYMBOL, false},
};

static int fail(struct probe_parse *p, u32 pos, const char *text)
{
	p->err->word = p->word;
	p->err->pos = pos;
	p->err->text = text;
	return -EINVAL;
}

char *probe_keep(struct probe_arena *a, const char *text, size_t n)
{
	char *at = a->at;

	if (n + 1 > (size_t)(a->end - at))
		return NULL;
	memcpy(at, text, n);
	at[n] = '\0';
	a->at += n + 1;
	return at;
}

/* ---- types ---------------------------------------------------------------------------------------------------------- */

/* The part behind ':', or NULL. A bitfield has the type of what it lies in. */
static const struct probe_type *find_type(const char *name)
{
	char word[4] = "u";
	const char *slash;

	if (!name)
		name = "x64";
	if (*name == 'b') {
		slash = strchr(name, '/');
		if (!slash || strlen(slash + 1) > 2)
			return NULL;
		strscpy(word + 1, slash + 1, 3);
		name = word;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

/* Digits as far as they go; false: there are none. */
static bool digits(const char **at, u64 *value)
{
	const char *start = *at;

	*value = parse_digits(start, at, 10);
	return *at != start;
}

/* "bW@O/S" */
static int parse_bitfield(const char *text, struct probe_arg *arg)
{
	u64 width, offset, bits = arg->type->size * 8;

	if (!text || *text != 'b')
		return 0;
	text++;
	if (!digits(&text, &width) || !width || *text++ != '@')
		return -EINVAL;
	if (!digits(&text, &offset) || *text != '/')
		return -EINVAL;
	if (width > bits || offset > bits - width)
		return -EINVAL;
	arg->fetch.lshift = bits - width - offset;
	arg->fetch.rshift = bits - width;
	return 0;
}

/* Cuts "[N]" off the type. */
static int parse_count(struct probe_parse *p, char *text, char *type, u32 *count)
{
	char *open = type ? strchr(type, '[') : NULL, *close;

	*count = 0;
	if (!open)
		return 0;
	*open++ = '\0';
	close = strchr(open, ']');
	if (!close)
		return fail(p, p->pos + (open + strlen(open) - text), "Array is not closed");
	if (close[1])
		return fail(p, p->pos + (close + 1 - text), "Array has wrong suffix");
	*close = '\0';
	if (parse_u32(open, 0, count) || !*count)
		return fail(p, p->pos + (open - text), "Invalid array size");
	if (*count > PROBE_ARRAY_MAX)
		return fail(p, p->pos + (open - text), "Array number is too big");
	return 0;
}

/* ---- bodies --------------------------------------------------------------------------------------------------------- */

static void from_reg(struct probe_fetch *f, int reg)
{
	f->source = PROBE_FROM_REG;
	f->param = reg;
}

static int parse_argument_number(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	u64 n;

	if (parse_u64(text, 10, &n))
		return fail(p, p->pos, "Invalid $-variable specified");
	if (!n)
		return fail(p, p->pos, "Invalid argument number");
	int place = host_arg_place(MIN(n - 1, (u64)STACK_MAX));
	if (place >= 0) {
		from_reg(f, place);
	} else {
		f->source = PROBE_FROM_STACK;
		f->param = -1 - place;
	}
	return 0;
}

static int parse_stack(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	u64 n;

	if (!*text) {
		f->source = PROBE_FROM_SP;
		return 0;
	}
	if (!is_digit(*text) || parse_u64(text, 10, &n))
		return fail(p, p->pos, "Invalid $-variable specified");
	if (n > STACK_MAX)
		return fail(p, p->pos, "Invalid stack number");
	f->source = PROBE_FROM_STACK;
	f->param = n;
	return 0;
}

/* Fields of its own alone, as Linux has it; without a field of this name $comm is the task's. */
static int parse_field(struct probe_parse *p, struct probe_fetch *f, const char *name)
{
	f->source = PROBE_FROM_FIELD;
	for (f->field = p->probed->class->fields(p->probed); f->field->name; f->field++)
		if (!strcmp(f->field->name, name))
			return 0;
	if (!strcmp(name, "comm") || !strcmp(name, "COMM"))
		f->source = PROBE_FROM_COMM;
	else
		p->no_field = true;
	return 0;
}

static int parse_variable(struct probe_parse *p, struct probe_fetch *f, const char *name)
{
	if (p->probed)
		return parse_field(p, f, name);
	if (!strcmp(name, "retval")) {
		if (!p->is_return)
			return fail(p, p->pos, "$retval is not available on probe");
		from_reg(f, host_reg_find(host_return_register()));
		return 0;
	}
	if (str_has_prefix(name, "stack"))
		return parse_stack(p, f, name + 5);
	if (!strcmp(name, "comm") || !strcmp(name, "COMM")) {
		f->source = PROBE_FROM_COMM;
		return 0;
	}
	if (p->at_entry && str_has_prefix(name, "arg"))
		return parse_argument_number(p, f, name + 3);
	return fail(p, p->pos, "Invalid $-variable specified");
}

static int parse_symbol(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	char *sign = text + strcspn(text, "+-");
	s64 offset = 0;
	char op = 0;

	if (*sign) {
		op = *sign;
		*sign = '\0';
		u64 v;
		if (parse_u64(sign + 1, 0, &v))
			return fail(p, p->pos, "Invalid memory address");
		offset = op == '-' ? -(s64)v : (s64)v;
	}
	f->imm = host_sym_find(text, NULL);
	if (op)
		*sign = op;
	if (!f->imm && p->probed)
		return -ENOENT; /* Linux does not say what is wrong */
	if (!f->imm) {		/* Linux finds it out when it registers the probe */
		p->word = 1;
		fail(p, 0, "Invalid probed address or symbol");
		return -ENOENT;
	}
	f->imm += offset;
	return 0;
}

static int parse_memory(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	int err = 0;

	if (*text == '+')
		return fail(p, p->pos, "File offset is not available with kprobe");
	f->source = PROBE_FROM_IMM;
	if (!is_digit(*text))
		err = parse_symbol(p, f, text);
	else if (parse_u64(text, 0, &f->imm))
		err = fail(p, p->pos, "Invalid memory address");
	f->derefs = 1;
	return err;
}

static int parse_immediate(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	s64 value = 0;
	int err = -EINVAL;

	f->source = PROBE_FROM_IMM;
	if (is_digit(*text))
		err = parse_u64(text, 0, &f->imm);
	else if (*text == '-' || *text == '+')
		err = parse_s64(text + (*text == '+'), 0, &value);
	if (err)
		return fail(p, p->pos + 1, "Invalid immediate value");
	if (!is_digit(*text))
		f->imm = value;
	return 0;
}

static int parse_text(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	size_t n = strlen(text);

	if (!n || text[n - 1] != '"')
		return fail(p, p->pos + 2 + n, "String is not closed with '\"'");
	const char *kept = probe_keep(p->arena, text, n - 1);
	if (!kept)
		return -ENOMEM;
	f->source = PROBE_FROM_IMM;
	f->imm = (u64)kept;
	return 0;
}

static int parse_body(struct probe_parse *p, struct probe_fetch *f, char *text, bool *is_text);

/* "+|-[u]offs(BODY)": the caret of what is wrong inside counts from the parenthesis. */
static int parse_deref(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	bool user = text[1] == 'u', is_text = false;
	char *open, *close;
	s64 offset;

	if (user) {
		text[1] = text[0];
		text++;
	}
	if (*text == '+')
		text++;
	open = strchr(text, '(');
	if (!open)
		return fail(p, p->pos, "Dereference needs a brace");
	*open = '\0';
	if (parse_s64(text, 0, &offset))
		return fail(p, p->pos, "Invalid dereference offset");
	p->pos += open + 1 - text + (*text != '-');
	text = open + 1;
	close = strrchr(text, ')');
	if (!close)
		return fail(p, p->pos + strlen(text), "Dereference brace is not closed");
	*close = '\0';
	u32 pos = p->pos;
	int err = parse_body(p, f, text, &is_text);
	if (err)
		return err;
	p->pos = pos;
	if (is_text || f->source == PROBE_FROM_COMM)
		return fail(p, pos, "$comm is not dereferenceable");
	if (f->derefs == PROBE_DEREFS_MAX)
		return fail(p, pos, "Dereference is too much nested");
	f->user |= user << f->derefs;
	f->deref[f->derefs++] = offset;
	return 0;
}

static int parse_body(struct probe_parse *p, struct probe_fetch *f, char *text, bool *is_text)
{
	int reg;

	switch (*text) {
	case '$':
		return parse_variable(p, f, text + 1);
	case '%':
		if (p->probed)
			return fail(p, p->pos, "Invalid $-variable specified");
		reg = host_reg_find(text + 1);
		if (reg < 0)
			return fail(p, p->pos, "Invalid register name");
		from_reg(f, reg);
		return 0;
	case '@':
		return parse_memory(p, f, text + 1);
	case '+':
	case '-':
		return parse_deref(p, f, text);
	case '\\':
		*is_text = text[1] == '"';
		return *is_text ? parse_text(p, f, text + 2) : parse_immediate(p, f, text + 1);
	default:
		return fail(p, p->pos, "Invalid fetch argument");
	}
}

/* ---- arguments ------------------------------------------------------------------------------------------------------ */

static bool name_is_used(const struct trace_probe *tp, u32 i, const char *name)
{
	static const char *const reserved[] = {"common_type", "common_flags",
	    "common_preempt_count", "common_pid", "common_tgid", "__probe_ip", "__probe_ret_ip",
	    "__probe_func"};

	for (unsigned k = 0; k < ARRAY_SIZE(reserved); k++)
		if (!strcmp(reserved[k], name))
			return true;
	while (i-- > 0)
		if (!strcmp(tp->args[i].name, name))
			return true;
	return false;
}

static int parse_name(struct trace_probe *tp, u32 i, const char **text, struct probe_parse *p)
{
	const char *equals = strchr(*text, '=');
	char word[16];
	size_t n = equals ? (size_t)(equals - *text) : 0;

	if (n > PROBE_ARG_NAME_MAX)
		return fail(p, 0, "Argument name is too long");
	if (equals && !n)
		return fail(p, 0, "Argument name is not specified");
	if (!equals)
		n = snprintf(word, sizeof(word), "arg%u", i + 1);
	tp->args[i].name = probe_keep(p->arena, equals ? *text : word, n);
	if (!tp->args[i].name)
		return -ENOMEM;
	if (!dynevent_good_name(tp->args[i].name))
		return fail(p, 0, "Argument name must follow the same rules as C identifiers");
	if (name_is_used(tp, i, tp->args[i].name))
		return fail(p, 0, "This argument name is already used");
	p->pos = equals ? n + 1 : 0;
	*text += p->pos;
	return 0;
}

static int name_field_type(struct probe_arg *arg, struct probe_parse *p)
{
	char word[40];
	size_t n;

	if (!arg->count) {
		arg->field_type = arg->type->field;
		return 0;
	}
	n = probe_is_string(arg->type)
		? snprintf(word, sizeof(word), "%s[%u]", arg->type->field, arg->count)
		: snprintf(word, sizeof(word), "%s[]", arg->type->field);
	arg->field_type = probe_keep(p->arena, word, n);
	return arg->field_type ? 0 : -ENOMEM;
}

/* Does it fit what is fetched? Strings and arrays lie in memory. */
static int check_type(struct probe_arg *arg, struct probe_parse *p, bool is_text, u32 at)
{
	const struct probe_fetch *f = &arg->fetch;
	bool lies = f->derefs || is_text || f->source == PROBE_FROM_COMM ||
		    f->source == PROBE_FROM_IMM || f->source == PROBE_FROM_FIELD;

	if ((arg->type->text == PROBE_STRING || arg->type->text == PROBE_USTRING) && !lies)
		return fail(p, at, "String accepts only memory argument");
	if (arg->count && (!f->derefs || arg->type->text == PROBE_SYMSTR))
		return fail(p, at, "String accepts only memory argument");
	return 0;
}

/* text: a copy of the body that may be cut up. */
static int parse_typed(struct probe_arg *arg, char *text, struct probe_parse *p)
{
	char *type = strchr(text, ':');
	u32 begin = p->pos, at;
	bool is_text = false;

	if (type)
		*type++ = '\0';
	at = type ? begin + (type - text) : begin;
	int err = parse_count(p, text, type, &arg->count);
	if (err)
		return err;
	if (!p->probed &&
	    (!strcmp(text, "$comm") || !strcmp(text, "$COMM") || str_has_prefix(text, "\\\""))) {
		if (arg->count || (type && strcmp(type, "string")))
			return -EINVAL; /* Linux does not say what is wrong */
		arg->type = find_type("string");
	} else {
		arg->type = find_type(type);
	}
	if (!arg->type)
		return fail(p, at, "Unknown type is specified");
	err = name_field_type(arg, p);
	if (!err)
		err = parse_body(p, &arg->fetch, text, &is_text);
	if (!err)
		err = check_type(arg, p, is_text, at);
	if (!err && parse_bitfield(type, arg))
		err = fail(p, at, "Invalid bitfield");
	return err;
}

int probe_parse_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p)
{
	struct probe_arg *arg = &tp->args[i];
	char copy[PROBE_ARG_TEXT_MAX + 1];
	int err = parse_name(tp, i, &text, p);

	if (err)
		return err;
	size_t n = strlen(text);
	if (n > PROBE_ARG_TEXT_MAX)
		return fail(p, p->pos, "Argument expression is too long");
	if (!n)
		return fail(p, p->pos, "No argument expression");
	arg->body = probe_keep(p->arena, text, n);
	if (!arg->body)
		return -ENOMEM;
	memcpy(copy, text, n + 1);
	err = parse_typed(arg, copy, p);
	if (err || !p->no_field)
		return err;
	fail(p, 0, "Attached event does not have this field");
	return -ENOENT;
}

/* ---- the language of 2009 ------------------------------------------------------------------------------------------- */

/* aN, sN, sa, rv, ra. */
static bool is_old_word(const char *text, size_t n)
{
	if (n == 2 &&
	    (!strncmp(text, "sa", 2) || !strncmp(text, "rv", 2) || !strncmp(text, "ra", 2)))
		return true;
	if (n < 2 || (*text != 'a' && *text != 's'))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!is_digit(text[i]))
			return false;
	return true;
}

/* The innermost of nested parentheses. */
static const char *innermost(const char *text, size_t *n)
{
	const char *open = strrchr(text, '(');

	if (open)
		text = open + 1;
	*n = strcspn(text, ")");
	return text;
}

bool probe_is_old(const struct probe_words *w)
{
	bool any = false;

	for (u32 i = 2; i < w->n; i++) {
		size_t n;
		const char *in = innermost(w->word[i], &n);
		if (w->word[i][strcspn(w->word[i], "=:$\\")])
			return false;
		any |= is_old_word(in, n);
	}
	return any;
}

/* The old words in today's: what replaces the innermost. */
static int old_body(struct probe_parse *p, struct probe_fetch *f, const char *word)
{
	if (!strcmp(word, "sa")) {
		f->source = PROBE_FROM_SP;
		return 0;
	}
	if (!strcmp(word, "rv") || !strcmp(word, "ra")) {
		if (!p->is_return)
			return fail(p, p->pos, "$retval is not available on probe");
		if (word[1] == 'a')
			f->source = PROBE_FROM_RET;
		else
			from_reg(f, host_reg_find(host_return_register()));
		return 0;
	}
	if (*word == 's')
		return parse_stack(p, f, word + 1);
	u64 n;
	char number[24];
	if (parse_u64(word + 1, 10, &n) || n > STACK_MAX)
		return fail(p, p->pos, "Invalid argument number");
	snprintf(number, sizeof(number), "%llu", (unsigned long long)n + 1);
	return parse_argument_number(p, f, number);
}

/* Steps outwards again: the innermost word is parsed, each pair of parentheses around it is one more. */
static int old_nested(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	bool is_text = false;
	char *open = strchr(text, '('), *close;
	s64 offset;

	if (!open || (*text != '+' && *text != '-'))
		return is_old_word(text, strlen(text)) ? old_body(p, f, text)
						       : parse_body(p, f, text, &is_text);
	*open = '\0';
	if (parse_s64(text + (*text == '+'), 0, &offset))
		return fail(p, p->pos, "Invalid dereference offset");
	close = strrchr(open + 1, ')');
	if (!close || close[1])
		return fail(p, p->pos + strlen(text) + 1, "Dereference brace is not closed");
	*close = '\0';
	p->pos += open + 1 - text;
	int err = old_nested(p, f, open + 1);
	if (!err && f->derefs == PROBE_DEREFS_MAX)
		err = fail(p, p->pos, "Dereference is too much nested");
	if (!err)
		f->deref[f->derefs++] = offset;
	return err;
}

int probe_parse_old_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p)
{
	struct probe_arg *arg = &tp->args[i];
	char copy[PROBE_ARG_TEXT_MAX + 1];
	size_t n = strlen(text);

	p->pos = 0;
	if (n > PROBE_ARG_TEXT_MAX)
		return fail(p, 0, "Argument expression is too long");
	arg->name = arg->body = probe_keep(p->arena, text, n);
	if (!arg->name)
		return -ENOMEM;
	arg->type = find_type("x64");
	arg->field_type = arg->type->field;
	memcpy(copy, text, n + 1);
	return old_nested(p, &arg->fetch, copy);
}
