/*
 * Locks of files: see lock.h. Task context. One mutex protects all locks and all who wait for one;
 * whoever takes locks away wakes all waiters, who look again. A vnode counts its locks, so that
 * closing a file that has none costs a look.
 */
#include "kernel/fs/lock.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

struct lock {
	struct list_head node;
	struct vnode *v;
	struct lock_range r;
};

/* A process that waits, and for whom. */
struct lock_waiter {
	struct list_head node;
	const void *owner, *holder;
};

static struct mutex locks_lock = MUTEX_INIT(locks_lock);
static struct list_head locks = LIST_HEAD_INIT(locks);
static struct list_head waiters = LIST_HEAD_INIT(waiters);
static struct wait_queue changed = WAIT_QUEUE_INIT(changed);
static u64 changes; /* [locks_lock] how often locks were taken away; others peek */

static bool lock_is_own(const struct lock *k, const struct vnode *v, const struct lock_range *l)
{
	return k->v == v && k->r.owner == l->owner && k->r.kind == l->kind;
}

/* The first lock of others that l cannot be beside; NULL: none. */
static struct lock *lock_conflict(const struct vnode *v, const struct lock_range *l)
{
	struct lock *k;

	list_for_each_entry (k, &locks, node) {
		if (k->v != v || k->r.last < l->first || k->r.first > l->last)
			continue;
		if (k->r.owner == l->owner || (k->r.kind == LOCK_FLOCK) != (l->kind == LOCK_FLOCK))
			continue;
		if (k->r.type == LOCK_WRITE || l->type == LOCK_WRITE)
			return k;
	}
	return NULL;
}

static void lock_add(struct lock *k, struct vnode *v, const struct lock_range *l)
{
	k->v = v;
	k->r = *l;
	list_add_tail(&k->node, &locks);
	WRITE_ONCE(v->locks, v->locks + 1);
}

static void lock_remove(struct lock *k)
{
	WRITE_ONCE(k->v->locks, k->v->locks - 1);
	list_del(&k->node);
	kfree(k);
}

/*
 * Takes [first, last] out of the owner's locks. One that lies around it becomes two: `spare` is the
 * second then. Returns whether it was used.
 */
static bool lock_cut(struct vnode *v, const struct lock_range *l, struct lock *spare)
{
	struct lock *k, *next;
	bool used = false;

	list_for_each_entry_safe (k, next, &locks, node) {
		if (!lock_is_own(k, v, l) || k->r.last < l->first || k->r.first > l->last)
			continue;
		if (k->r.first < l->first && k->r.last > l->last) {
			struct lock_range rest = k->r;

			rest.first = l->last + 1;
			k->r.last = l->first - 1;
			lock_add(spare, v, &rest);
			used = true;
		} else if (k->r.first < l->first) {
			k->r.last = l->first - 1;
		} else if (k->r.last > l->last) {
			k->r.first = l->last + 1;
		} else {
			lock_remove(k);
		}
	}
	return used;
}

/* Takes up the owner's locks of the same type that touch l: F_GETLK shows them as one. */
static void lock_join(struct vnode *v, struct lock_range *l)
{
	struct lock *k, *next;

	list_for_each_entry_safe (k, next, &locks, node) {
		if (!lock_is_own(k, v, l) || k->r.type != l->type)
			continue;
		if (k->r.last + 1 != l->first && l->last + 1 != k->r.first)
			continue;
		l->first = MIN(l->first, k->r.first);
		l->last = MAX(l->last, k->r.last);
		lock_remove(k);
	}
}

static void lock_apply(struct vnode *v, const struct lock_range *l, struct lock *spare[2])
{
	struct lock_range joined = *l;

	if (lock_cut(v, l, spare[0]))
		spare[0] = NULL;
	if (l->type != LOCK_NONE) {
		lock_join(v, &joined);
		lock_add(spare[1], v, &joined);
		spare[1] = NULL;
	}
	changes++;
}

/* Does the holder wait, by way of others, for us? */
static bool lock_is_deadlock(const void *holder, const void *us)
{
	struct lock_waiter *w;

	for (unsigned depth = 0; depth < 100; depth++) {
		const void *next = NULL;

		if (holder == us)
			return true;
		list_for_each_entry (w, &waiters, node)
			if (w->owner == holder)
				next = w->holder;
		if (!next)
			return false;
		holder = next;
	}
	return false;
}

/* Until somebody took a lock away. locks_lock is held, but not meanwhile. 0, -EINTR, -EDEADLK. */
static int lock_wait(const struct lock_range *l, const struct lock *k)
{
	struct lock_waiter w = {.owner = l->owner, .holder = k->r.owner};
	u64 seen = changes;
	int r;

	if (l->kind == LOCK_PROCESS && lock_is_deadlock(k->r.owner, l->owner))
		return -EDEADLK;
	list_add_tail(&w.node, &waiters);
	mutex_unlock(&locks_lock);
	r = wait_event_interruptible(&changed, READ_ONCE(changes) != seen);
	mutex_lock(&locks_lock);
	list_del(&w.node);
	return r;
}

/* The owner's flock() of another type goes before it is known whether the new one can be had. */
static void lock_give_up(const struct vnode *v, const struct lock_range *l)
{
	struct lock *k, *next;

	list_for_each_entry_safe (k, next, &locks, node) {
		if (!lock_is_own(k, v, l) || k->r.type == l->type)
			continue;
		lock_remove(k);
		changes++;
		wake_up(&changed);
	}
}

static int lock_set_locked(struct vnode *v, const struct lock_range *l, bool wait)
{
	struct lock *spare[2], *k;
	int r = 0;

	if (l->kind == LOCK_FLOCK)
		lock_give_up(v, l);
	while (l->type != LOCK_NONE && !r && (k = lock_conflict(v, l)))
		r = wait ? lock_wait(l, k) : -EAGAIN;
	if (r)
		return r;
	spare[0] = kzalloc(sizeof(**spare));
	spare[1] = kzalloc(sizeof(**spare));
	if (spare[0] && spare[1])
		lock_apply(v, l, spare);
	else
		r = -ENOLCK;
	kfree(spare[0]);
	kfree(spare[1]);
	return r;
}

int lock_set(struct file *f, const struct lock_range *l, bool wait)
{
	int r;

	if (!f->vnode)
		return -EBADF;
	mutex_lock(&locks_lock);
	r = lock_set_locked(f->vnode, l, wait);
	mutex_unlock(&locks_lock);
	wake_up(&changed);
	return r;
}

void lock_test(struct file *f, struct lock_range *l)
{
	struct lock *k;

	mutex_lock(&locks_lock);
	k = f->vnode ? lock_conflict(f->vnode, l) : NULL;
	if (k)
		*l = k->r;
	else
		l->type = LOCK_NONE;
	mutex_unlock(&locks_lock);
}

void lock_drop(struct vnode *v, const void *owner)
{
	struct lock *k, *next;

	if (!v || !READ_ONCE(v->locks))
		return;
	mutex_lock(&locks_lock);
	list_for_each_entry_safe (k, next, &locks, node)
		if (k->v == v && k->r.owner == owner)
			lock_remove(k);
	changes++;
	mutex_unlock(&locks_lock);
	wake_up(&changed);
}
