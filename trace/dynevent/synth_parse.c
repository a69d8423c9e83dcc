/*
 * The language of synthetic events' definitions: "NAME TYPE FIELD[; TYPE FIELD ...]". Semicolons
 * may be left out, as in Linux's first form of it. Task context; nothing but the parse's own memory
 * changes.
 *
 * A caret stands where the offending word occurs first in the command, as Linux puts it.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/host_memory.h"

#define BLANKS " \t\n\v\f\r"

const char synth_bad_form[] = "Command must be of the form: <name> field[;field] ...";

/* One definition being read. */
struct parse {
	const char *cmd; /* whole, for carets */
	struct synth_def *def;
	struct synth_error *err;
	char *words; /* what is left between two semicolons */
};

static int synth_parse_fail(struct parse *p, const char *text, const char *word)
{
	const char *found = word ? strstr(p->cmd, word) : NULL;

	p->err->text = text;
	p->err->pos = found ? found - p->cmd : 0;
	return -EINVAL;
}

/* Cuts the next word off; NULL: none is left. */
static char *synth_parse_next_word(char **words)
{
	char *word = *words + strspn(*words, BLANKS);
	char *end = word + strcspn(word, BLANKS);

	*words = end + (*end != '\0');
	if (word == end)
		return NULL;
	*end = '\0';
	return word;
}

bool synth_has_form(const char *line)
{
	size_t n = strcspn(line, ";");
	unsigned words = 0;

	for (size_t i = 0; i < n; i++)
		words += !is_space(line[i]) && (i == 0 || is_space(line[i - 1]));
	return words >= 3;
}

static char *synth_parse_copy(struct synth_def *def, const char *text, size_t n)
{
	char *at = def->text + def->room - n;

	memcpy(at, text, n);
	def->room -= n;
	return at;
}

/* "unsigned" and "int" make one type; the brackets after a field's name belong to it. */
static const char *type_text(
    struct synth_def *def, const char *prefix, const char *type, const char *array)
{
	synth_parse_copy(def, "", 1);
	synth_parse_copy(def, array, strlen(array));
	char *text = synth_parse_copy(def, type, strlen(type));
	if (*prefix) {
		synth_parse_copy(def, " ", 1);
		text = synth_parse_copy(def, prefix, strlen(prefix));
	}
	return text;
}

/* "char[N]", N empty or 0: dynamic. At most three characters, at most SYNTH_STRING_MAX. */
static int string_size(const char *text, u16 *size)
{
	const char *start = strstr(text, "char[") + 5, *end = strchr(text, ']');
	char digits[4] = "";
	u32 n = 0;

	if (!end || end < start || end[1] || end - start > 3)
		return -EINVAL;
	memcpy(digits, start, end - start);
	if (*digits && (parse_u32(digits, 0, &n) || n > SYNTH_STRING_MAX))
		return -EINVAL;
	*size = n;
	return 0;
}

static const struct synth_type *find_type(const char *text)
{
	for (const struct synth_type *t = synth_types; t->name; t++)
		if (!strcmp(t->name, text))
			return t;
	return NULL;
}

static int finish_type(struct parse *p, struct synth_field *f, const char *type, const char *name)
{
	f->type = find_type(f->text);
	if (f->type)
		return 0;
	f->is_stack = !strstr(f->text, "char[") && strstr(f->text, "long[");
	if (f->is_stack) {
		f->size = 0;
		return 0;
	}
	if (!strstr(f->text, "char["))
		return synth_parse_fail(p, "Invalid type", type);
	if (string_size(f->text, &f->size))
		return strchr(name, '[') ? synth_parse_fail(p, "Invalid array specification", name)
					 : synth_parse_fail(p, "Invalid type", type);
	return 0;
}

static int parse_field(struct parse *p, char *type)
{
	const char *prefix = "", *array;
	struct synth_field *f = &p->def->fields[p->def->n_fields];
	char *name = synth_parse_next_word(&p->words);

	if (!strcmp(type, "unsigned")) {
		char *third = name ? synth_parse_next_word(&p->words) : NULL;
		if (!third)
			return synth_parse_fail(p, "Incomplete type", type);
		prefix = type;
		type = name;
		name = third;
	}
	if (!name)
		return synth_parse_fail(p, "Invalid field", type);
	array = name + strcspn(name, "[");
	synth_parse_copy(p->def, "", 1);
	f->name = synth_parse_copy(p->def, name, array - name);
	if (!dynevent_good_name(f->name))
		return synth_parse_fail(p, "Illegal name", name);
	f->text = type_text(p->def, prefix, type, array);
	return finish_type(p, f, type, name);
}

static int parse_fields(struct parse *p, char *rest)
{
	char *type;
	int err = 0;

	while (!err && (p->words = strsep(&rest, ";")))
		while (!err && (type = synth_parse_next_word(&p->words))) {
			if (p->def->n_fields == SYNTH_FIELDS_MAX)
				return synth_parse_fail(p, "Too many fields", NULL);
			err = parse_field(p, type);
			p->def->n_fields++;
		}
	if (!err && !p->def->n_fields)
		err = synth_parse_fail(p, synth_bad_form, NULL);
	return err;
}

int synth_parse(const char *cmd, const char *at, struct synth_def *def, struct synth_error *err)
{
	struct parse p = {.cmd = cmd, .def = def, .err = err};
	size_t len = strlen(at);

	/* The line cut up, and each word of it once more, with a NUL or a blank more at most. */
	def->n_fields = 0;
	def->room = 4 * len + 8;
	def->text = host_alloc(def->room);
	if (!def->text)
		return -ENOMEM;
	memcpy(def->text, at, len + 1);
	char *name = def->text, *rest = name + strcspn(name, BLANKS);
	if (*rest)
		*rest++ = '\0';
	def->name = name;
	if (!*name)
		return synth_parse_fail(&p, synth_bad_form, NULL);
	if (!dynevent_good_name(name) || strlen(name) > SYNTH_NAME_MAX)
		return synth_parse_fail(&p, "Illegal name", name);
	if (synth_event_find(name)) {
		synth_parse_fail(&p, "Event already exists", name);
		return -EEXIST;
	}
	return parse_fields(&p, rest);
}

void synth_parse_free(struct synth_def *def)
{
	host_free(def->text);
}
