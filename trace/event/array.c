/*
 * Trace arrays: making one, its buffer's size, its switches and options. Task context under host_lock.
 */
#include "trace/event/array.h"
#include "trace/event/parts.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/comm.h"
#include "trace/event/error_log.h"
#include "trace/event/event.h"
#include "trace/event/filter.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/host_wait.h"
#include "trace/event/ledger.h"
#include "trace/event/pid_filter.h"
#include "trace/event/snapshot.h"
#include "trace/event/tracer.h"
#include "trace/event/trigger.h"
#include "trace/event/wait.h"

#define BOOT_SIZE      (2 * RB_PAGE_DATA) /* per CPU, until the buffer is used */
#define BUFFER_PERCENT 50

#define OPTIONS_NOT_INHERITED (TRACE_OPT_EVENT_FORK | TRACE_OPT_FUNC_FORK)

struct trace_array *trace_global;
struct list_head trace_arrays = LIST_HEAD_INIT(trace_arrays);

/* The bits of `way` that options ask for. */
static u32 way_options(u32 options)
{
	return (options & TRACE_OPT_STACKTRACE ? TRACE_WAY_STACK : 0) |
	       (options & TRACE_OPT_USERSTACKTRACE ? TRACE_WAY_USER_STACK : 0);
}

static void add_file(
    struct trace_array *tr, struct trace_event_call *call, struct trace_event_file *file)
{
	file->tr = tr;
	file->call = call;
	file->buffer = tr->buffer;
	file->way = tr->way;
	file->next_file = call->files;
	call->files = file;
	if (call->id < TRACE_BUILTINS)
		tr->builtin[call->id] = file;
}

/* What the core records by itself is never switched on: its files are ready from the start. */
static int prepare_builtins(struct trace_array *tr)
{
	for (unsigned id = 0; id < TRACE_BUILTINS; id++)
		if (tr->builtin[id] && trace_file_counts(tr->builtin[id]))
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

/* One block per instance: made first, so that nothing can fail once the event is known by name. */
int trace_event_register(struct trace_event_call *call)
{
	struct trace_event_file *made = NULL, *file;
	struct trace_array *tr;
	int err = 0;

	if (trace_event_find(call->class->system, call->name))
		return -EEXIST;
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
		err = trace_event_enter(call);
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
	return err;
}

static void remove_file(struct trace_event_file *file)
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

/* Its files go, once the writers that found it live have left. True: there may be records. clear: wherever it was on, as Linux does. */
static bool remove_call_files(struct trace_event_call *call, bool clear)
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
		remove_file(file);
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
	remove_call_files(call, true);
	trace_event_leave(call);
	return 0;
}

bool trace_event_retire(struct trace_event_call *call)
{
	bool records = remove_call_files(call, false);

	trace_event_hide(call);
	if (!records)
		trace_event_give_id(call);
	return records;
}

static void free_array(struct trace_array *tr)
{
	struct trace_event_file *file, *next;

	list_for_each_entry_safe (file, next, &tr->files, node) {
		remove_file(file);
		if (!is_static(tr, file))
			host_free(file);
	}
	trace_filter_drop_array(tr);
	trace_ledger_free(tr);
	trace_error_clear(tr);
	trace_past_free(tr->past);
	ring_buffer_free(tr->snapshot);
	ring_buffer_free(tr->buffer);
	if (tr->waiters)
		host_waiters_free(tr->waiters);
	if (tr->full_waiters)
		host_waiters_free(tr->full_waiters);
	host_free(tr->static_files);
	host_free(tr);
}

/* By name: as instances/ lists them. The global one's name comes before all others. */
static void link_array(struct trace_array *tr)
{
	struct trace_array *after;

	list_for_each_entry (after, &trace_arrays, node)
		if (strcmp(after->name, tr->name) > 0)
			break;
	list_add_tail(&tr->node, &after->node);
	trace_life_begin(&tr->life);
}

/* boot_size: bytes per CPU until it is used. */
static struct trace_array *create(const char *name, size_t boot_size, size_t size, u32 options)
{
	struct trace_array *tr = host_alloc(sizeof(*tr));

	if (!tr)
		return NULL;
	strscpy(tr->name, name, sizeof(tr->name));
	list_init(&tr->files);
	list_init(&tr->errors);
	tr->options = options;
	tr->way = way_options(options) | (trace_global ? trace_global->way & TRACE_WAY_PRINT : 0);
	tr->clock = trace_clocks;
	tr->tracer = &trace_tracer_nop;
	tr->wanted_size = size;
	tr->cpumask = ~0UL;
	tr->buffer = ring_buffer_alloc(boot_size,
	    (options & TRACE_OPT_OVERWRITE ? RB_FL_OVERWRITE : 0) | (trace_global ? 0 : RB_FL_KEPT),
	    NULL);
	tr->buffer_percent = BUFFER_PERCENT;
	tr->waiters = host_waiters_alloc();
	tr->full_waiters = host_waiters_alloc();
	if (!tr->buffer || !tr->waiters || !tr->full_waiters || add_static_files(tr) ||
	    prepare_builtins(tr) || trace_ledger_create(tr)) {
		free_array(tr);
		return NULL;
	}
	link_array(tr);
	trace_comm_recording(true);
	return tr;
}

struct trace_array *trace_array_create(const char *name, size_t size)
{
	return create(name, BOOT_SIZE, size, trace_options_default());
}

int trace_instance_create(const char *name, struct trace_array **out)
{
	size_t size = trace_global->wanted_size;

	if (trace_array_find(name))
		return -EEXIST;
	*out = create(name, size, size, trace_global->options & ~OPTIONS_NOT_INHERITED);
	return *out ? 0 : -ENOMEM;
}

/* Switching off is what may fail, so it comes first. Then nobody comes in any more; who is in still stands on its files. */
int trace_array_destroy(struct trace_array *tr)
{
	if (tr->refs || hist_triggers_hold(tr))
		return -EBUSY;
	int err = trace_set_events(tr, NULL, NULL, NULL, false);
	if (err == -ENOMEM)
		return err;
	trace_tracer_drop(tr);
	trace_triggers_clear(tr);
	trace_life_end(&tr->life);
	if (trace_array_is_on(tr))
		trace_comm_recording(false);
	list_del(&tr->node);
	trace_pid_drop(tr);
	host_synchronize();
	free_array(tr);
	return 0;
}

struct trace_array *trace_array_find(const char *name)
{
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node)
		if (!strcmp(tr->name, name))
			return tr;
	return NULL;
}

struct trace_array *trace_array_numbered(u64 number)
{
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node)
		if (tr->life.number == number)
			return tr;
	return NULL;
}

/* ---- the buffer ---- */

int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu)
{
	if (tr->trace_opens || (tr->snapshot && tr->snapshot_opens))
		return -EBUSY;
	trace_snapshot_hold(tr);
	int err = tr->snapshot ? ring_buffer_resize(tr->snapshot, bytes, cpu) : 0;
	if (!err)
		err = ring_buffer_resize(tr->buffer, bytes, cpu);
	if (err)
		trace_snapshot_match(tr); /* back */
	trace_snapshot_release(tr);
	if (!err)
		tr->expanded = true;
	return err;
}

static int expand(struct trace_array *tr)
{
	return tr->expanded ? 0 : trace_array_resize(tr, tr->wanted_size, -1);
}

int trace_array_expand(struct trace_array *tr)
{
	int err = expand(trace_global);

	return err ? err : expand(tr);
}

bool trace_array_is_expanded(const struct trace_array *tr)
{
	return tr->expanded || trace_global->expanded;
}

void trace_array_clear(struct trace_array *tr, int cpu)
{
	trace_snapshot_hold(tr);
	if (cpu < 0)
		ring_buffer_reset(tr->buffer);
	else
		ring_buffer_reset_cpu(tr->buffer, cpu);
	trace_snapshot_release(tr);
	tr->time_start = trace_clock_now(tr);
}

bool trace_array_set_on(struct trace_array *tr, bool on)
{
	if (on && tr->past)
		return false;
	bool changed = on ? ring_buffer_record_on(tr->buffer) : ring_buffer_record_off(tr->buffer);

	if (changed)
		trace_comm_recording(on);
	if (!on)
		trace_wake_all(tr); /* a trace_pipe that has read something ends now */
	return changed;
}

bool trace_array_is_on(struct trace_array *tr)
{
	return ring_buffer_record_is_set_on(tr->buffer);
}

void trace_array_set_cpumask(struct trace_array *tr, u64 mask)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		u64 bit = 1UL << cpu;
		if ((mask ^ tr->cpumask) & bit) {
			if (mask & bit)
				ring_buffer_record_enable_cpu(tr->buffer, cpu);
			else
				ring_buffer_record_disable_cpu(tr->buffer, cpu);
		}
	}
	tr->cpumask = mask;
}

/* ---- options ---- */

/* What the core records by itself is nobody's event: pid lists do not concern it. */
static bool is_builtin(const struct trace_event_call *call)
{
	return call->id < TRACE_BUILTINS;
}

void trace_array_set_way(struct trace_array *tr, u32 bit, bool on)
{
	struct trace_event_file *file;

	tr->way = on ? tr->way | bit : tr->way & ~bit;
	list_for_each_entry (file, &tr->files, node)
		if (bit != TRACE_WAY_PID || !is_builtin(file->call))
			trace_file_way(file, bit, on);
}

/* Events that are on now begin or cease to want names, thread groups. */
static int change_comms(struct trace_array *tr, u32 flag, bool on)
{
	struct trace_event_file *file;

	if (on && trace_comm_prepare())
		return -ENOMEM;
	list_for_each_entry (file, &tr->files, node) {
		if (!(file->flags & TRACE_FILE_LIVE) || !!(file->flags & flag) == on)
			continue;
		file->flags ^= flag;
		if (flag == TRACE_FILE_COMM)
			trace_comm_users(on ? 1 : -1, 0);
		else
			trace_comm_users(0, on ? 1 : -1);
	}
	return 0;
}

/* What an option does at once, beyond being a bit that others look at. */
static int apply_option(struct trace_array *tr, u32 bit, bool on)
{
	switch (bit) {
	case TRACE_OPT_RECORD_CMD:
		return change_comms(tr, TRACE_FILE_COMM, on);
	case TRACE_OPT_RECORD_TGID:
		return change_comms(tr, TRACE_FILE_TGID, on);
	case TRACE_OPT_OVERWRITE:
		trace_snapshot_hold(tr);
		ring_buffer_change_overwrite(tr->buffer, on);
		if (tr->snapshot)
			ring_buffer_change_overwrite(tr->snapshot, on);
		trace_snapshot_release(tr);
		return 0;
	case TRACE_OPT_STACKTRACE:
		trace_array_set_way(tr, TRACE_WAY_STACK, on);
		return 0;
	case TRACE_OPT_USERSTACKTRACE:
		trace_array_set_way(tr, TRACE_WAY_USER_STACK, on);
		return 0;
	case TRACE_OPT_TEST_NOP_REFUSE:
		return -EINVAL; /* what it is for */
	default:
		return 0;
	}
}

int trace_array_set_option(struct trace_array *tr, u32 bit, bool on)
{
	if (!!(tr->options & bit) == on)
		return 0;
	int err = apply_option(tr, bit, on);
	if (!err)
		WRITE_ONCE(tr->options, tr->options ^ bit);
	return err;
}
