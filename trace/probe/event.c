/*
 * The common part of all kinds of probe events: words of a definition and their errors, names, the
 * probe and its event as objects, listing and comparing arguments. Task context under host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/event/file.h"
#include "trace/host_memory.h"
#include "trace/probe/probe.h"
#include "trace/ring/write.h"

/* ---- words and errors ---- */

/* Cuts the line up. */
static void split(char *line, struct probe_words *w)
{
	char *at = line;

	for (w->n = 0;; w->n++) {
		while (is_space(*at))
			at++;
		if (!*at)
			return;
		w->word[w->n] = at;
		while (*at && !is_space(*at))
			at++;
		if (*at)
			*at++ = '\0';
	}
}

/* The command is logged with one blank between its words, and the caret counts in that. */
void probe_log_error(const char *who, const struct probe_words *w, const struct probe_error *err)
{
	char *cmd = err->text ? host_alloc(DYNEVENT_LINE_MAX) : NULL;
	u32 at = 0, pos = 0;

	if (!cmd)
		return;
	for (u32 i = 0; i < w->n; i++) {
		if (i == err->word)
			pos = at + err->pos;
		at += scnprintf(
		    cmd + at, DYNEVENT_LINE_MAX - at, "%s%s", w->word[i], i + 1 < w->n ? " " : "");
	}
	if (err->word >= w->n)
		pos = at + 1; /* where a word more would be */
	if (err->before)
		trace_error_log(trace_global, who, cmd, err->before, pos);
	trace_error_log(trace_global, who, cmd, err->text, pos);
	host_free(cmd);
}

int probe_fail(struct probe_error *err, u32 word, u32 pos, const char *text)
{
	*err = (struct probe_error){.text = text, .word = word, .pos = pos};
	return -EINVAL;
}

int probe_define(const char *line, const char *who, probe_define_fn define)
{
	size_t size = strlen(line) + 1, words = (size / 2 + 1) * sizeof(char *);
	char *block = host_alloc(words + size);
	struct probe_error err = {.text = NULL};
	struct probe_words w = {.word = (char **)block};

	if (!block)
		return -ENOMEM;
	memcpy(block + words, line, size);
	split(block + words, &w);
	int code = w.n ? define(&w, &err) : 0;
	if (code && code != -ECANCELED)
		probe_log_error(who, &w, &err);
	host_free(block);
	return code;
}

/* ---- names ---- */

static bool good_group(const char *name)
{
	if (!is_alpha(*name) && *name != '_')
		return false;
	while (is_alnum(*name) || *name == '_' || *name == '-')
		name++;
	return !*name;
}

int probe_parse_id(
    struct probe_id *id, const char *text, u32 word, u32 pos, struct probe_error *err)
{
	const char *slash = strchr(text, '/');

	if (!slash)
		slash = strchr(text, '.');
	if (slash) {
		size_t n = slash - text;
		if (!n)
			return probe_fail(err, word, pos, "Group name is not specified");
		if (n > DYNEVENT_NAME_MAX)
			return probe_fail(err, word, pos, "Group name is too long");
		memcpy(id->group, text, n);
		id->group[n] = '\0';
		if (!good_group(id->group))
			return probe_fail(err, word, pos,
			    "Group name must follow the same rules as C identifiers");
		pos += n + 1;
		text = slash + 1;
	}
	if (!*text)
		return slash ? 0 : probe_fail(err, word, pos, "Event name is not specified");
	if (strlen(text) > DYNEVENT_NAME_MAX)
		return probe_fail(err, word, pos, "Event name is too long");
	strscpy(id->name, text, sizeof(id->name));
	if (!dynevent_good_name(id->name))
		return probe_fail(
		    err, word, pos, "Event name must follow the same rules as C identifiers");
	return 0;
}

/* ---- probes ---- */

/* What is too much is dropped, as Linux does. */
static u32 count_args(const struct probe_words *w)
{
	return MIN(w->n - 2, (u32)PROBE_ARGS_MAX);
}

struct trace_probe *probe_alloc(
    const struct probe_words *w, size_t extra, struct probe_arena *arena)
{
	u32 n = count_args(w);
	size_t text = extra;

	for (u32 i = 0; i < n; i++)
		text += 2 * strlen(w->word[i + 2]) + 64;
	struct trace_probe *tp = host_alloc(
	    sizeof(*tp) + n * (sizeof(tp->args[0]) + sizeof(tp->reg[0]) + sizeof(tp->entry[0])) +
	    text);
	if (!tp)
		return NULL;
	tp->reg = (u16 *)(tp->args + n);
	tp->entry = (s16 *)(tp->reg + n);
	arena->at = (char *)(tp->entry + n);
	arena->end = arena->at + text;
	return tp;
}

static bool arg_is_simple(const struct probe_arg *arg)
{
	return arg->fetch.source == PROBE_FROM_REG && !arg->fetch.derefs && arg->type->size == 8 &&
	       !probe_is_string(arg->type) && !arg->fetch.lshift && !arg->fetch.rshift;
}

static void lay_out(struct trace_probe *tp)
{
	u32 at = probe_head(tp);

	bool simple = !tp->old && !tp->probed;
	for (u32 i = 0; i < tp->n_args; i++) {
		struct probe_arg *arg = &tp->args[i];
		tp->reg[i] = arg->fetch.param;
		arg->offset = at;
		at += probe_arg_size(arg);
		simple &= arg_is_simple(arg);
	}
	tp->simple = simple ? at : 0;
	tp->simple_size = rb_size_of(at);
}

static u32 fixed_size(const struct trace_probe *tp)
{
	const struct probe_arg *last = tp->args + tp->n_args - 1;

	return tp->n_args ? last->offset + probe_arg_size(last) : probe_head(tp);
}

int probe_parse_args(
    struct trace_probe *tp, const struct probe_words *w, const struct probe_parse *form)
{
	u32 n = count_args(w), size = 0;
	int code = 0;

	for (u32 i = 0; i < n && !code; i++) {
		struct probe_parse p = *form;
		p.word = i + 2;
		p.room = PROBE_SIZE_MAX - size;
		code = tp->old ? probe_parse_legacy_arg(tp, i, w->word[i + 2], &p)
			       : probe_parse_arg(tp, i, w->word[i + 2], &p);
		tp->n_args = i + 1;
		if (!code)
			size += probe_arg_size(&tp->args[i]);
	}
	if (!code)
		lay_out(tp);
	return code;
}

/* ---- events ---- */

static struct trace_event_field row(const char *type, const char *name, u32 offset, u32 size)
{
	return (struct trace_event_field){
	    .type = type, .name = name, .offset = offset, .size = size};
}

static struct trace_event_field arg_row(const struct probe_arg *arg, const char *name)
{
	struct trace_event_field f = row(arg->field_type, name, arg->offset, arg->type->size);

	f.is_signed = arg->type->is_signed;
	f.size *= arg->count ? arg->count : 1;
	if (probe_is_string(arg->type))
		f.kind = TRACE_FIELD_DYN_STRING; /* of an array: its first string */
	else if (arg->count)
		f.kind = arg->type->text == PROBE_CHAR ? TRACE_FIELD_STRING : TRACE_FIELD_ARRAY;
	return f;
}

static struct trace_event_field *head_rows(
    const struct trace_probe *tp, struct trace_event_field *f)
{
	static const char ulong_type[] = "unsigned long";
	u32 at = tp->old ? 16 : 8;

	if (tp->probed)
		return f;
	if (tp->old) {
		*f = row("int", "common_tgid", 8, 4);
		f++->is_signed = true;
	}
	if (tp->is_return) {
		*f++ = row(ulong_type, tp->old ? "func" : "__probe_func", at, 8);
		*f++ = row(ulong_type, tp->old ? "ret_ip" : "__probe_ret_ip", at += 8, 8);
	} else {
		*f++ = row(ulong_type, tp->old ? "ip" : "__probe_ip", at, 8);
	}
	if (tp->old) {
		*f = row("int", "nargs", at + 8, 4);
		f++->is_signed = true;
	}
	return f;
}

/*
 * Names are copied: the probe may go before the event. Legacy events have two, argN and what was
 * written.
 */
static void make_table(struct probe_event *ev, const struct trace_probe *tp, char *text)
{
	struct trace_event_field *f = head_rows(tp, ev->table);

	for (u32 i = 0; i < tp->n_args; i++) {
		const struct probe_arg *arg = &tp->args[i];
		struct trace_event_field first = arg_row(arg, text);
		text += 1 + fmt_snprintf(text, PROBE_ARG_TEXT_MAX + 1, "%s", arg->name);
		first.type = text;
		text += 1 + fmt_snprintf(text, 40, "%s", arg->field_type);
		if (tp->old) {
			struct trace_event_field second = first;
			second.name = text;
			text += 1 + fmt_snprintf(text, 16, "arg%u", i);
			*f++ = second;
		}
		*f++ = first;
		ev->n_strings += probe_is_string(arg->type);
	}
}

static struct probe_event *probe_event_alloc(
    const struct probe_id *id, const struct trace_probe *tp)
{
	u32 rows = tp->n_args * (tp->old ? 2 : 1) + 6;
	size_t text = sizeof(*id) + tp->n_args * (PROBE_ARG_TEXT_MAX + 1 + 40 + 16);
	struct probe_event *ev = host_alloc(sizeof(*ev) + rows * sizeof(*ev->table) + text);

	if (!ev)
		return NULL;
	ev->table = (struct trace_event_field *)(ev + 1);
	struct probe_id *names = (struct probe_id *)(ev->table + rows);
	*names = *id;
	ev->group = names->group;
	ev->name = names->name;
	ev->class.system = ev->group;
	probe_class_init(&ev->class, tp);
	ev->call.class = &ev->class;
	ev->call.name = ev->name;
	ev->call.flags = tp->old ? TRACE_CALL_ENABLED : 0;
	ev->size = fixed_size(tp);
	make_table(ev, tp, (char *)(names + 1));
	return ev;
}

int probe_event_create(const struct probe_id *id, const struct trace_probe *tp,
    struct probe_error *err, struct probe_event **out)
{
	if (trace_event_find(id->group, id->name)) {
		probe_fail(err, 0, 0, "Given group/event name is already used by another event");
		return -EEXIST;
	}
	*out = probe_event_alloc(id, tp);
	return *out ? 0 : -ENOMEM;
}

int probe_event_add(struct probe_event *ev, struct trace_probe *tp)
{
	tp->event = ev;
	ev->first = tp; /* files of the event may be looked at from here on */
	int code = trace_event_register(&ev->call);
	if (code)
		ev->first = NULL;
	return code;
}

/* ---- listing ---- */

bool probe_match_name(const struct trace_probe *tp, const char *system, const char *event)
{
	return (!system || !strcmp(system, tp->event->group)) &&
	       (!*event || !strcmp(event, tp->event->name));
}

void probe_show_args(struct seq *s, const struct trace_probe *tp)
{
	for (u32 i = 0; i < tp->n_args; i++)
		if (tp->old)
			seq_printf(s, " %s", tp->args[i].name);
		else
			seq_printf(s, " %s=%s", tp->args[i].name, tp->args[i].body);
}

bool probe_match_args(const struct trace_probe *tp, const char *args)
{
	char text[PROBE_ARG_NAME_MAX + PROBE_ARG_TEXT_MAX + 2];
	size_t n;

	for (u32 i = 0; *args; i++, args += n + strspn(args + n, " \t")) {
		if (i == tp->n_args)
			return false;
		size_t len =
		    fmt_snprintf(text, sizeof(text), "%s=%s", tp->args[i].name, tp->args[i].body);
		n = strcspn(args, " \t");
		if (n != len || memcmp(text, args, n) != 0)
			return false;
	}
	return true;
}
