/*
 * epoll: see epoll.h. Task context, but for epoll_woken() (any that wakes a queue).
 *
 * Words: an `item` is a file in a set. It is `ready` while it is on the set's list of those that
 * may have events: its file's queue was woken, it was added or changed, or it is level-triggered
 * and had events when last looked at. What events it has is asked of the file then, so an item can
 * be ready in vain.
 *
 * Locks: epoll_lock orders all changes of sets among each other and with the end of files. A set's
 * `scan` is held by who looks at its items, and taken inside epoll_lock, and after that of a set it
 * is in. `lock`, interrupts off, protects the list of ready items; it is taken with a wait queue's
 * lock held. An item holds no reference to its file: epoll_forget() takes it out.
 */
#include "kernel/fs/epoll.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

#define EPOLL_ALWAYS  (8u | 16u) /* POLLERR, POLLHUP */
#define EPOLL_CONTROL (EPOLL_EDGE | EPOLL_ONESHOT | EPOLL_WAKEUP | EPOLL_EXCLUSIVE)
#define EPOLL_DEPTH   5 /* sets in sets */
#define EPOLL_STEP_NS 2000000UL

struct epoll {
	struct mutex scan;
	struct list_head items; /* [epoll_lock, scan] */
	unsigned asked;		/* [epoll_lock, scan] items whose file wakes nobody */
	u64 scans;		/* [scan] how often it was looked at */
	struct file *file;	/* its own; not counted */
	struct spinlock lock;
	struct list_head ready; /* [lock] */
	struct wait_queue changed;
};

struct epoll_item {
	struct list_head node;	  /* in its set's items */
	struct list_head of_file; /* [epoll_lock] in its file's watchers */
	struct list_head ready;	  /* [lock] empty: it is not */
	struct epoll *set;
	struct file *file;
	u32 fd;
	struct epoll_event event; /* [scan] */
	u64 seen;		  /* [scan] the scan that left it ready; 0: none */
	struct wait_queue *queue[2];
	struct wait_entry entry[2];
};

static struct mutex epoll_lock = MUTEX_INIT(epoll_lock);
static const struct file_ops epoll_ops;

bool epoll_is(const struct file *f)
{
	return f->ops == &epoll_ops;
}

static void epoll_make_ready(struct epoll_item *i)
{
	u64 flags = spin_lock_irqsave(&i->set->lock);

	if (list_empty(&i->ready))
		list_add_tail(&i->ready, &i->set->ready);
	spin_unlock_irqrestore(&i->set->lock, flags);
}

static void epoll_changed(struct epoll_item *i)
{
	epoll_make_ready(i);
	wake_up(&i->set->changed);
}

static void epoll_woken0(struct wait_entry *e)
{
	epoll_changed(container_of(e, struct epoll_item, entry[0]));
}

static void epoll_woken1(struct wait_entry *e)
{
	epoll_changed(container_of(e, struct epoll_item, entry[1]));
}

static unsigned epoll_events(const struct epoll_item *i)
{
	return file_poll(i->file) & i->event.events;
}

/* The next ready item, not ready any more; NULL: none. */
static struct epoll_item *epoll_take_ready(struct epoll *ep)
{
	u64 flags = spin_lock_irqsave(&ep->lock);
	struct epoll_item *i = NULL;

	if (!list_empty(&ep->ready)) {
		i = list_first_entry(&ep->ready, struct epoll_item, ready);
		list_del(&i->ready);
		list_init(&i->ready);
	}
	spin_unlock_irqrestore(&ep->lock, flags);
	return i;
}

/* The item that was taken last is the next again. */
static void epoll_put_back(struct epoll_item *i)
{
	u64 flags = spin_lock_irqsave(&i->set->lock);

	list_del(&i->ready); /* its file may have become ready meanwhile */
	list_add(&i->ready, &i->set->ready);
	spin_unlock_irqrestore(&i->set->lock, flags);
}

/* Items whose file wakes nobody are looked at each time. Scanning. */
static void epoll_ask(struct epoll *ep)
{
	struct epoll_item *i;

	if (!ep->asked)
		return;
	list_for_each_entry (i, &ep->items, node)
		if (!i->queue[0])
			epoll_make_ready(i);
}

/*
 * Looks at the ready items and gives those with events to the sink, at most max. A level-triggered
 * item stays ready and goes behind the others: the scan ends when it meets such an item again.
 */
static int epoll_scan(struct epoll *ep, struct epoll_sink *to, unsigned max)
{
	struct epoll_item *i;
	unsigned n = 0;

	epoll_ask(ep);
	ep->scans++;
	while (n < max && (i = epoll_take_ready(ep))) {
		unsigned events = i->seen == ep->scans ? 0 : epoll_events(i);

		if (i->seen == ep->scans) {
			epoll_make_ready(i);
			break;
		}
		if (!events)
			continue;
		if (!to->take(to, n, &(struct epoll_event){events, i->event.data})) {
			epoll_put_back(i);
			return n ? (int)n : -EFAULT;
		}
		n++;
		if (i->event.events & EPOLL_ONESHOT) {
			i->event.events &= EPOLL_CONTROL;
		} else if (!(i->event.events & EPOLL_EDGE)) {
			i->seen = ep->scans;
			epoll_make_ready(i);
		}
	}
	return n;
}

/* Is a file of the set ready? */
static unsigned epoll_poll(struct file *f)
{
	struct epoll *ep = f->priv;
	struct epoll_item *i;
	bool found = false;

	mutex_lock(&ep->scan);
	epoll_ask(ep);
	while (!found && (i = epoll_take_ready(ep))) {
		found = epoll_events(i);
		if (found)
			epoll_make_ready(i);
	}
	mutex_unlock(&ep->scan);
	return found ? 1 : 0;
}

static void epoll_queues(struct file *f, struct wait_queue *queue[2])
{
	struct epoll *ep = f->priv;

	queue[0] = &ep->changed;
}

/* Out of its set and away. epoll_lock held. */
static void epoll_remove(struct epoll_item *i)
{
	struct epoll *ep = i->set;
	u64 flags;

	mutex_lock(&ep->scan);
	for (unsigned k = 0; k < 2 && i->queue[k]; k++)
		wait_unwatch(i->queue[k], &i->entry[k]);
	flags = spin_lock_irqsave(&ep->lock);
	list_del(&i->ready);
	spin_unlock_irqrestore(&ep->lock, flags);
	list_del(&i->node);
	ep->asked -= !i->queue[0];
	mutex_unlock(&ep->scan);
	list_del(&i->of_file);
	kfree(i);
}

void epoll_forget(struct file *f)
{
	if (list_empty(&f->watchers))
		return;
	mutex_lock(&epoll_lock);
	while (!list_empty(&f->watchers))
		epoll_remove(list_first_entry(&f->watchers, struct epoll_item, of_file));
	mutex_unlock(&epoll_lock);
}

static void epoll_release(struct file *f)
{
	struct epoll *ep = f->priv;

	mutex_lock(&epoll_lock);
	while (!list_empty(&ep->items))
		epoll_remove(list_first_entry(&ep->items, struct epoll_item, node));
	mutex_unlock(&epoll_lock);
	kfree(ep);
}

static const struct file_ops epoll_ops = {
    .name = "[eventpoll]",
    .poll = epoll_poll,
    .seek = dev_null_seek,
    .poll_queues = epoll_queues,
    .release = epoll_release,
};

struct file *epoll_create(void)
{
	struct epoll *ep = kzalloc(sizeof(*ep));
	struct file *f = ep ? file_new(&epoll_ops, O_RDWR, ep) : NULL;

	if (!f) {
		kfree(ep);
		return NULL;
	}
	ep->file = f;
	mutex_init(&ep->scan);
	list_init(&ep->items);
	list_init(&ep->ready);
	wait_queue_init(&ep->changed);
	return f;
}

/* How many sets lie in each other below f, itself included; more than allowed if `ep` is one. */
static unsigned epoll_height(const struct file *f, const struct epoll *ep)
{
	const struct epoll *in = f->priv;
	struct epoll_item *i;
	unsigned most = 0;

	if (!epoll_is(f))
		return 0;
	if (in == ep)
		return EPOLL_DEPTH + 1;
	list_for_each_entry (i, &in->items, node)
		most = MAX(most, epoll_height(i->file, ep));
	return most + 1;
}

/* The same above f. */
static unsigned epoll_level(const struct file *f)
{
	struct epoll_item *i;
	unsigned most = 0;

	list_for_each_entry (i, &f->watchers, of_file)
		most = MAX(most, epoll_level(i->set->file));
	return most + 1;
}

static int epoll_add(struct epoll *ep, u32 fd, struct file *f, const struct epoll_event *event)
{
	struct epoll_item *i;

	if (epoll_is(f) && epoll_height(f, ep) + epoll_level(ep->file) > EPOLL_DEPTH)
		return -ELOOP;
	i = kzalloc(sizeof(*i));
	if (!i)
		return -ENOMEM;
	*i = (struct epoll_item){.set = ep, .file = f, .fd = fd, .event = *event};
	list_init(&i->ready);
	i->entry[0].woken = epoll_woken0;
	i->entry[1].woken = epoll_woken1;
	if (f->ops->poll_queues)
		f->ops->poll_queues(f, i->queue);
	mutex_lock(&ep->scan);
	list_add_tail(&i->node, &ep->items);
	ep->asked += !i->queue[0];
	mutex_unlock(&ep->scan);
	list_add_tail(&i->of_file, &f->watchers);
	for (unsigned k = 0; k < 2 && i->queue[k]; k++)
		wait_watch(i->queue[k], &i->entry[k]);
	epoll_changed(i);
	return 0;
}

static struct epoll_item *epoll_find(struct epoll *ep, u32 fd, const struct file *f)
{
	struct epoll_item *i;

	list_for_each_entry (i, &ep->items, node)
		if (i->file == f && i->fd == fd)
			return i;
	return NULL;
}

static void epoll_modify(struct epoll_item *i, const struct epoll_event *event)
{
	mutex_lock(&i->set->scan);
	i->event = *event;
	mutex_unlock(&i->set->scan);
	epoll_changed(i);
}

int epoll_control(struct file *epf, u32 op, u32 fd, struct file *f, const struct epoll_event *event)
{
	struct epoll_event e = {event->events | EPOLL_ALWAYS, event->data};
	struct epoll *ep = epf->priv;
	struct epoll_item *i;
	int r = 0;

	if (!f->ops || !f->ops->poll)
		return -EPERM;
	if (f == epf || !epoll_is(epf))
		return -EINVAL;
	if (op != EPOLL_DEL && (e.events & EPOLL_EXCLUSIVE) && (op == EPOLL_MOD || epoll_is(f)))
		return -EINVAL;
	mutex_lock(&epoll_lock);
	i = epoll_find(ep, fd, f);
	if (op == EPOLL_ADD)
		r = i ? -EEXIST : epoll_add(ep, fd, f, &e);
	else if (op != EPOLL_DEL && op != EPOLL_MOD)
		r = -EINVAL;
	else if (!i)
		r = -ENOENT;
	else if (op == EPOLL_DEL)
		epoll_remove(i);
	else
		epoll_modify(i, &e);
	mutex_unlock(&epoll_lock);
	return r;
}

long epoll_wait(struct file *f, struct epoll_sink *to, unsigned max, u64 deadline)
{
	struct epoll *ep = f->priv;
	u64 now, until;
	int n;

	for (;;) {
		mutex_lock(&ep->scan);
		n = epoll_scan(ep, to, max);
		mutex_unlock(&ep->scan);
		now = clock_ns();
		if (n || now >= deadline)
			return n;
		until = READ_ONCE(ep->asked) ? MIN(deadline, now + EPOLL_STEP_NS) : deadline;
		if (wait_event_until(&ep->changed, !list_empty(&ep->ready), until) == -EINTR)
			return -EINTR;
	}
}
