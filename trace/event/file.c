/*
 * The files of events, one per event and trace array. A new array gets a file for each event; a new
 * event gets a file in each array. Task context under host_lock.
 */
#include "trace/event/file.h"
#include "kernel/lib/errno.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/filter.h"
#include "trace/event/ledger.h"
#include "trace/event/snapshot.h"
#include "trace/event/trigger.h"
#include "trace/host_cpus.h"
#include "trace/host_files.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

struct trace_event_file *trace_event_file_of(
    struct trace_array *tr, const struct trace_event_call *call)
{
	struct trace_event_file *file = call->files;

	while (file && file->tr != tr)
		file = file->next_file;
	return file;
}

static void add_file(
    struct trace_array *tr, struct trace_event_call *call, struct trace_event_file *file)
{
	file->tr = tr;
	file->call = call;
	file->id = call->id;
	file->buffer = tr->buffer;
	file->way = tr->way;
	file->next_file = call->files;
	call->files = file;
	if (call->id < TRACE_FTRACE_IDS)
		tr->ftrace[call->id] = file;
}

/* What the core records by itself is never switched on: its files are ready from the start. */
static int prepare_ftrace(struct trace_array *tr)
{
	for (unsigned id = 0; id < TRACE_FTRACE_IDS; id++)
		if (tr->ftrace[id] && trace_file_counts(tr->ftrace[id]))
			return -ENOMEM;
	return 0;
}

/* One block for all events there are now, most of which never go away. */
static int add_static_files(struct trace_array *tr)
{
	struct trace_event_call *call;
	u32 n = 0;

	list_for_each_entry (call, &trace_events, node)
		n++;
	tr->static_files = host_alloc((n + 1) * sizeof(*tr->static_files));
	if (!tr->static_files)
		return -ENOMEM;
	tr->static_count = n;
	n = 0;
	list_for_each_entry (call, &trace_events, node) {
		add_file(tr, call, &tr->static_files[n]);
		list_add_tail(&tr->static_files[n++].node, &tr->files);
	}
	return 0;
}

int trace_array_add_files(struct trace_array *tr)
{
	return add_static_files(tr) || prepare_ftrace(tr) ? -ENOMEM : 0;
}

/* One block per instance: made first, so that nothing can fail once the event is known by name. */
int trace_event_register(struct trace_event_call *call)
{
	host_assert_locked();
	struct trace_event_file *made = NULL, *file;
	struct trace_array *tr;
	int err = 0;

	if (trace_event_find(call->class->system, call->name))
		return -EEXIST;
	if (host_memory_check("an event", 0))
		return -ENOMEM;
	list_for_each_entry (tr, &trace_arrays, node) {
		file = host_alloc(sizeof(*file));
		if (!file) {
			err = -ENOMEM;
			break;
		}
		file->next_file = made;
		made = file;
	}
	if (!err)
		err = trace_event_add(call);
	if (!err)
		list_add(&call->node, &trace_events);
	list_for_each_entry (tr, &trace_arrays, node) {
		file = made;
		if (!file)
			break;
		made = file->next_file;
		if (err) {
			host_free(file);
			continue;
		}
		add_file(tr, call, file);
		list_add(&file->node, &tr->files); /* newest first */
	}
	if (!err)
		host_directory_made(call->name, call->class->system);
	return err;
}

static void trace_event_remove_file(struct trace_event_file *file)
{
	struct trace_event_file **at = &file->call->files;

	while (*at != file)
		at = &(*at)->next_file;
	*at = file->next_file;
	list_del(&file->node);
	trace_filter_drop(file);
	trace_trigger_free(file->feed);
	trace_ledger_close_file(file);
	host_free(file->counts);
}

static bool is_static(const struct trace_array *tr, const struct trace_event_file *file)
{
	return file >= tr->static_files && file < tr->static_files + tr->static_count;
}

bool trace_event_busy(const struct trace_event_call *call)
{
	return call->refs || call->live;
}

bool trace_event_needed(const struct trace_event_call *call)
{
	bool needed = call->refs;

	for (const struct trace_event_file *f = call->files; f; f = f->next_file)
		needed |= f->triggers || f->soft_users;
	return needed;
}

static bool was_hit(const struct trace_event_file *file)
{
	for (unsigned cpu = 0; file->counts && cpu < host_cpu_count(); cpu++)
		if (file->counts[cpu].hit)
			return true;
	return false;
}

/*
 * Its files go, once the writers that found it live have left. True: there may be records. clear:
 * wherever it was on, as Linux does.
 */
static bool trace_event_remove_files(struct trace_event_call *call, bool clear)
{
	bool records = false;

	host_synchronize();
	for (struct trace_event_file *file; (file = call->files);) {
		struct trace_array *tr = file->tr;
		records |= was_hit(file);
		if (clear && file->counts) {
			trace_array_clear(tr, -1);
			trace_snapshot_clear(tr, -1);
		}
		trace_event_remove_file(file);
		if (!is_static(tr, file))
			host_free(file);
	}
	list_del(&call->node);
	return records;
}

int trace_event_unregister(struct trace_event_call *call)
{
	if (trace_event_busy(call))
		return -EBUSY;
	trace_event_remove_files(call, true);
	trace_event_remove(call);
	return 0;
}

bool trace_event_retire(struct trace_event_call *call)
{
	bool records = trace_event_remove_files(call, false);

	trace_event_unlist(call);
	if (!records)
		trace_event_free_id(call);
	return records;
}

void trace_array_remove_files(struct trace_array *tr)
{
	struct trace_event_file *file, *next;

	list_for_each_entry_safe (file, next, &tr->files, node) {
		trace_event_remove_file(file);
		if (!is_static(tr, file))
			host_free(file);
	}
	host_free(tr->static_files);
}
