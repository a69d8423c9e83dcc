/*
 * Watchpoints: "w[:[GROUP/][EVENT]] [r|w|rw|io]@PLACE[:LEN] [ARG ...]" in dynamic_events. The event
 * fires when code accesses memory at PLACE, or uses a port. Switching the event on takes one of the
 * host's watchpoints, and switching it off gives it back. Triggers may move it meanwhile
 * (wprobe_trigger.c); switched off, it returns to the place of its definition. Task context under
 * host_lock, but for wprobe_hit(), wprobe_missed() and wprobe_move().
 */
/* hot: runs with each event */
#include "trace/probe/wprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/error_log.h"
#include "trace/event/file.h"
#include "trace/host_copy.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"

#define WHO	    "wprobe"
#define LEN_DEFAULT 4
#define PLACE_MAX   300

static const char bad_address[] = "Invalid access memory address";

/* ---- lines ---- */

struct definition {
	struct probe_id id;
	char symbol[256]; /* "": addr */
	u64 addr;	  /* with the offset */
	u64 offset;	  /* after the symbol, may be negative */
	u8 access, len;
};

static int wprobe_parse_access(struct definition *d, const char *text, struct probe_error *err)
{
	static const struct {
		const char *name;
		u8 access;
	} kinds[] = {
	    {"@", HOST_WATCH_READ | HOST_WATCH_WRITE},
	    {"rw@", HOST_WATCH_READ | HOST_WATCH_WRITE},
	    {"r@", HOST_WATCH_READ},
	    {"w@", HOST_WATCH_WRITE},
	    {"io@", HOST_WATCH_PORT},
	};
	const char *at = strchr(text, '@');

	if (!at)
		return probe_fail(err, 1, 0, "Access memory address requires @");
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == (size_t)(at + 1 - text) &&
		    str_has_prefix(text, kinds[i].name))
			d->access = kinds[i].access;
	return d->access ? 0 : probe_fail(err, 1, 0, "Bad memory access type");
}

static int wprobe_parse_length(
    struct definition *d, const char *text, u32 pos, struct probe_error *err)
{
	u64 len;

	if (parse_u64(text, 0, &len) || !len || len > 8 || len & (len - 1) ||
	    (d->access == HOST_WATCH_PORT && len > 4))
		return probe_fail(err, 1, pos, "This memory access length is not supported");
	d->len = len;
	return 0;
}

static int wprobe_parse_symbol(struct definition *d, char *text, u32 pos, struct probe_error *err)
{
	char *sign = text + strcspn(text, "+-"), op = *sign;
	s64 offset = 0;

	if (op && (!is_digit(sign[1]) || parse_s64(sign + (op == '+'), 0, &offset)))
		return probe_fail(err, 1, pos + (sign - text), "Invalid probed address or symbol");
	*sign = '\0';
	u64 base = strscpy(d->symbol, text, sizeof(d->symbol)) < 0 ? 0 : host_sym_find(text, NULL);
	if (!base) {
		probe_fail(err, 1, pos, bad_address);
		return -ENOENT;
	}
	d->offset = offset;
	d->addr = base + offset;
	return 0;
}

/* HOST_WATCH_NOWHERE has one spelling, -1. */
static int wprobe_parse_number(
    struct definition *d, const char *text, u32 pos, struct probe_error *err)
{
	d->addr = HOST_WATCH_NOWHERE;
	if (!strcmp(text, "-1"))
		return 0;
	if (parse_u64(text, 0, &d->addr) || d->addr == HOST_WATCH_NOWHERE ||
	    (!d->addr && d->access != HOST_WATCH_PORT))
		return probe_fail(err, 1, pos, bad_address);
	return 0;
}

/* "[r|w|rw|io]@PLACE[:LEN]"; text is cut up. */
static int wprobe_parse_place(struct definition *d, char *text, struct probe_error *err)
{
	int code = wprobe_parse_access(d, text, err);

	if (code)
		return code;
	char *place = strchr(text, '@') + 1, *colon = strchr(place, ':');
	u32 pos = place - text;
	d->len = d->access == HOST_WATCH_PORT ? 1 : LEN_DEFAULT;
	if (colon) {
		*colon = '\0';
		code = wprobe_parse_length(d, colon + 1, pos + (colon + 1 - place), err);
	}
	if (code)
		return code;
	if (is_digit(*place) || *place == '-' || d->access == HOST_WATCH_PORT)
		return wprobe_parse_number(d, place, pos, err);
	return wprobe_parse_symbol(d, place, pos, err);
}

static void wprobe_make_name(struct definition *d)
{
	if (*d->symbol)
		fmt_snprintf(d->id.name, DYNEVENT_NAME_MAX + 1, "%s", d->symbol);
	else
		fmt_snprintf(d->id.name, DYNEVENT_NAME_MAX + 1, "%s_0x%llx",
		    d->access == HOST_WATCH_PORT ? "io" : "w", (unsigned long long)d->addr);
	for (char *c = d->id.name; *c; c++)
		if (!is_alnum(*c))
			*c = '_';
}

static int wprobe_parse_head(
    struct definition *d, const struct probe_words *w, struct probe_error *err)
{
	const char *head = w->word[0], *colon = strchr(head + 1, ':');
	char place[PLACE_MAX];
	int code = 0;

	strscpy(d->id.group, WPROBE_GROUP, sizeof(d->id.group));
	if (is_digit(head[1]))
		return probe_fail(err, 0, 1, "Maxactive is not for wprobe");
	if (w->n < 2)
		return probe_fail(err, 0, 0, "No place to watch is specified");
	if (colon)
		code = probe_parse_id(&d->id, colon + 1, 0, colon + 1 - head, err);
	if (!code && strscpy(place, w->word[1], sizeof(place)) < 0)
		code = probe_fail(err, 1, 0, bad_address);
	if (!code)
		code = wprobe_parse_place(d, place, err);
	if (!code && !*d->id.name)
		wprobe_make_name(d);
	return code;
}

static void wprobe_show_place(struct seq *s, const struct definition *d)
{
	static const char *const kinds[] = {[HOST_WATCH_READ] = "r",
	    [HOST_WATCH_WRITE] = "w",
	    [HOST_WATCH_READ | HOST_WATCH_WRITE] = "rw",
	    [HOST_WATCH_PORT] = "io"};

	seq_printf(s, "%s@", kinds[d->access]);
	if (*d->symbol && d->offset)
		seq_printf(s, "%s%s%ld", d->symbol, (s64)d->offset < 0 ? "" : "+", (long)d->offset);
	else if (*d->symbol)
		seq_puts(s, d->symbol);
	else if (d->addr == HOST_WATCH_NOWHERE)
		seq_puts(s, "-1");
	else
		seq_printf(s, "0x%lx", d->addr);
	seq_printf(s, ":%u", d->len);
}

/* ---- hits; any context ---- */

struct wprobe *wprobe_of(const struct trace_event_call *call)
{
	return call->class->fields == probe_event_table ? probe_event_of(call)->first->watch : NULL;
}

static void wprobe_hit(void *arg, const void *regs, u64 ip, u64 addr, u64 value)
{
	struct wprobe *w = arg;
	const u64 words[] = {
	    [PROBE_WATCH_ADDR] = addr,
	    [PROBE_WATCH_VALUE] = value,
	    [PROBE_WATCH_OLD] = atomic_xchg(&w->old, value),
	};

	probe_watch_hit(w->probe, regs, ip, words);
}

/* Counts an access that the recording of this event made: the event cannot record it. */
static void wprobe_missed(void *arg)
{
	const struct wprobe *w = arg;
	struct trace_event_file *file = READ_ONCE(w->probe->event->call.live);

	for (; file; file = READ_ONCE(file->next_live)) {
		local_inc(&file->counts[host_cpu()].hit);
		local_inc(&file->counts[host_cpu()].too_deep);
	}
}

struct host_watch_form wprobe_form(struct wprobe *w)
{
	return (struct host_watch_form){.access = w->access,
	    .len = w->len,
	    .fn = wprobe_hit,
	    .missed = wprobe_missed,
	    .arg = w};
}

static void wprobe_read_old(struct wprobe *w, u64 addr)
{
	u64 value = 0;

	if (w->access == HOST_WATCH_PORT || addr == HOST_WATCH_NOWHERE ||
	    host_copy_kernel(&value, (const void *)addr, w->len))
		value = 0;
	atomic_store(&w->old, value);
}

/* The caller, which changed the place, looks again, so that the last change wins. */
static void wprobe_follow(struct wprobe *w, struct trace_event_file *file)
{
	u64 addr;

	do {
		addr = atomic_load(&w->addr);
		trace_file_way(file, TRACE_WAY_SOFT_OFF, addr == HOST_WATCH_NOWHERE);
		host_watch_move(w->watch, addr);
	} while (atomic_load(&w->addr) != addr);
}

bool wprobe_move(struct wprobe *w, struct trace_event_file *file, u64 from, u64 addr)
{
	if (!atomic_cas(&w->addr, from, addr))
		return false;
	wprobe_read_old(w, addr);
	wprobe_follow(w, file);
	return true;
}

/* ---- switching ---- */

/* Logs an error, with the caret at the place in the line that defined the event. */
static void wprobe_log_refused(const struct wprobe *w, const char *why)
{
	char line[PLACE_MAX + 2 * DYNEVENT_NAME_MAX + 8];
	struct seq s;

	seq_init(&s, line, sizeof(line) - 1);
	seq_printf(&s, "w:%s/%s ", w->probe->event->group, w->probe->event->name);
	u32 pos = s.len;
	seq_puts(&s, w->place);
	line[s.len] = '\0';
	trace_error_log(trace_global, WHO, line, why, pos);
}

static struct wprobe *wprobe_of_key(struct trace_key *key)
{
	return container_of(key, struct probe_event, key)->first->watch;
}

static int wprobe_take(struct trace_key *key)
{
	struct wprobe *w = wprobe_of_key(key);
	struct host_watch_form form = wprobe_form(w);
	const char *why = host_watch_refused(&form, w->addr);
	int err = why ? -EINVAL : w->watch ? 0 : host_watch_open(&form, &w->watch);

	if (err == -ENOSPC)
		why = "All debug registers are in use";
	if (why)
		wprobe_log_refused(w, why);
	return err;
}

static void wprobe_switch(struct trace_key *key, bool on)
{
	struct wprobe *w = wprobe_of_key(key);

	if (on) {
		wprobe_read_old(w, w->addr);
		host_watch_move(w->watch, w->addr);
		host_watch_sync();
	} else if (w->watch) {
		host_watch_close(w->watch);
		w->watch = NULL;
		w->addr = w->home;
	}
}

/* ---- definitions ---- */

static struct wprobe *wprobe_alloc(const struct definition *d, struct trace_probe *tp)
{
	char place[PLACE_MAX];
	struct seq s;

	seq_init(&s, place, sizeof(place));
	wprobe_show_place(&s, d);
	struct wprobe *w = host_alloc(sizeof(*w) + s.len + 1);
	if (!w)
		return NULL;
	*w = (struct wprobe){.probe = tp,
	    .home = d->addr,
	    .addr = d->addr,
	    .access = d->access,
	    .len = d->len,
	    .place = (char *)(w + 1)};
	memcpy(w + 1, place, s.len);
	((char *)(w + 1))[s.len] = '\0';
	return w;
}

static int wprobe_parse(const struct definition *d, const struct probe_words *words,
    struct probe_error *err, struct trace_probe **out)
{
	struct probe_arena arena;
	struct trace_probe *tp = probe_alloc(words, 0, &arena);
	const struct probe_parse form = {
	    .err = err, .arena = &arena, .is_watch = true, .no_registers = true, .named = true};

	*out = tp;
	if (!tp)
		return -ENOMEM;
	int code = probe_parse_args(tp, words, &form);
	if (!code)
		code = err->late;
	if (!code)
		tp->watch = wprobe_alloc(d, tp);
	return code ? code : tp->watch ? 0 : -ENOMEM;
}

static int wprobe_add(struct trace_probe *tp, const struct definition *d, struct probe_error *err)
{
	struct probe_event *ev;
	int code = probe_event_create(&d->id, tp, err, &ev);

	if (code)
		return code;
	ev->key.set = wprobe_switch;
	ev->key.take = wprobe_take;
	ev->call.key = &ev->key;
	code = probe_event_add(ev, tp);
	if (code) {
		host_free(ev);
		return code;
	}
	dynevent_add(&tp->dyn, &wprobe_dynevent_kind);
	return 0;
}

static int wprobe_define(const struct probe_words *words, struct probe_error *err)
{
	if (*words->word[0] != 'w')
		return -ECANCELED;
	struct definition *d = host_alloc(sizeof(*d));
	struct trace_probe *tp = NULL;
	int code = d ? wprobe_parse_head(d, words, err) : -ENOMEM;

	if (!code)
		code = wprobe_parse(d, words, err, &tp);
	if (!code)
		code = wprobe_add(tp, d, err);
	if (code && tp) {
		host_free(tp->watch);
		host_free(tp);
	}
	host_free(d);
	return code;
}

static int wprobe_create(const char *line)
{
	return probe_define(line, WHO, wprobe_define);
}

/* ---- listing and removing ---- */

static void wprobe_show(struct seq *s, const struct dynevent *dyn)
{
	const struct trace_probe *tp = trace_probe_of(dyn);

	seq_printf(s, "w:%s/%s %s", tp->event->group, tp->event->name, tp->watch->place);
	probe_show_args(s, tp);
}

static bool wprobe_is_busy(const struct dynevent *dyn)
{
	return trace_event_busy(&trace_probe_of(dyn)->event->call);
}

static int wprobe_free(struct dynevent *dyn)
{
	struct trace_probe *tp = trace_probe_of(dyn);
	int err = trace_event_unregister(&tp->event->call);

	if (err)
		return err;
	dynevent_remove(dyn);
	host_free(tp->event);
	host_free(tp->watch);
	host_free(tp);
	return 0;
}

static bool wprobe_match(
    const struct dynevent *dyn, const char *system, const char *event, const char *args)
{
	const struct trace_probe *tp = trace_probe_of(dyn);
	size_t n = strcspn(args, " \t");

	if (!probe_match_name(tp, system, event))
		return false;
	if (n && (strlen(tp->watch->place) != n || memcmp(tp->watch->place, args, n) != 0))
		return false;
	return probe_match_args(tp, args + n + strspn(args + n, " \t"));
}

const struct dynevent_kind wprobe_dynevent_kind = {
    .create = wprobe_create,
    .show = wprobe_show,
    .is_busy = wprobe_is_busy,
    .free = wprobe_free,
    .match = wprobe_match,
};
