/*
 * The language of probes' arguments, today's: [NAME=]BODY[:TYPE], BODY one of %REG, $VAR, @ADDR,
 * @SYM[+|-offs], \IMM, \"TEXT", +|-[u]offs(BODY), or a name (name.c). Task context; nothing but the
 * probe's own memory changes. Errors and their carets are those of Linux 6.1, or of 6.12 for lines
 * that 6.1 does not know.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_probe.h"
#include "trace/host_symbol.h"
#include "trace/probe/probe.h"

int probe_parse_fail(struct probe_parse *p, u32 pos, const char *text)
{
	p->err->word = p->word;
	p->err->pos = pos;
	p->err->text = text;
	return -EINVAL;
}

char *probe_parse_keep(struct probe_arena *a, const char *text, size_t n)
{
	char *at = a->at;

	if (n + 1 > (size_t)(a->end - at))
		return NULL;
	memcpy(at, text, n);
	at[n] = '\0';
	a->at += n + 1;
	return at;
}

/* ---- bodies ---- */

int probe_parse_argument_number(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	u64 n;

	if (parse_u64(text, 10, &n))
		return probe_parse_fail(p, p->pos, "Invalid $-variable specified");
	if (!n || n > PROBE_STACK_MAX)
		return probe_parse_fail(p, p->pos, "Invalid argument number");
	if (p->tp->tracepoint && n > p->tp->tracepoint->n_args)
		return probe_parse_fail(
		    p, p->pos, "This variable is not found at this probe point");
	probe_from_argument(p, f, n - 1);
	return 0;
}

int probe_parse_stack(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	u64 n;

	if (!*text) {
		f->source = PROBE_FROM_SP;
		return 0;
	}
	if (!is_digit(*text) || parse_u64(text, 10, &n))
		return probe_parse_fail(p, p->pos, "Invalid $-variable specified");
	if (n > PROBE_STACK_MAX)
		return probe_parse_fail(p, p->pos, "Invalid stack number");
	f->source = PROBE_FROM_STACK;
	f->param = n;
	return 0;
}

/* Fields of its own alone, as Linux has it; without a field of this name $comm is the task's. */
static int probe_parse_field(struct probe_parse *p, struct probe_fetch *f, const char *name)
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

static int parse_result(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	if (!p->is_return)
		return probe_parse_fail(p, p->pos, "$retval is not available on probe");
	if (p->named)
		return probe_parse_name(p, f, text);
	probe_from_reg(f, host_reg_find(host_return_register()));
	return 0;
}

/* "$addr", "$value" and "$old" of a watchpoint. */
static bool parse_watch_word(struct probe_fetch *f, const char *name)
{
	static const char *const names[PROBE_WATCH_WORDS] = {
	    [PROBE_WATCH_ADDR] = "addr",
	    [PROBE_WATCH_VALUE] = "value",
	    [PROBE_WATCH_OLD] = "old",
	};

	f->source = PROBE_FROM_ENTRY;
	for (f->param = 0; f->param < PROBE_WATCH_WORDS; f->param++)
		if (!strcmp(name, names[f->param]))
			return true;
	return false;
}

static int parse_variable(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	const char *name = text + 1;

	if (p->probed)
		return probe_parse_field(p, f, name);
	if (p->is_watch && parse_watch_word(f, name))
		return 0;
	if (!strcmp(name, "retval") || (p->named && str_has_prefix(name, "retval")))
		return parse_result(p, f, text);
	if (str_has_prefix(name, "stack") && !p->is_watch)
		return probe_parse_stack(p, f, name + 5);
	if (!strcmp(name, "comm") || !strcmp(name, "COMM")) {
		f->source = PROBE_FROM_COMM;
		return 0;
	}
	if ((p->at_entry || p->is_return) && str_has_prefix(name, "arg"))
		return probe_parse_argument_number(p, f, name + 3);
	return probe_parse_fail(p, p->pos, "Invalid $-variable specified");
}

static int find_symbol(struct probe_fetch *f, char *text)
{
	char *sign = text + strcspn(text, "+-");
	s64 offset = 0;
	int err = 0;

	if (*sign)
		err = is_digit(sign[1]) ? parse_s64(sign + (*sign == '+'), 0, &offset) : -EINVAL;
	*sign = '\0';
	if (!err) {
		f->imm = host_sym_find(text, NULL);
		err = f->imm ? 0 : -ENOENT;
	}
	f->imm += offset;
	return err;
}

/*
 * As on Linux a kprobe's symbols are looked up after its line was parsed. Of an eprobe's no reason
 * is given.
 */
static int parse_symbol(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	int err = find_symbol(f, text);

	if (p->probed)
		return err;
	if (!p->err->late)
		p->err->late = err;
	return 0;
}

static int parse_memory(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	if (*text == '+')
		return probe_parse_fail(p, p->pos, "File offset is not available with kprobe");
	f->source = PROBE_FROM_IMM;
	f->derefs = 1;
	if (!is_digit(*text))
		return parse_symbol(p, f, text);
	int err = parse_u64(text, 0, &f->imm);
	if (err)
		probe_parse_fail(p, p->pos, "Invalid memory address");
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
		probe_parse_fail(p, p->pos + 1, "Invalid immediate value");
	else if (!is_digit(*text))
		f->imm = value;
	return err;
}

static int parse_text(struct probe_parse *p, struct probe_fetch *f, const char *text)
{
	size_t n = strlen(text);

	if (!n || text[n - 1] != '"')
		return probe_parse_fail(p, p->pos + 2 + n, "String is not closed with '\"'");
	const char *kept = probe_parse_keep(p->arena, text, n - 1);
	if (!kept)
		return -ENOMEM;
	f->source = PROBE_FROM_IMM;
	f->imm = (u64)kept;
	return 0;
}

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
		return probe_parse_fail(p, p->pos, "Dereference needs a brace");
	*open = '\0';
	int err = parse_s64(text, 0, &offset);
	if (err) {
		probe_parse_fail(p, p->pos, "Invalid dereference offset");
		return err;
	}
	p->pos += open + 1 - text + (*text != '-');
	text = open + 1;
	close = strrchr(text, ')');
	if (!close)
		return probe_parse_fail(
		    p, p->pos + strlen(text), "Dereference brace is not closed");
	*close = '\0';
	u32 pos = p->pos;
	err = probe_parse_body(p, f, text, &is_text);
	if (err)
		return err;
	p->pos = pos;
	if (is_text || f->source == PROBE_FROM_COMM)
		return probe_parse_fail(p, pos, "$comm can not be dereferenced");
	if (f->derefs == PROBE_DEREFS_MAX)
		return probe_parse_fail(p, pos, "Dereference is too much nested");
	f->user |= user << f->derefs;
	f->deref[f->derefs++] = offset;
	p->type = 0; /* of what lies there nothing is known */
	return 0;
}

/* A name without a mark: of a parameter; of an event's field only where it is cast. */
static int parse_bare_name(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	if (p->probed && p->casts) {
		probe_parse_field(p, f, text);
		if (!p->no_field)
			return 0;
		probe_parse_fail(p, p->pos, "This event field is not found.");
		return -ENOENT;
	}
	return probe_parse_name(p, f, text);
}

int probe_parse_body(struct probe_parse *p, struct probe_fetch *f, char *text, bool *is_text)
{
	int reg;

	switch (*text) {
	case '$':
		return parse_variable(p, f, text);
	case '%':
		if (p->probed || p->no_registers) {
			p->err->before = "Invalid $-variable specified";
			return probe_parse_fail(p, p->pos, "Invalid fetch argument");
		}
		reg = host_reg_find(text + 1);
		if (reg < 0)
			return probe_parse_fail(p, p->pos, "Invalid register name");
		probe_from_reg(f, reg);
		return 0;
	case '@':
		return parse_memory(p, f, text + 1);
	case '+':
	case '-':
		return parse_deref(p, f, text);
	case '\\':
		*is_text = text[1] == '"';
		return *is_text ? parse_text(p, f, text + 2) : parse_immediate(p, f, text + 1);
	case '(':
		return probe_parse_cast(p, f, text);
	default:
		if (is_alpha(*text) || *text == '_')
			return parse_bare_name(p, f, text);
		return probe_parse_fail(p, p->pos, "Invalid fetch argument");
	}
}

/* ---- arguments ---- */

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

/* A parameter's, which is then that of the field, too. *n: its length. */
static bool is_plain_name(const char *text, size_t *n)
{
	if (!is_alpha(*text) && *text != '_')
		return false;
	for (*n = 0; is_alnum(text[*n]) || text[*n] == '_';)
		++*n;
	return !text[*n] || text[*n] == ':';
}

static int parse_name(struct trace_probe *tp, u32 i, const char **text, struct probe_parse *p)
{
	const char *equals = strchr(*text, '=');
	char word[16];
	size_t n = equals ? (size_t)(equals - *text) : 0;

	if (n > PROBE_ARG_NAME_MAX)
		return probe_parse_fail(p, 0, "Argument name is too long");
	if (equals && !n)
		return probe_parse_fail(p, 0, "Argument name is not specified");
	if (!equals && is_plain_name(*text, &n))
		equals = *text + n;
	else if (!equals)
		n = fmt_snprintf(word, sizeof(word), "arg%u", i + 1);
	tp->args[i].name = probe_parse_keep(p->arena, equals ? *text : word, n);
	if (!tp->args[i].name)
		return -ENOMEM;
	if (!dynevent_good_name(tp->args[i].name))
		return probe_parse_fail(
		    p, 0, "Argument name must follow the same rules as C identifiers");
	if (name_is_used(tp, i, tp->args[i].name))
		return probe_parse_fail(p, 0, "This argument name is already used");
	p->pos = equals && *equals == '=' ? n + 1 : 0;
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
		? fmt_snprintf(word, sizeof(word), "%s[%u]", arg->type->field, arg->count)
		: fmt_snprintf(word, sizeof(word), "%s[]", arg->type->field);
	arg->field_type = probe_parse_keep(p->arena, word, n);
	return arg->field_type ? 0 : -ENOMEM;
}

/* A symbol's name is that of an address in the kernel. */
static bool may_be_symbol(const struct probe_fetch *f)
{
	if (f->derefs)
		return !(f->user >> (f->derefs - 1) & 1);
	return f->source != PROBE_FROM_IMM && f->source != PROBE_FROM_SP &&
	       f->source != PROBE_FROM_ENTRY;
}

/* Numbers of an array lie in the kernel's memory, strings of one wherever a string may. */
static bool may_be_array(const struct probe_arg *arg, bool is_string)
{
	const struct probe_fetch *f = &arg->fetch;

	return is_string ||
	       (f->derefs && !(f->user >> (f->derefs - 1) & 1) && arg->type->text != PROBE_SYMSTR);
}

/* Does it fit what is fetched? */
static int check_type(struct probe_arg *arg, struct probe_parse *p, bool is_text, u32 at)
{
	const struct probe_fetch *f = &arg->fetch;
	bool is_string = arg->type->text == PROBE_STRING || arg->type->text == PROBE_USTRING;
	bool lies = f->derefs || is_text || f->source == PROBE_FROM_COMM ||
		    f->source == PROBE_FROM_IMM || f->source == PROBE_FROM_FIELD;

	if (is_string && !lies)
		return probe_parse_fail(p, at, "String accepts only memory argument");
	if (arg->type->text == PROBE_SYMSTR && !may_be_symbol(f))
		return probe_parse_fail(p, at, "Symbol String doesn't accept data/userdata");
	if (arg->count && !may_be_array(arg, is_string))
		return probe_parse_fail(p, at, "String accepts only memory argument");
	return 0;
}

/* What type says, which begins at `at`; NULL: what is usual. */
static int find_type(
    struct probe_arg *arg, struct probe_parse *p, const char *text, const char *type, u32 at)
{
	if (!p->probed &&
	    (!strcmp(text, "$comm") || !strcmp(text, "$COMM") || str_has_prefix(text, "\\\""))) {
		if (!arg->count && (!type || !strcmp(type, "string")))
			type = "string";
		else if (p->named)
			return probe_parse_fail(
			    p, at, "$comm and immediate-string only accepts string type");
		else
			return -EINVAL; /* Linux 6.1 does not say what is wrong */
	}
	arg->type = probe_type_find(type);
	return arg->type ? 0 : probe_parse_fail(p, at, "Unknown type is specified");
}

/* The declared type of what was parsed: it is taken where none was given. */
static int use_declared(struct probe_arg *arg, struct probe_parse *p, const char *type)
{
	if (p->type && !type) {
		arg->type = probe_type_declared(p);
		probe_set_bitfield(p, arg);
	} else if (p->type && strstr(type, "string")) {
		return probe_check_string(p, &arg->fetch, *type == 'u');
	}
	return 0;
}

static int probe_check_size(struct probe_arg *arg, struct probe_parse *p, u32 at)
{
	if (probe_arg_size(arg) <= p->room)
		return name_field_type(arg, p);
	probe_parse_fail(p, at, "Event too big (too many fields?)");
	return -E2BIG;
}

/* text: a copy of the body that may be cut up. */
static int parse_typed(struct probe_arg *arg, char *text, struct probe_parse *p)
{
	char *type = strchr(text, ':');
	u32 begin = p->pos, at = 0;
	bool is_text = false;

	if (type) {
		*type++ = '\0';
		at = type - text;
	}
	int err = probe_parse_count(p, text, type, &arg->count);
	if (!err)
		err = find_type(arg, p, text, type, begin + at);
	if (!err && !p->named)
		err = probe_check_size(arg, p, begin);
	if (!err)
		err = probe_parse_body(p, &arg->fetch, text, &is_text);
	if (!err)
		err = use_declared(arg, p, type);
	if (!err && p->named)
		err = probe_check_size(arg, p, p->pos);
	at += p->named ? p->pos : begin; /* where the type is, as that Linux counts */
	if (!err)
		err = check_type(arg, p, is_text, at);
	if (!err && probe_parse_bitfield(type, arg))
		err = probe_parse_fail(p, at, "Invalid bitfield");
	return err;
}

int probe_parse_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p)
{
	struct probe_arg *arg = &tp->args[i];
	char copy[PROBE_ARG_TEXT_MAX + 1];

	p->tp = tp;
	int err = parse_name(tp, i, &text, p);

	if (err)
		return err;
	size_t n = strlen(text);
	if (n > PROBE_ARG_TEXT_MAX)
		return probe_parse_fail(p, p->pos, "Argument expression is too long");
	if (!n)
		return probe_parse_fail(p, p->pos, "No argument expression");
	arg->body = probe_parse_keep(p->arena, text, n);
	if (!arg->body)
		return -ENOMEM;
	memcpy(copy, text, n + 1);
	err = parse_typed(arg, copy, p);
	if (err || !p->no_field)
		return err;
	probe_parse_fail(p, 0, "Attached event does not have this field");
	return -ENOENT;
}
