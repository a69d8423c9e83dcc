/*
 * eventfd: see eventfd.h. Task context. The lock protects the counter; readers wait for it to leave
 * 0 and writers for room below its end, on one queue.
 */
#include "kernel/fs/eventfd.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

#define EVENTFD_END (~0UL - 1) /* the most it holds */

struct eventfd {
	struct spinlock lock;
	u64 count; /* [lock] */
	bool semaphore;
	struct wait_queue changed;
};

/* Takes what a read gives: false, it is 0. */
static bool eventfd_take(struct eventfd *e, u64 *got)
{
	u64 flags = spin_lock_irqsave(&e->lock);

	*got = e->semaphore ? MIN(e->count, 1UL) : e->count;
	e->count -= *got;
	spin_unlock_irqrestore(&e->lock, flags);
	return *got;
}

/* Adds; false: it would not fit. */
static bool eventfd_add(struct eventfd *e, u64 n)
{
	u64 flags = spin_lock_irqsave(&e->lock);
	bool fits = n <= EVENTFD_END - e->count;

	if (fits)
		e->count += n;
	spin_unlock_irqrestore(&e->lock, flags);
	return fits;
}

static ssize eventfd_read(struct file *f, void *buf, size_t n, u64 *pos __maybe_unused)
{
	struct eventfd *e = f->priv;
	u64 got;
	int r;

	if (n < sizeof(got))
		return -EINVAL;
	while (!eventfd_take(e, &got)) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		r = wait_event_interruptible(&e->changed, READ_ONCE(e->count));
		if (r)
			return r;
	}
	wake_up(&e->changed);
	memcpy(buf, &got, sizeof(got));
	return sizeof(got);
}

static ssize eventfd_write(struct file *f, const void *buf, size_t n, u64 *pos __maybe_unused)
{
	struct eventfd *e = f->priv;
	u64 more;
	int r;

	if (n < sizeof(more))
		return -EINVAL;
	memcpy(&more, buf, sizeof(more));
	if (more > EVENTFD_END)
		return -EINVAL;
	while (!eventfd_add(e, more)) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		r = wait_event_interruptible(
		    &e->changed, more <= EVENTFD_END - READ_ONCE(e->count));
		if (r)
			return r;
	}
	wake_up(&e->changed);
	return sizeof(more);
}

static unsigned eventfd_poll(struct file *f)
{
	const struct eventfd *e = f->priv;
	u64 count = READ_ONCE(e->count);

	return (count ? 1 : 0) | (count < EVENTFD_END ? 4 : 0);
}

static void eventfd_queues(struct file *f, struct wait_queue *queue[2])
{
	struct eventfd *e = f->priv;

	queue[0] = &e->changed;
}

static void eventfd_release(struct file *f)
{
	kfree(f->priv);
}

struct file *eventfd_create(u32 count, bool semaphore, u32 flags)
{
	static const struct file_ops ops = {
	    .name = "[eventfd]",
	    .read = eventfd_read,
	    .write = eventfd_write,
	    .poll = eventfd_poll,
	    .seek = dev_null_seek,
	    .poll_queues = eventfd_queues,
	    .release = eventfd_release,
	};
	struct eventfd *e = kzalloc(sizeof(*e));
	struct file *f = e ? file_new(&ops, O_RDWR | flags, e) : NULL;

	if (!f) {
		kfree(e);
		return NULL;
	}
	e->count = count;
	e->semaphore = semaphore;
	wait_queue_init(&e->changed);
	return f;
}
