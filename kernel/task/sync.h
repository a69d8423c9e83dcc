/* Mutexes and wait queues: task context. A file that takes two locks states their order. */
#pragma once

#include "kernel/base/spinlock.h"
#include "kernel/lib/list.h"

/* Tasks that wait for a condition. */
struct wait_queue {
	struct spinlock lock;
	struct list_head waiters;
};
#define WAIT_QUEUE_INIT(name)                                                                      \
	{                                                                                          \
		SPINLOCK_INIT, LIST_HEAD_INIT((name).waiters)                                      \
	}

struct wait_entry {
	struct list_head node;
	struct task *task;
	/* Called with the queue's lock held instead of waking the task. NULL: wake the task. */
	void (*woken)(struct wait_entry *e);
};

void wait_queue_init(struct wait_queue *wq);
/* Puts the current task on the queue in state TASK_INTERRUPTIBLE (or not) ... */
void wait_prepare(struct wait_queue *wq, struct wait_entry *e, bool interruptible);
/* ... and off it again, state running. */
void wait_finish(struct wait_queue *wq, struct wait_entry *e);
/* Puts e, whose `woken` is set, on the queue, and takes it off. Any context but NMI. */
void wait_watch(struct wait_queue *wq, struct wait_entry *e);
void wait_unwatch(struct wait_queue *wq, struct wait_entry *e);
/* Wakes all waiters. Task, irq; not NMI. */
void wake_up(struct wait_queue *wq);

bool signal_pending_current(void);
void schedule(void);

/* Waits until cond is true; -EINTR when a signal came first. */
#define wait_event_interruptible(wq, cond)                                                         \
	({                                                                                         \
		int ret_ = 0;                                                                      \
		struct wait_entry e_;                                                              \
		while (!(cond)) {                                                                  \
			wait_prepare(wq, &e_, true);                                               \
			if (!(cond)) {                                                             \
				if (signal_pending_current())                                      \
					ret_ = -EINTR;                                             \
				else                                                               \
					schedule();                                                \
			}                                                                          \
			wait_finish(wq, &e_);                                                      \
			if (ret_)                                                                  \
				break;                                                             \
		}                                                                                  \
		ret_;                                                                              \
	})

#define wait_event(wq, cond)                                                                       \
	do {                                                                                       \
		struct wait_entry e_;                                                              \
		while (!(cond)) {                                                                  \
			wait_prepare(wq, &e_, false);                                              \
			if (!(cond))                                                               \
				schedule();                                                        \
			wait_finish(wq, &e_);                                                      \
		}                                                                                  \
	} while (0)

struct mutex {
	struct task *owner; /* NULL: free. Not recursive. */
	struct wait_queue wq;
};
#define MUTEX_INIT(name)                                                                           \
	{                                                                                          \
		NULL, WAIT_QUEUE_INIT((name).wq)                                                   \
	}
void mutex_init(struct mutex *m);
void mutex_lock(struct mutex *m);
/*
 * Takes the mutex if it is free. In irq context the caller must release it before the interrupt
 * ends.
 */
bool mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);
