/*
 * The files trace.dat and snapshot.dat, of an instance: its buffer, or its spare one, in
 * trace-cmd's format. The contents are a snapshot taken at the first read. Task context under
 * host_lock.
 */
#include "kernel/lib/errno.h"
#include "trace/export/dat.h"
#include "trace/host_memory.h"
#include "trace/tracefs/tables.h"

struct reading {
	struct trace_dat *dat;
	bool paused; /* options/pause-on-trace held recording at open */
};

static bool is_snapshot(const struct tracefs_file *f)
{
	return f->node.row->ops == &tracefs_snapshot_dat_ops;
}

/* As `trace` does: until it is closed nobody changes the buffer's size. */
static u32 *open_count(const struct tracefs_file *f)
{
	return is_snapshot(f) ? &f->tr->snapshot_opens : &f->tr->trace_opens;
}

static int tracefs_dat_open(struct tracefs_file *f)
{
	struct reading *rd = host_alloc(sizeof(*rd));

	if (!rd)
		return -ENOMEM;
	if (!is_snapshot(f) && (f->tr->options & TRACE_OPT_PAUSE_ON_TRACE)) {
		rd->paused = true;
		ring_buffer_record_disable(f->tr->buffer);
	}
	f->priv = rd;
	++*open_count(f);
	return 0;
}

static void tracefs_dat_release(struct tracefs_file *f)
{
	struct reading *rd = f->priv;

	--*open_count(f);
	if (rd->paused)
		ring_buffer_record_enable(f->tr->buffer);
	if (rd->dat)
		trace_dat_free(rd->dat);
	host_free(rd);
}

static ssize tracefs_dat_read(struct tracefs_file *f, void *buf, size_t n, u64 *pos)
{
	struct reading *rd = f->priv;
	ssize done = 0;

	if (!rd->dat)
		done = trace_dat_create(f->tr, is_snapshot(f), &rd->dat);
	if (!done)
		done = trace_dat_read(rd->dat, buf, n);
	if (done > 0)
		*pos += done;
	return done;
}

const struct tracefs_ops tracefs_dat_ops = {.open = tracefs_dat_open,
    .read = tracefs_dat_read,
    .release = tracefs_dat_release,
    .stream = true};
const struct tracefs_ops tracefs_snapshot_dat_ops = {.open = tracefs_dat_open,
    .read = tracefs_dat_read,
    .release = tracefs_dat_release,
    .stream = true};
