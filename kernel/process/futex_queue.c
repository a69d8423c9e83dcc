/*
 * Futexes: see futex_queue.h. Pure; any context in which the functions of its host may be called.
 *
 * Two buckets are locked in the order of their addresses. `pi_users` counts the waiters for PI
 * locks and those about to wait: a thread that ends searches the buckets only if there are some. A
 * waiter counts itself before it asks if the owner lives, and a thread is marked as ended before it
 * reads the count: one of the two sees the other.
 */
#include "kernel/process/futex_queue.h"

#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"

#define BUCKETS 256

struct futex_bucket {
	struct futex_lock lock;
	struct list_head waiters; /* [lock] longest first */
} __attribute__((aligned(64)));

static struct futex_bucket buckets[BUCKETS];
static u32 pi_users; /* [A] */

void futex_init(void)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		list_init(&buckets[i].waiters);
}

static struct futex_bucket *futex_bucket_of(const struct futex_key *key)
{
	u64 h = (key->addr >> 2) ^ ((u64)key->space >> 6);

	h *= 0x9e3779b97f4a7c15UL;
	return &buckets[h >> 56];
}

static bool futex_same(const struct futex_key *a, const struct futex_key *b)
{
	return a->space == b->space && a->addr == b->addr;
}

/* ---- under the lock of the bucket ---- */

static void futex_add(struct futex_waiter *w, struct futex_bucket *b, const struct futex_key *key)
{
	w->key = *key;
	w->bucket = b;
	list_add_tail(&w->node, &b->waiters);
	atomic_store(&w->state, FUTEX_QUEUED);
}

static void futex_remove(struct futex_waiter *w, enum futex_state state)
{
	list_del(&w->node);
	if (w->owner)
		atomic_sub(&pi_users, 1);
	atomic_store(&w->state, state);
}

static void futex_release(struct futex_waiter *w, enum futex_state state)
{
	void *task = w->task;

	futex_remove(w, state);
	futex_rouse(task);
}

/* Wakes up to n of the key; -EINVAL if one of them waits for a PI lock. */
static int futex_wake_in(struct futex_bucket *b, const struct futex_key *key, int n, u32 bitset)
{
	struct futex_waiter *w, *next;
	int woken = 0;

	list_for_each_entry_safe (w, next, &b->waiters, node) {
		if (!futex_same(&w->key, key) || !(w->bitset & bitset))
			continue;
		if (w->owner)
			return -EINVAL;
		futex_release(w, FUTEX_WOKEN);
		if (++woken >= n)
			break;
	}
	return woken;
}

/* ---- waiting and waking ---- */

int futex_enqueue(struct futex_waiter *w, const struct futex_word *word, u32 val, u32 bitset)
{
	struct futex_bucket *b = futex_bucket_of(&word->key);
	u64 flags = futex_lock(&b->lock);
	u32 value;
	int err = futex_load(word->uaddr, &value);

	if (!err && value != val)
		err = -EAGAIN;
	w->bitset = bitset;
	w->owner = 0;
	if (!err)
		futex_add(w, b, &word->key);
	futex_unlock(&b->lock, flags);
	return err;
}

enum futex_state futex_leave(struct futex_waiter *w)
{
	enum futex_state state;

	for (;;) {
		struct futex_bucket *b = atomic_load(&w->bucket);
		u64 flags = futex_lock(&b->lock);
		bool moved = b != atomic_load(&w->bucket);

		state = w->state;
		if (!moved && state == FUTEX_QUEUED)
			futex_remove(w, FUTEX_AWAY);
		futex_unlock(&b->lock, flags);
		if (!moved)
			return state;
	}
}

int futex_wake_key(const struct futex_key *key, int n, u32 bitset)
{
	struct futex_bucket *b = futex_bucket_of(key);
	u64 flags = futex_lock(&b->lock);
	int woken = futex_wake_in(b, key, n, bitset);

	futex_unlock(&b->lock, flags);
	return woken;
}

/* ---- two words ---- */

static u64 futex_lock_two(struct futex_bucket *a, struct futex_bucket *b)
{
	u64 flags = futex_lock(a < b ? &a->lock : &b->lock);

	if (a != b)
		(void)futex_lock(a < b ? &b->lock : &a->lock);
	return flags;
}

static void futex_unlock_two(struct futex_bucket *a, struct futex_bucket *b, u64 flags)
{
	if (a != b)
		futex_unlock(a < b ? &b->lock : &a->lock, 0);
	futex_unlock(a < b ? &a->lock : &b->lock, flags);
}

static int futex_requeue_in(struct futex_bucket *a, struct futex_bucket *b,
    const struct futex_key *from, const struct futex_key *to, int wake, int move)
{
	struct list_head *last = a->waiters.prev;
	struct futex_waiter *w, *next;
	int done = 0;

	/* A waiter moved within the bucket goes after `last`: the walk does not meet it again. */
	list_for_each_entry_safe (w, next, &a->waiters, node) {
		bool end = &w->node == last;

		if (futex_same(&w->key, from)) {
			if (done >= wake + move)
				break;
			if (w->owner)
				return -EINVAL;
			if (done++ < wake) {
				futex_release(w, FUTEX_WOKEN);
			} else {
				list_del(&w->node);
				w->key = *to;
				list_add_tail(&w->node, &b->waiters);
				atomic_store(&w->bucket, b);
			}
		}
		if (end)
			break;
	}
	return done;
}

int futex_requeue(
    const struct futex_word *from, const struct futex_word *to, int wake, int move, const u32 *val)
{
	struct futex_bucket *a = futex_bucket_of(&from->key), *b = futex_bucket_of(&to->key);
	u64 flags = futex_lock_two(a, b);
	u32 value;
	int ret = val ? futex_load(from->uaddr, &value) : 0;

	if (!ret && val && value != *val)
		ret = -EAGAIN;
	if (!ret && !list_empty(&a->waiters))
		ret = futex_requeue_in(a, b, &from->key, &to->key, wake, move);
	futex_unlock_two(a, b, flags);
	return ret;
}

static u32 futex_operate(u32 old, const struct futex_op *op)
{
	switch (op->op) {
	case FUTEX_OP_ADD:
		return old + op->oparg;
	case FUTEX_OP_OR:
		return old | op->oparg;
	case FUTEX_OP_ANDN:
		return old & ~op->oparg;
	case FUTEX_OP_XOR:
		return old ^ op->oparg;
	default:
		return op->oparg;
	}
}

static bool futex_compare(s32 old, const struct futex_op *op)
{
	s32 with = op->cmparg;

	switch (op->cmp) {
	case FUTEX_CMP_NE:
		return old != with;
	case FUTEX_CMP_LT:
		return old < with;
	case FUTEX_CMP_LE:
		return old <= with;
	case FUTEX_CMP_GT:
		return old > with;
	case FUTEX_CMP_GE:
		return old >= with;
	default:
		return old == with;
	}
}

/* Applies op to the word in one atomic step: 0 and the old value in *old, or -EFAULT. */
static int futex_change(u64 uaddr, const struct futex_op *op, u32 *old)
{
	u32 seen;
	int err = futex_load(uaddr, &seen);

	while (!err) {
		*old = seen;
		err = futex_exchange(uaddr, &seen, futex_operate(*old, op));
		if (seen == *old)
			break;
	}
	return err;
}

int futex_wake_op(const struct futex_word *one, const struct futex_word *two, int n1, int n2,
    const struct futex_op *op)
{
	struct futex_bucket *a = futex_bucket_of(&one->key), *b = futex_bucket_of(&two->key);
	u64 flags = futex_lock_two(a, b);
	u32 old = 0;
	int ret = futex_change(two->uaddr, op, &old), more = 0;

	if (!ret)
		ret = futex_wake_in(a, &one->key, n1, FUTEX_BITSET_ALL);
	if (ret >= 0 && futex_compare(old, op))
		more = futex_wake_in(b, &two->key, n2, FUTEX_BITSET_ALL);
	futex_unlock_two(a, b, flags);
	return ret < 0 ? ret : more < 0 ? more : ret + more;
}

/* ---- PI locks ---- */

static struct futex_waiter *futex_first(struct futex_bucket *b, const struct futex_key *key)
{
	struct futex_waiter *w;

	list_for_each_entry (w, &b->waiters, node)
		if (futex_same(&w->key, key))
			return w;
	return NULL;
}

/* The waiters of a PI lock now wait for this owner. */
static void futex_set_owner(struct futex_bucket *b, const struct futex_key *key, u32 tid)
{
	struct futex_waiter *w;

	list_for_each_entry (w, &b->waiters, node)
		if (futex_same(&w->key, key) && w->owner)
			w->owner = tid;
}

/* Takes a lock that is free or a dead thread's: 1; 0: the word has changed; -EFAULT. */
static int futex_take_free(
    struct futex_bucket *b, const struct futex_word *word, u32 *value, u32 tid)
{
	bool waiters = futex_first(b, &word->key);
	u32 old = *value, new = tid | (old & FUTEX_OWNER_DIED) | (waiters ? FUTEX_WAITERS : 0);
	int err;

	if (old & FUTEX_TID_MASK)
		new |= FUTEX_OWNER_DIED;
	err = futex_exchange(word->uaddr, value, new);
	if (err || *value != old)
		return err;
	futex_set_owner(b, &word->key, tid);
	return 1;
}

/* Sets FUTEX_WAITERS in the word and queues: 1; 0: the word has changed; -EFAULT. */
static int futex_queue_pi(
    struct futex_waiter *w, struct futex_bucket *b, const struct futex_word *word, u32 *value)
{
	u32 old = *value;
	int err = 0;

	if (!(old & FUTEX_WAITERS))
		err = futex_exchange(word->uaddr, value, old | FUTEX_WAITERS);
	if (err || *value != old)
		return err;
	w->owner = old & FUTEX_TID_MASK;
	futex_add(w, b, &word->key);
	return 1;
}

/* The owner has ended: -ESRCH, or -EINTR if its end has changed the word meanwhile. */
static int futex_look_again(const struct futex_word *word, u32 *value)
{
	u32 old = *value;
	int err = futex_load(word->uaddr, value);

	return err ? err : *value == old ? -ESRCH : -EINTR;
}

/* One look at the word: as futex_lock_pi(), and -EINTR: the word has changed. */
static int futex_try_pi(struct futex_waiter *w, struct futex_bucket *b,
    const struct futex_word *word, u32 *value, bool try, bool heir)
{
	const struct futex_waiter *first = futex_first(b, &word->key);
	u32 owner = *value & FUTEX_TID_MASK;
	int ret;

	if (owner == w->tid)
		return -EDEADLK;
	if (first && !first->owner)
		return -EINVAL; /* a thread waits here for a plain word */
	if (!owner || (heir && !futex_owner_lives(owner))) {
		ret = futex_take_free(b, word, value, w->tid);
		return ret ? ret : -EINTR;
	}
	if (!futex_owner_lives(owner))
		return futex_look_again(word, value);
	if (try)
		return -EAGAIN;
	ret = futex_queue_pi(w, b, word, value);
	return ret < 0 ? ret : ret ? 0 : -EINTR;
}

int futex_lock_pi(
    struct futex_waiter *w, const struct futex_word *word, u32 tid, bool try, bool heir)
{
	struct futex_bucket *b = futex_bucket_of(&word->key);
	u32 value;
	int ret;

	atomic_add(&pi_users, 1);
	u64 flags = futex_lock(&b->lock);
	ret = futex_load(word->uaddr, &value);
	w->tid = tid;
	w->bitset = FUTEX_BITSET_ALL;
	if (!ret) {
		do {
			ret = futex_try_pi(w, b, word, &value, try, heir);
		} while (ret == -EINTR);
	}
	if (ret)
		atomic_sub(&pi_users, 1); /* it does not wait */
	futex_unlock(&b->lock, flags);
	return ret;
}

/* One look at the word: 0, -EPERM, -EFAULT, -EINVAL; -EINTR: it has changed. */
static int futex_try_unlock(
    struct futex_bucket *b, const struct futex_word *word, u32 *value, u32 tid)
{
	struct futex_waiter *w = futex_first(b, &word->key);
	u32 old = *value;
	int err;

	if ((old & FUTEX_TID_MASK) != tid)
		return -EPERM;
	if (w && !w->owner)
		return -EINVAL;
	err = futex_exchange(word->uaddr, value, w ? w->tid | FUTEX_WAITERS : 0);
	if (err || *value != old)
		return err ? err : -EINTR;
	if (w) {
		u32 next = w->tid;

		futex_release(w, FUTEX_WOKEN);
		futex_set_owner(b, &word->key, next);
	}
	return 0;
}

int futex_unlock_pi(const struct futex_word *word, u32 tid)
{
	struct futex_bucket *b = futex_bucket_of(&word->key);
	u64 flags = futex_lock(&b->lock);
	u32 value;
	int ret = futex_load(word->uaddr, &value);

	if (!ret) {
		do {
			ret = futex_try_unlock(b, word, &value, tid);
		} while (ret == -EINTR);
	}
	futex_unlock(&b->lock, flags);
	return ret;
}

void futex_owner_died(u32 tid)
{
	struct futex_waiter *w, *next;

	for (unsigned i = 0; i < BUCKETS && atomic_load(&pi_users); i++) {
		u64 flags = futex_lock(&buckets[i].lock);

		list_for_each_entry_safe (w, next, &buckets[i].waiters, node)
			if (w->owner == tid)
				futex_release(w, FUTEX_TRY_AGAIN);
		futex_unlock(&buckets[i].lock, flags);
	}
}
