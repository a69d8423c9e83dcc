/*
 * Events of tracepoints: "t[:[GROUP/][EVENT]] TRACEPOINT ARGS" in dynamic_events, with the
 * arguments of the tracepoint's call site. This file parses and lists such lines, and makes their
 * probes consumers of the tracepoint; kprobe.c makes the events. Task context under host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/probe/probe.h"

/* ---- lines ---- */

static int tprobe_parse_tracepoint(
    struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *text = w->word[1], *at = text;
	u32 pos, word;

	if (strchr(text, '%'))
		return probe_fail(
		    err, 1, strchr(text, '%') - text, "Invalid probed address suffix");
	while (is_alnum(*at) || *at == '_')
		at++;
	if (*at)
		return probe_fail(err, 1, at - text, "Invalid character in tracepoint name");
	word = fprobe_find_value(w, &pos);
	if (word)
		return probe_fail(err, word, pos, "$retval is not available on probe");
	if (strscpy(d->symbol, text, sizeof(d->symbol)) < 0)
		return probe_fail(err, 1, 0, "Tracepoint is not found");
	d->at_entry = true;
	d->tracepoint = trace_tracepoint_find(d->symbol);
	return 0;
}

static int tprobe_parse_head(
    struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *head = w->word[0], *colon = strchr(head + 1, ':');
	size_t n = colon ? (size_t)(colon - head) - 1 : strlen(head + 1);
	int code = is_digit(head[1]) ? probe_parse_maxactive(d, head + 1, n, err) : 0;

	d->kind = &tprobe_dynevent_kind;
	strscpy(d->id.group, TPROBE_GROUP, sizeof(d->id.group));
	if (!code)
		code = tprobe_parse_tracepoint(d, w, err);
	if (!code && d->maxactive)
		code = probe_fail(err, 0, 1, "Maxactive is only for function exit");
	if (!code && colon)
		code = probe_parse_id(&d->id, colon + 1, 0, colon + 1 - head, err);
	if (!code && !*d->id.name)
		fmt_snprintf(d->id.name, DYNEVENT_NAME_MAX + 1, "%s%s",
		    is_digit(*d->symbol) ? "_" : "", d->symbol);
	return code;
}

/* As on Linux, a missing tracepoint may belong to a module that comes later. */
static int tprobe_event_define(const struct probe_words *w, struct probe_error *err)
{
	if (w->n < 2 || *w->word[0] != 't')
		return -ECANCELED;
	struct probe_definition *d = host_alloc(sizeof(*d));
	int code = d ? tprobe_parse_head(d, w, err) : -ENOMEM;

	if (!code)
		code = probe_define_place(d, w, err);
	if (!code && !d->tracepoint)
		host_log("there is no tracepoint of that name: the probe will not be hit");
	host_free(d);
	return code;
}

static int tprobe_event_create(const char *line)
{
	return probe_define(line, "trace_fprobe", tprobe_event_define);
}

static void tprobe_event_show(struct seq *s, const struct dynevent *dyn)
{
	const struct trace_probe *tp = trace_probe_of(dyn);

	seq_printf(s, "t:%s/%s %s", tp->event->group, tp->event->name, tp->symbol);
	probe_show_args(s, tp);
}

const struct dynevent_kind tprobe_dynevent_kind = {
    .create = tprobe_event_create,
    .show = tprobe_event_show,
    .is_busy = kprobe_event_is_busy,
    .free = kprobe_event_free,
    .match = kprobe_event_match,
};
