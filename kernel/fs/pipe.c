/*
 * Pipes: 64 KiB in 16 pages taken as they fill. Task context. The pipe's lock protects all of it;
 * readers and writers that must wait sleep on its two queues. Semantics: pipe(7), fifo(7).
 *
 * A FIFO has a pipe for as long as one of its ends is open: the node's `priv`.
 */
#include "kernel/fs/pipe.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

#define PIPE_PAGES  16u
#define PIPE_SIZE   (PIPE_PAGES * PAGE_SIZE)
#define PIPE_ATOMIC PAGE_SIZE /* PIPE_BUF: writes up to this size are never mixed with others */

struct pipe {
	struct vnode v; /* what fstat of either end shows; holds the pipe */
	struct mutex lock;
	struct wait_queue room, data;
	u64 head, tail; /* [lock] bytes ever written and read; head - tail <= PIPE_SIZE */
	u64 reserved;	/* [lock] bytes that splice() is about to put */
	unsigned readers, writers; /* [lock] files that are open for it; others peek */
	struct wait_queue opened;  /* of a FIFO: tasks that wait for the other end to be opened */
	/* [lock] how often each end was opened: the wait ends, though it was closed again */
	u64 read_opens, write_opens;
	unsigned files;	      /* [fifo_lock] of a FIFO; 0: no FIFO */
	u8 *page[PIPE_PAGES]; /* [lock] NULL until first used */
};

static u64 last_ino; /* [A] */

static inline struct pipe *pipe_of(struct file *f)
{
	return f->priv;
}

static size_t pipe_filled(struct pipe *p)
{
	return atomic_load_acquire(&p->head) - atomic_load_acquire(&p->tail);
}

static size_t pipe_room(struct pipe *p)
{
	return PIPE_SIZE - pipe_filled(p) - READ_ONCE(p->reserved);
}

static void pipe_destroy(struct vnode *v)
{
	struct pipe *p = container_of(v, struct pipe, v);

	for (unsigned i = 0; i < PIPE_PAGES; i++) {
		if (p->page[i])
			page_free(virt_to_phys(p->page[i]), 0);
	}
	kfree(p);
}

/* The part of the ring at byte number `at`, at most n bytes: its length in *part. */
static u8 *pipe_ring_part(struct pipe *p, u64 at, size_t n, size_t *part, bool make)
{
	u8 **page = &p->page[at / PAGE_SIZE % PIPE_PAGES];

	*part = MIN(n, PAGE_SIZE - at % PAGE_SIZE);
	if (!*page && make) {
		u64 pa = mem_is_low() ? 0 : page_alloc(0, false);
		*page = pa ? phys_to_virt(pa) : NULL;
	}
	return *page ? *page + at % PAGE_SIZE : NULL;
}

/* Lock held: moves what is there, up to n bytes. */
static size_t ring_take(struct pipe *p, u8 *buf, size_t n)
{
	size_t done = 0, part;

	n = MIN(n, pipe_filled(p));
	while (done < n) {
		const u8 *from = pipe_ring_part(p, p->tail + done, n - done, &part, false);
		memcpy(buf + done, from, part);
		done += part;
	}
	atomic_store_release(&p->tail, p->tail + done);
	return done;
}

/* Lock held: puts n bytes, which fit; fewer only without memory. */
static size_t pipe_ring_put(struct pipe *p, const u8 *buf, size_t n)
{
	size_t done = 0, part;

	while (done < n) {
		u8 *to = pipe_ring_part(p, p->head + done, n - done, &part, true);
		if (!to)
			break;
		memcpy(to, buf + done, part);
		done += part;
	}
	atomic_store_release(&p->head, p->head + done);
	return done;
}

static ssize pipe_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	struct pipe *p = pipe_of(f);
	size_t done;
	bool ended;
	int r;

	(void)pos;
	if (n == 0)
		return 0;
	for (;;) {
		mutex_lock(&p->lock);
		done = ring_take(p, buf, n);
		ended = !p->writers;
		mutex_unlock(&p->lock);
		if (done) {
			wake_up(&p->room);
			return done;
		}
		if (ended)
			return 0;
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		r = wait_event_interruptible(&p->data, pipe_filled(p) || !READ_ONCE(p->writers));
		if (r)
			return r;
	}
}

/*
 * One go at writing: the bytes that went, 0 when there is no room now, or -EPIPE, -ENOMEM. What is
 * atomic goes whole or not at all.
 */
static ssize pipe_put_some(struct pipe *p, const u8 *buf, size_t n, bool atomic)
{
	ssize r = -EPIPE;
	size_t room;

	mutex_lock(&p->lock);
	if (p->readers) {
		room = pipe_room(p);
		n = n <= room ? n : atomic ? 0 : room;
		r = pipe_ring_put(p, buf, n);
		if (n && !r)
			r = -ENOMEM;
	}
	mutex_unlock(&p->lock);
	if (r > 0)
		wake_up(&p->data);
	return r;
}

static bool pipe_has_room(struct pipe *p, size_t n)
{
	return pipe_room(p) >= n || !READ_ONCE(p->readers);
}

static ssize pipe_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct pipe *p = pipe_of(f);
	bool atomic = n <= PIPE_ATOMIC;
	size_t done = 0;
	ssize r = 0;

	(void)pos;
	while (done < n) {
		r = pipe_put_some(p, (const u8 *)buf + done, n - done, atomic);
		if (r > 0) {
			done += r;
			continue;
		}
		if (r == 0 && (f->flags & O_NONBLOCK))
			r = -EAGAIN;
		else if (r == 0)
			r = wait_event_interruptible(&p->room, pipe_has_room(p, atomic ? n : 1));
		if (r < 0)
			break;
	}
	if (r == -EPIPE)
		signal_send(current(), SIGPIPE);
	return done ? (ssize)done : r;
}

/* Room for less than an atomic write does not count: who was told there is some would still block.
 */
static unsigned pipe_poll_write(struct file *f)
{
	struct pipe *p = pipe_of(f);

	return (pipe_room(p) >= PIPE_ATOMIC ? 4 : 0) | (READ_ONCE(p->readers) ? 0 : 8);
}

/* f->pos: how often there had been a writer when a FIFO was opened, whose end is none. */
static unsigned pipe_poll_read(struct file *f)
{
	struct pipe *p = pipe_of(f);

	bool ended = !READ_ONCE(p->writers) && READ_ONCE(p->write_opens) != f->pos;

	return (pipe_filled(p) ? 1 : 0) | (ended ? 16 : 0);
}

static long pipe_ioctl(struct file *f, u64 cmd, u64 arg)
{
	s32 n = pipe_filled(pipe_of(f));

	return cmd == FIONREAD ? copy_to_user(arg, &n, sizeof(n)) : -ENOTTY;
}

static void pipe_read_queues(struct file *f, struct wait_queue *queue[2])
{
	queue[0] = &pipe_of(f)->data;
}

static void pipe_write_queues(struct file *f, struct wait_queue *queue[2])
{
	queue[0] = &pipe_of(f)->room;
}

static struct mutex fifo_lock = MUTEX_INIT(fifo_lock);

/* One file less: the last takes the FIFO's pipe along, and what is in it. */
static void pipe_fifo_leave(struct vnode *v, struct pipe *p)
{
	bool last = false;

	if (!p->files)
		return;
	mutex_lock(&fifo_lock);
	if (--p->files == 0) {
		v->priv = NULL;
		last = true;
	}
	mutex_unlock(&fifo_lock);
	if (last)
		vnode_put(&p->v);
}

/* Fewer readers, writers. */
static void pipe_close(struct file *f, bool read, bool write)
{
	struct pipe *p = pipe_of(f);

	mutex_lock(&p->lock);
	p->readers -= read;
	p->writers -= write;
	mutex_unlock(&p->lock);
	if (read)
		wake_up(&p->room);
	if (write)
		wake_up(&p->data);
	pipe_fifo_leave(f->vnode, p);
}

static void pipe_close_read(struct file *f)
{
	pipe_close(f, true, false);
}

static void pipe_close_write(struct file *f)
{
	pipe_close(f, false, true);
}

static void pipe_close_both(struct file *f)
{
	pipe_close(f, true, true);
}

static unsigned pipe_poll_both(struct file *f)
{
	return pipe_poll_read(f) | pipe_poll_write(f);
}

static void pipe_both_queues(struct file *f, struct wait_queue *queue[2])
{
	queue[0] = &pipe_of(f)->data;
	queue[1] = &pipe_of(f)->room;
}

static const struct vnode_ops pipe_vnode_ops = {.destroy = pipe_destroy};
static const struct file_ops read_end = {
    .read = pipe_read,
    .ioctl = pipe_ioctl,
    .poll = pipe_poll_read,
    .poll_queues = pipe_read_queues,
    .release = pipe_close_read,
};
static const struct file_ops write_end = {
    .write = pipe_write,
    .ioctl = pipe_ioctl,
    .poll = pipe_poll_write,
    .poll_queues = pipe_write_queues,
    .release = pipe_close_write,
};
/* A FIFO that was opened for reading and writing. */
static const struct file_ops both_ends = {
    .read = pipe_read,
    .write = pipe_write,
    .ioctl = pipe_ioctl,
    .poll = pipe_poll_both,
    .poll_queues = pipe_both_queues,
    .release = pipe_close_both,
};

/* ---- splice ---- */

bool pipe_is_read_end(const struct file *f)
{
	return f->ops == &read_end || f->ops == &both_ends;
}

bool pipe_is_write_end(const struct file *f)
{
	return f->ops == &write_end || f->ops == &both_ends;
}

static ssize reserve_some(struct pipe *p, size_t n, size_t least)
{
	size_t room;

	if (!p->readers)
		return -EPIPE;
	room = pipe_room(p);
	if (room < least)
		return 0;
	n = MIN(n, room);
	p->reserved += n;
	return n;
}

ssize pipe_reserve(struct file *wr, size_t n, bool nonblock)
{
	struct pipe *p = pipe_of(wr);
	size_t least = MIN(n, PAGE_SIZE);
	ssize r;

	for (;;) {
		mutex_lock(&p->lock);
		r = reserve_some(p, n, least);
		mutex_unlock(&p->lock);
		if (r == 0)
			r = nonblock ? -EAGAIN
				     : wait_event_interruptible(&p->room, pipe_has_room(p, least));
		if (r)
			break;
	}
	if (r == -EPIPE)
		signal_send(current(), SIGPIPE);
	return r;
}

ssize pipe_put_reserved(struct file *wr, const void *buf, size_t used, size_t reserved)
{
	struct pipe *p = pipe_of(wr);
	ssize r = -EPIPE;

	mutex_lock(&p->lock);
	p->reserved -= reserved;
	if (p->readers) {
		r = pipe_ring_put(p, buf, used);
		if (used && !r)
			r = -ENOMEM;
	}
	mutex_unlock(&p->lock);
	wake_up(&p->data);
	if ((size_t)MAX(r, 0L) < reserved)
		wake_up(&p->room);
	return r;
}

/* Lock held: page by page, until the target takes no more. */
static ssize drain_some(struct pipe *p, struct file *out, size_t n, u64 *pos)
{
	size_t done = 0, part;
	ssize r = 0;

	n = MIN(n, pipe_filled(p));
	while (done < n) {
		const u8 *from = pipe_ring_part(p, p->tail, n - done, &part, false);

		r = pos ? vfs_pwrite(out, from, part, *pos) : kernel_write(out, from, part);
		if (r <= 0)
			break;
		if (pos)
			*pos += r;
		done += r;
		atomic_store_release(&p->tail, p->tail + r);
	}
	return done ? (ssize)done : r;
}

ssize pipe_drain(struct file *rd, struct file *out, size_t n, u64 *pos, bool nonblock)
{
	struct pipe *p = pipe_of(rd);
	bool empty, ended;
	ssize r = 0;

	for (;;) {
		mutex_lock(&p->lock);
		empty = !pipe_filled(p);
		ended = !p->writers;
		if (!empty)
			r = drain_some(p, out, n, pos);
		mutex_unlock(&p->lock);
		if (!empty)
			wake_up(&p->room);
		if (!empty || ended)
			return r;
		if (nonblock || (rd->flags & O_NONBLOCK))
			return -EAGAIN;
		r = wait_event_interruptible(&p->data, pipe_filled(p) || !READ_ONCE(p->writers));
		if (r)
			return r;
	}
}

static struct pipe *pipe_new(void)
{
	struct pipe *p = kzalloc(sizeof(*p));

	if (!p)
		return NULL;
	vnode_init(&p->v, &pipe_vnode_ops, S_IFIFO | 0600);
	p->v.dev = DEV_PIPE;
	p->v.ino = atomic_add(&last_ino, 1);
	mutex_init(&p->lock);
	wait_queue_init(&p->opened);
	wait_queue_init(&p->room);
	wait_queue_init(&p->data);
	return p;
}

int pipe_create(struct file **rd, struct file **wr, u32 flags)
{
	struct pipe *p = pipe_new();
	struct file *r = p ? file_new(&read_end, O_RDONLY | (flags & O_NONBLOCK), p) : NULL;
	struct file *w = r ? file_new(&write_end, O_WRONLY | (flags & O_NONBLOCK), p) : NULL;

	if (!w) {
		file_put(r); /* closes the read end of a pipe nobody has seen */
		if (p)
			vnode_put(&p->v);
		return -ENOMEM;
	}
	p->readers = p->writers = p->write_opens = 1;
	r->vnode = &p->v;
	w->vnode = vnode_get(&p->v);
	*rd = r;
	*wr = w;
	return 0;
}

/* ---- FIFOs ---- */

static struct pipe *pipe_fifo_enter(struct vnode *v)
{
	struct pipe *p;

	mutex_lock(&fifo_lock);
	if (!v->priv)
		v->priv = pipe_new();
	p = v->priv;
	if (p)
		p->files++;
	mutex_unlock(&fifo_lock);
	return p;
}

/* Lock held. Whether an opener has to wait for one at the other end, and for which it would be. */
static int pipe_fifo_count(struct pipe *p, struct file *f, bool read, bool write, u64 *seen)
{
	bool alone = !(read ? p->writers : p->readers) && !(read && write);

	if (alone && write && (f->flags & O_NONBLOCK))
		return -ENXIO;
	p->readers += read;
	p->writers += write;
	p->read_opens += read;
	p->write_opens += write;
	*seen = read ? p->write_opens : p->read_opens;
	f->pos = p->writers ? 0 : p->write_opens;
	return alone && !(f->flags & O_NONBLOCK);
}

/* For a moment f is the end that it opens, so that closing it undoes the opening. */
static int pipe_fifo_open(struct file *f, u32 flags)
{
	bool read = (flags & O_ACCMODE) != O_WRONLY, write = (flags & O_ACCMODE) != O_RDONLY;
	struct pipe *p = pipe_fifo_enter(f->vnode);
	u64 seen, *opens;
	int r;

	if (!p)
		return -ENOMEM;
	f->priv = p;
	f->ops = read && write ? &both_ends : read ? &read_end : &write_end;
	opens = read ? &p->write_opens : &p->read_opens;
	mutex_lock(&p->lock);
	r = pipe_fifo_count(p, f, read, write, &seen);
	mutex_unlock(&p->lock);
	if (r < 0) {
		pipe_fifo_leave(f->vnode, p);
		return r;
	}
	wake_up(&p->opened);
	if (r)
		r = wait_event_interruptible(&p->opened, READ_ONCE(*opens) != seen);
	if (r)
		f->ops->release(f);
	return r;
}

const struct file_ops pipe_fifo_ops = {.open = pipe_fifo_open};
