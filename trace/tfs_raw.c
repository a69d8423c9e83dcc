/*
 * per_cpu/cpuN/trace_pipe_raw: a CPU's sub-buffers as they are. Task context, without host_lock but where said; what one open
 * file holds is kept from two readers by who reads it (a file's position has a lock).
 *
 * A read takes a sub-buffer, or as many of its events as fit in what was asked for behind a header of their own, into a page of
 * the file's. That page is then given out, all 4096 bytes, by this and the following reads: so whatever the sizes of the reads,
 * what comes out is pages. A read too small for even one event gives nothing, as on Linux.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/tfs.h"
#include "trace/wait.h"

struct raw {
	struct trace_array *tr;
	unsigned cpu;
	struct ring_buffer_page *page; /* NULL before the first read */
	size_t given;		       /* bytes of it */
};

static int raw_open(struct tfs_file *f)
{
	struct raw *r = host_alloc(sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->tr = tfs_array(&f->node);
	r->cpu = f->node.arg;
	r->given = PAGE_SIZE;
	f->priv = r;
	return 0;
}

static void raw_release(struct tfs_file *f)
{
	struct raw *r = f->priv;

	ring_buffer_free_page(r->page);
	host_free(r);
}

static bool raw_has_data(void *arg)
{
	const struct raw *r = arg;

	return !ring_buffer_empty_cpu(r->tr->buffer, r->cpu);
}

/* Gets a page with what `n` bytes can hold: 1, or 0 if that is nothing, or an error. */
static int raw_fetch(struct tfs_file *f, size_t n)
{
	struct raw *r = f->priv;
	int err = 0;

	if (!r->page)
		r->page = ring_buffer_alloc_page();
	if (!r->page)
		return -ENOMEM;
	while (!err && ring_buffer_read_page(r->tr->buffer, &r->page, n, r->cpu, false)) {
		if (raw_has_data(r))
			return 0;
		err = f->how & TFS_NONBLOCK ? -EAGAIN : trace_wait(r->tr, raw_has_data, r);
	}
	if (err)
		return err;
	r->given = 0;
	return 1;
}

static ssize raw_read(struct tfs_file *f, void *buf, size_t n, u64 *pos)
{
	struct raw *r = f->priv;

	if (!n)
		return 0;
	if (r->given == PAGE_SIZE) {
		int got = raw_fetch(f, n);
		if (got <= 0)
			return got;
	}
	n = MIN(n, PAGE_SIZE - r->given);
	memcpy(buf, (const u8 *)r->page + r->given, n);
	r->given += n;
	*pos += n;
	return n;
}

static unsigned raw_poll(struct tfs_file *f)
{
	const struct raw *r = f->priv;

	return r->given < PAGE_SIZE || trace_poll(r->tr, r->cpu) ? POLL_IN : 0;
}

/* Command 0 wakes whoever waits. */
static long raw_ioctl(struct tfs_file *f, u32 cmd)
{
	const struct raw *r = f->priv;

	if (cmd)
		return -ENOTTY;
	trace_wake_all(r->tr);
	return 0;
}

const struct tfs_ops tfs_raw_ops = {
    .open = raw_open,
    .read = raw_read,
    .poll = raw_poll,
    .ioctl = raw_ioctl,
    .release = raw_release,
    .unlocked = true,
};
