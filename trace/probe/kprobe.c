/*
 * Creates, lists and removes probes of instructions and returns, and their events, from lines of
 * kprobe_events. Task context under host_lock.
 *
 * A definition is completely parsed into a probe before anything else changes. Probes of the same
 * name share one event, whose fields are those of all of them; the event goes with the last.
 */
/* hot: runs with each event */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/consumer.h"
#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/event/file.h"
#include "trace/host_cpus.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/host_probe.h"
#include "trace/probe/probe.h"
#include "trace/types/types.h"

#define MAXACTIVE_DEFAULT 10u

/* ---- the place ---- */

int probe_parse_maxactive(
    struct probe_definition *d, const char *text, size_t n, struct probe_error *err)
{
	char number[DYNEVENT_NAME_MAX + 1];

	if (n >= sizeof(number))
		return probe_fail(err, 0, 1, "Invalid maxactive number");
	memcpy(number, text, n);
	number[n] = '\0';
	if (parse_u32(number, 0, &d->maxactive) || !d->maxactive)
		return probe_fail(err, 0, 1, "Invalid maxactive number");
	if (d->maxactive > PROBE_MAXACTIVE_MAX)
		return probe_fail(err, 0, 1, "Maxactive is too big");
	return 0;
}

static const char bad_place[] = "Invalid probed address or symbol";

/* "MODULE:SYMBOL" may be there later, as Linux has it: a module is loaded when it is wanted. */
static bool is_of_module(const char *symbol)
{
	return strchr(symbol, ':');
}

/* "[MODULE:]SYMBOL[+offs][%return]" */
static int parse_symbol(struct probe_definition *d, const char *text, struct probe_error *err)
{
	char *suffix, *plus;
	int code;

	if (strscpy(d->symbol, text, sizeof(d->symbol)) < 0)
		return probe_fail(err, 1, 0, bad_place);
	suffix = strchr(d->symbol, '%');
	if (suffix && strcmp(suffix, "%return"))
		return probe_fail(err, 1, suffix - d->symbol, "Invalid probed address suffix");
	if (suffix) {
		*suffix = '\0';
		d->is_return = true;
	}
	plus = d->symbol + strcspn(d->symbol, "+-");
	if (*plus) {
		if (*plus == '-' || parse_u64(plus + 1, 0, &d->offset) || d->offset > UINT32_MAX)
			return probe_fail(err, 1, 0, bad_place);
		*plus = '\0';
	}
	if (is_of_module(d->symbol)) /* it has no address yet */
		return 0;
	code = host_symbol_entry(d->symbol, d->offset);
	if (code == -EINVAL && d->is_return)
		return probe_fail(err, 1, 0, "Retprobe address must be an function entry");
	d->at_entry = !code;
	code = host_symbol_check(d->symbol);
	if (code)
		probe_fail(
		    err, 1, 0, code == -EADDRNOTAVAIL ? "The symbol is not unique" : bad_place);
	return code;
}

/* What Linux calls an event without a name; what may not be in a name becomes '_'. */
static void make_name(struct probe_definition *d)
{
	if (*d->symbol)
		fmt_snprintf(d->id.name, DYNEVENT_NAME_MAX + 1, "%c_%s_%llu",
		    d->is_return ? 'r' : 'p', d->symbol, (unsigned long long)d->offset);
	else
		fmt_snprintf(d->id.name, DYNEVENT_NAME_MAX + 1, "%c_0x%llx",
		    d->is_return ? 'r' : 'p', (unsigned long long)d->addr);
	for (char *c = d->id.name; *c; c++)
		if (!is_alnum(*c))
			*c = '_';
}

static int parse_head(
    struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *head = w->word[0], *colon = strchr(head + 1, ':');
	size_t n = colon ? (size_t)(colon - head) - 1 : strlen(head + 1);
	int code = 0;

	d->kind = &probe_dynevent_kind;
	d->is_return = *head == 'r';
	strscpy(d->id.group, PROBE_GROUP, sizeof(d->id.group));
	if (is_digit(head[1]))
		code = d->is_return ? probe_parse_maxactive(d, head + 1, n, err)
				    : probe_fail(err, 0, 1, "Maxactive is not for kprobe");
	if (!code && parse_u64(w->word[1], 0, &d->addr)) {
		d->addr = 0;
		code = parse_symbol(d, w->word[1], err);
	}
	if (!code && colon)
		code = probe_parse_id(&d->id, colon + 1, 0, colon + 1 - head, err);
	if (!code && !*d->id.name)
		make_name(d);
	return code;
}

/* ---- probes ---- */

static bool is_tprobe(const struct dynevent_kind *kind)
{
	return kind == &tprobe_dynevent_kind;
}

/* How its arguments are to be read. */
static struct probe_parse form_of(
    const struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	bool kprobe = d->kind == &probe_dynevent_kind;
	bool named = !kprobe || probe_is_named(w, d->is_return);
	u32 proto = 0;

	if (named && d->at_entry)
		proto =
		    is_tprobe(d->kind) ? types_tracepoint(d->symbol) : types_function(d->symbol);
	return (struct probe_parse){.err = err,
	    .is_return = d->is_return,
	    .no_registers = !kprobe,
	    .at_entry = d->at_entry && !d->is_return,
	    .function = d->at_entry ? d->symbol : NULL,
	    .proto = proto,
	    .named = named};
}

static struct trace_probe *make_probe(const struct probe_definition *d, const struct probe_words *w,
    const struct probe_parse *form, struct probe_arena *arena)
{
	struct trace_probe *tp = probe_alloc(w, strlen(d->symbol) + 1, arena);

	if (!tp)
		return NULL;
	tp->symbol = *d->symbol ? probe_parse_keep(arena, d->symbol, strlen(d->symbol)) : NULL;
	tp->addr = d->addr;
	tp->offset = d->offset;
	tp->is_return = d->is_return;
	tp->maxactive = d->maxactive;
	tp->dyn.kind = d->kind;
	tp->old = d->kind == &probe_dynevent_kind && probe_is_legacy(w, form->proto);
	tp->sp = host_reg_find(host_stack_register());
	tp->tracepoint = d->tracepoint;
	if (d->tracepoint) {
		tp->sp = 8 * d->tracepoint->n_args;
		tp->addr = (u64)d->tracepoint->stub;
	}
	return tp;
}

/* The probe of a line whose place is known, with its arguments. */
static int parse_probe(const struct probe_definition *d, const struct probe_words *w,
    struct probe_error *err, struct trace_probe **out)
{
	struct probe_parse form = form_of(d, w, err);
	struct probe_words words = {.word = NULL};
	struct probe_arena arena;
	int code = 0;

	form.named = form.no_registers || (form.named && !probe_is_legacy(w, form.proto));
	if (form.named)
		code = probe_expand(w, &form, &words);
	if (code)
		return code;
	const struct probe_words *all = words.word ? &words : w;
	*out = make_probe(d, all, &form, &arena);
	form.arena = &arena;
	code = *out ? probe_parse_args(*out, all, &form) : -ENOMEM;
	host_free(words.word);
	return code;
}

/* Nothing of its arguments is another register than a function's arguments are in. */
static bool probe_reads_arguments(const struct trace_probe *tp)
{
	for (u32 i = 0; i < tp->n_args; i++) {
		const struct probe_fetch *f = &tp->args[i].fetch;

		if (f->source == PROBE_FROM_REG
			? !host_reg_is_argument(f->param)
			: f->source != PROBE_FROM_IMM && f->source != PROBE_FROM_COMM)
			return false;
	}
	return true;
}

static int kprobe_event_register(struct trace_probe *tp, struct probe_error *err)
{
	struct host_probe_place place = {
	    .symbol = tp->symbol,
	    .addr = tp->addr,
	    .offset = tp->offset,
	    .is_return = tp->is_return,
	    .fn = probe_hit_of(tp),
	    .arg = tp,
	    .n_kept = tp->n_entry,
	    .keep = probe_keep,
	    .kept_fn = probe_return_hit,
	    .arguments = probe_reads_arguments(tp),
	};
	int code = err->late ? err->late : !tp->symbol && !tp->addr ? -EINVAL : 0;

	if (is_tprobe(tp->dyn.kind)) {
		if (code)
			probe_fail(err, 1, 0, bad_place);
		return code;
	}
	if (!code)
		code = host_probe_create(&place, &tp->host);
	if (!code && !tp->maxactive && tp->dyn.kind == &probe_dynevent_kind)
		tp->maxactive = MAX(MAXACTIVE_DEFAULT, 2 * host_cpu_count());
	if (code == -ENOENT && !tp->symbol) {
		host_log("no code at the probe's address: it will not be hit");
		return 0;
	}
	if (code == -ENOENT && is_of_module(tp->symbol)) {
		host_log("This probe might be able to register after target module is loaded. "
			 "Continue.");
		return 0;
	}
	if (code == -EILSEQ)
		probe_fail(err, 1, 0, "Probe point is not an instruction boundary");
	else if (code == -ENOENT)
		probe_fail(err, 1, 0, bad_place);
	else if (code && code != -ENOMEM)
		probe_fail(err, 1, 0, "Failed to register probe event");
	return code;
}

/* ---- events ---- */

static void kprobe_event_consume(struct trace_probe *tp)
{
	tp->consumer.fn = probe_consume_of(tp);
	trace_consumer_add(tp->tracepoint, &tp->consumer);
}

static void kprobe_event_switch_probe(struct trace_probe *tp, bool on)
{
	if (tp->host)
		host_probe_switch(tp->host, on);
	else if (tp->tracepoint && on)
		kprobe_event_consume(tp);
	else if (tp->tracepoint)
		trace_consumer_remove(tp->tracepoint, &tp->consumer);
}

static void kprobe_event_switch(struct trace_key *key, bool on)
{
	struct probe_event *ev = container_of(key, struct probe_event, key);

	for (struct trace_probe *tp = ev->first; tp; tp = tp->next)
		kprobe_event_switch_probe(tp, on);
}

/* As on Linux, probes of functions and of tracepoints are one kind, whose sorts do not mix. */
static bool is_related(const struct dynevent_kind *a, const struct dynevent_kind *b)
{
	bool both = (is_tprobe(a) || a == &fprobe_dynevent_kind) &&
		    (is_tprobe(b) || b == &fprobe_dynevent_kind);

	return a == b || both;
}

static struct probe_event *find_event(const struct probe_definition *d)
{
	struct trace_event_call *call = trace_event_find(d->id.group, d->id.name);

	if (!call || call->class->fields != probe_event_table)
		return NULL;
	struct probe_event *ev = probe_event_of(call);
	return is_related(ev->first->dyn.kind, d->kind) ? ev : NULL;
}

/* A legacy event records from its definition on, as its document shows. */
static int turn_on_old(struct probe_event *ev, const struct trace_probe *tp)
{
	int err = tp->old ? trace_set_events(trace_global, NULL, ev->group, ev->name, true) : 0;

	if (err)
		trace_event_unregister(&ev->call);
	return err;
}

static int add_new(
    struct trace_probe *tp, const struct probe_definition *d, struct probe_error *err)
{
	struct probe_event *ev;
	int code = probe_event_create(&d->id, tp, err, &ev);

	if (code)
		return code;
	ev->key.set = kprobe_event_switch;
	ev->call.key = &ev->key;
	code = kprobe_event_register(tp, err);
	if (!code)
		code = probe_event_add(ev, tp);
	if (!code)
		code = turn_on_old(ev, tp);
	if (!code) {
		dynevent_add(&tp->dyn, d->kind);
		return 0;
	}
	if (tp->host)
		host_probe_destroy(tp->host);
	host_free(ev);
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
	const struct trace_probe *old = ev->first, *at;
	u32 differs;

	if (tp->is_return != old->is_return || tp->old != old->old ||
	    tp->dyn.kind != old->dyn.kind) {
		probe_fail(err, 0, 0, "Probe type is different from existing probe");
		return -EEXIST;
	}
	differs = first_difference(tp, old);
	if (differs) {
		probe_fail(
		    err, differs + 1, 0, "Argument type or name is different from existing probe");
		return -EEXIST;
	}
	for (at = old; at; at = at->next)
		if (is_same(tp, at)) {
			probe_fail(err, 0, 0, "There is already the exact same probe event");
			return -EEXIST;
		}
	tp->event = ev;
	int code = kprobe_event_register(tp, err);
	if (code)
		return code;
	tp->next = ev->first;
	ev->first = tp;
	dynevent_add(&tp->dyn, old->dyn.kind);
	if (ev->key.on) {
		kprobe_event_switch_probe(tp, true);
		host_probes_flush();
	}
	return 0;
}

/* ---- commands ---- */

/* "PATH:OFFSET", as Linux names a place in a program. */
static bool is_user_place(const char *place)
{
	return strchr(place, '/') && strchr(place, ':');
}

int probe_define_place(
    const struct probe_definition *d, const struct probe_words *w, struct probe_error *err)
{
	struct trace_probe *tp = NULL;
	int code = parse_probe(d, w, err, &tp);

	if (!code) {
		struct probe_event *ev = find_event(d);
		code = ev ? add_to(tp, ev, err) : add_new(tp, d, err);
	}
	if (code)
		host_free(tp);
	return code;
}

static int kprobe_event_define(const struct probe_words *w, struct probe_error *err)
{
	if (w->n < 2 || (*w->word[0] != 'p' && *w->word[0] != 'r'))
		return -ECANCELED;
	if (is_user_place(w->word[1]))
		return probe_fail(err, 1, 0, "There are no probes of programs");
	struct probe_definition *d = host_alloc(sizeof(*d));
	int code = d ? parse_head(d, w, err) : -ENOMEM;

	if (!code)
		code = probe_define_place(d, w, err);
	host_free(d);
	return code;
}

static int kprobe_event_create(const char *line)
{
	return probe_define(line, "trace_kprobe", kprobe_event_define);
}

int probe_command(char *line)
{
	if (*line == '-')
		return dynevent_release(line, &probe_dynevent_kind);
	int code = kprobe_event_create(line);
	return code == -ECANCELED ? -EINVAL : code;
}

/* ---- listing ---- */

static void kprobe_event_show_target(struct seq *s, const struct trace_probe *tp)
{
	if (!tp->symbol && tp->host)
		seq_printf(s, "0x%lx", tp->addr);
	else if (!tp->symbol)
		/* there is nothing: Linux hides all addresses but 0 */
		seq_puts(s, tp->addr ? "0x(____ptrval____)" : "0x0000000000000000");
	else if (tp->offset)
		seq_printf(s, "%s+%lu", tp->symbol, tp->offset);
	else
		seq_puts(s, tp->symbol);
}

static void kprobe_event_show(struct seq *s, const struct dynevent *dyn)
{
	const struct trace_probe *tp = trace_probe_of(dyn);

	seq_putc(s, tp->is_return ? 'r' : 'p');
	if (tp->is_return && tp->maxactive) /* a place that is not there yet has none of its own */
		seq_printf(s, "%u", tp->maxactive);
	seq_printf(s, ":%s/%s ", tp->event->group, tp->event->name);
	kprobe_event_show_target(s, tp);
	probe_show_args(s, tp);
}

void probe_profile_show(struct seq *s)
{
	struct dynevent *dyn;

	list_for_each_entry (dyn, &dynevents, node) {
		if (dyn->kind != &probe_dynevent_kind)
			continue;
		const struct trace_probe *tp = trace_probe_of(dyn);
		seq_printf(s, "  %-44s %15lu %15lu\n", tp->event->name, atomic_load(&tp->hits),
		    tp->host ? host_probe_missed(tp->host) : 0);
	}
}

/* ---- removing ---- */

/* A legacy event may go while it is on: its document never turns it off. */
bool kprobe_event_is_busy(const struct dynevent *dyn)
{
	const struct trace_probe *tp = trace_probe_of(dyn);
	const struct trace_event_call *call = &tp->event->call;

	return tp->old ? trace_event_needed(call) : trace_event_busy(call);
}

static void detach(struct trace_probe *tp)
{
	struct trace_probe **at = &tp->event->first;

	while (*at != tp)
		at = &(*at)->next;
	*at = tp->next;
	dynevent_remove(&tp->dyn);
}

int kprobe_event_free(struct dynevent *dyn)
{
	struct trace_probe *tp = trace_probe_of(dyn);
	struct probe_event *ev = tp->event;
	bool last = ev->first == tp && !tp->next;
	int err = last && kprobe_event_is_busy(dyn) ? -EBUSY : 0;

	if (!err && last && tp->old) {
		probe_event_retire(ev);
		return 0;
	}
	if (!err && last)
		err = trace_event_unregister(&ev->call);
	if (err)
		return err;
	if (!last && tp->event->key.on && tp->tracepoint)
		trace_consumer_remove(tp->tracepoint, &tp->consumer);
	if (tp->host)
		host_probe_destroy(tp->host);
	else if (tp->tracepoint)
		host_synchronize();
	detach(tp);
	if (last)
		host_free(ev);
	host_free(tp);
	return 0;
}

/* "SYMBOL[+offs] [ARG ...]" as listed. */
static bool kprobe_event_match_args(const struct trace_probe *tp, const char *args)
{
	size_t n = strcspn(args, " \t");
	char text[320];
	struct seq s;

	seq_init(&s, text, sizeof(text));
	kprobe_event_show_target(&s, tp);
	if (n && (s.len != n || memcmp(text, args, n) != 0))
		return false;
	return probe_match_args(tp, args + n + strspn(args + n, " \t"));
}

bool kprobe_event_match(
    const struct dynevent *dyn, const char *system, const char *event, const char *args)
{
	const struct trace_probe *tp = trace_probe_of(dyn);

	return probe_match_name(tp, system, event) && kprobe_event_match_args(tp, args);
}

const struct dynevent_kind probe_dynevent_kind = {
    .create = kprobe_event_create,
    .show = kprobe_event_show,
    .is_busy = kprobe_event_is_busy,
    .free = kprobe_event_free,
    .match = kprobe_event_match,
};
