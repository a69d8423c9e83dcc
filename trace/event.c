/*
 * The registry of events: by list (newest first), by id, by system and name. Task context under host_lock, but for
 * trace_event_by_id(), which printing calls from anywhere: entries are only added, and a table is published when it is whole.
 */
#include "trace/event.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/trace.h"
#include "trace/trace_array.h"

#define FIRST_ID  20 /* below: ftrace:*, with Linux's numbers */
#define LAST_ID	  65535
#define START_IDS 1024

struct list_head trace_events = LIST_HEAD_INIT(trace_events);
struct list_head trace_systems = LIST_HEAD_INIT(trace_systems);

static struct trace_event_call *first_ids[START_IDS];
static struct trace_event_call **by_id = first_ids;
static u32 id_room = START_IDS;
static u32 next_id = FIRST_ID;

struct trace_event_call *trace_event_by_id(unsigned id)
{
	return id < atomic_load_acquire(&id_room) ? atomic_load_acquire(&by_id)[id] : NULL;
}

/* The larger table is there before its size is: a reader with the new size has the new table. The old one stays for readers. */
static int grow_ids(void)
{
	u32 room = id_room * 2;
	struct trace_event_call **table = host_alloc(room * sizeof(*table));

	if (!table)
		return -ENOMEM;
	memcpy(table, by_id, id_room * sizeof(*table));
	atomic_store_release(&by_id, table);
	atomic_store_release(&id_room, room);
	return 0;
}

/* A "%p" that stands alone gets the letter that hashes it (trace/print.c). Most formats have none and serve both ways. */
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
		if (!strcmp(sys->name, name))
			return sys;
	return NULL;
}

static struct trace_system *system_create(const char *name)
{
	struct trace_system *sys = host_alloc(sizeof(*sys)), *after;

	if (!sys)
		return NULL;
	sys->name = name;
	trace_life_begin(&sys->life);
	list_for_each_entry (after, &trace_systems, node)
		if (strcmp(after->name, name) > 0)
			break;
	list_add_tail(&sys->node, &after->node);
	return sys;
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
	sys->calls[sys->count++] = call;
	sys->sorted = false;
	call->system = sys;
	return 0;
}

/* Shell sort: the list of a system is wanted in order only when somebody looks at its directory. */
static void system_sort(struct trace_system *sys)
{
	for (u32 gap = sys->count / 2; gap; gap /= 2)
		for (u32 i = gap; i < sys->count; i++) {
			struct trace_event_call *call = sys->calls[i];
			u32 at = i;
			for (; at >= gap && strcmp(sys->calls[at - gap]->name, call->name) > 0;
			     at -= gap)
				sys->calls[at] = sys->calls[at - gap];
			sys->calls[at] = call;
		}
	sys->sorted = true;
}

struct trace_event_call *trace_system_nth(struct trace_system *sys, u32 i)
{
	if (!sys->sorted)
		system_sort(sys);
	return i < sys->count ? sys->calls[i] : NULL;
}

struct trace_event_call *trace_event_find(const char *system, const char *name)
{
	struct trace_system *sys = trace_system_find(system);

	for (u32 i = 0; sys && i < sys->count; i++)
		if (!strcmp(sys->calls[i]->name, name))
			return sys->calls[i];
	return NULL;
}

static int take_id(struct trace_event_call *call)
{
	if (!call->id) {
		if (next_id > LAST_ID)
			return -ENOSPC;
		if (next_id >= id_room && grow_ids())
			return -ENOMEM;
		call->id = next_id++;
	}
	atomic_store_release(&by_id[call->id], call);
	return 0;
}

int trace_event_enter(struct trace_event_call *call)
{
	struct trace_system *sys = trace_system_find(call->class->system);

	if (!sys && !(sys = system_create(call->class->system)))
		return -ENOMEM;
	if (call->fmt && !(call->fmt_hashed = hashed_format(call->fmt)))
		return -ENOMEM;
	int err = system_add(sys, call);
	if (!err)
		err = take_id(call);
	if (!err)
		trace_life_begin(&call->life);
	return err;
}

/* Backwards, so that lists show the last declared first, as Linux's do. */
void trace_events_register(struct trace_event_call *const *calls, unsigned n)
{
	while (n-- > 0)
		if (!trace_event_enter(calls[n]))
			list_add_tail(&calls[n]->node, &trace_events);
}
