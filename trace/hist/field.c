/*
 * Fields of histograms from their text, where it is no arithmetic: names of the event's fields with
 * modifiers, constants, references to variables. Task context under host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/format.h"
#include "trace/hist/hist.h"

static const char bad_modifier[] = "Invalid field modifier";
static const char no_field[] = "Couldn't find field";

struct hist_field *hist_field_new(struct hist *h, u32 flags, const char *var_name)
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

/* ---- fields of the event ---- */

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

void hist_field_special(struct hist_field *f, u8 op, u16 size, const char *type, const char *label)
{
	f->op = op;
	f->size = size;
	f->type = type;
	f->label = label;
}

/* log2 and buckets= are functions of the field they stand behind. */
static int wrap(struct hist *h, struct hist_field *f)
{
	struct hist_field *inner = hist_alloc(h, sizeof(*inner));

	if (!inner)
		return -ENOMEM;
	*inner = *f;
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
	if (f->flags & HIST_TIMESTAMP)
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

/* The name of a field, or of what every event has; `cpu` where no field is called so. */
static int find_field(
    struct hist *h, const char *name, u32 *flags, const struct trace_event_field **out)
{
	*out = NULL;
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
	if (*out && (*out)->size)
		return 0;
	if (!*out && (!strcmp(name, "cpu") || !strcmp(name, "CPU"))) {
		*flags |= HIST_CPU;
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
	if (!err)
		err = find_field(h, name, &flags, &field);
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
	f->index = ref->index;
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
