/*
 * Event probes: "e[:[GROUP/][EVENT]] SYSTEM.EVENT [ARG ...] [if FILTER]" in dynamic_events. An
 * event that is recorded when another is hit, with arguments fetched from its fields. Task context
 * under host_lock, but for eprobe_act().
 *
 * The probe needs each record of the other event, even if that event is not recorded. So while its
 * own event is live in an instance, the other event's file there has a hidden trigger, the feed
 * (trace/event/event.h).
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/file.h"
#include "trace/filter/compile.h"
#include "trace/filter/file.h"
#include "trace/host_memory.h"
#include "trace/probe/probe.h"
#include "trace/trigger/trigger.h"

#define WHO "event_probe"

/* ---- the feed ---- */

/* Any context. trigger->data: the file of the probe's own event. */
static void eprobe_act(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	struct trace_event_file *file = t->data;

	if (unlikely(!hit->rec))
		trace_trigger_missed(t);
	else
		probe_event_hit(
		    probe_event_of(file->call)->first, file, hit->ctx, hit->rec, hit->len);
}

static const struct trace_trigger_command feed_command = {
    .name = "eprobe",
    .kind = TRACE_TRIGGER_FEED,
    .flags = TRACE_TRIGGER_LOOKS | TRACE_TRIGGER_LAST,
    .act = eprobe_act,
};

static struct trace_trigger *eprobe_trigger_alloc(struct trace_event_file *file)
{
	const struct trace_probe *tp = probe_event_of(file->call)->first;
	struct trace_trigger *t = host_alloc(sizeof(*t));
	struct trace_filter_error why;

	if (!t)
		return NULL;
	t->command = &feed_command;
	t->file = trace_event_file_of(file->tr, tp->probed);
	t->left = TRACE_TRIGGER_UNLIMITED;
	t->data = file;
	if (tp->filter && trace_filter_create(tp->probed, tp->filter, &t->filter, &why)) {
		trace_trigger_free(t);
		return NULL;
	}
	return t;
}

/* ---- definitions ---- */

/* What a line says, but for its arguments. */
struct definition {
	struct probe_id id;
	struct trace_event_call *probed;
	u32 n_words; /* up to the filter */
	char filter[DYNEVENT_LINE_MAX];
};

/* As on Linux: of probes only those of a function's entry and return, and of a tracepoint. */
static bool may_be_probed(const struct trace_event_call *call)
{
	const struct dynevent_kind *kind;

	if (call->class->fields != probe_event_table)
		return !(call->flags & TRACE_CALL_NO_ENABLE);
	kind = probe_event_of(call)->first->dyn.kind;
	return kind == &fprobe_dynevent_kind || kind == &tprobe_dynevent_kind;
}

static struct trace_event_call *find_probed(const struct probe_id *id)
{
	struct trace_event_call *call = trace_event_find(id->group, id->name);

	return call && may_be_probed(call) ? call : NULL;
}

static int parse_probed(struct definition *d, const struct probe_words *w, struct probe_error *err)
{
	struct probe_id id = {.name = ""};
	int code = probe_parse_id(&id, w->word[1], 1, 0, err);

	if (code)
		probe_log_error(WHO, w, err); /* there is more to say */
	if (code || !*id.name || !*id.group)
		return probe_fail(err, 1, 0, "This requires both group and event name to attach");
	if (!*d->id.name)
		strscpy(d->id.name, id.name, sizeof(d->id.name));
	d->probed = find_probed(&id);
	if (d->probed)
		return 0;
	probe_fail(err, 1, 0, "Attached event does not exist");
	return -ENODEV;
}

/* The words after "if", with one blank between them. */
static void join_filter(struct definition *d, const struct probe_words *w)
{
	struct seq s;

	seq_init(&s, d->filter, sizeof(d->filter) - 1);
	for (u32 i = d->n_words + 1; i < w->n; i++)
		seq_printf(&s, "%s%s", s.len ? " " : "", w->word[i]);
	d->filter[s.len] = '\0';
}

static int parse_filter(struct definition *d, const struct probe_words *w, struct probe_error *err)
{
	struct trace_filter_error why;
	struct trace_filter *f;

	d->n_words = 2;
	while (d->n_words < w->n && strcmp(w->word[d->n_words], "if"))
		d->n_words++;
	if (d->n_words == w->n)
		return 0;
	if (d->n_words + 1 == w->n)
		return probe_fail(err, w->n, 0, "No filter rule after 'if'");
	join_filter(d, w);
	int code = trace_filter_create(d->probed, d->filter, &f, &why);
	if (!code)
		trace_filter_free(f);
	else if (code == -EINVAL)
		trace_filter_error_log(trace_global, d->filter, &why);
	return code;
}

static int parse_head(struct definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *head = w->word[0], *colon = strchr(head + 1, ':');
	int code = 0;

	strscpy(d->id.group, EVENT_PROBE_GROUP, sizeof(d->id.group));
	if (colon)
		code = probe_parse_id(&d->id, colon + 1, 0, colon + 1 - head, err);
	if (!code)
		code = parse_probed(d, w, err);
	if (!code)
		code = parse_filter(d, w, err);
	return code;
}

static int parse(struct definition *d, const struct probe_words *w, struct probe_error *err,
    struct trace_probe **out)
{
	struct probe_words args = {.n = d->n_words, .word = w->word};
	size_t filter = strlen(d->filter);
	struct probe_arena arena;
	struct trace_probe *tp = probe_alloc(&args, filter + 1, &arena);
	const struct probe_parse form = {.err = err,
	    .arena = &arena,
	    .probed = d->probed,
	    .named = probe_is_named(&args, false)};

	*out = tp;
	if (!tp)
		return -ENOMEM;
	tp->probed = d->probed;
	tp->filter = filter ? probe_parse_keep(&arena, d->filter, filter) : NULL;
	return probe_parse_args(tp, &args, &form);
}

static int add(struct trace_probe *tp, const struct definition *d, struct probe_error *err)
{
	struct probe_event *ev;
	int code = probe_event_create(&d->id, tp, err, &ev);

	if (code)
		return code;
	ev->class.feed = eprobe_trigger_alloc;
	code = probe_event_add(ev, tp);
	if (code) {
		host_free(ev);
		return code;
	}
	trace_event_get(tp->probed);
	dynevent_add(&tp->dyn, &event_probe_dynevent_kind);
	return 0;
}

static int eprobe_define(const struct probe_words *w, struct probe_error *err)
{
	if (w->n < 2 || *w->word[0] != 'e')
		return -ECANCELED;
	struct definition *d = host_alloc(sizeof(*d));
	struct trace_probe *tp = NULL;
	int code = d ? parse_head(d, w, err) : -ENOMEM;

	if (!code)
		code = parse(d, w, err, &tp);
	if (!code)
		code = add(tp, d, err);
	if (code)
		host_free(tp);
	host_free(d);
	return code;
}

static int eprobe_create(const char *line)
{
	return probe_define(line, WHO, eprobe_define);
}

/* ---- listing and removing ---- */

/* Without the filter, as Linux lists it. */
static void eprobe_show(struct seq *s, const struct dynevent *dyn)
{
	const struct trace_probe *tp = trace_probe_of(dyn);

	seq_printf(s, "e:%s/%s %s.%s", tp->event->group, tp->event->name, tp->probed->class->system,
	    tp->probed->name);
	probe_show_args(s, tp);
}

static bool eprobe_is_busy(const struct dynevent *dyn)
{
	return trace_event_busy(&trace_probe_of(dyn)->event->call);
}

static int eprobe_free(struct dynevent *dyn)
{
	struct trace_probe *tp = trace_probe_of(dyn);
	int err = trace_event_unregister(&tp->event->call);

	if (err)
		return err;
	trace_event_put(tp->probed);
	dynevent_remove(dyn);
	host_free(tp->event);
	host_free(tp);
	return 0;
}

/* Is it SYSTEM.EVENT or SYSTEM/EVENT that is probed? */
static bool match_probed(const struct trace_event_call *call, const char *word, size_t n)
{
	size_t system = strcspn(word, "/");

	if (system >= n)
		system = strcspn(word, ".");
	if (system >= n || strncmp(call->class->system, word, system) ||
	    call->class->system[system])
		return false;
	word += system + 1;
	n -= system + 1;
	return strlen(call->name) == n && !memcmp(call->name, word, n);
}

static bool eprobe_match(
    const struct dynevent *dyn, const char *system, const char *event, const char *args)
{
	const struct trace_probe *tp = trace_probe_of(dyn);
	size_t n = strcspn(args, " \t");

	if (!probe_match_name(tp, system, event))
		return false;
	return !n || (match_probed(tp->probed, args, n) &&
			 probe_match_args(tp, args + n + strspn(args + n, " \t")));
}

const struct dynevent_kind event_probe_dynevent_kind = {
    .create = eprobe_create,
    .show = eprobe_show,
    .is_busy = eprobe_is_busy,
    .free = eprobe_free,
    .match = eprobe_match,
};
