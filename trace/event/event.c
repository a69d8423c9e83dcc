/*
 * The registry of events: by list (newest first), by id, by system and name. Task context under
 * host_lock, except for trace_event_by_id(), which printing calls in any context: a table is
 * published when complete, and an entry is removed only when no ring has a record with its id.
 */
#include "trace/event/event.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/filter.h"
#include "trace/event/parts.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

#define FIRST_ID  20 /* below: ftrace:*, with Linux's numbers */
#define LAST_ID	  65535
#define START_IDS 1024

#define NAME_CHAINS 1024

struct list_head trace_events = LIST_HEAD_INIT(trace_events);
struct list_head trace_systems = LIST_HEAD_INIT(trace_systems);

static struct trace_event_call *first_ids[START_IDS];
static struct trace_event_call **by_id = first_ids;
static struct trace_event_call *
    *outgrown[6]; /* by_id of before: a reader may still look into one */
static u32 growths;
static u32 id_room = START_IDS;
static u32 next_id = FIRST_ID;

struct trace_event_call *trace_event_by_id(unsigned id)
{
	return id < atomic_load_acquire(&id_room) ? atomic_load_acquire(&by_id)[id] : NULL;
}

/*
 * The larger table is there before its size is: a reader with the new size has the new table. The
 * old one stays for readers.
 */
static int grow_ids(void)
{
	u32 room = id_room * 2;
	struct trace_event_call **table = host_alloc(room * sizeof(*table));

	if (!table)
		return -ENOMEM;
	memcpy(table, by_id, id_room * sizeof(*table));
	outgrown[growths++] = by_id;
	atomic_store_release(&by_id, table);
	atomic_store_release(&id_room, room);
	return 0;
}

/*
 * A "%p" that stands alone gets the letter that hashes it (trace/output/print.c). Most formats have
 * none and serve both ways.
 */
static const char *hashed_format(const char *fmt)
{
	unsigned bare = 0;

	for (const char *p = fmt; (p = strstr(p, "%p")); p += 2)
		bare += !is_alpha(p[2]);
	if (!bare)
		return fmt;
	char *copy = host_alloc(strlen(fmt) + bare + 1), *to = copy;
	if (!copy)
		return NULL;
	while (*fmt) {
		*to++ = *fmt++;
		if (fmt[-1] == 'p' && to - copy > 1 && fmt[-2] == '%' && !is_alpha(*fmt))
			*to++ = 'H';
	}
	return copy;
}

struct trace_system *trace_system_find(const char *name)
{
	struct trace_system *sys;

	list_for_each_entry (sys, &trace_systems, node)
		if (str_equal(sys->name, name))
			return sys;
	return NULL;
}

static struct trace_system *system_create(const char *name)
{
	size_t size = strlen(name) + 1;
	struct trace_system *sys = host_alloc(sizeof(*sys) + size), *after;

	if (!sys)
		return NULL;
	memcpy(sys + 1, name, size); /* its own: the event that brings it may go before others */
	sys->name = (char *)(sys + 1);
	trace_handle_begin(&sys->handle);
	list_for_each_entry (after, &trace_systems, node)
		if (strcmp(after->name, name) > 0)
			break;
	list_add_tail(&sys->node, &after->node);
	return sys;
}

/* Programs may have many thousand events: they are found by a hash (FNV-1a) of their names. */
static struct trace_event_call **trace_event_chain(const char *name)
{
	static struct trace_event_call *heads[NAME_CHAINS];
	u32 hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (u8)*name) * 16777619u;
	return &heads[hash % NAME_CHAINS];
}

static int system_add(struct trace_system *sys, struct trace_event_call *call)
{
	if (sys->count == sys->room) {
		u32 room = sys->room ? sys->room * 2 : 32;
		struct trace_event_call **calls = host_alloc(room * sizeof(*calls));
		if (!calls)
			return -ENOMEM;
		if (sys->count)
			memcpy(calls, sys->calls, sys->count * sizeof(*calls));
		host_free(sys->calls);
		sys->calls = calls;
		sys->room = room;
	}
	call->place = sys->count;
	call->system = sys;
	struct trace_event_call **chain = trace_event_chain(call->name);
	call->next_named = *chain;
	*chain = call;
	sys->calls[sys->count++] = call;
	return 0;
}

struct trace_event_call *trace_event_find(const char *system, const char *name)
{
	struct trace_event_call *call = *trace_event_chain(name);

	while (call && (strcmp(call->name, name) || strcmp(call->class->system, system)))
		call = call->next_named;
	return call;
}

/* Counts up, and only when all numbers have been used takes those that were given back. */
static int free_id(u16 *id)
{
	if (next_id <= LAST_ID) {
		if (next_id >= id_room && grow_ids())
			return -ENOMEM;
		*id = next_id++;
		return 0;
	}
	for (u32 i = FIRST_ID; i <= LAST_ID; i++)
		if (!by_id[i]) {
			*id = i;
			return 0;
		}
	return -ENOSPC;
}

static int take_id(struct trace_event_call *call)
{
	int err = call->id ? 0 : free_id(&call->id);

	if (!err)
		atomic_store_release(&by_id[call->id], call);
	return err;
}

/* A directory without events goes, and with it the refused filter that its file shows. */
static void trace_system_drop_empty(struct trace_system *sys)
{
	if (sys->count)
		return;
	trace_handle_end(&sys->handle);
	trace_filter_set_refused(sys, NULL, NULL);
	list_del(&sys->node);
	host_free(sys->calls);
	host_free(sys);
}

static void system_remove(struct trace_event_call *call)
{
	struct trace_event_call **at = trace_event_chain(call->name);
	struct trace_system *sys = call->system;

	while (*at != call)
		at = &(*at)->next_named;
	*at = call->next_named;
	sys->calls[call->place] = sys->calls[--sys->count];
	sys->calls[call->place]->place = call->place;
	call->system = NULL;
	trace_system_drop_empty(sys);
}

int trace_event_add(struct trace_event_call *call)
{
	struct trace_system *sys = trace_system_find(call->class->system);

	if (!sys && !(sys = system_create(call->class->system)))
		return -ENOMEM;
	int err = system_add(sys, call);
	if (err)
		trace_system_drop_empty(sys);
	else if ((call->fmt && !(call->fmt_hashed = hashed_format(call->fmt))))
		err = -ENOMEM;
	else
		err = take_id(call);
	if (!err)
		trace_handle_begin(&call->handle);
	else if (call->system)
		trace_event_remove(call);
	return err;
}

void trace_event_unlist(struct trace_event_call *call)
{
	host_assert_locked();
	trace_handle_end(&call->handle);
	system_remove(call);
	call->flags &= ~TRACE_CALL_NOTED;
}

void trace_event_free_id(struct trace_event_call *call)
{
	if (call->fmt_hashed != call->fmt)
		host_free((void *)call->fmt_hashed);
	call->fmt_hashed = NULL;
	trace_export_forget(call);
	if (call->id && by_id[call->id] == call)
		atomic_store_release(&by_id[call->id], NULL);
	call->id = 0;
}

void trace_event_remove(struct trace_event_call *call)
{
	host_assert_locked();
	trace_event_unlist(call);
	trace_event_free_id(call);
}

struct trace_event_call *trace_event_make(const struct trace_event_row *row)
{
	struct trace_event_call *call = row->call;

	call->class = row->class;
	call->name = row->name;
	call->print_fmt = row->print_fmt;
	call->fmt = row->fmt;
	call->key = row->key;
	call->stub = row->stub;
	call->id = row->id;
	call->flags = row->flags;
	call->n_args = row->n_args;
	return call;
}

void trace_event_register_made(struct trace_event_call *call)
{
	if (!trace_event_add(call))
		list_add_tail(&call->node, &trace_events);
}

/* Backwards, so that lists show the last declared first, as Linux's do. */
void trace_events_register(const struct trace_event_row *rows, unsigned n)
{
	while (n-- > 0)
		trace_event_register_made(trace_event_make(&rows[n]));
}
