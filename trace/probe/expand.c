/*
 * Words of a probe's line that are replaced before its arguments are parsed, as Linux does from 6.4
 * on: $arg* by all parameters of the function, $argN alone by the name of parameter N, the types
 * %pd and %pD by the steps to the name of a file. It does not change lines that Linux 6.1 accepts.
 * Task context.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_memory.h"
#include "trace/host_probe.h"
#include "trace/probe/probe.h"
#include "trace/types/types.h"

#define ARGS_ROOM  128 /* of parameters' names, as on Linux; with their ends */
#define NAMES_ROOM 256 /* of the words that have %pd and %pD */

/* The body of an argument: after the first of '='. */
static const char *body_of(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals ? equals + 1 : word;
}

static bool probe_is_path_type(const char *word)
{
	size_t n = strlen(word);

	return n >= 4 && !strncmp(word + n - 4, ":%p", 3) &&
	       (word[n - 1] == 'd' || word[n - 1] == 'D');
}

/* "$argN:string", with no name: Linux 6.1 takes strings only of memory. */
static bool probe_is_string_parameter(const char *word)
{
	const char *type = strchr(word, ':');

	return str_has_prefix(word, "$arg") && type &&
	       (str_has_prefix(type, ":string") || str_has_prefix(type, ":ustring"));
}

/* Does Linux 6.1 refuse this argument for its form? */
static bool is_new(const char *word, bool is_return)
{
	const char *body = body_of(word), *inner = body;

	if (*body == '\\')
		return false;
	if (*body == '(' || probe_is_path_type(word) || str_has_prefix(word, "$arg*") ||
	    probe_is_string_parameter(word))
		return true;
	for (const char *c = body; *c && *c != ':'; c++)
		inner = *c == '(' ? c + 1 : inner;
	if (str_has_prefix(inner, "$retval"))
		return inner[7] && inner[7] != ':' && inner[7] != ')';
	return is_alpha(*inner) || *inner == '_' || (is_return && str_has_prefix(inner, "$arg"));
}

bool probe_is_named(const struct probe_words *w, bool is_return)
{
	for (u32 i = 2; i < w->n; i++)
		if (is_new(w->word[i], is_return))
			return true;
	return false;
}

/* ---- $arg* and $argN ---- */

/* *all: which word is $arg*, 0: none. 1: there is something to do. */
static int find_args(const struct probe_words *w, struct probe_parse *form, u32 *all)
{
	struct probe_parse p = *form;
	int found = 0;

	for (u32 i = 2; i < w->n; i++) {
		const char *word = w->word[i];
		if (!str_has_prefix(word, "$arg"))
			continue;
		p.word = i;
		if (!p.at_entry && !p.is_return)
			return probe_parse_fail(
			    &p, 0, "$arg* can be used only on function entry or exit");
		found = 1;
		if (is_digit(word[4]))
			continue;
		if (word[4] != '*')
			return probe_parse_fail(&p, 0, "Invalid $-variable specified");
		if (*all)
			return probe_parse_fail(
			    &p, 0, "$arg* can be used only once in the parameters");
		*all = i;
	}
	form->asked = found && form->proto;
	if (!found || types_param_count(form->proto))
		return found;
	if (!*all)
		return 0;
	probe_parse_fail(&p, 0, "BTF is not available or not supported");
	return -EOPNOTSUPP;
}

/* The name of parameter n with `type` after it, as a word more. */
static int probe_add_name(struct probe_words *out, struct probe_arena *text, struct probe_parse *p,
    u64 n, const char *type)
{
	u32 declared;
	const char *name = types_param(p->proto, n, &declared);

	if (!name) {
		probe_parse_fail(p, 0, "This variable is not found at this probe point");
		return -ENOENT;
	}
	size_t room = text->end - text->at;
	size_t len = fmt_snprintf(text->at, room, "%s%s", name, type);
	if (len >= room) {
		probe_parse_fail(p, 0, "$arg* failed because the argument list is too long");
		return -E2BIG;
	}
	out->word[out->n++] = text->at;
	text->at += len + 1;
	return 0;
}

static int add_numbered(
    struct probe_words *out, struct probe_arena *text, struct probe_parse *p, const char *word)
{
	const char *end;
	u64 n = parse_digits(word + 4, &end, 10);

	if (*end && *end != ':') {
		probe_parse_fail(p, 0, "Invalid $-variable specified");
		return -ENOENT;
	}
	return n ? probe_add_name(out, text, p, n - 1, end)
		 : probe_parse_fail(p, 0, "Invalid argument number");
}

static int expand_args(struct probe_words *out, const struct probe_words *w, u32 all,
    struct probe_arena *text, const struct probe_parse *form)
{
	struct probe_parse p = *form;
	int err = 0;

	for (u32 i = 2; i < w->n && !err; i++) {
		p.word = i;
		if (i == all)
			for (u32 n = 0; n < types_param_count(p.proto) && !err; n++)
				err = probe_add_name(out, text, &p, n, "");
		else if (str_has_prefix(w->word[i], "$arg"))
			err = add_numbered(out, text, &p, w->word[i]);
		else
			out->word[out->n++] = w->word[i];
	}
	return err;
}

/* ---- %pd and %pD ---- */

/* Where the pointer to the name lies, in a struct that the host names; -1: it has none. */
static long name_offset(char letter)
{
	const char *structure, *member;
	struct types_member m;

	if (!host_path_member(letter, &structure, &member))
		return -1;
	return types_member(types_strip(types_find(structure)), member, strlen(member), &m)
		   ? (long)m.at / 8
		   : -1;
}

static int expand_path(char **word, struct probe_arena *text)
{
	const char *body = body_of(*word);
	size_t n = strlen(*word), room = text->end - text->at;
	long offset = probe_is_path_type(*word) ? name_offset((*word)[n - 1]) : -1;

	if (offset < 0)
		return 0;
	size_t len = fmt_snprintf(text->at, room, "%.*s+0x0(+0x%lx(%.*s)):string",
	    (int)(body - *word), *word, (unsigned long)offset, (int)(n - 4 - (body - *word)), body);
	if (len >= room)
		return -ENOMEM;
	*word = text->at;
	text->at += len + 1;
	return 0;
}

static bool has_path_type(const struct probe_words *w)
{
	u32 i = 2;

	while (i < w->n && !probe_is_path_type(w->word[i]))
		i++;
	return i < w->n;
}

int probe_expand(const struct probe_words *w, struct probe_parse *form, struct probe_words *out)
{
	u32 all = 0, most = w->n + types_param_count(form->proto);
	int found = find_args(w, form, &all);

	out->word = NULL;
	if (found < 0 || (!found && !has_path_type(w)))
		return found;
	char **memory = host_alloc(most * sizeof(char *) + ARGS_ROOM + NAMES_ROOM);
	if (!memory)
		return -ENOMEM;
	char *room = (char *)(memory + most);
	struct probe_arena names = {room, room + ARGS_ROOM};
	struct probe_arena paths = {names.end, names.end + NAMES_ROOM};
	*out = (struct probe_words){.word = memory, .n = found ? 2 : w->n};
	memcpy(memory, w->word, (found ? 2 : w->n) * sizeof(char *));
	int err = found ? expand_args(out, w, all, &names, form) : 0;
	for (u32 i = 2; i < out->n && !err; i++)
		err = expand_path(&out->word[i], &paths);
	if (err) {
		host_free(memory);
		out->word = NULL;
	}
	return err;
}
