/*
 * Parses a field or an expression of a histogram's command. Task context under host_lock.
 *
 * Contents: fields from their names, modifiers and constants, and references to variables;
 * arithmetic on them.
 *
 * An expression is cut at its root: the last + or - in it, else the last * or /, so that it is
 * evaluated from left to right and * and / bind tighter. Parentheses are allowed only in -(...),
 * which must be a whole expression. There are at most three operators, as on Linux.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/format.h"
#include "trace/hist/hist.h"
#include "trace/hist/parse.h"

#define DEPTH_MAX     3 /* of expressions */
/* Bytes of an operand beside its label: '$', a constant or a modifier, an operator. */
#define OPERAND_EXTRA 64

static const char bad_string[] = "String type can not be an operand in expression";
static const char bad_stack[] = "Stack trace can not be an operand in expression";
static const char bad_modifier[] = "Invalid field modifier";
static const char no_field[] = "Couldn't find field";

/* ---- fields ---- */

/* An empty one of that name, or none; NULL: no memory. */
static struct hist_field *hist_field_new(struct hist *h, u32 flags, const char *var_name)
{
	struct hist_field *f = hist_alloc(h, sizeof(*f));

	if (f) {
		f->flags = flags;
		f->label = "";
		f->var_name = var_name ? hist_copy(h, var_name) : NULL;
		if (var_name && !f->var_name)
			return NULL;
	}
	return f;
}

struct hist_field *hist_field_copy(struct hist *h, const struct hist_field *f)
{
	struct hist_field *copy = hist_alloc(h, sizeof(*copy));

	if (copy)
		*copy = *f;
	return copy;
}

static bool is_string(const struct trace_event_field *f)
{
	return f->kind == TRACE_FIELD_STRING || f->kind == TRACE_FIELD_DYN_STRING ||
	       f->kind == TRACE_FIELD_REL_STRING;
}

/* How a number of the record is read; HIST_OP_ONE: it is none. */
static u8 load_op(u32 size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? HIST_OP_S8 : HIST_OP_U8;
	case 2:
		return is_signed ? HIST_OP_S16 : HIST_OP_U16;
	case 4:
		return is_signed ? HIST_OP_S32 : HIST_OP_U32;
	case 8:
		return HIST_OP_U64;
	default:
		return HIST_OP_ONE;
	}
}

/* Its own: a histogram may stay, by its name, when this event goes. */
static const struct trace_event_field *keep_field(
    struct hist *h, const struct trace_event_field *field)
{
	struct trace_event_field *copy = hist_alloc(h, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *field;
	copy->name = hist_copy(h, field->name);
	copy->type = hist_copy(h, field->type);
	return copy->name && copy->type ? copy : NULL;
}

static int load_event_field(struct hist_field *f, const struct trace_event_field *field)
{
	f->label = field->name;
	f->type = field->type;
	f->at = field->offset;
	if (is_string(field)) {
		bool dynamic = field->kind != TRACE_FIELD_STRING;
		f->flags |= HIST_IS_STRING;
		f->op = !dynamic				? HIST_OP_STRING
			: field->kind == TRACE_FIELD_DYN_STRING ? HIST_OP_DYN_STRING
								: HIST_OP_REL_STRING;
		f->size = dynamic ? HIST_STRING : field->size;
		return 0;
	}
	f->op = load_op(field->size, field->is_signed);
	f->size = field->size;
	f->is_signed = field->is_signed;
	return f->op == HIST_OP_ONE ? -EINVAL : 0;
}

/* Makes it what is no field of the event: how it is read, its size and type, how it is shown. */
static void hist_field_special(
    struct hist_field *f, u8 op, u16 size, const char *type, const char *label)
{
	f->op = op;
	f->size = size;
	f->type = type;
	f->label = label;
}

/* Of the event itself, or a field of it. Other modifiers say nothing of a stack. */
static void load_stack(struct hist_field *f, const struct trace_event_field *field)
{
	hist_field_special(f, field ? HIST_OP_REC_STACK : HIST_OP_STACK, HIST_FRAMES * sizeof(u64),
	    "unsigned long[]", field ? field->name : "common_stacktrace");
	f->at = field ? field->offset : 0;
	f->flags &= HIST_KEY | HIST_VAR | HIST_STACKTRACE;
}

/* log2 and buckets= are functions of the field they stand after. */
static int wrap(struct hist *h, struct hist_field *f)
{
	struct hist_field *inner = hist_field_copy(h, f);

	if (!inner)
		return -ENOMEM;
	inner->flags &= ~(HIST_LOG2 | HIST_BUCKETS);
	f->op = f->flags & HIST_LOG2 ? HIST_OP_LOG2 : HIST_OP_BUCKET;
	f->a = inner;
	return 0;
}

static int make_leaf(
    struct hist *h, const struct trace_event_field *field, const char *name, struct hist_field *f)
{
	int err = 0;

	if (field && !(f->field = field = keep_field(h, field)))
		return -ENOMEM;
	if (f->flags & HIST_STACKTRACE)
		load_stack(f, field);
	else if (f->flags & HIST_HITCOUNT)
		hist_field_special(f, HIST_OP_ONE, sizeof(u64), "u64", "hitcount");
	else if (f->flags & HIST_TIMESTAMP)
		hist_field_special(f, HIST_OP_TIMESTAMP, sizeof(u64), "u64", "common_timestamp");
	else if (f->flags & HIST_CPU)
		hist_field_special(f, HIST_OP_CPU, sizeof(int), "unsigned int", name);
	else
		err = load_event_field(f, field);
	if (!err && (f->flags & (HIST_LOG2 | HIST_BUCKETS)))
		err = wrap(h, f);
	return err;
}

struct hist_field *hist_stack_key(struct hist *h)
{
	struct hist_field *f = hist_field_new(h, HIST_KEY | HIST_STACKTRACE, NULL);

	if (f) {
		load_stack(f, NULL);
		f->label = "stacktrace";
	}
	return f;
}

/* ---- names and modifiers ---- */

static const struct {
	const char *name;
	u32 flag;
} modifiers[] = {
    {"hex", HIST_HEX},
    {"sym", HIST_SYM},
    {"symXoffset", HIST_SYM_OFFSET}, /* a '-' would be arithmetic */
    {"execname", HIST_EXECNAME},
    {"syscall", HIST_SYSCALL},
    {"stacktrace", HIST_STACKTRACE},
    {"log2", HIST_LOG2},
    {"usecs", HIST_USECS},
    {"percent", HIST_PERCENT},
    {"graph", HIST_GRAPH},
};

/* "buckets=N" or "bucket=N": what is left of it is the error's place. */
static int parse_buckets(struct hist *h, const char *text, u64 *width)
{
	text += strlen("bucket");
	text += *text == 's';
	if (*text == '=' && !parse_u64(++text, 0, width) && *width)
		return 0;
	return hist_fail(h, bad_modifier, text);
}

static int parse_modifier(
    struct hist *h, const char *text, const char *name, u32 *flags, u64 *width)
{
	if (str_has_prefix(text, "bucket")) {
		*flags |= HIST_BUCKETS;
		return parse_buckets(h, text, width);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(modifiers); i++) {
		u32 flag = modifiers[i].flag;
		bool share = flag & (HIST_PERCENT | HIST_GRAPH); /* whatever follows, as on Linux */
		if (share ? !str_has_prefix(text, modifiers[i].name)
			  : strcmp(modifiers[i].name, text))
			continue;
		if (flag == HIST_EXECNAME && strcmp(name, "common_pid"))
			break;
		if (share && (*flags & (HIST_VAR | HIST_KEY)))
			break;
		*flags |= flag;
		return 0;
	}
	return hist_fail(h, bad_modifier, text);
}

/*
 * The name of a field, or of what every event has; `cpu`, `hitcount` and `stacktrace` where no
 * field is called so.
 */
static int find_field(
    struct hist *h, const char *name, u32 *flags, const struct trace_event_field **out)
{
	*out = NULL;
	if (!strcmp(name, "common_stacktrace")) {
		*flags |= HIST_STACKTRACE;
		return 0;
	}
	if (!strcmp(name, "common_timestamp")) {
		*flags |= HIST_TIMESTAMP;
		h->timestamps = true;
		h->usecs |= !!(*flags & HIST_USECS);
		return 0;
	}
	if (!strcmp(name, "common_cpu")) {
		*flags |= HIST_CPU;
		return 0;
	}
	*out = trace_event_field(h->file->call, name);
	if (*out && (*out)->kind == TRACE_FIELD_STACK)
		*flags |= HIST_STACKTRACE;
	if (*out && (*out)->size)
		return 0;
	if (!*out && !strcmp(name, "hitcount")) {
		*flags |= HIST_HITCOUNT;
		return 0;
	}
	if (!*out && (!strcmp(name, "cpu") || !strcmp(name, "CPU"))) {
		*flags |= HIST_CPU;
		return 0;
	}
	if (!*out && (!strcmp(name, "stacktrace") || !strcmp(name, "STACKTRACE"))) {
		*flags |= HIST_STACKTRACE;
		return 0;
	}
	return hist_fail(h, no_field, name);
}

static int hist_parse_field(
    struct hist *h, const char *text, u32 flags, const char *var_name, struct hist_field **out)
{
	char *name = hist_copy(h, text), *modifier = name;
	const struct trace_event_field *field;
	u64 width = 0;

	if (!name)
		return -ENOMEM;
	strsep(&modifier, ".");
	int err = modifier ? parse_modifier(h, modifier, name, &flags, &width) : 0;
	bool is_stack = flags & HIST_STACKTRACE; /* the modifier says so */
	if (!err)
		err = find_field(h, name, &flags, &field);
	if (!err && is_stack && (!field || field->kind != TRACE_FIELD_STACK))
		err = hist_fail(h, bad_modifier, text);
	if (!err && field && is_string(field) && (flags & (HIST_LOG2 | HIST_BUCKETS)))
		err = hist_fail(
		    h, hist_string_refused, text); /* they would be those of its address */
	if (err)
		return err;
	*out = hist_field_new(h, flags, var_name);
	if (!*out)
		return -ENOMEM;
	(*out)->number = width;
	return make_leaf(h, field, name, *out);
}

/* ---- constants and references ---- */

static bool is_plain(const char *expr)
{
	return !expr[strcspn(expr, "+-*/")] && !(expr[0] == '$' && expr[1]);
}

/* The expression a variable was given in this command, if it is a field; NULL. */
static const char *hist_plain_definition(const struct hist *h, const char *var_name)
{
	for (u32 i = 0; h->defs && i < h->defs->n; i++)
		if (!strcmp(h->defs->names[i], var_name) && is_plain(h->defs->exprs[i]))
			return h->defs->exprs[i];
	return NULL;
}

static int hist_parse_const(
    struct hist *h, const char *text, u32 flags, const char *var_name, struct hist_field **out)
{
	u64 v;

	if (parse_u64(text, 0, &v))
		return hist_fail(h, "Expecting numeric literal", text);
	*out = hist_field_new(h, flags | HIST_CONST, var_name);
	if (!*out)
		return -ENOMEM;
	hist_field_special(*out, HIST_OP_CONST, sizeof(u64), "u64", "");
	(*out)->number = v;
	return 0;
}

/* A variable that is another's value: read as that, stored under its own name. */
static int make_alias(
    struct hist *h, struct hist_field *ref, const char *var_name, struct hist_field **out)
{
	struct hist_field *f = hist_field_new(h, ref->flags | HIST_VAR, var_name);

	if (!f)
		return -ENOMEM;
	f->flags = (ref->flags & ~HIST_REF) | HIST_ALIAS | HIST_VAR;
	f->op = HIST_OP_REF;
	f->ref_index = ref->ref_index;
	f->size = ref->size;
	f->is_signed = ref->is_signed;
	f->type = ref->type;
	f->label = ref->label;
	f->ref_name = ref->ref_name;
	f->owner = ref->owner;
	f->var = ref->var;
	f->a = ref;
	*out = f;
	return 0;
}

static bool is_ref(const char *text)
{
	return text[0] == '$' && text[1];
}

/* "$name", perhaps of a certain event. *out NULL: it is none, which may have been logged. */
static int parse_ref(struct hist *h, const char *system, const char *event, const char *text,
    const char *var_name, struct hist_field **out)
{
	struct hist *owner;

	*out = NULL;
	if (!is_ref(text))
		return 0;
	struct hist_field *var = hist_find_var(h, system, event, text + 1, &owner), *ref = NULL;
	if (var)
		ref = hist_make_ref(h, owner, var, system, event);
	if (!ref) {
		hist_fail(h, "Couldn't find variable", text + 1);
		return 0;
	}
	*out = ref;
	return var_name ? make_alias(h, ref, var_name, out) : 0;
}

/* Is it this event that "system.event." names, if it names any? */
static bool is_here(const struct hist *h, const char *system, const char *event)
{
	const struct trace_event_call *call = h->file->call;

	return !system || (!strcmp(system, call->class->system) && !strcmp(event, call->name));
}

int hist_parse_atom(
    struct hist *h, char *text, u32 flags, const char *var_name, struct hist_field **out)
{
	char *system = NULL, *event = NULL;
	char *dot = strchr(text, '.');

	if (is_digit(*text))
		return hist_parse_const(h, text, flags, var_name, out);
	if (dot && strchr(dot + 1, '.')) {
		system = strsep(&text, ".");
		event = strsep(&text, ".");
	}
	if (is_ref(text) && is_here(h, system, event)) {
		const char *plain = hist_plain_definition(h, text + 1);
		if (plain)
			return is_digit(*plain) ? hist_parse_const(h, plain, flags, var_name, out)
						: hist_parse_field(h, plain, flags, var_name, out);
	}
	int err = parse_ref(h, system, event, text, var_name, out);
	return err || *out ? err : hist_parse_field(h, text, flags, var_name, out);
}

/* ---- arithmetic ---- */

/* A field of an expression's text, which is cut up. flags: HIST_KEY or HIST_VAR. */
static int hist_parse_at_depth(struct hist *h, char *text, u32 flags, const char *var_name,
    u32 *depth, struct hist_field **out);

static char *hist_find_last_op(char *text, const char *ops)
{
	char *last = NULL;

	for (; *text; text++)
		if (strchr(ops, *text))
			last = text;
	return last;
}

static char *find_root(char *text)
{
	char *op = hist_find_last_op(text, "+-");

	return op ? op : hist_find_last_op(text, "*/");
}

/* An operand as it was written. */
static void hist_show_operand(struct seq *s, const struct hist_field *f)
{
	if (f->flags & HIST_CONST)
		seq_dec(s, f->number, 1, ' ');
	else
		seq_printf(s, "%s%s", f->flags & HIST_REF ? "$" : "", f->label);
	hist_show_modifier(s, f);
}

static bool hist_label_expr(struct hist *h, struct hist_field *f, char op)
{
	size_t size = strlen(f->a->label) + (f->b ? strlen(f->b->label) : 0) + 2 * OPERAND_EXTRA;
	char *text = hist_alloc(h, size);
	struct seq s;

	if (!text)
		return false;
	seq_init(&s, text, size - 1);
	if (op == '-' && !f->b)
		seq_puts(&s, "-(");
	hist_show_operand(&s, f->a);
	if (f->b) {
		seq_putc(&s, op);
		hist_show_operand(&s, f->b);
	} else {
		seq_putc(&s, ')');
	}
	f->label = text;
	return true;
}

static void like_operand(struct hist_field *f, const struct hist_field *operand)
{
	f->flags |= operand->flags & (HIST_TIMESTAMP | HIST_USECS);
	f->size = operand->size;
	f->is_signed = operand->is_signed;
	f->type = operand->type;
}

static int check_operand(struct hist *h, const struct hist_field *f, const char *text)
{
	if (!(f->flags & HIST_PLACED))
		return 0;
	return hist_fail(h, f->flags & HIST_STACKTRACE ? bad_stack : bad_string, text);
}

/* "-(...)": `text` stands after the minus. */
static int parse_minus(struct hist *h, char *text, u32 flags, const char *var_name, u32 *depth,
    struct hist_field **out)
{
	struct hist_field *f, *operand;

	if (++*depth > DEPTH_MAX)
		return hist_fail(h, "Too many subexpressions (3 max)", text - 1);
	char *end = strchr(text, '(') ? strrchr(text, ')') : NULL;
	if (!end)
		return -EINVAL;
	text++;
	if (end[1])
		return hist_fail(h, "Unary minus not supported in sub-expressions", text);
	*end = '\0';
	f = hist_field_new(h, flags | HIST_EXPR, var_name);
	if (!f)
		return -ENOMEM;
	int err = hist_parse_at_depth(h, text, 0, NULL, depth, &operand);
	if (err)
		return err;
	err = check_operand(h, operand, text);
	if (err)
		return err;
	f->op = HIST_OP_NEG;
	f->a = operand;
	like_operand(f, operand);
	*out = f;
	return hist_label_expr(h, f, '-') ? 0 : -ENOMEM;
}

/* Of a reference the variable itself: what it is decides about units and constants. */
static const struct hist_field *meant(const struct hist_field *f)
{
	return f->flags & (HIST_REF | HIST_ALIAS) ? hist_own_var(f->owner, f->ref_name) : f;
}

static u64 compute(char op, u64 a, u64 b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return a / b;
	}
}

static u8 op_of(char op)
{
	switch (op) {
	case '+':
		return HIST_OP_ADD;
	case '-':
		return HIST_OP_SUB;
	case '*':
		return HIST_OP_MUL;
	default:
		return HIST_OP_DIV;
	}
}

/* Two constants are one; everything else is computed when the event fires. */
static int combine(struct hist *h, struct hist_field *f, char op, const char *second)
{
	const struct hist_field *a = meant(f->a), *b = meant(f->b);

	if (!a || !b)
		return -EINVAL;
	if ((a->flags ^ b->flags) & HIST_USECS)
		return hist_fail(h, "Timestamp units in expression don't match", NULL);
	if (op == '/' && (b->flags & HIST_CONST) && !b->number) {
		hist_fail(h, "Division by zero", second);
		return -EDOM;
	}
	f->a->once = f->b->once = true;
	if (a->flags & b->flags & HIST_CONST) {
		f->flags |= HIST_CONST;
		hist_field_special(f, HIST_OP_CONST, sizeof(u64), "u64", "");
		f->number = compute(op, a->number, b->number);
		f->a = f->b = NULL;
		return 0;
	}
	f->flags |= HIST_EXPR;
	f->op = op_of(op);
	like_operand(f, f->a);
	return hist_label_expr(h, f, op) ? 0 : -ENOMEM;
}

static int hist_parse_operand(struct hist *h, char *text, u32 *depth, struct hist_field **out)
{
	int err = hist_parse_at_depth(h, text, 0, NULL, depth, out);

	return err ? err : check_operand(h, *out, text);
}

static int hist_parse_at_depth(struct hist *h, char *text, u32 flags, const char *var_name,
    u32 *depth, struct hist_field **out)
{
	char *root;

	if (*depth > DEPTH_MAX)
		return hist_fail(h, "Too many subexpressions (3 max)", text);
	root = find_root(text);
	if (!root)
		return hist_parse_atom(h, text, flags, var_name, out);
	char op = *root, *last_minus = hist_find_last_op(text, "-");
	if (last_minus == text)
		return parse_minus(h, text + 1, flags, var_name, depth, out);
	++*depth;
	*root++ = '\0';
	if (!*text || !*root)
		return -EINVAL;
	struct hist_field *f = hist_field_new(h, flags, var_name);
	if (!f)
		return -ENOMEM;
	int err = hist_parse_operand(h, text, depth, &f->a);
	if (!err)
		err = hist_parse_operand(h, root, depth, &f->b);
	if (!err)
		err = combine(h, f, op, root);
	*out = f;
	return err;
}

int hist_parse_expr(
    struct hist *h, char *text, u32 flags, const char *var_name, struct hist_field **out)
{
	u32 depth = 0;

	return hist_parse_at_depth(h, text, flags, var_name, &depth, out);
}
