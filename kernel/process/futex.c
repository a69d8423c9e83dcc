/*
 * Futexes: see futex.h. Waiters stand in one list, each with the physical address of its word, so
 * that processes that share memory meet. futex_lock protects the list; a waiter looks at the word
 * after it stands there, so a wake between is seen.
 */
#include "kernel/process/futex.h"

#include "kernel/lib/errno.h"
#include "kernel/process/mm.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

struct waiter {
	struct list_head node;
	u64 key;
	struct task *task;
	bool woken; /* set under the lock, which takes it off the list too */
	struct timer timer;
	bool timed_out;
};

static struct spinlock futex_lock = SPINLOCK_INIT;
static struct list_head waiters = LIST_HEAD_INIT(waiters);

/* The word's value, and the physical address it lies at. */
static int futex_word(u64 addr, u32 *value, u64 *key)
{
	struct mm *mm = current()->mm;
	unsigned prot;

	if (addr & 3)
		return -EINVAL;
	if (copy_from_user(value, addr, sizeof(*value)))
		return -EFAULT;
	mutex_lock(&mm->lock);
	*key = aspace_lookup(mm->as, ALIGN_DOWN(addr, PAGE_SIZE), &prot);
	mutex_unlock(&mm->lock);
	if (!*key)
		return -EFAULT;
	*key += addr & (PAGE_SIZE - 1);
	return 0;
}

static void futex_timeout(struct timer *t)
{
	struct waiter *w = container_of(t, struct waiter, timer);

	w->timed_out = true;
	wake_up_process(w->task);
}

static int sleep_on(struct waiter *w)
{
	for (;;) {
		atomic_store(&w->task->state, TASK_INTERRUPTIBLE);
		if (READ_ONCE(w->woken) || READ_ONCE(w->timed_out) || signal_pending_current())
			break;
		schedule();
	}
	atomic_store(&w->task->state, TASK_RUNNING);
	return w->woken ? 0 : w->timed_out ? -ETIMEDOUT : -EINTR;
}

/* Off the list, whoever was first. */
static void leave(struct waiter *w)
{
	u64 flags = spin_lock_irqsave(&futex_lock);

	if (!w->woken)
		list_del(&w->node);
	spin_unlock_irqrestore(&futex_lock, flags);
}

int futex_wait(u64 addr, u32 val, u64 deadline)
{
	struct waiter w = {.task = current()};
	u32 value;
	u64 flags;
	int ret = futex_word(addr, &value, &w.key);

	if (ret)
		return ret;
	flags = spin_lock_irqsave(&futex_lock);
	list_add_tail(&w.node, &waiters);
	spin_unlock_irqrestore(&futex_lock, flags);
	if (copy_from_user(&value, addr, sizeof(value)))
		ret = -EFAULT;
	else if (value != val)
		ret = -EAGAIN;
	if (!ret) {
		timer_setup(&w.timer, futex_timeout);
		if (deadline != ~0UL)
			timer_start(&w.timer, deadline);
		ret = sleep_on(&w);
		timer_cancel(&w.timer);
	}
	leave(&w);
	return w.woken && ret != -EFAULT ? 0 : ret;
}

int futex_wake(u64 addr, int n)
{
	struct waiter *w, *next;
	u32 value;
	u64 key, flags;
	int woken = 0, err = futex_word(addr, &value, &key);

	if (err)
		return err;
	flags = spin_lock_irqsave(&futex_lock);
	list_for_each_entry_safe (w, next, &waiters, node) {
		if (woken >= n)
			break;
		if (w->key != key)
			continue;
		list_del(&w->node);
		WRITE_ONCE(w->woken, true);
		wake_up_process(w->task);
		woken++;
	}
	spin_unlock_irqrestore(&futex_lock, flags);
	return woken;
}
