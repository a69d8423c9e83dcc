/*
 * The files trace, snapshot (reading it) and trace_pipe, of an instance and of its CPUs, and
 * free_buffer. Task context under host_lock, but while a trace_pipe waits.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/retired.h"
#include "trace/event/snapshot.h"
#include "trace/event/tracer.h"
#include "trace/event/wait.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/output/reader.h"
#include "trace/tracefs/tables.h"

#define TEXT_SIZE 16384 /* one line of `trace`, however long, and its annotation */
/*
 * What one read of trace_pipe takes at most. A line of it that is longer is not shown, unless
 * sub-buffers are larger, which Linux has since it has lines of 8 kB.
 */
#define PIPE_SIZE 4096
#define PIPE_LONG 8192

struct reading {
	struct trace_reader reader;
	struct seq text; /* made, up to `given` handed out */
	size_t given;
	u64 pos;       /* trace: file position of what comes next */
	bool started;  /* trace: was read before */
	bool running;  /* trace: between the first line and the last */
	bool paused;   /* trace: options/pause-on-trace held recording at open */
	u32 frees;     /* snapshot: tr->snapshot_frees when it began */
	bool has_read; /* trace_pipe: ends when tracing goes off */
	char buf[];
};

static int tracefs_reading_create(struct tracefs_file *f, size_t size)
{
	struct reading *rd = host_alloc(sizeof(*rd) + size);

	if (!rd)
		return -ENOMEM;
	if (trace_reader_init(&rd->reader, f->tr, f->tr->buffer, f->node.arg)) {
		host_free(rd);
		return -ENOMEM;
	}
	seq_init(&rd->text, rd->buf, size);
	f->priv = rd;
	return 0;
}

static void reading_free(struct reading *rd)
{
	trace_reader_free(&rd->reader);
	host_free(rd);
}

/* What is made and not yet given: up to n bytes of it. */
static size_t give(struct reading *rd, void *buf, size_t n)
{
	n = MIN(n, rd->text.len - rd->given);
	memcpy(buf, rd->buf + rd->given, n);
	rd->given += n;
	if (rd->given == rd->text.len)
		rd->given = rd->text.len = 0;
	return n;
}

/* ---- trace, snapshot ---- */

static bool is_snapshot(const struct tracefs_file *f)
{
	return f->node.row->ops == &tracefs_snapshot_ops;
}

/*
 * Open for reading: until the file is closed nobody changes the buffer's size; of `trace`, nor its
 * place by the file `snapshot`.
 */
static u32 *open_count(const struct tracefs_file *f)
{
	return is_snapshot(f) ? &f->tr->snapshot_opens : &f->tr->trace_opens;
}

static int tracefs_trace_open(struct tracefs_file *f)
{
	if (!(f->how & TRACEFS_READ))
		return 0;
	int err = tracefs_reading_create(f, TEXT_SIZE);
	if (err)
		return err;
	++*open_count(f);
	if (!is_snapshot(f) && (f->tr->options & TRACE_OPT_PAUSE_ON_TRACE)) {
		((struct reading *)f->priv)->paused = true;
		ring_buffer_record_disable(f->tr->buffer);
	}
	return 0;
}

static void tracefs_trace_release(struct tracefs_file *f)
{
	struct reading *rd = f->priv;

	if (!rd)
		return;
	--*open_count(f);
	if (rd->paused)
		ring_buffer_record_enable(f->tr->buffer);
	reading_free(rd);
}

/* `trace` of a tracer that takes snapshots shows the last one. */
static bool shows_spare(const struct tracefs_file *f)
{
	return is_snapshot(f) || f->tr->tracer->shows_longest;
}

/* The spare buffer may go while it is read. */
static bool is_another(const struct tracefs_file *f, const struct reading *rd)
{
	return rd->reader.buffer != f->tr->buffer && rd->frees != f->tr->snapshot_frees;
}

static void trace_stop(struct reading *rd)
{
	trace_reader_finish(&rd->reader);
	rd->running = false;
}

static int trace_start(struct tracefs_file *f)
{
	struct reading *rd = f->priv;
	int err = 0;

	trace_reader_finish(&rd->reader);
	rd->pos = rd->given = rd->text.len = 0;
	rd->reader.buffer = shows_spare(f) ? f->tr->snapshot : f->tr->buffer;
	rd->frees = f->tr->snapshot_frees;
	if (rd->reader.buffer)
		err = trace_reader_start(&rd->reader);
	rd->running = rd->reader.buffer && !err;
	if (err)
		return err;
	if (is_snapshot(f) && (!rd->reader.buffer || trace_reader_empty(&rd->reader)))
		tracefs_snapshot_help(&rd->text, &f->node);
	else
		trace_print_header(&rd->text, &rd->reader);
	return 0;
}

/*
 * Makes the next line if nothing waits to be given; false: the end. A line that does not fit is
 * cut, and ends all the same.
 */
static bool tracefs_trace_fill(struct reading *rd)
{
	if (rd->text.len)
		return true;
	rd->text.overflow = false;
	if (!rd->running || !trace_reader_next(&rd->reader, &rd->text)) {
		trace_stop(rd);
		return false;
	}
	if (rd->text.overflow)
		rd->buf[rd->text.len - 1] = '\n';
	return true;
}

/* Makes lines only to throw them away, up to `pos`. */
static void trace_skip(struct reading *rd, u64 pos)
{
	while (rd->pos < pos && tracefs_trace_fill(rd)) {
		size_t n = MIN(pos - rd->pos, rd->text.len - rd->given);
		rd->pos += n;
		rd->given += n;
		if (rd->given == rd->text.len)
			rd->given = rd->text.len = 0;
	}
}

static ssize tracefs_trace_read(struct tracefs_file *f, void *buf, size_t n, u64 *pos)
{
	struct reading *rd = f->priv;
	size_t done = 0;

	if (is_snapshot(f) && f->tr->tracer->shows_longest)
		return -EBUSY;
	if (!rd->started || *pos == 0 || *pos < rd->pos) {
		int err = trace_start(f);
		if (err)
			return err;
		rd->started = true;
	}
	if (is_another(f, rd))
		trace_stop(rd);
	trace_skip(rd, *pos);
	while (done < n && tracefs_trace_fill(rd))
		done += give(rd, (char *)buf + done, n - done);
	rd->pos += done;
	*pos += done;
	return done;
}

/* Taken and forgotten: only opening with `>` clears. */
static ssize tracefs_trace_write(
    struct tracefs_file *f __maybe_unused, const void *buf __maybe_unused, size_t n)
{
	return n;
}

const struct tracefs_ops tracefs_trace_ops = {.open = tracefs_trace_open,
    .read = tracefs_trace_read,
    .write = tracefs_trace_write,
    .release = tracefs_trace_release};
const struct tracefs_ops tracefs_snapshot_ops = {
    .open = tracefs_trace_open, .read = tracefs_trace_read, .release = tracefs_trace_release};

int tracefs_clear_trace(const struct tracefs_node *node)
{
	struct trace_array *tr = tracefs_array(node);

	if (tr->tracer->shows_longest)
		trace_snapshot_clear(tr, node->arg);
	else
		trace_array_clear(tr, node->arg);
	trace_retired_settle();
	return 0;
}

/* ---- trace_pipe ---- */

static u64 pipe_cpus(const struct tracefs_file *f)
{
	return f->node.arg < 0 ? ~0UL : 1UL << f->node.arg;
}

/* One reader for each CPU's records, or one for all. */
static int tracefs_pipe_open(struct tracefs_file *f)
{
	struct trace_array *tr = tracefs_array(&f->node);

	if (tr->piped & pipe_cpus(f))
		return -EBUSY;
	int err = tracefs_reading_create(f, PIPE_LONG);
	if (!err)
		tr->piped |= pipe_cpus(f);
	return err;
}

static void tracefs_pipe_release(struct tracefs_file *f)
{
	tracefs_array(&f->node)->piped &= ~pipe_cpus(f);
	reading_free(f->priv);
}

/* Whether a reader need not wait (any longer). Runs in the wait, without host_lock. */
static bool tracefs_pipe_ready(void *arg)
{
	struct reading *rd = arg;

	return !trace_reader_empty(&rd->reader) || rd->reader.tr->past ||
	       (rd->has_read && !ring_buffer_record_is_set_on(rd->reader.tr->buffer));
}

static int pipe_wait(struct reading *rd)
{
	host_unlock();
	int err = trace_wait(rd->reader.tr, tracefs_pipe_ready, rd);
	host_lock();
	return err;
}

/* Whole lines until `n` bytes are there or the next does not fit. What is printed is consumed. */
static void pipe_fill(struct reading *rd, size_t n)
{
	unsigned cpu;

	rd->text.overflow = false;
	rd->text.size =
	    ring_buffer_page_size(rd->reader.buffer) > PAGE_SIZE ? PIPE_LONG : PIPE_SIZE;
	while (rd->text.len < n) {
		size_t before = rd->text.len;
		if (!trace_reader_peek(&rd->reader, &rd->text, &cpu))
			return;
		if (rd->text.overflow && before) {
			rd->text.len = before;
			return;
		}
		if (rd->text.overflow) {
			rd->text.len = 0;
			rd->text.overflow = false;
			seq_puts(&rd->text, "[LINE TOO BIG]\n");
		}
		if (!trace_reader_consume(&rd->reader, cpu))
			rd->text.len = before; /* it is in the snapshot now */
	}
}

static ssize pipe_read_locked(struct tracefs_file *f, void *buf, size_t n)
{
	struct reading *rd = f->priv;

	while (!rd->text.len) {
		if (trace_reader_empty(&rd->reader) && (f->how & TRACEFS_NONBLOCK))
			return -EAGAIN;
		if (!tracefs_pipe_ready(rd)) {
			int err = pipe_wait(rd);
			if (err)
				return err;
			continue;
		}
		if (trace_reader_empty(&rd->reader))
			return 0;
		pipe_fill(rd, MIN(n, (size_t)PIPE_SIZE - 1));
		rd->has_read = true;
	}
	return give(rd, buf, n);
}

static ssize tracefs_pipe_read(struct tracefs_file *f, void *buf, size_t n, u64 *pos)
{
	host_lock();
	ssize done = n ? pipe_read_locked(f, buf, n) : 0;
	host_unlock();
	if (done > 0)
		*pos += done;
	return done;
}

static unsigned tracefs_pipe_poll(struct tracefs_file *f)
{
	struct reading *rd = f->priv;
	bool ended = !(f->how & TRACEFS_NONBLOCK) && rd->has_read &&
		     !ring_buffer_record_is_set_on(rd->reader.tr->buffer);

	return rd->text.len || ended || trace_poll(rd->reader.tr, f->node.arg) ? POLL_IN : 0;
}

const struct tracefs_ops tracefs_pipe_ops = {.open = tracefs_pipe_open,
    .read = tracefs_pipe_read,
    .poll = tracefs_pipe_poll,
    .release = tracefs_pipe_release,
    .stream = true,
    .unlocked = true};

/* ---- free_buffer: for a program that wants its trace to end with it ---- */

static void tracefs_free_buffer_release(struct tracefs_file *f)
{
	struct trace_array *tr = tracefs_array(&f->node);

	if (tr->options & TRACE_OPT_STOP_ON_FREE)
		trace_array_set_on(tr, false);
	trace_array_resize(tr, 0, -1);
}

const struct tracefs_ops tracefs_free_buffer_ops = {
    .write = tracefs_trace_write, .release = tracefs_free_buffer_release};
