/*
 * Parses the command "keys=...:vals=...:...": its parts, keys, values, variables and sort fields;
 * expr.c parses each of their expressions. Task context under host_lock; nothing outside the
 * histogram changes until hist_start(). The order of steps is Linux's, so that it reports the same
 * one of several errors.
 */
#include "trace/hist/parse.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/hist/hist.h"
#include "trace/host_memory.h"

#define NO_VALUE_FLAGS (HIST_LOG2 | HIST_SYM | HIST_SYM_OFFSET | HIST_SYSCALL | HIST_STACKTRACE)
#define NO_VAR_FLAGS   (HIST_GRAPH | HIST_PERCENT | HIST_BUCKETS | HIST_LOG2)

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

	if (!copy)
		return -ENOMEM;
	int err = hist_parse_expr(h, copy, var_name ? HIST_VAR : 0, var_name, &f);
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

static int parse_key(struct hist *h, char *text, struct hist_field **out)
{
	char *copy = hist_copy(h, text);

	if (!copy)
		return -ENOMEM;
	if (!strcmp(text, "stacktrace")) {
		*out = hist_stack_key(h);
		return *out ? 0 : -ENOMEM;
	}
	int err = hist_parse_expr(h, copy, HIST_KEY, NULL, out);
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
