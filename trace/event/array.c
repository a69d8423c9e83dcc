/*
 * Trace arrays: making one, its buffer's size, its switches and options. Task context under
 * host_lock.
 */
#include "trace/event/array.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/enable.h"
#include "trace/event/error_log.h"
#include "trace/event/event.h"
#include "trace/event/file.h"
#include "trace/event/filter.h"
#include "trace/event/ledger.h"
#include "trace/event/parts.h"
#include "trace/event/pid_filter.h"
#include "trace/event/snapshot.h"
#include "trace/event/tracer.h"
#include "trace/event/trigger.h"
#include "trace/event/wait.h"
#include "trace/host_cpus.h"
#include "trace/host_files.h"
#include "trace/host_memory.h"
#include "trace/host_lock.h"
#include "trace/host_wait.h"

#define BOOT_SIZE      (2 * RB_PAGE_DATA) /* per CPU, until the buffer is used */
#define BUFFER_PERCENT 50

#define OPTIONS_NOT_INHERITED                                                                      \
	(TRACE_OPT_EVENT_FORK | TRACE_OPT_FUNC_FORK | TRACE_OPT_PRINTK_DEST | TRACE_OPT_COPY_MARKER)

struct trace_array *trace_global;
struct trace_array *trace_printk_array;
u32 trace_marker_copies;
u32 trace_user_data_most;
struct list_head trace_arrays = LIST_HEAD_INIT(trace_arrays);

/* The bits of `way` that options ask for. */
static u32 way_options(u64 options)
{
	return (options & TRACE_OPT_STACKTRACE ? TRACE_WAY_STACK : 0) |
	       (options & TRACE_OPT_USERSTACKTRACE ? TRACE_WAY_USER_STACK : 0);
}

static void trace_array_free(struct trace_array *tr)
{
	trace_array_remove_files(tr);
	trace_filter_drop_array(tr);
	trace_ledger_free(tr);
	trace_error_clear(tr);
	trace_prevboot_free(tr->past);
	ring_buffer_free(tr->snapshot);
	ring_buffer_free(tr->buffer);
	if (tr->waiters)
		host_waiters_free(tr->waiters);
	if (tr->full_waiters)
		host_waiters_free(tr->full_waiters);
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
	trace_handle_begin(&tr->handle);
}

/*
 * boot_size: bytes per CPU until it is used. Of the options, only the global array gets those that
 * count who has them.
 */
static struct trace_array *trace_array_make(
    const char *name, size_t boot_size, size_t size, u64 options)
{
	struct trace_array *tr = host_alloc(sizeof(*tr));

	if (!tr)
		return NULL;
	if (trace_global)
		options &= ~OPTIONS_NOT_INHERITED;
	strscpy(tr->name, name, sizeof(tr->name));
	list_init(&tr->files);
	list_init(&tr->errors);
	tr->options = options;
	tr->way = way_options(options) | (trace_global ? trace_global->way & TRACE_WAY_PRINT : 0);
	tr->clock = trace_clocks;
	tr->tracer = &trace_tracer_nop;
	tr->tracer_options = TRACE_TRACER_OPTIONS;
	tr->wanted_size = size;
	tr->cpumask = ~0UL;
	tr->buffer = ring_buffer_alloc(boot_size,
	    (options & TRACE_OPT_OVERWRITE ? RB_FL_OVERWRITE : 0) | (trace_global ? 0 : RB_FL_KEPT),
	    NULL);
	tr->buffer_percent = BUFFER_PERCENT;
	tr->user_data = trace_global ? trace_global->user_data : 0;
	tr->waiters = host_waiters_alloc();
	tr->full_waiters = host_waiters_alloc();
	if (!tr->buffer || !tr->waiters || !tr->full_waiters || trace_array_add_files(tr) ||
	    trace_ledger_create(tr) || host_memory_check("an instance", 0)) {
		trace_array_free(tr);
		return NULL;
	}
	link_array(tr);
	trace_comm_recording(true);
	return tr;
}

struct trace_array *trace_array_create(const char *name, size_t size)
{
	return trace_array_make(name, BOOT_SIZE, size, trace_options_default());
}

int trace_instance_create(const char *name, struct trace_array **out)
{
	host_assert_locked();
	size_t size = trace_global->wanted_size;

	if (trace_array_find(name))
		return -EEXIST;
	*out = trace_array_make(name, size, size, trace_global->options);
	if (!*out)
		return -ENOMEM;
	host_directory_made(name, "instances");
	return 0;
}

/*
 * Switching off is what may fail, so it comes first. Then nobody comes in any more; who is in still
 * stands on its files.
 */
int trace_array_destroy(struct trace_array *tr)
{
	host_assert_locked();
	if (tr->refs || hist_triggers_hold(tr))
		return -EBUSY;
	int err = trace_set_events(tr, NULL, NULL, NULL, false);
	if (err == -ENOMEM)
		return err;
	trace_tracer_drop(tr);
	trace_array_set_option(tr, TRACE_OPT_PRINTK_DEST, false);
	trace_array_set_option(tr, TRACE_OPT_COPY_MARKER, false);
	trace_array_set_user_data(tr, 0);
	trace_functions_drop(tr);
	trace_triggers_clear(tr);
	trace_handle_end(&tr->handle);
	if (trace_array_is_on(tr))
		trace_comm_recording(false);
	list_del(&tr->node);
	trace_pid_drop(tr);
	host_synchronize();
	trace_array_free(tr);
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
		if (tr->handle.number == number)
			return tr;
	return NULL;
}

/* ---- the buffer ---- */

int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu)
{
	host_assert_locked();
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

/* An instance is made with the size that it wants; it stays as it is, also while it is read. */
static int trace_array_give_size(struct trace_array *tr)
{
	if (tr->expanded)
		return 0;
	if (ring_buffer_size(tr->buffer, 0) < tr->wanted_size)
		return trace_array_resize(tr, tr->wanted_size, -1);
	tr->expanded = true;
	return 0;
}

int trace_array_set_subbuf(struct trace_array *tr, unsigned order)
{
	int err;

	if (order == ring_buffer_order(tr->buffer))
		return 0;
	if (tr->trace_opens || (tr->snapshot && tr->snapshot_opens))
		return -EBUSY;
	trace_snapshot_hold(tr);
	err = ring_buffer_set_order(tr->buffer, tr->snapshot, order);
	trace_snapshot_release(tr);
	return err;
}

int trace_array_expand(struct trace_array *tr)
{
	if (likely(tr->expanded && trace_global->expanded))
		return 0;
	int err = trace_array_give_size(trace_global);

	return err ? err : trace_array_give_size(tr);
}

bool trace_array_is_expanded(const struct trace_array *tr)
{
	return tr->expanded || trace_global->expanded;
}

void trace_array_clear(struct trace_array *tr, int cpu)
{
	trace_snapshot_hold(tr);
	if (cpu < 0) {
		tr->time_start = trace_clock_now(tr);
		ring_buffer_reset(tr->buffer);
	} else {
		ring_buffer_reset_cpu(tr->buffer, cpu);
	}
	trace_snapshot_release(tr);
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

void trace_array_set_user_data(struct trace_array *tr, u64 bytes)
{
	struct trace_array *other;
	u32 most = 0;

	WRITE_ONCE(tr->user_data, MIN(bytes, (u64)TRACE_USER_DATA_MAX));
	list_for_each_entry (other, &trace_arrays, node)
		most = MAX(most, other->user_data);
	WRITE_ONCE(trace_user_data_most, most);
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
static bool is_ftrace(const struct trace_event_call *call)
{
	return call->id < TRACE_FTRACE_IDS;
}

void trace_array_set_way(struct trace_array *tr, u32 bit, bool on)
{
	host_assert_locked();
	struct trace_event_file *file;

	tr->way = on ? tr->way | bit : tr->way & ~bit;
	list_for_each_entry (file, &tr->files, node)
		if (bit != TRACE_WAY_PID || !is_ftrace(file->call))
			trace_file_way(file, bit, on);
}

/* Events that are on now begin or cease to want names, thread groups. */
static int trace_array_change_comms(struct trace_array *tr, u32 flag, bool on)
{
	struct trace_event_file *file;

	if (on && trace_comm_prepare())
		return -ENOMEM;
	list_for_each_entry (file, &tr->files, node) {
		if (!(file->flags & TRACE_FILE_LIVE))
			continue;
		file->flags ^= flag;
		if (flag == TRACE_FILE_COMM)
			trace_comm_users(on ? 1 : -1, 0);
		else
			trace_comm_users(0, on ? 1 : -1);
	}
	return 0;
}

/* One array is where trace_printk() records: the global one if it is no other. */
static int set_printk_dest(struct trace_array *tr, bool on)
{
	struct trace_array *from = trace_printk_array, *to = on ? tr : trace_global;

	if (tr->past)
		return -EPERM;
	if (!on && tr == trace_global)
		return -EINVAL;
	if (from)
		WRITE_ONCE(from->options, from->options & ~TRACE_OPT_PRINTK_DEST);
	WRITE_ONCE(to->options, to->options | TRACE_OPT_PRINTK_DEST);
	WRITE_ONCE(trace_printk_array, to);
	return 0;
}

static int set_copy_marker(const struct trace_array *tr, bool on)
{
	if (tr->past)
		return -EPERM;
	if (tr != trace_global)
		WRITE_ONCE(trace_marker_copies, trace_marker_copies + (on ? 1 : -1));
	return 0;
}

/* What an option does at once, beyond being a bit that others look at. */
static int apply_option(struct trace_array *tr, u64 bit, bool on)
{
	switch (bit) {
	case TRACE_OPT_RECORD_CMD:
		return trace_array_change_comms(tr, TRACE_FILE_COMM, on);
	case TRACE_OPT_RECORD_TGID:
		return trace_array_change_comms(tr, TRACE_FILE_TGID, on);
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
	case TRACE_OPT_PRINTK_DEST:
		return set_printk_dest(tr, on);
	case TRACE_OPT_COPY_MARKER:
		return set_copy_marker(tr, on);
	case TRACE_OPT_TEST_NOP_REFUSE:
		return -EINVAL; /* what it is for */
	default:
		return 0;
	}
}

int trace_array_set_option(struct trace_array *tr, u64 bit, bool on)
{
	host_assert_locked();
	if (!!(tr->options & bit) == on)
		return 0;
	int err = tr->tracer->option ? tr->tracer->option(tr, bit, on) : 0;
	if (!err)
		err = apply_option(tr, bit, on);
	if (!err)
		WRITE_ONCE(tr->options, on ? tr->options | bit : tr->options & ~bit);
	return err;
}
