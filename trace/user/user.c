/*
 * User events as objects: creates them from definitions, finds, lists and removes them; and the
 * page that shows programs which events are enabled. Task context under host_lock, unless a
 * function states otherwise.
 *
 * A non-persistent event is removed when it is neither registered nor enabled. Its last user may
 * leave in the middle of another operation (closing a file, disabling events), which then only
 * notes this; user_events_settle() removes the event.
 *
 * kernel/trace/user_events.c copies a program's data, each byte once. parse.c reads a definition,
 * write.c checks a payload and records it, print.c shows it. Switching an event changes its bit in
 * the page that `user_events_status` maps (older interface), or a word in the program's memory
 * (kernel/trace/enablers.c, newer interface). Events with the name and fields of the EventHeader
 * convention have a class of their own (eventheader_class.c), and the decoder in eventheader/ shows
 * them.
 */
#include "trace/user/user.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/event/file.h"
#include "trace/event/retired.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/host_user.h"

#define HASH_SIZE   1024
#define RETIRED_MAX 256

static struct user_event *by_name[HASH_SIZE];
static struct user_event *by_bit[USER_EVENT_BITS];
static u32 first_free = 1; /* no bit below is free */
static u32 bits_end = 1;   /* none from here on was ever taken */
static u64 *page;	   /* [A] programs read it */
static u64 multi_number;   /* of the next multi-format event */

int user_events_init(void)
{
	page = host_page_alloc();
	return page ? 0 : -ENOMEM;
}

void user_events_exit(void)
{
	host_page_free(page);
	page = NULL;
}

void *user_events_page(void)
{
	return page;
}

const struct trace_event_field *user_event_table(const struct trace_event_call *call)
{
	return user_event_of(call)->table;
}

#define USER_CLASS(name)                                                                           \
	{                                                                                          \
		.system = name, .fields = user_event_table, .print = user_event_print,             \
		.show_fmt = user_event_show_fmt                                                    \
	}
#define EVENTHEADER_CLASS(name)                                                                    \
	{                                                                                          \
		.system = name, .fields = user_event_table, .print = user_eventheader_print,       \
		.print_json = user_eventheader_print_json, .show_fmt = user_event_show_fmt         \
	}
/* By: is it of the EventHeader convention, is it a multi-format event. */
static const struct trace_event_class classes[2][2] = {
    {USER_CLASS(USER_EVENTS_SYSTEM), USER_CLASS(USER_EVENTS_MULTI_SYSTEM)},
    {EVENTHEADER_CLASS(USER_EVENTS_SYSTEM), EVENTHEADER_CLASS(USER_EVENTS_MULTI_SYSTEM)}};

static struct user_event *event_of(const struct dynevent *ev)
{
	return container_of(ev, struct user_event, dyn);
}

/* ---- names and bits ---- */

/* FNV-1a. */
static struct user_event **user_event_bucket(const char *name, size_t n)
{
	u32 hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (u8)name[i]) * 16777619u;
	return &by_name[hash % HASH_SIZE];
}

static bool user_event_has_name(const struct user_event *ev, const char *name, size_t n)
{
	return !strncmp(ev->name, name, n) && !ev->name[n];
}

/* 0: none is free. */
static u32 free_bit(void)
{
	while (first_free < USER_EVENT_BITS && by_bit[first_free])
		first_free++;
	return first_free < USER_EVENT_BITS ? first_free : 0;
}

static void user_event_switch(struct trace_key *key, bool on)
{
	struct user_event *ev = container_of(key, struct user_event, key);
	u64 mask = 1UL << ev->bit % 64, *word = &page[ev->bit / 64];

	if (on)
		atomic_or(word, mask);
	else
		atomic_and(word, ~mask);
	host_user_events_changed();
}

static void list_event(struct user_event *ev)
{
	struct user_event **head = user_event_bucket(ev->name, strlen(ev->name));

	ev->next = *head;
	*head = ev;
	by_bit[ev->bit] = ev;
	bits_end = MAX(bits_end, ev->bit + 1);
	dynevent_add(&ev->dyn, &user_dynevent_kind);
}

static void unlist_event(struct user_event *ev)
{
	struct user_event **at = user_event_bucket(ev->name, strlen(ev->name));

	while (*at != ev)
		at = &(*at)->next;
	*at = ev->next;
	by_bit[ev->bit] = NULL;
	first_free = MIN(first_free, ev->bit);
	dynevent_remove(&ev->dyn);
}

static void user_event_free_retired(struct trace_event_call *call)
{
	host_free(user_event_of(call));
}

static struct trace_retired retired =
    TRACE_RETIRED_INIT(retired, RETIRED_MAX, user_event_free_retired);

/* The removal of an event is no reason for anybody to lose a trace: its records stay. */
static int user_event_retire(struct user_event *ev)
{
	if (trace_event_busy(&ev->call))
		return -EBUSY;
	unlist_event(ev);
	if (trace_event_retire(&ev->call))
		trace_retired_add(&retired, &ev->call);
	else
		host_free(ev);
	return 0;
}

static int user_event_free(struct dynevent *dyn)
{
	return user_event_retire(event_of(dyn));
}

/* ---- making ---- */

/* Consumes ev, also when it fails. */
static int add_event(struct user_event *ev, u32 how)
{
	int err = -EMFILE;

	ev->multi = how & USER_EVENT_REG_MULTI_FORMAT;
	ev->persist = how & USER_EVENT_REG_PERSIST;
	ev->call.class = &classes[user_event_is_eventheader(ev)][ev->multi];
	ev->call.key = &ev->key;
	ev->key.set = user_event_switch;
	ev->bit = free_bit();
	if (ev->bit)
		err = trace_event_register(&ev->call);
	if (err) {
		host_free(ev);
		return err;
	}
	list_event(ev);
	multi_number += ev->multi;
	err = user_events_enable_new(ev);
	if (err)
		user_event_free(&ev->dyn);
	return err;
}

static bool user_event_same_fields(const struct user_event *a, const struct user_event *b)
{
	const struct trace_event_field *f = a->table, *g = b->table;

	if (a->n_fields != b->n_fields)
		return false;
	for (; f->name; f++, g++)
		if (strcmp(f->type, g->type) || strcmp(f->name, g->name) || f->size != g->size)
			return false;
	return true;
}

/*
 * One of that name that will do: its fields are those of `made` (NULL: that text has none that can
 * be).
 */
static struct user_event *user_event_find_alike(
    const char *text, const struct user_event *made, u32 how, bool *clash)
{
	size_t n = user_event_name_len(text);
	bool multi = how & USER_EVENT_REG_MULTI_FORMAT;

	for (struct user_event *ev = *user_event_bucket(text, n); ev; ev = ev->next) {
		if (ev->multi != multi || !user_event_has_name(ev, text, n))
			continue;
		if ((how & USER_EVENT_LAX) || (made && user_event_same_fields(ev, made)))
			return ev;
		*clash |= !multi;
	}
	return NULL;
}

static int parse(const char *text, u32 how, struct user_event **out, struct user_event_error *err)
{
	char suffix[20] = "";

	if (how & USER_EVENT_REG_MULTI_FORMAT)
		fmt_snprintf(suffix, sizeof(suffix), ".%lx", multi_number);
	return user_event_parse(text, suffix, out, err);
}

/* text: the definition, in cmd. */
static int refuse(const char *cmd, const char *text, const struct user_event_error *err, int code)
{
	trace_error_log(trace_global, "user_events", cmd, err->text, text - cmd + err->pos);
	return code;
}

/*
 * The event that the text means, be it made now or there already. cmd: the command that `text` is
 * the end of.
 */
static int user_event_define(const char *cmd, const char *text, u32 how, struct user_event **out)
{
	static const struct user_event_error other = {"An event of this name has other fields", 0};
	struct user_event_error wrong;
	struct user_event *made;
	bool clash = false;
	int err;

	if (how & USER_EVENT_LAX) {
		*out = user_event_find_alike(text, NULL, how, &clash);
		if (*out) {
			(*out)->persist = true;
			return 0;
		}
	}
	err = parse(text, how, &made, &wrong);
	if (err == -ENOMEM)
		return err;
	*out = user_event_find_alike(text, made, how, &clash);
	if (*out || clash || err) {
		host_free(made);
		if (*out)
			return 0;
		return clash ? refuse(cmd, text, &other, -EADDRINUSE)
			     : refuse(cmd, text, &wrong, err);
	}
	*out = made;
	return add_event(made, how & USER_EVENT_LAX ? USER_EVENT_REG_PERSIST : how);
}

/* "u:NAME ..." of dynamic_events: as with the older ioctl. */
static int user_event_create_dynamic(const char *line)
{
	const char *text;
	struct user_event *ev;

	if (!str_has_prefix(line, USER_EVENTS_PREFIX))
		return -ECANCELED;
	text = line + strlen(USER_EVENTS_PREFIX);
	while (is_space(*text))
		text++;
	return user_event_define(line, text, USER_EVENT_LAX, &ev);
}

/* ---- listing ---- */

static void user_event_show_dynamic(struct seq *s, const struct dynevent *dyn)
{
	const struct user_event *ev = event_of(dyn);

	seq_printf(s, USER_EVENTS_PREFIX "%s", ev->call.name);
	for (const struct trace_event_field *f = ev->table; f->name; f++) {
		seq_printf(s, "%s%s %s", f == ev->table ? " " : "; ", f->type, f->name);
		if (str_has_prefix(f->type, "struct "))
			seq_printf(s, " %u", f->size);
	}
}

void user_events_show_status(struct seq *s)
{
	unsigned active = 0, busy = 0;

	for (u32 bit = 1; bit < bits_end; bit++) {
		const struct user_event *ev = by_bit[bit];

		if (!ev)
			continue;
		seq_printf(
		    s, "%u:%s%s\n", bit, ev->call.name, ev->key.on ? " # Used by ftrace" : "");
		active++;
		busy += ev->key.on;
	}
	seq_printf(s, "\nActive: %u\nBusy: %u\nMax: %u\n", active, busy, USER_EVENT_BITS);
}

/* ---- removing ---- */

static bool user_event_is_busy(const struct dynevent *ev)
{
	return trace_event_busy(&event_of(ev)->call);
}

/* "TYPE NAME [SIZE]; ...", as it is listed but for blanks after a ';'. */
static bool user_event_match_fields(const struct user_event *ev, const char *args)
{
	char text[USER_EVENT_TEXT_MAX];
	struct user_event_error wrong;
	struct user_event *wanted;

	if (fmt_snprintf(text, sizeof(text), "x %s", args) >= (int)sizeof(text) ||
	    user_event_parse(text, "", &wanted, &wrong))
		return false;
	bool same = user_event_same_fields(ev, wanted);
	host_free(wanted);
	return same;
}

static bool user_event_match(
    const struct dynevent *dyn, const char *system, const char *event, const char *args)
{
	const struct user_event *ev = event_of(dyn);

	if ((system && strcmp(system, ev->call.class->system)) || strcmp(event, ev->call.name))
		return false;
	return !args || !*args || user_event_match_fields(ev, args);
}

const struct dynevent_kind user_dynevent_kind = {
    .create = user_event_create_dynamic,
    .show = user_event_show_dynamic,
    .is_busy = user_event_is_busy,
    .free = user_event_free,
    .match = user_event_match,
};

/* Whether all events of that name can go: 0, -EBUSY; -ENOENT: there is none. */
static int user_event_check_delete(const char *name, size_t n)
{
	int err = -ENOENT;

	for (const struct user_event *ev = *user_event_bucket(name, n); ev && err != -EBUSY;
	     ev = ev->next)
		if (user_event_has_name(ev, name, n))
			err = trace_event_busy(&ev->call) ? -EBUSY : 0;
	return err;
}

int user_events_delete(const char *name)
{
	struct user_event *ev, *next;
	size_t n = strlen(name);

	host_lock();
	int err = user_event_check_delete(name, n);
	for (ev = err ? NULL : *user_event_bucket(name, n); ev; ev = next) {
		next = ev->next;
		if (user_event_has_name(ev, name, n))
			user_event_retire(ev);
	}
	trace_retired_settle();
	host_unlock();
	return err;
}

static void settle_event(struct user_event *ev)
{
	if (!ev->persist)
		user_event_retire(ev);
}

void user_events_settle(void)
{
	struct dynevent *dyn, *next;

	host_lock();
	list_for_each_entry_safe (dyn, next, &dynevents, node)
		if (dyn->kind == &user_dynevent_kind)
			settle_event(event_of(dyn));
	trace_retired_settle();
	host_unlock();
}

/* ---- who has them ---- */

static void user_event_put_locked(struct user_event *ev)
{
	trace_event_put(&ev->call);
	if (!ev->persist && !trace_event_busy(&ev->call))
		host_user_events_changed();
}

void user_event_get(struct user_event *ev)
{
	host_lock();
	trace_event_get(&ev->call);
	host_unlock();
}

void user_event_put(struct user_event *ev)
{
	host_lock();
	user_event_put_locked(ev);
	host_unlock();
}

struct user_events_file *user_events_open(struct tracefs_file *owner)
{
	struct user_events_file *f = host_alloc(sizeof(*f));

	if (f)
		f->owner = owner;
	return f;
}

static void put_table(struct user_event_table *t)
{
	for (u32 i = 0; t && i < t->count; i++)
		user_event_put_locked(t->events[i]);
	while (t) {
		struct user_event_table *next = t->outgrown;
		host_free(t);
		t = next;
	}
}

void user_events_release(struct user_events_file *f)
{
	host_assert_locked();
	put_table(f->table);
	host_free(f);
}

/* Room for one more: 0 or -ENOMEM. */
static int grow_table(struct user_events_file *f)
{
	struct user_event_table *old = f->table, *t;
	u32 room = old ? old->room : 0;

	if (old && old->count < room)
		return 0;
	room = room ? 2 * room : 8;
	t = host_alloc(sizeof(*t) + room * sizeof(*t->events));
	if (!t)
		return -ENOMEM;
	t->room = room;
	t->outgrown = old;
	if (old) {
		t->count = old->count;
		memcpy(t->events, old->events, old->count * sizeof(*t->events));
	}
	atomic_store_release(&f->table, t);
	return 0;
}

static long index_of(struct user_events_file *f, struct user_event *ev)
{
	host_assert_locked();
	struct user_event_table *t = f->table;

	for (u32 i = 0; ev->call.refs && i < t->count; i++)
		if (t->events[i] == ev)
			return i;
	trace_event_get(&ev->call);
	t->events[t->count] = ev;
	atomic_store_release(&t->count, t->count + 1);
	return t->count - 1;
}

long user_events_register(
    struct user_events_file *f, const char *text, u32 how, struct user_event **out)
{
	host_lock();
	long ret = grow_table(f); /* first: what follows has nothing to undo */
	if (!ret)
		ret = user_event_define(text, text, how, out);
	if (!ret)
		ret = index_of(f, *out);
	host_unlock();
	return ret;
}
