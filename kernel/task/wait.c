/*
 * Wait queues and mutexes. wake_up(): task and irq; the rest: task context. A queue's lock
 * (interrupts off) protects its list; run-queue locks nest inside it.
 */
/* hot: runs with each event */
#include "kernel/base/panic.h"
#include "kernel/base/rescue.h"
#include "kernel/lib/errno.h"
#include "kernel/task/explore.h"
#include "kernel/task/task.h"

void wait_queue_init(struct wait_queue *wq)
{
	wq->lock = (struct spinlock)SPINLOCK_INIT;
	list_init(&wq->waiters);
}

void wait_prepare(struct wait_queue *wq, struct wait_entry *e, bool interruptible)
{
	e->task = current();
	e->woken = NULL;
	explore_act();
	u64 flags = spin_lock_irqsave(&wq->lock);
	list_add_tail(&e->node, &wq->waiters);
	spin_unlock_irqrestore(&wq->lock, flags);
	/*
	 * A full barrier: other CPUs see the state before the caller tests its condition. A CPU
	 * that makes the condition true and then finds this task on the queue sees the state, too.
	 */
	atomic_store(&current()->state, interruptible ? TASK_INTERRUPTIBLE : TASK_UNINTERRUPTIBLE);
}

void wait_finish(struct wait_queue *wq, struct wait_entry *e)
{
	atomic_store(&current()->state, TASK_RUNNING);
	u64 flags = spin_lock_irqsave(&wq->lock);
	list_del(&e->node);
	spin_unlock_irqrestore(&wq->lock, flags);
}

void wait_watch(struct wait_queue *wq, struct wait_entry *e)
{
	u64 flags = spin_lock_irqsave(&wq->lock);
	list_add_tail(&e->node, &wq->waiters);
	spin_unlock_irqrestore(&wq->lock, flags);
}

void wait_unwatch(struct wait_queue *wq, struct wait_entry *e)
{
	u64 flags = spin_lock_irqsave(&wq->lock);
	list_del(&e->node);
	spin_unlock_irqrestore(&wq->lock, flags);
}

void wake_up(struct wait_queue *wq)
{
	struct wait_entry *e;

	u64 flags = spin_lock_irqsave(&wq->lock);
	list_for_each_entry (e, &wq->waiters, node) {
		if (unlikely(e->woken))
			e->woken(e);
		else
			wake_up_process(e->task);
	}
	spin_unlock_irqrestore(&wq->lock, flags);
}

void mutex_init(struct mutex *m)
{
	m->owner = NULL;
	wait_queue_init(&m->wq);
}

bool mutex_trylock(struct mutex *m)
{
	return atomic_cas(&m->owner, NULL, current());
}

/* Waits for a mutex that is taken. A function of its own, so that mutex_lock() needs no frame. */
static __noinline void wait_for_mutex(struct mutex *m)
{
	if (rescue_active())
		rescue_give_up("a lock is held");
	BUG_ON(data_race(m->owner) == current());
	bool got = false;
	while (!got) {
		struct wait_entry e;
		wait_prepare(&m->wq, &e, false);
		got = mutex_trylock(m);
		if (!got)
			schedule();
		wait_finish(&m->wq, &e);
	}
}

void mutex_lock(struct mutex *m)
{
	if (likely(mutex_trylock(m)))
		explore_act();
	else
		wait_for_mutex(m);
}

/*
 * Wakes the task that has waited longest. If another task takes the mutex first, the woken one
 * queues again behind the others.
 */
static __noinline void wait_wake_first(struct mutex *m)
{
	u64 flags = spin_lock_irqsave(&m->wq.lock);

	if (!list_empty(&m->wq.waiters))
		wake_up_process(list_first_entry(&m->wq.waiters, struct wait_entry, node)->task);
	spin_unlock_irqrestore(&m->wq.lock, flags);
}

void mutex_unlock(struct mutex *m)
{
	BUG_ON(m->owner != current());
	/*
	 * A full barrier: other CPUs see the free mutex before this one tests the queue. The test
	 * needs no lock: a task that queues later finds the mutex free.
	 */
	atomic_store(&m->owner, NULL);
	if (likely(list_empty_lockless(&m->wq.waiters)))
		explore_act();
	else
		wait_wake_first(m);
}
