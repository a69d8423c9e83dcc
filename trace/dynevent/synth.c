/*
 * Synthetic events as objects: made of definitions, listed, removed. Task context under host_lock.
 */
#include "trace/dynevent/synth.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/event/file.h"
#include "trace/host_memory.h"

const struct trace_event_field *synth_event_table(const struct trace_event_call *call)
{
	return synth_event_of(call)->table;
}

static const struct trace_event_class synth_class = {
    .system = SYNTH_SYSTEM,
    .fields = synth_event_table,
    .print = synth_print,
    .show_fmt = synth_show_fmt,
};

static struct synth_event *event_of(const struct dynevent *ev)
{
	return container_of(ev, struct synth_event, dyn);
}

struct synth_event *synth_event_find(const char *name)
{
	struct dynevent *ev;

	list_for_each_entry (ev, &dynevents, node)
		if (ev->kind == &synth_dynevent_kind && !strcmp(event_of(ev)->call.name, name))
			return event_of(ev);
	return NULL;
}

/* ---- making ---- */

static size_t text_size(const struct synth_def *def)
{
	size_t n = strlen(def->name) + 1;

	for (u32 i = 0; i < def->n_fields; i++)
		n += strlen(def->fields[i].name) + sizeof(SYNTH_DATA_LOC) +
		     strlen(def->fields[i].text) + 1;
	return n;
}

static const char *synth_append_text(char **at, const char *text)
{
	char *start = *at;
	size_t n = strlen(text) + 1;

	memcpy(start, text, n);
	*at = start + n;
	return start;
}

static struct trace_event_field table_row(const struct synth_field *f)
{
	struct trace_event_field row = {.name = f->name, .offset = f->offset};

	row.is_signed = !f->type || (f->text[0] != 'u' && strcmp(f->text, "gfp_t"));
	if (f->type) {
		row.type = f->text;
		row.size = f->type->size;
		row.kind = TRACE_FIELD_NUMBER;
	} else if (f->size) {
		row.type = "char[]";
		row.size = f->size;
		row.kind = TRACE_FIELD_STRING;
	} else {
		row.type = f->text - strlen(SYNTH_DATA_LOC);
		row.size = sizeof(u64);
		row.kind = f->is_stack ? TRACE_FIELD_STACK : TRACE_FIELD_DYN_STRING;
	}
	return row;
}

/*
 * Offsets are those of Linux's records, where a fixed string has the largest string's room whatever
 * its size.
 */
static void lay_out(struct synth_event *ev, struct trace_event_field *table)
{
	u32 at = sizeof(struct trace_entry);

	ev->words = true;
	for (u32 i = 0; i < ev->n_fields; i++) {
		struct synth_field *f = &ev->fields[i];
		f->offset = at;
		at += !f->type && f->size ? SYNTH_STRING_MAX : sizeof(u64);
		ev->n_dynamic += synth_is_dynamic(f);
		ev->words &= f->type && f->type->size == sizeof(u64);
		table[i] = table_row(f);
	}
	ev->size = at;
	ev->table = table;
}

/* One block: the event, its fields, their table, all text. */
static struct synth_event *create_event(const struct synth_def *def)
{
	size_t n = def->n_fields, fields = n * sizeof(struct synth_field);
	size_t table = (n + 1) * sizeof(struct trace_event_field);
	struct synth_event *ev = host_alloc(sizeof(*ev) + fields + table + text_size(def));

	if (!ev)
		return NULL;
	struct trace_event_field *rows = (struct trace_event_field *)(ev->fields + n);
	char *text = (char *)(rows + n + 1);
	ev->call.class = &synth_class;
	ev->call.name = synth_append_text(&text, def->name);
	ev->n_fields = n;
	for (u32 i = 0; i < n; i++) {
		ev->fields[i] = def->fields[i];
		ev->fields[i].name = synth_append_text(&text, def->fields[i].name);
		synth_append_text(&text, SYNTH_DATA_LOC);
		text--; /* the type goes on from there */
		ev->fields[i].text = synth_append_text(&text, def->fields[i].text);
	}
	lay_out(ev, rows);
	return ev;
}

static int add_event(const struct synth_def *def)
{
	struct synth_event *ev = create_event(def);
	int err = ev ? trace_event_register(&ev->call) : -ENOMEM;

	if (err)
		host_free(ev);
	else
		dynevent_add(&ev->dyn, &synth_dynevent_kind);
	return err;
}

static int refuse(const char *cmd, const struct synth_error *err, int code)
{
	trace_error_log(trace_global, "synthetic_events", cmd, err->text, err->pos);
	return code;
}

static int synth_refuse_command(const char *cmd)
{
	return refuse(cmd, &(struct synth_error){.text = synth_bad_form}, -EINVAL);
}

/* "NAME fields" begins at `at` in cmd. */
static int synth_define(const char *cmd, const char *at)
{
	struct synth_def *def = host_alloc(sizeof(*def));
	struct synth_error err;

	if (!def)
		return -ENOMEM;
	int code = synth_parse(cmd, at, def, &err);
	if (code == -EINVAL || code == -EEXIST)
		refuse(cmd, &err, code);
	else if (!code)
		code = add_event(def);
	synth_parse_free(def);
	host_free(def);
	return code;
}

static const char *skip_blanks(const char *line)
{
	while (is_space(*line))
		line++;
	return line;
}

int synth_event_command(char *line)
{
	char *cmd = line + (skip_blanks(line) - line);

	if (!*cmd)
		return 0;
	if (*cmd == '!') {
		cmd[strcspn(cmd, " \t")] = '\0';
		return synth_event_remove(cmd + 1);
	}
	return synth_has_form(cmd) ? synth_define(cmd, cmd) : synth_refuse_command(cmd);
}

/* "s:[synthetic/]NAME fields": the group can be no other. */
static int synth_create_dynamic(const char *line)
{
	static const char bad_group[] =
	    "Command must be of the form: s or -:[synthetic/]<name> field[;field] ...";
	const char *cmd = skip_blanks(line), *name = cmd + 2;

	if (!*cmd)
		return 0;
	if (cmd[0] != 's' || cmd[1] != ':')
		return -ECANCELED;
	if (!cmd[strcspn(cmd, " \t")])
		return synth_refuse_command(cmd);
	if (strchr(name, '/')) {
		if (!str_has_prefix(name, SYNTH_SYSTEM "/"))
			return refuse(cmd, &(struct synth_error){.text = bad_group}, -EINVAL);
		name += strlen(SYNTH_SYSTEM "/");
	}
	return synth_has_form(name) ? synth_define(cmd, name) : synth_refuse_command(cmd);
}

/* ---- listing ---- */

static void synth_show_definition(struct seq *s, const struct synth_event *ev)
{
	seq_printf(s, "%s\t", ev->call.name);
	for (u32 i = 0; i < ev->n_fields; i++)
		seq_printf(s, "%s%s %s", i ? "; " : "", ev->fields[i].text, ev->fields[i].name);
}

static void synth_show_dynamic(struct seq *s, const struct dynevent *ev)
{
	seq_puts(s, "s:" SYNTH_SYSTEM "/");
	synth_show_definition(s, event_of(ev));
}

void synth_events_show(struct seq *s)
{
	struct dynevent *ev;

	list_for_each_entry (ev, &dynevents, node)
		if (ev->kind == &synth_dynevent_kind) {
			synth_show_definition(s, event_of(ev));
			seq_putc(s, '\n');
		}
}

/* ---- removing ---- */

/* Not while it is merely on, as on Linux: clearing the list then removes what stands before it. */
static bool synth_is_busy(const struct dynevent *ev)
{
	return READ_ONCE(event_of(ev)->open) || event_of(ev)->call.refs;
}

static int synth_free_dynamic(struct dynevent *dyn)
{
	struct synth_event *ev = event_of(dyn);
	int err = synth_is_busy(dyn) ? -EBUSY : trace_event_unregister(&ev->call);

	if (!err) {
		dynevent_remove(dyn);
		host_free(ev);
	}
	return err;
}

int synth_event_remove(const char *name)
{
	struct synth_event *ev = synth_event_find(name);

	return ev ? synth_free_dynamic(&ev->dyn) : -ENOENT;
}

static bool synth_match(const struct dynevent *ev, const char *system, const char *event,
    const char *args __maybe_unused)
{
	return (!system || !strcmp(system, SYNTH_SYSTEM)) &&
	       !strcmp(event, event_of(ev)->call.name);
}

const struct dynevent_kind synth_dynevent_kind = {
    .create = synth_create_dynamic,
    .show = synth_show_dynamic,
    .is_busy = synth_is_busy,
    .free = synth_free_dynamic,
    .match = synth_match,
};
