/*
 * Probe events as objects: lines of kprobe_events made into probes and events, listed, removed. Task context under host_lock.
 *
 * A definition is parsed whole into a probe of its own before anything else changes. Probes of the same name share one event, whose
 * fields are those of all of them; the event goes with the last.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/error_log.h"
#include "trace/event.h"
#include "trace/probe.h"
#include "trace/trace_array.h"

#define MAXACTIVE_DEFAULT 10u
#define WORDS_MAX	  (PROBE_ARGS_MAX + 2)

/* ---- words and errors ------------------------------------------------------------------------------------------------ */

/* Cuts the line up; words behind the last that counts are dropped, as Linux does. */
static void split(char *line, struct probe_words *w)
{
	char *at = line;

	for (w->n = 0; w->n < WORDS_MAX; w->n++) {
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
static void log_error(const struct probe_words *w, const struct probe_error *err)
{
	char *cmd = host_alloc(DYNEVENT_LINE_MAX + WORDS_MAX);
	u32 at = 0, pos = 0;

	if (!cmd || !err->text) {
		host_free(cmd);
		return;
	}
	for (u32 i = 0; i < w->n; i++) {
		if (i == err->word)
			pos = at + err->pos;
		at += scnprintf(cmd + at, DYNEVENT_LINE_MAX + WORDS_MAX - at, "%s%s", w->word[i],
		    i + 1 < w->n ? " " : "");
	}
	if (err->word >= w->n)
		pos = at + err->pos;
	trace_error_log(trace_global, "trace_kprobe", cmd, err->text, pos);
	host_free(cmd);
}

static int fail(struct probe_error *err, u32 word, u32 pos, const char *text)
{
	*err = (struct probe_error){.text = text, .word = word, .pos = pos};
	return -EINVAL;
}

/* ---- the place ------------------------------------------------------------------------------------------------------- */

/* What a line says, but for its arguments. */
struct definition {
	char group[DYNEVENT_NAME_MAX + 2], name[DYNEVENT_NAME_MAX + 2];
	char symbol[256]; /* "": addr */
	u64 addr, offset;
	u32 maxactive;
	bool is_return;
};

static int parse_maxactive(
    struct definition *d, const char *head, size_t n, struct probe_error *err)
{
	char number[DYNEVENT_NAME_MAX + 1];

	if (!d->is_return)
		return fail(err, 0, 1, "Maxactive is not for kprobe");
	if (n >= sizeof(number))
		return fail(err, 0, 1, "Invalid maxactive number");
	memcpy(number, head + 1, n);
	number[n] = '\0';
	if (parse_u32(number, 0, &d->maxactive) || !d->maxactive)
		return fail(err, 0, 1, "Invalid maxactive number");
	if (d->maxactive > PROBE_MAXACTIVE_MAX)
		return fail(err, 0, 1, "Maxactive is too big");
	return 0;
}

/* "SYMBOL[+offs][%return]" */
static int parse_symbol(struct definition *d, const char *text, struct probe_error *err)
{
	static const char bad[] = "Invalid probed address or symbol";
	char *suffix, *plus;
	int code;

	if (strscpy(d->symbol, text, sizeof(d->symbol)) < 0)
		return fail(err, 1, 0, bad);
	suffix = strchr(d->symbol, '%');
	if (suffix && strcmp(suffix, "%return"))
		return fail(err, 1, suffix - d->symbol, "Invalid probed address suffix");
	if (suffix) {
		*suffix = '\0';
		d->is_return = true;
	}
	plus = d->symbol + strcspn(d->symbol, "+-");
	if (*plus) {
		if (*plus == '-' || parse_u64(plus + 1, 0, &d->offset) || d->offset > UINT32_MAX)
			return fail(err, 1, 0, bad);
		*plus = '\0';
	}
	code = host_symbol_check(d->symbol);
	if (code) {
		fail(err, 1, 0, code == -EADDRNOTAVAIL ? "The symbol is not unique" : bad);
		return code;
	}
	if (d->is_return && d->offset)
		return fail(err, 1, 0, "Retprobe address must be an function entry");
	return 0;
}

static bool good_group(const char *name)
{
	if (!is_alpha(*name) && *name != '_')
		return false;
	while (is_alnum(*name) || *name == '_' || *name == '-')
		name++;
	return !*name;
}

/* "[GRP/][EVENT]" behind the colon, which is at `pos` of the first word. */
static int parse_name(struct definition *d, const char *text, u32 pos, struct probe_error *err)
{
	const char *slash = strchr(text, '/');

	if (!slash)
		slash = strchr(text, '.');
	if (slash) {
		size_t n = slash - text;
		if (!n)
			return fail(err, 0, pos, "Group name is not specified");
		if (n > DYNEVENT_NAME_MAX)
			return fail(err, 0, pos, "Group name is too long");
		memcpy(d->group, text, n);
		d->group[n] = '\0';
		if (!good_group(d->group))
			return fail(
			    err, 0, pos, "Group name must follow the same rules as C identifiers");
		pos += n + 1;
		text = slash + 1;
	}
	if (!*text)
		return slash ? 0 : fail(err, 0, pos, "Event name is not specified");
	if (strlen(text) > DYNEVENT_NAME_MAX)
		return fail(err, 0, pos, "Event name is too long");
	strscpy(d->name, text, sizeof(d->name));
	if (!dynevent_good_name(d->name))
		return fail(err, 0, pos, "Event name must follow the same rules as C identifiers");
	return 0;
}

/* What Linux calls an event without a name; what may not be in a name becomes '_'. */
static void make_name(struct definition *d)
{
	if (*d->symbol)
		snprintf(d->name, DYNEVENT_NAME_MAX + 1, "%c_%s_%llu", d->is_return ? 'r' : 'p',
		    d->symbol, (unsigned long long)d->offset);
	else
		snprintf(d->name, DYNEVENT_NAME_MAX + 1, "%c_0x%llx", d->is_return ? 'r' : 'p',
		    (unsigned long long)d->addr);
	for (char *c = d->name; *c; c++)
		if (!is_alnum(*c))
			*c = '_';
}

static int parse_head(struct definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *head = w->word[0], *colon = strchr(head + 1, ':');
	size_t n = colon ? (size_t)(colon - head) - 1 : strlen(head + 1);
	int code = 0;

	d->is_return = *head == 'r';
	strscpy(d->group, PROBE_GROUP, sizeof(d->group));
	if (is_digit(head[1]))
		code = parse_maxactive(d, head, n, err);
	if (!code && parse_u64(w->word[1], 0, &d->addr)) {
		d->addr = 0;
		code = parse_symbol(d, w->word[1], err);
	}
	if (!code && colon)
		code = parse_name(d, colon + 1, colon + 1 - head, err);
	if (!code && !*d->name)
		make_name(d);
	return code;
}

/* ---- probes ---------------------------------------------------------------------------------------------------------- */

/* One block: the probe, its arguments, their text. */
static struct trace_probe *probe_alloc(
    const struct definition *d, const struct probe_words *w, struct probe_arena *arena)
{
	u32 n = w->n - 2;
	size_t text = strlen(d->symbol) + 1;

	for (u32 i = 0; i < n; i++)
		text += 2 * strlen(w->word[i + 2]) + 64;
	struct trace_probe *tp =
	    host_alloc(sizeof(*tp) + n * (sizeof(tp->args[0]) + sizeof(tp->reg[0])) + text);
	if (!tp)
		return NULL;
	tp->reg = (u16 *)(tp->args + n);
	arena->at = (char *)(tp->reg + n);
	arena->end = arena->at + text;
	tp->symbol = *d->symbol ? probe_keep(arena, d->symbol, strlen(d->symbol)) : NULL;
	tp->addr = d->addr;
	tp->offset = d->offset;
	tp->is_return = d->is_return;
	tp->maxactive = d->maxactive ? d->maxactive : MAX(MAXACTIVE_DEFAULT, 2 * host_cpu_count());
	tp->old = probe_is_old(w);
	tp->sp = host_reg_find(host_stack_register());
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

	tp->simple = !tp->old;
	for (u32 i = 0; i < tp->n_args; i++) {
		struct probe_arg *arg = &tp->args[i];
		tp->reg[i] = arg->fetch.param;
		arg->offset = at;
		at += arg->type->size * (arg->count ? arg->count : 1);
		tp->simple &= arg_is_simple(arg);
	}
}

static u32 fixed_size(const struct trace_probe *tp)
{
	const struct probe_arg *last = tp->args + tp->n_args - 1;

	return tp->n_args ? last->offset + last->type->size * (last->count ? last->count : 1)
			  : probe_head(tp);
}

static int parse_args(struct trace_probe *tp, const struct definition *d,
    const struct probe_words *w, struct probe_arena *arena, struct probe_error *err)
{
	int code = 0;

	for (u32 i = 0; i + 2 < w->n && !code; i++) {
		struct probe_parse p = {.err = err,
		    .arena = arena,
		    .is_return = d->is_return,
		    .at_entry = *d->symbol && !d->offset && !d->is_return,
		    .word = i + 2};
		code = tp->old ? probe_parse_old_arg(tp, i, w->word[i + 2], &p)
			       : probe_parse_arg(tp, i, w->word[i + 2], &p);
		tp->n_args = i + 1;
	}
	if (!code)
		lay_out(tp);
	return code;
}

static int place_probe(struct trace_probe *tp, struct probe_error *err)
{
	struct host_probe_place place = {
	    .symbol = tp->symbol,
	    .addr = tp->addr,
	    .offset = tp->offset,
	    .is_return = tp->is_return,
	    .fn = probe_hit,
	    .arg = tp,
	};
	int code = host_probe_create(&place, &tp->host);

	if (code == -ENOENT && !tp->symbol) {
		host_log("no code at the probe's address: it will not be hit");
		return 0;
	}
	if (code == -EILSEQ)
		fail(err, 1, 0, "Probe point is not an instruction boundary");
	else if (code && code != -ENOMEM)
		fail(err, 1, 0, "Failed to register probe event");
	return code;
}

/* ---- events ---------------------------------------------------------------------------------------------------------- */

static void switch_probes(struct trace_key *key, bool on)
{
	struct probe_event *ev = container_of(key, struct probe_event, key);

	for (struct trace_probe *tp = ev->first; tp; tp = tp->next)
		if (tp->host)
			host_probes_switch(&tp->host, 1, on);
}

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
	if (arg->count)
		f.kind = TRACE_FIELD_ARRAY;
	else if (probe_is_string(arg->type))
		f.kind = TRACE_FIELD_DYN_STRING;
	return f;
}

static struct trace_event_field *head_rows(
    const struct trace_probe *tp, struct trace_event_field *f)
{
	static const char ulong_type[] = "unsigned long";
	u32 at = tp->old ? 16 : 8;

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

/* Names are copied: the probe may go before the event. Those of 2009 have two, argN and what was written. */
static void make_table(struct probe_event *ev, const struct trace_probe *tp, char *text)
{
	struct trace_event_field *f = head_rows(tp, ev->table);

	for (u32 i = 0; i < tp->n_args; i++) {
		const struct probe_arg *arg = &tp->args[i];
		struct trace_event_field first = arg_row(arg, text);
		text += 1 + snprintf(text, PROBE_ARG_TEXT_MAX + 1, "%s", arg->name);
		first.type = text;
		text += 1 + snprintf(text, 40, "%s", arg->field_type);
		if (tp->old) {
			struct trace_event_field second = first;
			second.name = text;
			text += 1 + snprintf(text, 16, "arg%u", i);
			*f++ = second;
		}
		*f++ = first;
		ev->n_strings += probe_is_string(arg->type);
	}
}

/* One block: the event, its fields, names. */
static struct probe_event *event_alloc(const struct definition *d, const struct trace_probe *tp)
{
	u32 rows = tp->n_args * (tp->old ? 2 : 1) + 6;
	size_t names = sizeof(d->group) + sizeof(d->name);
	size_t text = names + tp->n_args * (PROBE_ARG_TEXT_MAX + 1 + 40 + 16);
	struct probe_event *ev = host_alloc(sizeof(*ev) + rows * sizeof(*ev->table) + text);

	if (!ev)
		return NULL;
	ev->table = (struct trace_event_field *)(ev + 1);
	ev->group = (char *)(ev->table + rows);
	ev->name = ev->group + sizeof(d->group);
	strscpy(ev->group, d->group, sizeof(d->group));
	strscpy(ev->name, d->name, sizeof(d->name));
	ev->class.system = ev->group;
	probe_class_init(&ev->class, tp->old);
	ev->key.set = switch_probes;
	ev->call.class = &ev->class;
	ev->call.name = ev->name;
	ev->call.key = &ev->key;
	ev->size = fixed_size(tp);
	make_table(ev, tp, ev->group + names);
	return ev;
}

static struct trace_probe *probe_of(const struct dynevent *ev)
{
	return container_of(ev, struct trace_probe, dyn);
}

static struct probe_event *find_event(const char *group, const char *name)
{
	struct dynevent *dyn;

	list_for_each_entry (dyn, &dynevents, node) {
		if (dyn->kind != &probe_dynevent_kind)
			continue;
		struct probe_event *ev = probe_of(dyn)->event;
		if (!strcmp(ev->group, group) && !strcmp(ev->name, name))
			return ev;
	}
	return NULL;
}

static void attach(struct trace_probe *tp, struct probe_event *ev)
{
	tp->next = ev->first;
	ev->first = tp;
	dynevent_add(&tp->dyn, &probe_dynevent_kind);
}

static int add_new(struct trace_probe *tp, const struct definition *d, struct probe_error *err)
{
	struct probe_event *ev = event_alloc(d, tp);
	int code;

	if (!ev)
		return -ENOMEM;
	if (ev->size > RB_MAX_DATA) {
		host_free(ev);
		return fail(err, 0, 0, "The arguments take more room than a record has");
	}
	tp->event = ev;
	code = place_probe(tp, err);
	if (!code) {
		ev->first = tp;
		code = trace_event_register(&ev->call);
		ev->first = NULL;
		if (code == -EEXIST)
			fail(err, 0, 0, "Given group/event name is already used by another event");
		if (code && tp->host)
			host_probe_destroy(tp->host);
	}
	if (code)
		host_free(ev);
	else
		attach(tp, ev);
	return code;
}

/* Which argument differs from those of the event: number + 1, or 0. */
static u32 first_difference(const struct trace_probe *a, const struct trace_probe *b)
{
	if (a->n_args != b->n_args)
		return MIN(a->n_args, b->n_args) + 1;
	for (u32 i = 0; i < a->n_args; i++)
		if (a->args[i].type != b->args[i].type || a->args[i].count != b->args[i].count ||
		    strcmp(a->args[i].name, b->args[i].name))
			return i + 1;
	return 0;
}

static bool is_same(const struct trace_probe *a, const struct trace_probe *b)
{
	if (!a->symbol != !b->symbol || (a->symbol && strcmp(a->symbol, b->symbol)))
		return false;
	if (a->offset != b->offset || a->addr != b->addr)
		return false;
	for (u32 i = 0; i < a->n_args; i++)
		if (strcmp(a->args[i].body, b->args[i].body))
			return false;
	return true;
}

static int add_to(struct trace_probe *tp, struct probe_event *ev, struct probe_error *err)
{
	const struct trace_probe *old = ev->first;
	u32 differs;

	if (tp->is_return != old->is_return || tp->old != old->old) {
		fail(err, 0, 0, "Probe type is different from existing probe");
		return -EEXIST;
	}
	differs = first_difference(tp, old);
	if (differs) {
		fail(err, differs + 1, 0, "Argument type or name is different from existing probe");
		return -EEXIST;
	}
	for (; old; old = old->next)
		if (is_same(tp, old)) {
			fail(err, 0, 0, "There is already the exact same probe event");
			return -EEXIST;
		}
	tp->event = ev;
	int code = place_probe(tp, err);
	if (code)
		return code;
	attach(tp, ev);
	if (tp->host && ev->key.on)
		host_probes_switch(&tp->host, 1, true);
	return 0;
}

/* ---- commands -------------------------------------------------------------------------------------------------------- */

static int define(const struct probe_words *w, struct probe_error *err)
{
	struct definition *d = host_alloc(sizeof(*d));
	struct trace_probe *tp = NULL;
	struct probe_arena arena;
	int code = d ? parse_head(d, w, err) : -ENOMEM;

	if (!code) {
		tp = probe_alloc(d, w, &arena);
		code = tp ? parse_args(tp, d, w, &arena, err) : -ENOMEM;
	}
	if (!code) {
		struct probe_event *ev = find_event(d->group, d->name);
		code = ev ? add_to(tp, ev, err) : add_new(tp, d, err);
	}
	if (code)
		host_free(tp);
	host_free(d);
	return code;
}

static int create(const char *line)
{
	size_t size = strlen(line) + 1;
	char *copy = host_alloc(size + WORDS_MAX * sizeof(char *));
	struct probe_error err = {.text = NULL};
	struct probe_words w;
	int code = -ECANCELED;

	if (!copy)
		return -ENOMEM;
	w.word = (char **)copy;
	copy += WORDS_MAX * sizeof(char *);
	memcpy(copy, line, size);
	split(copy, &w);
	if (!w.n)
		code = 0;
	else if (w.n >= 2 && (*w.word[0] == 'p' || *w.word[0] == 'r'))
		code = define(&w, &err);
	if (code && code != -ECANCELED)
		log_error(&w, &err);
	host_free(w.word);
	return code;
}

int probe_command(char *line)
{
	if (*line == '-')
		return dynevent_release(line, &probe_dynevent_kind);
	int code = create(line);
	return code == -ECANCELED ? -EINVAL : code;
}

/* ---- listing ----------------------------------------------------------------------------------------------------------- */

static void show_place(struct seq *s, const struct trace_probe *tp)
{
	if (!tp->symbol && tp->host)
		seq_printf(s, "0x%lx", tp->addr);
	else if (!tp->symbol)
		seq_puts(s, "0x(____ptrval____)"); /* as Linux hides it: there is nothing */
	else if (tp->offset)
		seq_printf(s, "%s+%lu", tp->symbol, tp->offset);
	else
		seq_puts(s, tp->symbol);
}

static void show(struct seq *s, const struct dynevent *dyn)
{
	const struct trace_probe *tp = probe_of(dyn);

	if (tp->is_return)
		seq_printf(s, "r%u", tp->maxactive);
	else
		seq_putc(s, 'p');
	seq_printf(s, ":%s/%s ", tp->event->group, tp->event->name);
	show_place(s, tp);
	for (u32 i = 0; i < tp->n_args; i++)
		if (tp->old)
			seq_printf(s, " %s", tp->args[i].name);
		else
			seq_printf(s, " %s=%s", tp->args[i].name, tp->args[i].body);
}

void probe_profile_show(struct seq *s)
{
	struct dynevent *dyn;

	list_for_each_entry (dyn, &dynevents, node) {
		if (dyn->kind != &probe_dynevent_kind)
			continue;
		const struct trace_probe *tp = probe_of(dyn);
		seq_printf(s, "  %-44s %15lu %15lu\n", tp->event->name, atomic_load(&tp->hits),
		    tp->host ? host_probe_missed(tp->host) : 0);
	}
}

/* ---- removing ---------------------------------------------------------------------------------------------------------- */

static bool is_busy(const struct dynevent *dyn)
{
	return trace_event_busy(&probe_of(dyn)->event->call);
}

static void detach(struct trace_probe *tp)
{
	struct trace_probe **at = &tp->event->first;

	while (*at != tp)
		at = &(*at)->next;
	*at = tp->next;
	dynevent_remove(&tp->dyn);
}

static int free_probe(struct dynevent *dyn)
{
	struct trace_probe *tp = probe_of(dyn);
	struct probe_event *ev = tp->event;
	bool last = ev->first == tp && !tp->next;
	int err = is_busy(dyn) ? -EBUSY : 0;

	if (!err && last)
		err = trace_event_unregister(&ev->call);
	if (err)
		return err;
	if (tp->host)
		host_probe_destroy(tp->host);
	detach(tp);
	if (last)
		host_free(ev);
	host_free(tp);
	return 0;
}

/* "SYMBOL[+offs] [ARG ...]" as listed. */
static bool match_args(const struct trace_probe *tp, const char *args)
{
	char text[320];
	struct seq s;

	seq_init(&s, text, sizeof(text));
	show_place(&s, tp);
	for (u32 i = 0; *args; i++) {
		size_t n = strcspn(args, " \t");
		if (s.len != n || memcmp(text, args, n) != 0)
			return false;
		args += n + strspn(args + n, " \t");
		if (*args && i == tp->n_args)
			return false;
		seq_init(&s, text, sizeof(text));
		if (i < tp->n_args)
			seq_printf(&s, "%s=%s", tp->args[i].name, tp->args[i].body);
	}
	return true;
}

static bool match(
    const struct dynevent *dyn, const char *system, const char *event, const char *args)
{
	const struct trace_probe *tp = probe_of(dyn);

	if (system && strcmp(system, tp->event->group))
		return false;
	if (*event && strcmp(event, tp->event->name))
		return false;
	return match_args(tp, args);
}

const struct dynevent_kind probe_dynevent_kind = {
    .create = create,
    .show = show,
    .is_busy = is_busy,
    .free = free_probe,
    .match = match,
};
