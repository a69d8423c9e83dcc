/*
 * Events of functions: "f:NAME FUNCTION[%return] ARGS" in dynamic_events. This file parses and
 * lists such lines; kprobe.c makes their probes, which use the function's hook. These lines name
 * only functions that have a hook, their events have a group of their own, and some of their errors
 * are not those of kprobe_events. Task context under host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/host_function.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"
#include "trace/probe/probe.h"

#define RETURN "%return"

u32 fprobe_find_value(const struct probe_words *w, u32 *pos)
{
	for (u32 i = 2; i < w->n; i++) {
		const char *at = strstr(w->word[i], "$retval");

		if (at && !is_alnum(at[7]) && at[7] != '_') {
			*pos = at - w->word[i];
			return i;
		}
	}
	return 0;
}

static int fprobe_parse_function(
    struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *text = w->word[1], *suffix = strchr(text, '%');
	size_t n = suffix ? (size_t)(suffix - text) : strlen(text);
	u32 pos;

	if (suffix && strcmp(suffix, RETURN))
		return probe_fail(err, 1, n, "Invalid probed address suffix");
	if (n >= sizeof(d->symbol))
		return probe_fail(err, 1, 0, "Invalid probed address or symbol");
	memcpy(d->symbol, text, n);
	/* An argument $retval makes this a probe of the return, even without %return. */
	d->is_return = suffix || fprobe_find_value(w, &pos);
	d->at_entry = true;
	return 0;
}

static void fprobe_make_name(struct probe_definition *d)
{
	fmt_snprintf(d->id.name, DYNEVENT_NAME_MAX + 1, "%s__%s", d->symbol,
	    d->is_return ? "exit" : "entry");
	for (char *c = d->id.name; *c; c++)
		if (!is_alnum(*c))
			*c = '_';
}

static bool fprobe_is_hooked(const char *symbol)
{
	u64 wanted = host_sym_find(symbol, NULL), addr;

	for (unsigned i = 0; wanted && i < host_function_count(); i++)
		if (host_function(i, &addr) && addr == wanted)
			return true;
	return false;
}

static int fprobe_parse_head(
    struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *head = w->word[0], *colon = strchr(head + 1, ':');
	size_t n = colon ? (size_t)(colon - head) - 1 : strlen(head + 1);
	int code = is_digit(head[1]) ? probe_parse_maxactive(d, head + 1, n, err) : 0;

	d->kind = &fprobe_dynevent_kind;
	strscpy(d->id.group, FPROBE_GROUP, sizeof(d->id.group));
	if (!code)
		code = fprobe_parse_function(d, w, err);
	if (!code && d->maxactive && !d->is_return)
		code = probe_fail(err, 0, 1, "Maxactive is only for function exit");
	if (!code && colon)
		code = probe_parse_id(&d->id, colon + 1, 0, colon + 1 - head, err);
	if (!code && !*d->id.name)
		fprobe_make_name(d);
	return code;
}

/* As on Linux, errors of arguments are reported before a function that has no hook. */
static int fprobe_event_define(const struct probe_words *w, struct probe_error *err)
{
	if (w->n < 2 || *w->word[0] != 'f')
		return -ECANCELED;
	struct probe_definition *d = host_alloc(sizeof(*d));
	int code = d ? fprobe_parse_head(d, w, err) : -ENOMEM;

	if (!code && !fprobe_is_hooked(d->symbol))
		err->late = -EINVAL;
	if (!code)
		code = probe_define_place(d, w, err);
	host_free(d);
	return code;
}

static int fprobe_event_create(const char *line)
{
	return probe_define(line, "trace_fprobe", fprobe_event_define);
}

static void fprobe_event_show(struct seq *s, const struct dynevent *dyn)
{
	const struct trace_probe *tp = trace_probe_of(dyn);

	seq_putc(s, 'f');
	if (tp->maxactive)
		seq_printf(s, "%u", tp->maxactive);
	seq_printf(s, ":%s/%s %s%s", tp->event->group, tp->event->name, tp->symbol,
	    tp->is_return ? RETURN : "");
	probe_show_args(s, tp);
}

const struct dynevent_kind fprobe_dynevent_kind = {
    .create = fprobe_event_create,
    .show = fprobe_event_show,
    .is_busy = kprobe_event_is_busy,
    .free = kprobe_event_free,
    .match = kprobe_event_match,
};
