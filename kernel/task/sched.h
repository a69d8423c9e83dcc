/*
 * Shared by the files of the scheduler. No other file includes this.
 *
 * Lock order: wait queue -> run queue; timer base -> nothing. Two run queues at once only by
 * trylock of the second.
 */
#pragma once

#include "kernel/task/task.h"

/* [L] the queue's lock, interrupts off; [C] only its CPU. */
struct rq {
	struct spinlock lock;
	unsigned cpu; /* [I] */
	struct list_head
	    queue;	   /* [L] runnable tasks without the running one, least vruntime first */
	unsigned queued;   /* [L] their number; also read without the lock */
	struct task *curr; /* [L] also read without the lock */
	struct task *idle; /* [I] */
	struct task *prev; /* [C] the task switched away from */
	u64 min_vruntime;  /* [L] only grows */
	u64 rt_began;  /* [L] clock_ns() at the start of the present period of real-time tasks, */
	u64 rt_ns;     /* [L] the time they have run in it, */
	bool rt_rests; /* [L] and whether other tasks come first until its end */
} __aligned(64);

extern struct rq rqs[MAX_CPUS];
extern u64 sched_cpus; /* [A] a bit per CPU that schedules */

static inline struct rq *this_rq(void)
{
	struct rq *rq = &rqs[cpu_id()];

	asm("" : "+r"(rq)); /* else the compiler computes the address anew for each field */
	return rq;
}

static inline bool rq_idle(const struct rq *rq)
{
	return READ_ONCE(rq->curr) == rq->idle && !READ_ONCE(rq->queued);
}

static inline bool task_allowed(const struct task *t, unsigned cpu)
{
	return t->cpus_allowed >> cpu & 1;
}

/* True if a is before b, for numbers that may wrap. */
static inline bool sched_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static inline struct task *rq_first(const struct rq *rq)
{
	return list_first_entry(&rq->queue, struct task, rq_node);
}

static inline bool task_is_realtime(const struct task *t)
{
	return t->prio < REALTIME_PRIO;
}

/* sched.c: insert into and remove from a queue, whose lock is held. */
void rq_enqueue(struct rq *rq, struct task *t);
void rq_dequeue(struct rq *rq, struct task *t);
/* Locks the queue a task belongs to; flags for spin_unlock_irqrestore(). */
struct rq *task_rq_lock(struct task *t, u64 *flags);
/* The same, after waiting until the task is not between two queues. */
struct rq *task_rq_lock_settled(struct task *t, u64 *flags);
void rq_resched(struct rq *rq);
/* After t was queued: preempts the running task if t comes before it. */
void rq_check_preempt(struct rq *rq, const struct task *t);
/* Changes a task's priority. The lock of its queue is held, and it is not between two queues. */
void rq_set_prio(struct rq *rq, struct task *t, int prio);
/*
 * Chooses a CPU for a task that is in no queue (TASK_RUNNING, on_rq false) and queues it there.
 * Interrupts and preemption off. The task may have run and ended when this returns.
 */
enum place { PLACE_WOKEN, PLACE_NEW, PLACE_CARRIED };
void sched_place(struct task *t, enum place why);
void task_first_run(void *unused);

/* balance.c */
unsigned sched_choose_cpu(const struct task *t);
/* Moves one task from a busy CPU into this queue, whose lock is held. */
bool sched_steal(struct rq *rq);
/* Makes an idle CPU steal the first task of this queue, whose lock is held. */
void sched_kick_idle(struct rq *rq);
/*
 * Waiting real-time tasks; this queue's lock is held. has_place: true if t would come first on
 * another CPU. pull: moves the first task of other queues into this one, if it comes before all
 * that wait here. push: moves the first task of this queue to a CPU where it comes first.
 */
bool sched_rt_has_place(struct rq *rq, const struct task *t);
void sched_rt_pull(struct rq *rq);
void sched_rt_push(struct rq *rq);

/* timer.c: the timer interrupt, and the tick of a CPU that is not idle. Interrupts off. */
void timers_init(unsigned cpu);
void timers_interrupt(void);
void timers_tick_on(u64 now);
void timers_interrupt_in(u64 ns);   /* requests one more on this CPU, interrupts off */
void timers_interrupt_at(u64 when); /* the same, to the ns, however soon that is */
/* sched.c: from the tick. */
void sched_tick(void);
/* At the end of an interrupt, interrupts off: preempts the interrupted task. */
void sched_preempt_irq(u64 rip);

/* task.c: the task that is the boot stack of a CPU; pid 0. */
struct task *task_alloc_idle(unsigned cpu);
struct task *sched_idle_task(unsigned cpu); /* of a CPU that is up */
