/*
 * per_cpu/cpuN/trace_pipe_raw and snapshot_raw: a CPU's sub-buffers as they are, of the buffer that
 * is recorded into and of the snapshot's. Task context, without host_lock but where said; what one
 * open file holds is kept from two readers by who reads it (a file's position has a lock).
 *
 * A read takes a sub-buffer, or as many of its events as fit in what was asked for after a header
 * of their own, into a page of the file's, which is as large as the buffer's sub-buffers. That page
 * is then given out, all its bytes, by this and the following reads: so whatever the sizes of the
 * reads, what comes out is pages. A read too small for even one event gives nothing, as on Linux. A
 * read of a page or more gets its page without this detour.
 *
 * The snapshot's buffer may go away at any time, so it is looked at only within host_enter() and
 * host_preempt_enable(), for which freeing waits. Where there is none there is nothing to read,
 * yet.
 */
#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/wait.h"
#include "trace/host_context.h"
#include "trace/host_memory.h"
#include "trace/tracefs/tables.h"

struct raw {
	struct trace_array *tr;
	unsigned cpu;
	bool snapshot;
	struct ring_buffer_page *page; /* NULL before the first read that needs it */
	unsigned order;		       /* it has PAGE_SIZE << order bytes ... */
	size_t left;		       /* ... of which so many are still to be given */
};

static int tracefs_raw_open(struct tracefs_file *f)
{
	struct raw *r = host_alloc(sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->tr = tracefs_array(&f->node);
	r->cpu = f->node.arg;
	r->snapshot = f->node.row->ops == &tracefs_snapshot_raw_ops;
	r->tr->raw_opens++;
	f->priv = r;
	return 0;
}

/* Only a page of the smallest size may be one that was in a ring. */
static void raw_free_page(struct raw *r)
{
	if (r->order)
		host_block_free(r->page, r->order);
	else
		ring_buffer_free_page(r->page);
	r->page = NULL;
}

static void tracefs_raw_release(struct tracefs_file *f)
{
	struct raw *r = f->priv;

	r->tr->raw_opens--;
	raw_free_page(r);
	host_free(r);
}

/* Between host_enter() and host_preempt_enable(); may be NULL. */
static struct ring_buffer *tracefs_raw_buffer(const struct raw *r)
{
	return r->snapshot ? atomic_load(&r->tr->snapshot) : r->tr->buffer;
}

static bool tracefs_raw_has_data(void *arg)
{
	struct host_context ctx;
	struct ring_buffer *rb;
	const struct raw *r = arg;
	bool has;

	host_enter(&ctx);
	rb = tracefs_raw_buffer(r);
	has = rb && !ring_buffer_empty_cpu(rb, r->cpu);
	host_preempt_enable();
	return has;
}

/* The order of the buffer's sub-buffers; 0 where there is none. */
static unsigned tracefs_raw_order(const struct raw *r)
{
	struct host_context ctx;
	struct ring_buffer *rb;
	unsigned order;

	host_enter(&ctx);
	rb = tracefs_raw_buffer(r);
	order = rb ? ring_buffer_order(rb) : 0;
	host_preempt_enable();
	return order;
}

/* The file's page, of that order. */
static bool tracefs_raw_make_page(struct raw *r, unsigned order)
{
	if (r->page && r->order == order)
		return true;
	raw_free_page(r);
	r->order = order;
	r->page = order ? host_block_alloc(order) : ring_buffer_alloc_page();
	return r->page;
}

/*
 * As ring_buffer_read_page(), to `to`, which has so many bytes; NULL: to the file's page. Where the
 * sub-buffers have another size by now, as much of one as fits.
 */
static int tracefs_raw_take(
    struct raw *r, struct ring_buffer_page *to, size_t size, size_t n, bool full)
{
	struct host_context ctx;
	struct ring_buffer *rb;
	int err;

	host_enter(&ctx);
	rb = tracefs_raw_buffer(r);
	if (!rb)
		err = -EAGAIN;
	else if (to)
		err = ring_buffer_copy_page(rb, to, size, n, r->cpu, full);
	else if (r->order)
		err = ring_buffer_copy_page(rb, r->page, size, n, r->cpu, full);
	else
		err = ring_buffer_read_page(rb, &r->page, n, r->cpu, full);
	host_preempt_enable();
	return err;
}

static int raw_wait(struct raw *r)
{
	return r->snapshot ? trace_wait_snapshot(r->tr, tracefs_raw_has_data, r)
			   : trace_wait(r->tr, tracefs_raw_has_data, r);
}

/*
 * Fetches as much of a page as `n` bytes can hold, into `to`, which has PAGE_SIZE << order, or the
 * file's page: 1; 0 if that is nothing; or an error.
 */
static int raw_fetch(struct tracefs_file *f, struct ring_buffer_page *to, unsigned order, size_t n)
{
	struct raw *r = f->priv;
	int err = 0;

	if (!to && !tracefs_raw_make_page(r, order))
		return -ENOMEM;
	while (!err && tracefs_raw_take(r, to, PAGE_SIZE << order, n, false)) {
		if (tracefs_raw_has_data(r) || r->tr->past) /* of another boot: no more will come */
			return 0;
		err = f->how & TRACEFS_NONBLOCK ? -EAGAIN : raw_wait(r);
	}
	return err ? err : 1;
}

/* True if buf has room for a page, and the alignment: the read then makes the page in place. */
static inline bool raw_is_page(const void *buf, size_t n, unsigned order)
{
	return n >= PAGE_SIZE << order && (uintptr_t)buf % sizeof(u64) == 0;
}

/* Of the file's page, what was not given yet. */
static size_t raw_give(struct raw *r, void *buf, size_t n)
{
	n = MIN(n, r->left);
	memcpy(buf, (const u8 *)r->page + (PAGE_SIZE << r->order) - r->left, n);
	r->left -= n;
	return n;
}

static ssize tracefs_raw_read(struct tracefs_file *f, void *buf, size_t n, u64 *pos)
{
	struct raw *r = f->priv;

	if (!n)
		return 0;
	if (!r->left) {
		unsigned order = tracefs_raw_order(r);
		size_t size = PAGE_SIZE << order;
		bool whole = raw_is_page(buf, n, order);
		int got = raw_fetch(f, whole ? buf : NULL, order, n);
		if (got <= 0)
			return got;
		if (whole) {
			*pos += size;
			return size;
		}
		r->left = size;
	}
	n = raw_give(r, buf, n);
	*pos += n;
	return n;
}

/* ---- waiting for buffer_percent ---- */

struct raw_wait {
	struct trace_array *tr;
	unsigned cpu;
	u32 wakes; /* when it began */
};

/* Filled, or woken by other than a record: recording was switched off, somebody said so. */
static bool tracefs_raw_filled(void *arg)
{
	const struct raw_wait *w = arg;

	return atomic_load(&w->tr->wakes) != w->wakes || trace_filled(w->tr, w->cpu);
}

/* The same, with a sub-buffer that can be taken whole. */
static bool tracefs_raw_filled_whole(void *arg)
{
	const struct raw_wait *w = arg;

	return atomic_load(&w->tr->wakes) != w->wakes ||
	       (trace_filled(w->tr, w->cpu) && ring_buffer_has_finished(w->tr->buffer, w->cpu));
}

static int tracefs_raw_wait_until(struct raw *r, bool (*cond)(void *))
{
	struct raw_wait w = {r->tr, r->cpu, atomic_load(&r->tr->wakes)};

	return cond(&w) ? 0 : trace_wait_filled(r->tr, cond, &w);
}

/* ---- splice: only sub-buffers that the writer has left, and whole ---- */

/*
 * A sub-buffer may be larger than all the room a pipe has: then it comes in parts, of whole pages
 * of the machine.
 */
static ssize tracefs_raw_take_full(struct raw *r, u8 *buf, size_t n, unsigned order)
{
	size_t size = PAGE_SIZE << order, done = 0;

	if (n < size && !r->left) {
		if (!tracefs_raw_make_page(r, order))
			return -ENOMEM;
		if (!tracefs_raw_take(r, NULL, size, size, true))
			r->left = size;
	}
	if (n < size || r->left)
		return raw_give(r, buf, n / PAGE_SIZE * PAGE_SIZE);
	while (n - done >= size && !tracefs_raw_take(r, (void *)(buf + done), size, size, true))
		done += size;
	return done;
}

/*
 * Waits for buffer_percent, once: who is woken by something else gets what there is, and be it
 * nothing.
 */
static ssize tracefs_raw_splice(
    struct tracefs_file *f, void *buf, size_t n, u64 *pos, bool nonblock)
{
	struct raw *r = f->priv;
	unsigned order = tracefs_raw_order(r);
	ssize done;

	if (!raw_is_page(buf, n, 0) || *pos % PAGE_SIZE)
		return -EINVAL;
	done = tracefs_raw_take_full(r, buf, n, order);
	if (!done && !r->tr->past) {
		int err = nonblock	? -EAGAIN
			  : r->snapshot ? trace_wait_snapshot(r->tr, tracefs_raw_has_data, r)
					: tracefs_raw_wait_until(r, tracefs_raw_filled_whole);
		if (err)
			return err;
		done = tracefs_raw_take_full(r, buf, n, order);
	}
	if (done > 0)
		*pos += done;
	return done;
}

static unsigned tracefs_raw_poll(struct tracefs_file *f)
{
	struct raw *r = f->priv;

	if (r->left)
		return POLL_IN;
	return (r->snapshot ? tracefs_raw_has_data(r) : trace_poll(r->tr, r->cpu)) ? POLL_IN : 0;
}

/* ---- mapped: kernel/abi/trace_mmap.h ---- */

static long raw_get_reader(struct tracefs_file *f)
{
	struct raw *r = f->priv;
	int err = 0;

	if (!ring_buffer_map_pages(r->tr->buffer, r->cpu))
		return -ENODEV;
	if (!(f->how & TRACEFS_NONBLOCK))
		err = tracefs_raw_wait_until(r, tracefs_raw_filled);
	return err ? err : ring_buffer_map_get_reader(r->tr->buffer, r->cpu);
}

/* Command 0 wakes all waiting readers. */
static long tracefs_raw_ioctl(struct tracefs_file *f, u32 cmd)
{
	const struct raw *r = f->priv;

	switch (cmd) {
	case 0:
		trace_wake_all(r->tr);
		return 0;
	case TRACE_MMAP_IOCTL_GET_READER:
		return raw_get_reader(f);
	default:
		return -ENOTTY;
	}
}

/*
 * Mapping is using: the buffer gets its size now, for it cannot be resized later. A snapshot could
 * not be taken then.
 */
static int tracefs_raw_map(struct tracefs_file *f, u64 first, u64 pages)
{
	const struct raw *r = f->priv;
	struct ring_buffer *rb = r->tr->buffer;
	int err = r->tr->snapshot_users ? -EBUSY : trace_array_expand(r->tr);

	if (!err)
		err = ring_buffer_map(rb, r->cpu);
	if (err)
		return err;
	if (pages > ring_buffer_map_pages(rb, r->cpu) ||
	    first > ring_buffer_map_pages(rb, r->cpu) - pages) {
		ring_buffer_unmap(rb, r->cpu);
		return -EINVAL;
	}
	r->tr->mapped++;
	return 0;
}

static void tracefs_raw_map_again(struct tracefs_file *f)
{
	const struct raw *r = f->priv;

	ring_buffer_map(r->tr->buffer, r->cpu); /* is mapped: only counts */
	r->tr->mapped++;
}

static void tracefs_raw_unmap(struct tracefs_file *f)
{
	const struct raw *r = f->priv;

	ring_buffer_unmap(r->tr->buffer, r->cpu);
	r->tr->mapped--;
}

static void *tracefs_raw_map_page(struct tracefs_file *f, u64 index)
{
	const struct raw *r = f->priv;

	return ring_buffer_map_page(r->tr->buffer, r->cpu, index);
}

static const struct tracefs_map_ops raw_map_ops = {
    .map = tracefs_raw_map,
    .again = tracefs_raw_map_again,
    .unmap = tracefs_raw_unmap,
    .page = tracefs_raw_map_page,
};

const struct tracefs_ops tracefs_raw_ops = {
    .open = tracefs_raw_open,
    .read = tracefs_raw_read,
    .splice = tracefs_raw_splice,
    .poll = tracefs_raw_poll,
    .ioctl = tracefs_raw_ioctl,
    .release = tracefs_raw_release,
    .map = &raw_map_ops,
    .stream = true,
    .waits = true,
    .unlocked = true,
};

/* Not to be mapped: the next snapshot puts another ring in its place. */
const struct tracefs_ops tracefs_snapshot_raw_ops = {
    .open = tracefs_raw_open,
    .read = tracefs_raw_read,
    .splice = tracefs_raw_splice,
    .poll = tracefs_raw_poll,
    .release = tracefs_raw_release,
    .stream = true,
    .waits = true,
    .unlocked = true,
};
