/*
 * Parses the command "keys=...:vals=...:...". Task context under host_lock; nothing outside the
 * histogram changes until hist_start(). The order of steps is Linux's, so that it reports the same
 * one of several errors.
 *
 * Contents: fields from their names, modifiers and constants, and references to variables;
 * arithmetic on them; the parts of the command, its keys, values, variables and sort fields.
 *
 * An expression is cut at its root: the last + or - in it, else the last * or /, so that it is
 * evaluated from left to right and * and / bind tighter. Parentheses are allowed only in -(...),
 * which must be a whole expression. There are at most three operators, as on Linux.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/event/format.h"
#include "trace/hist/hist.h"
#include "trace/host_memory.h"

#define NO_VALUE_FLAGS (HIST_LOG2 | HIST_SYM | HIST_SYM_OFFSET | HIST_SYSCALL | HIST_STACKTRACE)
#define NO_VAR_FLAGS   (HIST_GRAPH | HIST_PERCENT | HIST_BUCKETS | HIST_LOG2)

/* "name=expression" as written, until the fields are made of it. */
struct hist_defs {
	char *assignments[HIST_VARS_MAX];
	char *actions[HIST_ACTIONS_MAX];
	u32 n_assignments, n_actions, n;
	const char *names[HIST_VARS_MAX], *exprs[HIST_VARS_MAX];
};

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

static struct hist_field *hist_field_copy(struct hist *h, const struct hist_field *f)
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
static int hist_parse_expr(struct hist *h, char *text, u32 flags, const char *var_name, u32 *depth,
    struct hist_field **out);

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
	int err = hist_parse_expr(h, text, 0, NULL, depth, &operand);
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
	int err = hist_parse_expr(h, text, 0, NULL, depth, out);

	return err ? err : check_operand(h, *out, text);
}

static int hist_parse_expr(struct hist *h, char *text, u32 flags, const char *var_name, u32 *depth,
    struct hist_field **out)
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

/* ---- the parts of the command ---- */

static int parse_size(const char *text, u32 *size)
{
	u64 n;
	int err = parse_u64(text, 0, &n);

	if (err)
		return err;
	if (n <= HIST_MAP_MIN / 2 || n > HIST_MAP_MAX)
		return -EINVAL;
	for (*size = HIST_MAP_MIN; *size < n;)
		*size *= 2;
	return 0;
}

/* The text after one of the words, or NULL. */
static char *hist_skip_keyword(char *part, const char *const *words)
{
	for (; *words; words++)
		if (str_has_prefix(part, *words))
			return part + strlen(*words);
	return NULL;
}

static int parse_assignment(struct hist *h, char *part)
{
	static const char *const keys[] = {"key=", "keys=", NULL};
	static const char *const vals[] = {"val=", "vals=", "values=", NULL};
	char *text;

	if ((text = hist_skip_keyword(part, keys)))
		h->keys_text = text;
	else if ((text = hist_skip_keyword(part, vals)))
		h->vals_text = text;
	else if (str_has_prefix(part, "sort="))
		h->sort_text = part + 5;
	else if (str_has_prefix(part, "name="))
		h->name = part;
	else if (str_has_prefix(part, "clock="))
		h->clock = strstrip(part + 6);
	else if (str_has_prefix(part, "size="))
		return parse_size(part + 5, &h->size);
	else if (h->defs->n_assignments == HIST_VARS_MAX)
		return hist_fail(h, "Too many variables defined", part);
	else
		h->defs->assignments[h->defs->n_assignments++] = part;
	return 0;
}

static int parse_word(struct hist *h, char *part)
{
	if (!strcmp(part, "pause"))
		h->pause = true;
	else if (!strcmp(part, "cont") || !strcmp(part, "continue"))
		h->cont = true;
	else if (!strcmp(part, "clear"))
		h->clear = true;
	else if (!strcmp(part, "nohitcount") || !strcmp(part, "NOHC"))
		h->nohitcount = true;
	else if (h->defs->n_actions < HIST_ACTIONS_MAX &&
		 (str_has_prefix(part, "onmatch(") || str_has_prefix(part, "onmax(") ||
		     str_has_prefix(part, "onchange(")))
		h->defs->actions[h->defs->n_actions++] = part;
	else
		return -EINVAL;
	return 0;
}

static int parse_parts(struct hist *h, char *text)
{
	char *part;
	int err = 0;

	while (!err && (part = strsep(&text, ":"))) {
		char *value = strchr(part, '=');
		if (!value)
			err = parse_word(h, part);
		else if (!value[1])
			err = hist_fail(h, "Empty assignment", part);
		else
			err = parse_assignment(h, part);
	}
	if (!err && !h->keys_text)
		err = -EINVAL;
	return err;
}

static int parse_actions(struct hist *h)
{
	int err = 0;

	for (u32 i = 0; i < h->defs->n_actions && !err; i++)
		err = hist_parse_action(h, h->defs->actions[i]);
	return err;
}

/* ---- variables as written ---- */

/* "a=x,b=y": of one such list no more than HIST_VARS_MAX are looked at, as on Linux. */
static int split_assignment(struct hist *h, char *list)
{
	struct hist_defs *defs = h->defs;
	char *def;

	for (u32 i = 0; i < HIST_VARS_MAX && (def = strsep(&list, ",")); i++) {
		char *name = strsep(&def, "=");
		if (!def)
			return hist_fail(h, "Malformed assignment", name);
		if (defs->n == HIST_VARS_MAX)
			return hist_fail(h, "Too many variables defined", name);
		defs->names[defs->n] = name;
		defs->exprs[defs->n++] = def;
	}
	return 0;
}

static int split_assignments(struct hist *h)
{
	int err = 0;

	for (u32 i = 0; i < h->defs->n_assignments && !err; i++)
		err = split_assignment(h, h->defs->assignments[i]);
	return err;
}

/* ---- keys and values ---- */

static int add_hitcount(struct hist *h)
{
	struct hist_field *f = hist_alloc(h, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->flags = HIST_HITCOUNT;
	f->op = HIST_OP_ONE;
	f->size = sizeof(u64);
	f->type = "u64";
	f->label = "hitcount";
	h->fields[h->n_fields++] = f;
	h->n_vals++;
	h->n_sums++;
	return 0;
}

/* A value or, with its name, a variable. */
static int hist_add_value(struct hist *h, const char *text, const char *var_name)
{
	struct hist_field *f;
	char *copy = hist_copy(h, text);
	u32 depth = 0;

	if (!copy)
		return -ENOMEM;
	int err = hist_parse_expr(h, copy, var_name ? HIST_VAR : 0, var_name, &depth, &f);
	if (err)
		return err;
	if (f->flags & (var_name ? NO_VAR_FLAGS : NO_VALUE_FLAGS))
		return hist_fail(h, "Invalid field modifier", text);
	/* All who name a variable share the reference; each value has a sum of its own. */
	if ((f->flags & HIST_REF) && !(f = hist_field_copy(h, f)))
		return -ENOMEM;
	f->index = var_name ? h->n_var_places++ : h->n_sums++;
	h->fields[h->n_fields++] = f;
	h->n_vals++;
	return 0;
}

/* `written`: the same in h->text. */
static int add_plain_value(struct hist *h, const char *text, const char *written)
{
	int err = hist_add_value(h, text, NULL);

	if (!err && (h->fields[h->n_fields - 1]->flags & HIST_IS_STRING))
		err = hist_refuse_string(h, written);
	return err;
}

static int add_values(struct hist *h)
{
	char *list = h->vals_text ? hist_copy(h, h->vals_text) : NULL, *start = list, *text;
	int err = h->vals_text && !list ? -ENOMEM : add_hitcount(h);

	/* "hitcount" among them counts, unless it is the last. */
	for (u32 i = 0;
	     !err && i < HIST_VALS_MAX && h->n_vals < HIST_VALS_MAX && (text = strsep(&list, ","));
	     i++)
		if (strcmp(text, "hitcount"))
			err = add_plain_value(h, text, h->vals_text + (text - start));
	if (!err && list && strcmp(list, "hitcount"))
		err = -EINVAL; /* more than there may be */
	if (!err && h->nohitcount && h->n_vals == 1) {
		hist_fail(h, "Non-hitcount value is required for 'nohitcount'", NULL);
		err = -ENOENT;
	}
	return err;
}

/* A string or a stack has its place; common_pid.execname as a variable is the name, no number. */
static void give_place(struct hist *h, struct hist_field *f)
{
	if (f->flags & HIST_EXECNAME) {
		f->flags |= HIST_IS_STRING;
		f->op = HIST_OP_EXECNAME;
		f->size = HIST_STRING;
		f->is_signed = false;
		f->type = "char[]";
	}
	if (f->flags & HIST_PLACED)
		f->text = h->n_texts++;
}

/* Not one that is meant to be like another that is there. */
static bool is_new(const struct hist *h)
{
	return !h->removing && !h->pause && !h->cont && !h->clear;
}

int hist_check_vars(struct hist *h)
{
	struct hist *owner;

	for (u32 i = 0; i < h->n_vals; i++)
		if ((h->fields[i]->flags & HIST_VAR) &&
		    hist_running_var(h->file, h->fields[i]->var_name, &owner))
			return hist_fail(h, "Variable already defined", h->fields[i]->var_name);
	return 0;
}

static int add_variables(struct hist *h)
{
	for (u32 i = 0; i < h->defs->n; i++) {
		const char *name = h->defs->names[i];
		struct hist *owner;
		bool known =
		    hist_own_var(h, name) || (is_new(h) && hist_file_var(h, h->file, name, &owner));
		if (known && !h->removing)
			return hist_fail(h, "Variable already defined", name);
		int err = hist_add_value(h, h->defs->exprs[i], name);
		if (err)
			return err;
		give_place(h, h->fields[h->n_fields - 1]);
		h->n_vars++;
	}
	return 0;
}

static bool hist_has_var_refs(const struct hist_field *f)
{
	return f && ((f->flags & (HIST_REF | HIST_VAR)) || hist_has_var_refs(f->a) ||
			hist_has_var_refs(f->b));
}

/* "stacktrace", the older name of common_stacktrace, is shown as it was typed. */
static struct hist_field *stack_key(struct hist *h)
{
	struct hist_field *f = hist_field_new(h, HIST_KEY | HIST_STACKTRACE, NULL);

	if (f) {
		load_stack(f, NULL);
		f->label = "stacktrace";
	}
	return f;
}

static int parse_key(struct hist *h, char *text, struct hist_field **out)
{
	char *copy = hist_copy(h, text);
	u32 depth = 0;

	if (!copy)
		return -ENOMEM;
	if (!strcmp(text, "stacktrace")) {
		*out = stack_key(h);
		return *out ? 0 : -ENOMEM;
	}
	int err = hist_parse_expr(h, copy, HIST_KEY, NULL, &depth, out);
	if (!err &&
	    hist_has_var_refs(*out)) /* what parsing left of it is looked for, as Linux does */
		err = hist_fail(h, "Using variable references in keys not supported", copy);
	return err;
}

static int add_key(struct hist *h, char *text)
{
	struct hist_field *f;
	int err = parse_key(h, text, &f);

	if (err)
		return err;
	f->key_at = h->key_words;
	f->key_words = f->flags & HIST_PLACED ? (f->size + 7) / 8 : 1;
	h->key_words += f->key_words;
	if (h->key_words > HIST_KEY_WORDS)
		return -EINVAL;
	h->fields[h->n_fields++] = f;
	h->n_keys++;
	return 0;
}

static int add_keys(struct hist *h)
{
	char *list = hist_copy(h, h->keys_text), *text;
	int err = list ? 0 : -ENOMEM;

	while (!err && h->n_keys < HIST_KEYS_MAX && (text = strsep(&list, ",")))
		err = add_key(h, text);
	return err ? err : list ? -EINVAL : 0;
}

/* ---- sort fields ---- */

static int parse_direction(struct hist *h, const char *text, bool *descending)
{
	*descending = text && !strcmp(text, "descending");
	if (!text || *descending || !strcmp(text, "ascending"))
		return 0;
	return hist_fail(h, "Invalid sort modifier", text);
}

static const struct hist_field *find_sort_field(const struct hist *h, const char *name)
{
	for (u32 i = 0; i < h->n_fields; i++)
		if (!(h->fields[i]->flags & HIST_VAR) && !strcmp(h->fields[i]->label, name))
			return h->fields[i];
	return NULL;
}

/* A '-' in a modifier would be taken for arithmetic. */
static void hide_minus(char *text)
{
	static const char modifier[] = ".sym-offset";

	while ((text = strstr(text, modifier)))
		text[4] = 'X';
}

/* The modifier that `trigger` shows after a sort field may stand there, too. */
static char *skip_modifier(const struct hist_field *f, char *text)
{
	char own[40];
	struct seq s;

	seq_init(&s, own, sizeof(own) - 1);
	hist_show_modifier(&s, f);
	own[s.len] = '\0';
	hide_minus(own);
	if (!text || !s.len || !str_has_prefix(text, own + 1))
		return text;
	text += s.len - 1;
	return *text == '.' ? text + 1 : *text ? text : NULL;
}

static int add_sort(struct hist *h, char *text, bool more)
{
	struct hist_sort *sort = &h->sort[h->n_sorts];

	if (!*text)
		return hist_fail(h, "Empty sort field", "sort=");
	if (h->n_sorts == HIST_SORTS_MAX - 1 && more)
		return hist_fail(h, "Too many sort fields (Max = 2)", "sort=");
	const char *name = strsep(&text, ".");
	if (!*name)
		return hist_fail(h, "Empty sort field", "sort=");
	sort->field = find_sort_field(h, name);
	if (!sort->field)
		return hist_fail(h, "Sort field must be a key or a val", name);
	h->n_sorts++;
	return parse_direction(h, skip_modifier(sort->field, text), &sort->descending);
}

static int add_sorts(struct hist *h)
{
	char *list = h->sort_text ? hist_copy(h, h->sort_text) : NULL, *text;
	int err = h->sort_text && !list ? -ENOMEM : 0;

	while (!err && (text = strsep(&list, ",")))
		err = add_sort(h, text, list);
	if (!err && !h->n_sorts)
		h->sort[h->n_sorts++].field = h->fields[0];
	return err;
}

/* ---- the whole ---- */

static int parse(struct hist *h, char *text)
{
	int err = parse_parts(h, text);

	if (!err)
		err = parse_actions(h);
	if (!err)
		err = split_assignments(h);
	if (!err)
		err = add_values(h);
	if (!err)
		err = add_variables(h);
	if (!err)
		err = add_keys(h);
	return err ? err : add_sorts(h);
}

/* What error_log says: "hist:SYSTEM:EVENT", and the command with its name. */
static bool name_it(struct hist *h, const char *cmd)
{
	const struct trace_event_call *call = h->file->call;
	size_t size = strlen(call->class->system) + strlen(call->name) + 8;
	char *where = hist_alloc(h, size), *copy = hist_alloc(h, strlen(cmd) + 6);

	if (!where || !copy)
		return false;
	fmt_snprintf(where, size, "hist:%s:%s", call->class->system, call->name);
	fmt_snprintf(copy, strlen(cmd) + 6, "hist:%s", cmd);
	h->where = where;
	h->cmd = copy;
	return true;
}

int hist_create(
    struct trace_event_file *file, const char *cmd, char *text, bool removing, struct hist **out)
{
	struct hist *h = host_alloc(sizeof(*h));
	int err = -ENOMEM;

	if (!h)
		return -ENOMEM;
	list_init(&h->node);
	h->file = file;
	h->removing = removing;
	h->size = HIST_MAP_DEFAULT;
	h->clock = "global";
	h->defs = hist_alloc(h, sizeof(*h->defs));
	text = hist_copy(h, text);
	if (h->defs && text && name_it(h, cmd)) {
		h->text = text;
		h->text_at = strlen("hist:") + (strstr(cmd, text) - cmd);
		hide_minus(text);
		err = parse(h, text);
	}
	if (err) {
		err = h->no_memory ? -ENOMEM : err;
		hist_free(h);
		return err;
	}
	h->defs = NULL; /* actions know variables alone, as on Linux */
	*out = h;
	return 0;
}
