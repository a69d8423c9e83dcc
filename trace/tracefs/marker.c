/*
 * trace_marker and trace_marker_raw: programs write into the trace. Task context; no lock, as long
 * as no instance wants copies: a record is reserved, filled and committed like any event's.
 */
/* hot: runs with each mark */
#include "trace/tracefs/marker.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/ftrace.h"
#include "trace/event/record.h"
#include "trace/event/trigger.h"
#include "trace/host_context.h"
#include "trace/host_lock.h"
#include "trace/tracefs/tables.h"

/* Bytes of one record; a longer write is taken in parts. In larger sub-buffers as in Linux 6.12. */
#define MARKER_MAX  1024
#define MARKER_LONG 4096
#define MARKER_ROOM 9 /* text of a record is never shorter than this, as Linux has it */
#define RAW_MAX	    3072

static bool takes_long(const struct trace_array *tr)
{
	return ring_buffer_max_data(tr->buffer) > RB_MAX_DATA;
}

/* The text as triggers see it: what was written, and a NUL. */
static void fill_print(struct rec_print *rec, const char *text, size_t n)
{
	rec->ip = (u64)tracing_mark_write;
	memcpy(rec->buf, text, n);
	rec->buf[n] = '\0';
}

/* As it is recorded: a line. */
static void end_line(struct rec_print *rec, size_t n)
{
	if (!n || rec->buf[n - 1] != '\n') {
		rec->buf[n] = '\n';
		rec->buf[n + 1] = '\0';
	}
}

/*
 * Not by way of the gate: a mark is neither switched off nor filtered, its triggers run only if it
 * is recorded, and no stack follows it.
 */
ssize tracing_mark_write(struct trace_array *tr, const void *text, size_t n)
{
	struct trace_event_file *file = trace_ftrace_file(tr, TRACE_PRINT);
	struct host_context ctx;
	struct trace_slot slot;
	u32 kinds = 0;

	if (!(tr->options & TRACE_OPT_MARKERS))
		return -EINVAL;
	n = MIN(n, takes_long(tr) ? (size_t)MARKER_LONG : (size_t)MARKER_MAX);
	u32 size = sizeof(struct rec_print) + MAX(n, (size_t)MARKER_ROOM) + 2;
	host_enter(&ctx);
	local_inc(&file->counts[ctx.cpu].hit);
	struct rec_print *rec = trace_reserve(&slot, file, &ctx, size);
	if (rec) {
		fill_print(rec, text, n);
		if (file->way & TRACE_WAY_TRIGGER)
			kinds = trace_triggers_call(file, &ctx, rec, size);
		end_line(rec, n);
		trace_commit_bare(&slot, file, &ctx);
		if (kinds)
			trace_triggers_post(file, &ctx, kinds);
	}
	host_preempt_enable();
	return rec ? (ssize)n : -EBADF;
}

static ssize tracefs_mark_raw(struct trace_array *tr, const void *data, size_t n)
{
	struct trace_event_file *file = trace_ftrace_file(tr, TRACE_RAW_DATA);
	struct host_context ctx;
	struct trace_slot slot;

	if (!(tr->options & TRACE_OPT_MARKERS) || n < sizeof(u32))
		return -EINVAL;
	if (takes_long(tr)) {
		if (n > ring_buffer_max_data(tr->buffer) - sizeof(struct trace_entry))
			return -EINVAL;
	} else {
		if (n > RAW_MAX)
			return -EINVAL;
		n = MIN(n, (size_t)MARKER_MAX);
	}
	host_enter(&ctx);
	local_inc(&file->counts[ctx.cpu].hit);
	struct rec_raw_data *rec = trace_reserve(&slot, file, &ctx, sizeof(struct trace_entry) + n);
	if (rec) {
		u32 *words = (u32 *)&rec->id;

		words[(n - 1) / sizeof(u32)] = 0; /* what fills up the last one is no old record */
		memcpy(&rec->id, data, n);
		trace_commit_bare(&slot, file, &ctx);
	}
	host_preempt_enable();
	return rec ? (ssize)n : -EBADF;
}

/* ---- the files ---- */

typedef ssize marker_fn(struct trace_array *tr, const void *data, size_t n);

/* Into every array that has options/copy_trace_marker; the first error ends it. */
static ssize mark_copies(marker_fn *mark, const void *buf, size_t n)
{
	struct trace_array *tr;
	ssize taken = -ENODEV;

	host_lock();
	list_for_each_entry (tr, &trace_arrays, node) {
		if (!(tr->options & TRACE_OPT_COPY_MARKER))
			continue;
		taken = mark(tr, buf, n);
		if (taken < 0)
			break;
	}
	host_unlock();
	return taken;
}

/* What is written at the top may be for others, and not for the top. */
static ssize tracefs_mark(struct trace_array *tr, marker_fn *mark, const void *buf, size_t n)
{
	bool plain = tr != trace_global ||
		     (!READ_ONCE(trace_marker_copies) && (tr->options & TRACE_OPT_COPY_MARKER));

	return plain ? mark(tr, buf, n) : mark_copies(mark, buf, n);
}

static ssize tracefs_marker_write(struct tracefs_file *f, const void *buf, size_t n)
{
	return n ? tracefs_mark(tracefs_array(&f->node), tracing_mark_write, buf, n) : 0;
}

static ssize tracefs_marker_raw_write(struct tracefs_file *f, const void *buf, size_t n)
{
	return tracefs_mark(tracefs_array(&f->node), tracefs_mark_raw, buf, n);
}

const struct tracefs_ops tracefs_marker_ops = {
    .write = tracefs_marker_write, .stream = true, .unlocked = true};
const struct tracefs_ops tracefs_marker_raw_ops = {
    .write = tracefs_marker_raw_write, .stream = true, .unlocked = true};
