/*
 * Futexes: see futex.h; futex_queue.c is their core. This file gives the core its locks and memory
 * accesses, and does all that sleeps: faults, timeouts, the locks of threads that end.
 *
 * The core reads and changes words with interrupts off, where no page can be brought in. So if a
 * call of the core returns -EFAULT, this file touches the word's page and calls again.
 */
#include "kernel/process/futex.h"

#include "kernel/abi/linux.h"
#include "kernel/lib/errno.h"
#include "kernel/process/area.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

/* ---- for the core ---- */

_Static_assert(sizeof(struct futex_lock) == sizeof(struct spinlock), "a futex_lock is a spinlock");

u64 futex_lock(struct futex_lock *l)
{
	return spin_lock_irqsave((struct spinlock *)l);
}

void futex_unlock(struct futex_lock *l, u64 flags)
{
	spin_unlock_irqrestore((struct spinlock *)l, flags);
}

int futex_load(u64 uaddr, u32 *value)
{
	/* Interrupts are off: a page that is not there is -EFAULT. */
	return get_user_u32(value, uaddr);
}

int futex_exchange(u64 uaddr, u32 *old, u32 new)
{
	return user_cmpxchg_u32(uaddr, old, new);
}

void futex_rouse(void *task)
{
	wake_up_process(task);
}

bool futex_owner_lives(u32 tid)
{
	struct task *t = task_find(tid);
	bool lives = t && !(READ_ONCE(t->flags) & TASK_LOCKS_GONE) && READ_ONCE(t->mm);

	if (t)
		task_put(t);
	return lives;
}

/* ---- keys ---- */

/* The physical address, if the area is shared; else none: 0, -EFAULT. */
static int futex_shared_key(u64 uaddr, struct futex_key *key)
{
	struct mm *mm = current()->mm;
	u64 page = ALIGN_DOWN(uaddr, PAGE_SIZE), pa = 0;
	struct vm_area *a;
	unsigned prot;
	bool shared;

	mutex_lock(&mm->lock);
	a = area_find(mm, uaddr);
	shared = a && a->shared;
	if (shared)
		pa = aspace_lookup(mm->as, page, &prot);
	mutex_unlock(&mm->lock);
	if (shared && !pa)
		return -EAGAIN;
	if (shared)
		*key = (struct futex_key){NULL, pa + (uaddr - page)};
	return a ? 0 : -EFAULT;
}

static int futex_word_at(u64 uaddr, bool shared, struct futex_word *w)
{
	u32 value;
	int err;

	if (uaddr & 3)
		return -EINVAL;
	if (uaddr >= USER_END)
		return -EFAULT;
	*w = (struct futex_word){{current()->mm, uaddr}, uaddr};
	if (!shared)
		return 0;
	do {
		err = get_user_u32(&value, uaddr); /* brings the page in */
		if (!err)
			err = futex_shared_key(uaddr, &w->key);
	} while (err == -EAGAIN);
	return err;
}

/* ---- sleeping ---- */

struct sleep {
	struct futex_waiter w;
	struct timer timer;
	bool timed_out; /* [A] */
};

static void futex_timeout(struct timer *t)
{
	struct sleep *s = container_of(t, struct sleep, timer);
	struct task *task = s->w.task;

	atomic_store(&s->timed_out, true);
	wake_up_process(task);
}

/* Sleeps until a wake-up: 0 and *state; or until the deadline or a signal: -ETIMEDOUT, -EINTR. */
static int futex_sleep(struct sleep *s, u64 deadline, enum futex_state *state)
{
	struct task *t = current();
	bool timed = deadline != FUTEX_NEVER;

	if (timed) {
		timer_setup(&s->timer, futex_timeout);
		timer_start(&s->timer, deadline);
	}
	for (;;) {
		atomic_store(&t->state, TASK_INTERRUPTIBLE);
		if (atomic_load(&s->w.state) != FUTEX_QUEUED || atomic_load(&s->timed_out) ||
		    signal_pending_current())
			break;
		schedule();
	}
	atomic_store(&t->state, TASK_RUNNING);
	if (timed)
		timer_cancel(&s->timer);
	*state = futex_leave(&s->w);
	return *state != FUTEX_QUEUED ? 0 : s->timed_out ? -ETIMEDOUT : -EINTR;
}

int futex_wait(u64 addr, bool shared, u32 val, u32 bitset, u64 deadline)
{
	struct sleep s = {.w.task = current()};
	enum futex_state state;
	struct futex_word word;
	u32 value;
	int err = futex_word_at(addr, shared, &word);

	if (err)
		return err;
	while ((err = futex_enqueue(&s.w, &word, val, bitset)) == -EFAULT)
		if (get_user_u32(&value, addr))
			return -EFAULT;
	return err ? err : futex_sleep(&s, deadline, &state);
}

int futex_wake(u64 addr, bool shared, int n, u32 bitset)
{
	struct futex_word word;
	int err = futex_word_at(addr, shared, &word);

	return err ? err : futex_wake_key(&word.key, n, bitset);
}

int futex_move(u64 from, u64 to, bool shared, int wake, int move, const u32 *val)
{
	struct futex_word a, b;
	u32 value;
	int ret = futex_word_at(from, shared, &a);

	if (!ret)
		ret = futex_word_at(to, shared, &b);
	if (ret)
		return ret;
	while ((ret = futex_requeue(&a, &b, wake, move, val)) == -EFAULT)
		if (get_user_u32(&value, from))
			return -EFAULT;
	return ret;
}

/* After -EFAULT: brings the page in for writing; true if the call is to be tried again. */
static bool futex_again(int *ret, u64 addr)
{
	if (*ret != -EFAULT)
		return false;
	*ret = mm_touch(current()->mm, addr);
	return !*ret;
}

int futex_wake_two(u64 one, u64 two, bool shared, int n1, int n2, const struct futex_op *op)
{
	struct futex_word a, b;
	int ret = futex_word_at(one, shared, &a);

	if (!ret)
		ret = futex_word_at(two, shared, &b);
	if (ret)
		return ret;
	do {
		ret = futex_wake_op(&a, &b, n1, n2, op);
	} while (futex_again(&ret, two));
	return ret;
}

/* ---- PI locks ---- */

/* No owner inherits a priority: whatever the waiters' are, the lock goes to the longest waiter. */
int futex_pi_lock(u64 addr, bool shared, u64 deadline, bool try)
{
	struct sleep s = {.w.task = current()};
	enum futex_state state = FUTEX_AWAY;
	struct futex_word word;
	int ret = futex_word_at(addr, shared, &word);

	if (ret)
		return ret;
	do {
		do {
			ret = futex_lock_pi(
			    &s.w, &word, current()->pid, try, state == FUTEX_TRY_AGAIN);
		} while (futex_again(&ret, addr));
		if (ret)
			return ret < 0 ? ret : 0;
		ret = futex_sleep(&s, deadline, &state);
	} while (!ret && state == FUTEX_TRY_AGAIN);
	return ret;
}

int futex_pi_unlock(u64 addr, bool shared)
{
	struct futex_word word;
	int ret = futex_word_at(addr, shared, &word);

	if (ret)
		return ret;
	do {
		ret = futex_unlock_pi(&word, current()->pid);
	} while (futex_again(&ret, addr));
	return ret;
}

/* ---- the end of a thread ---- */

/* A lock of the thread's list: if the thread holds it, marks the word with FUTEX_OWNER_DIED. */
static void futex_let_go(u64 addr, u32 tid, bool pi, bool pending)
{
	u32 value, old;
	int err = addr & 3 ? -EINVAL : get_user_u32(&value, addr);

	while (!err) {
		if (pending && !pi && !value) /* released, but no waiter was woken yet */
			break;
		if ((value & FUTEX_TID_MASK) != tid)
			return;
		old = value;
		err = futex_exchange(addr, &value, (old & FUTEX_WAITERS) | FUTEX_OWNER_DIED);
		if (!err && value == old) {
			if (pi || !(old & FUTEX_WAITERS))
				return;
			break;
		}
		futex_again(&err, addr);
	}
	if (!err)
		(void)futex_wake(addr, true, 1, FUTEX_BITSET_ALL);
}

#define ROBUST_LIMIT 2048 /* Linux's: a list may be a ring */
#define ROBUST_PI    1UL  /* in the address of an entry */

static void futex_walk_robust_list(struct task *t)
{
	struct abi_robust_list_head head;
	u64 entry, next;

	if (copy_from_user(&head, t->robust_list, sizeof(head)))
		return;
	entry = head.next;
	for (unsigned n = 0; (entry & ~ROBUST_PI) != t->robust_list && n < ROBUST_LIMIT; n++) {
		int err = copy_from_user(&next, entry & ~ROBUST_PI, sizeof(next));

		if ((entry & ~ROBUST_PI) != (head.pending & ~ROBUST_PI))
			futex_let_go((entry & ~ROBUST_PI) + head.futex_offset, t->pid,
			    entry & ROBUST_PI, false);
		if (err)
			return;
		entry = next;
	}
	if (head.pending & ~ROBUST_PI)
		futex_let_go((head.pending & ~ROBUST_PI) + head.futex_offset, t->pid,
		    head.pending & ROBUST_PI, true);
}

void futex_exit(struct task *t)
{
	if (t->robust_list)
		futex_walk_robust_list(t);
	t->robust_list = 0;
	t->flags |= TASK_LOCKS_GONE;
	smp_mb(); /* seen before the waiters are counted */
	futex_owner_died(t->pid);
}
