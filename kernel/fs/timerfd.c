/*
 * timerfd: see timerfd.h. Task context, but for the timer's end (irq). A timer that repeats is not
 * started again at its end but when somebody asks: then the ends meanwhile are counted. So the
 * shortest interval costs no more interrupts than there are reads.
 */
#include "kernel/fs/timerfd.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

struct timerfd {
	struct spinlock lock;
	struct mutex setting; /* held by who starts or cancels the timer */
	struct timer timer;
	u64 base;	       /* how far its clock is ahead of clock_ns() */
	u64 expires, interval; /* [lock] by its clock; expires 0: off */
	u64 ends;	       /* [lock] not read yet, those before `expires` */
	bool ended;	       /* [lock] the one at `expires` came, and is not in `ends` */
	struct wait_queue changed;
};

static u64 timerfd_now(const struct timerfd *t)
{
	return t->base + clock_ns();
}

/* `expires` may lie before the boot. t->setting is held. */
static void timerfd_start(struct timerfd *t, u64 expires)
{
	timer_start(&t->timer, MAX(expires, t->base) - t->base);
}

static void timerfd_expired(struct timer *timer)
{
	struct timerfd *t = container_of(timer, struct timerfd, timer);
	u64 flags = spin_lock_irqsave(&t->lock);

	t->ended = true;
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up(&t->changed);
}

/* Counts the ends up to now and goes on to the next: true, it has to be started. Locked. */
static bool timerfd_forward(struct timerfd *t)
{
	u64 now = timerfd_now(t), n = 1;

	if (!t->ended)
		return false;
	t->ended = false;
	if (t->interval && now > t->expires)
		n += (now - t->expires) / t->interval;
	t->ends += n;
	t->expires = t->interval ? t->expires + n * t->interval : 0;
	return t->interval;
}

static u64 timerfd_take(struct timerfd *t)
{
	u64 flags, ends, next;
	bool again;

	mutex_lock(&t->setting);
	flags = spin_lock_irqsave(&t->lock);
	again = timerfd_forward(t);
	ends = t->ends;
	next = t->expires;
	t->ends = 0;
	spin_unlock_irqrestore(&t->lock, flags);
	if (again)
		timerfd_start(t, next);
	mutex_unlock(&t->setting);
	return ends;
}

static bool timerfd_ready(struct timerfd *t)
{
	return READ_ONCE(t->ended) || READ_ONCE(t->ends);
}

static ssize timerfd_read(struct file *f, void *buf, size_t n, u64 *pos __maybe_unused)
{
	struct timerfd *t = f->priv;
	u64 ends;
	int r;

	if (n < sizeof(ends))
		return -EINVAL;
	while (!(ends = timerfd_take(t))) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		r = wait_event_interruptible(&t->changed, timerfd_ready(t));
		if (r)
			return r;
	}
	memcpy(buf, &ends, sizeof(ends));
	return sizeof(ends);
}

static unsigned timerfd_poll(struct file *f)
{
	return timerfd_ready(f->priv) ? 1 : 0;
}

static void timerfd_queues(struct file *f, struct wait_queue *queue[2])
{
	struct timerfd *t = f->priv;

	queue[0] = &t->changed;
}

static void timerfd_release(struct file *f)
{
	struct timerfd *t = f->priv;

	timer_cancel(&t->timer);
	kfree(t);
}

static const struct file_ops timerfd_ops = {
    .name = "[timerfd]",
    .read = timerfd_read,
    .poll = timerfd_poll,
    .seek = dev_null_seek,
    .poll_queues = timerfd_queues,
    .release = timerfd_release,
};

struct file *timerfd_create(u64 base, u32 flags)
{
	struct timerfd *t = kzalloc(sizeof(*t));
	struct file *f = t ? file_new(&timerfd_ops, O_RDWR | flags, t) : NULL;

	if (!f) {
		kfree(t);
		return NULL;
	}
	t->base = base;
	mutex_init(&t->setting);
	wait_queue_init(&t->changed);
	timer_setup(&t->timer, timerfd_expired);
	return f;
}

bool timerfd_is(const struct file *f)
{
	return f->ops == &timerfd_ops;
}

/* What is left, the next end of one that repeats included. Locked; forwarded. */
static struct timer_setting timerfd_left(const struct timerfd *t)
{
	u64 now = timerfd_now(t);
	struct timer_setting s = {.interval = t->interval};

	if (t->expires)
		s.value = t->expires > now ? t->expires - now : 1;
	return s;
}

void timerfd_get(struct file *f, struct timer_setting *now)
{
	struct timerfd *t = f->priv;
	u64 flags, next;
	bool again;

	mutex_lock(&t->setting);
	flags = spin_lock_irqsave(&t->lock);
	again = timerfd_forward(t);
	next = t->expires;
	*now = timerfd_left(t);
	spin_unlock_irqrestore(&t->lock, flags);
	if (again)
		timerfd_start(t, next);
	mutex_unlock(&t->setting);
}

void timerfd_set(
    struct file *f, const struct timer_setting *set, bool absolute, struct timer_setting *old)
{
	struct timerfd *t = f->priv;
	u64 flags, start = set->value;

	if (start && !absolute)
		start += timerfd_now(t);
	mutex_lock(&t->setting);
	timer_cancel(&t->timer);
	flags = spin_lock_irqsave(&t->lock);
	timerfd_forward(t);
	*old = timerfd_left(t);
	t->ends = 0;
	t->expires = start;
	t->interval = set->interval;
	spin_unlock_irqrestore(&t->lock, flags);
	if (start)
		timerfd_start(t, start);
	mutex_unlock(&t->setting);
}
