/*
 * Arguments of probes by name: parameters and results of the probed function, and members of the
 * structs that they point to: NAME[->MEMBER|.MEMBER|[N]]..., and casts
 * (STRUCT[,MEMBER])ARG->MEMBER... The type of each is the declared one. Task context; nothing but
 * the probe's own memory changes. Errors and their carets are those of Linux 6.12, which has
 * neither casts nor [N].
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_probe.h"
#include "trace/probe/probe.h"
#include "trace/types/types.h"

#define CASTS_MAX 3

/* On the way to a value: its type, and where it lies if it is still to be read. */
struct path {
	const char *text; /* all of it; p->pos belongs to its beginning */
	u32 type;	  /* without modifiers */
	s64 at;		  /* bits from what the steps so far have read */
	u32 bits;	  /* of a bit field; 0: none */
	bool lies;	  /* false: the value is there already */
};

static int probe_path_fail(
    struct probe_parse *p, const struct path *path, const char *at, const char *text)
{
	return probe_parse_fail(p, p->pos + (at - path->text), text);
}

static int add_step(struct probe_parse *p, struct probe_fetch *f, const struct path *path)
{
	if (f->derefs == PROBE_DEREFS_MAX)
		return probe_parse_fail(p, p->pos, "Dereference is too much nested");
	f->deref[f->derefs++] = path->at >> 3;
	return 0;
}

/* Adds the step that reads what the path has led to, which is a pointer to `target`. */
static int probe_path_follow(
    struct probe_parse *p, struct probe_fetch *f, struct path *path, u32 target)
{
	int err = path->lies ? add_step(p, f, path) : 0;

	path->type = types_strip(target);
	path->at = path->bits = 0;
	path->lies = true;
	return err;
}

/* ---- members ---- */

static int probe_path_member(struct probe_parse *p, struct path *path, const char *name, size_t len)
{
	enum types_kind kind = types_kind(path->type);
	struct types_member m;

	if (kind != TYPES_STRUCT && kind != TYPES_UNION)
		return probe_path_fail(p, path, name, "Failed to get BTF type info.");
	if (!types_member(path->type, name, len, &m)) {
		probe_path_fail(p, path, name, "This field is not found.");
		return -ENOENT;
	}
	path->type = types_strip(m.type);
	path->at += m.at;
	path->bits = m.bits;
	return 0;
}

/* "[N]" of an array, or of what a pointer leads to. */
static int probe_path_element(
    struct probe_parse *p, struct probe_fetch *f, struct path *path, char **text)
{
	char *open = *text + 1, *close = strchr(open, ']');
	u32 n, count, target = types_target(path->type, &count);
	int err = 0;

	if (!close)
		return probe_path_fail(p, path, open + strlen(open), "Array is not closed");
	*close = '\0';
	err = parse_u32(open, 0, &n);
	*close = ']';
	if (err)
		return probe_path_fail(p, path, open, "Invalid array size");
	if (!types_size(target))
		return probe_path_fail(p, path, *text, "This is not a pointer to union/structure.");
	if (count && n >= count)
		return probe_path_fail(p, path, open, "Array number is too big");
	if (!count)
		err = probe_path_follow(p, f, path, target);
	path->type = types_strip(target);
	path->at += 8l * n * types_size(target);
	*text = close + 1;
	return err;
}

/* One of "->NAME", ".NAME", "[N]". */
static int probe_path_step(
    struct probe_parse *p, struct probe_fetch *f, struct path *path, char **text)
{
	char *name = *text + 1;
	u32 count;

	if (**text == '[')
		return probe_path_element(p, f, path, text);
	if (**text == '-') {
		if (*name++ != '>')
			return probe_path_fail(
			    p, path, *text, "Failed to parse single hyphen. Forgot '>'?");
		if (types_kind(path->type) != TYPES_PTR)
			return probe_path_fail(
			    p, path, name, "This is not a pointer to union/structure.");
		int err = probe_path_follow(p, f, path, types_target(path->type, &count));
		if (err)
			return err;
	} else if (!path->lies) {
		probe_path_fail(
		    p, path, name, "Non pointer structure/union argument is not supported.");
		return -EOPNOTSUPP;
	}
	size_t len = strcspn(name, ".-[");
	if (name[len] == '-' && name[len + 1] != '>')
		return probe_path_fail(
		    p, path, name + len, "Failed to parse single hyphen. Forgot '>'?");
	*text = name + len;
	return probe_path_member(p, path, name, len);
}

/* The rest of an argument, from its first "->", "." or "[" on; and its type. */
static int probe_path_walk(
    struct probe_parse *p, struct probe_fetch *f, struct path *path, char *text)
{
	int err = 0;

	while (*text && !err)
		err = probe_path_step(p, f, path, &text);
	if (!err && path->lies)
		err = add_step(p, f, path);
	p->type = path->type;
	p->bit = path->at & 7;
	p->bits = path->bits;
	return err;
}

/* ---- parameters ---- */

/* A value of the function's entry, which is kept until it returns. */
static void probe_from_entry(struct probe_parse *p, struct probe_fetch *f, int place)
{
	struct trace_probe *tp = p->tp;
	u32 i = 0;

	while (i < tp->n_entry && tp->entry[i] != place)
		i++;
	tp->entry[i] = place;
	tp->n_entry = MAX(tp->n_entry, i + 1);
	f->source = PROBE_FROM_ENTRY;
	f->param = i;
}

void probe_from_argument(struct probe_parse *p, struct probe_fetch *f, unsigned n)
{
	int place = p->tp->dyn.kind == &tprobe_dynevent_kind ? 8 * (int)n : host_arg_place(n);

	if (p->is_return) {
		probe_from_entry(p, f, place);
	} else if (place >= 0) {
		probe_from_reg(f, place);
	} else {
		f->source = PROBE_FROM_STACK;
		f->param = -1 - place;
	}
}

static int find_parameter(
    struct probe_parse *p, struct probe_fetch *f, const char *name, size_t len, u32 *type)
{
	int i = types_param_find(p->proto, name, len, type);

	if (i >= 0) {
		probe_from_argument(p, f, i);
		return 0;
	}
	probe_parse_fail(p, p->pos,
	    p->asked || types_param_count(p->proto)
		? "This variable is not found at this probe point"
		: "No BTF entry for this probe point");
	return -ENOENT;
}

static int find_result(
    struct probe_parse *p, struct probe_fetch *f, const char *text, const char *rest, u32 *type)
{
	probe_from_reg(f, host_reg_find(host_return_register()));
	*type = types_result(p->proto);
	if (p->proto && !*type) {
		probe_parse_fail(p, p->pos, "This function returns 'void' type");
		return -ENOENT;
	}
	if (p->proto || !*rest)
		return 0;
	probe_parse_fail(p, p->pos + (rest - text), "No BTF entry for this probe point");
	return -ENOENT;
}

int probe_parse_name(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	struct path path = {.text = text};
	size_t len = strcspn(text, ".-[");
	char *rest = text + len;
	u32 type = 0;
	int err;

	if (!p->function)
		return probe_parse_fail(p, p->pos, "BTF is not available or not supported");
	if (*rest == '-' && rest[1] != '>')
		return probe_path_fail(
		    p, &path, rest, "Failed to parse single hyphen. Forgot '>'?");
	if (*rest == '.') {
		probe_path_fail(
		    p, &path, rest + 1, "Non pointer structure/union argument is not supported.");
		return -EOPNOTSUPP;
	}
	if (p->is_return && len == 7 && !strncmp(text, "$retval", len))
		err = find_result(p, f, text, rest, &type);
	else
		err = find_parameter(p, f, text, len, &type);
	path.type = types_strip(type);
	return err ? err : probe_path_walk(p, f, &path, rest);
}

/* ---- casts ---- */

/* The parenthesis that closes the one at the beginning of text; NULL: there is none. */
static char *probe_closing(char *text)
{
	int depth = 0;

	for (; *text; text++) {
		depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
		if (!depth)
			return text;
	}
	return NULL;
}

/* "STRUCT[*][,MEMBER[.MEMBER]...]": the value points to that member of it. */
static int probe_path_cast(struct probe_parse *p, struct path *path, char *name)
{
	size_t len = strcspn(name, ",*");
	char *member = strchr(name, ','), *star = name + len;
	s64 back = 0;

	if (*star == '*' && (star[1] == ',' || !star[1]))
		*star = '\0';
	if (member)
		*member++ = '\0';
	path->type = types_strip(types_find(name));
	enum types_kind kind = types_kind(path->type);
	u32 type = path->type;
	if (kind != TYPES_STRUCT && kind != TYPES_UNION)
		return probe_path_fail(p, path, name, "Failed to get BTF type info.");
	while (member) {
		size_t n = strcspn(member, ".-");
		char *next = member[n] ? member + n + 1 : NULL;
		if (member[n] == '-')
			return probe_path_fail(p, path, member + n,
			    "Typecast field option does not support -> operator");
		int err = probe_path_member(p, path, member, n);
		if (err)
			return err;
		back = path->at;
		member = next;
	}
	if (back & 7)
		return probe_path_fail(p, path, name, "Typecast field option is not byte-aligned");
	path->type = type;
	path->at = -back;
	path->bits = 0;
	path->lies = true;
	return 0;
}

/* The operand of a cast: a field, parameter or other body, up to "->"; or one in parentheses. */
static int parse_operand(struct probe_parse *p, struct probe_fetch *f, char *text, char **rest)
{
	char *end = *text == '(' ? probe_closing(text) : strstr(text, "->");
	bool is_text = false;
	u32 pos = p->pos;

	if (!end || (*end == ')' && strncmp(end + 1, "->", 2) != 0))
		return probe_parse_fail(p, pos, "Typecast requires a field access");
	if (*text == '@' && strcspn(text, "+-") < (size_t)(end - text))
		return probe_parse_fail(p, pos, "@SYM+/-OFFSET with typecast needs parentheses");
	*rest = *end == ')' ? end + 1 : end;
	char kept = *end;
	*end = '\0';
	p->pos += *text == '(';
	p->casts++;
	int err = probe_parse_body(p, f, *text == '(' ? text + 1 : text, &is_text);
	p->casts--;
	*end = kept;
	p->pos = pos;
	if (!err && is_text)
		err = probe_parse_fail(p, pos, "$comm can not be dereferenced");
	return err;
}

int probe_parse_cast(struct probe_parse *p, struct probe_fetch *f, char *text)
{
	struct path path = {.text = text};
	char *close = probe_closing(text), *rest = NULL;
	u32 pos = p->pos;

	if (p->casts == CASTS_MAX)
		return probe_parse_fail(p, pos, "Too many nested typecasts/dereferences");
	if (!close)
		return probe_parse_fail(p, pos + strlen(text), "Dereference brace is not closed");
	if (!p->probed && !p->function)
		return probe_parse_fail(p, pos, "BTF is not available or not supported");
	p->pos = pos + (close + 1 - text);
	int err = parse_operand(p, f, close + 1, &rest);
	p->pos = pos;
	if (err)
		return err;
	*close = '\0';
	err = probe_path_cast(p, &path, text + 1);
	if (err)
		return err;
	size_t len = strcspn(rest + 2, ".-[");
	err = probe_path_member(p, &path, rest + 2, len);
	return err ? err : probe_path_walk(p, f, &path, rest + 2 + len);
}

/* ---- types ---- */

/* The fetch type of an integer, pointer or enum; that of a struct or an array is its first word. */
static const char *type_name(const struct probe_parse *p)
{
	static const char *const names[2][4] = {
	    {"u8", "u16", "u32", "u64"}, {"s8", "s16", "s32", "s64"}};
	enum types_kind kind = types_kind(p->type);
	u32 size = types_size(p->type);
	bool is_signed = types_encoding(p->type) & TYPES_SIGNED;

	if (kind == TYPES_ENUM || kind == TYPES_ENUM64)
		is_signed = true;
	else if (kind != TYPES_INT)
		return "x64";
	for (unsigned i = 0; i < 4; i++)
		if (size == 1u << i)
			return names[is_signed][i];
	return "x64";
}

const struct probe_type *probe_type_declared(const struct probe_parse *p)
{
	return probe_type_find(type_name(p));
}

static bool is_character(u32 type)
{
	type = types_strip(type);
	return types_kind(type) == TYPES_INT && types_size(type) == 1 &&
	       !(types_encoding(type) & TYPES_BOOL);
}

int probe_check_string(struct probe_parse *p, struct probe_fetch *f, bool user)
{
	u32 count, target = types_target(p->type, &count);

	if (!target || !is_character(target))
		return probe_parse_fail(p, p->pos, "This type does not fit for string.");
	if (count)
		return 0;
	if (f->derefs == PROBE_DEREFS_MAX)
		return probe_parse_fail(p, p->pos, "Dereference is too much nested");
	f->user |= user << f->derefs;
	f->deref[f->derefs++] = 0;
	return 0;
}

void probe_set_bitfield(const struct probe_parse *p, struct probe_arg *arg)
{
	u32 unit = 8 * arg->type->size;

	if (!p->bits || (p->bits % 8 == 0 && !p->bit))
		return;
	arg->fetch.lshift = unit - p->bits - p->bit;
	arg->fetch.rshift = unit - p->bits;
}
