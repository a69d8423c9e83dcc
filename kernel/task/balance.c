/*
 * Which CPU a task runs on: placement at wake-up, stealing when a CPU runs dry, affinity. Locks:
 * see sched.h.
 *
 * A task goes back to where it ran last if that CPU is idle, else to any idle one, else to the
 * least busy. What goes wrong with that later an idle CPU sets right: it steals before it sleeps,
 * and a CPU with somebody waiting wakes it at its tick.
 *
 * A real-time task goes where it comes first and least is lost, at its wake-up and when another
 * preempts it. Where one stops, the first that waits elsewhere comes; a tick repeats what a lock
 * that was taken has prevented.
 */
/* hot: runs with each event */
#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
#include "kernel/task/explore.h"
#include "kernel/task/sched.h"

#define IDLE_PRIO 255 /* after all */

static unsigned first_cpu(u64 mask)
{
	return __builtin_ctzl(mask);
}

/* ---- Real-time tasks ---- */

/* The priority of what runs there; a smaller number is more important. The queue is locked. */
static int running_prio(const struct rq *rq)
{
	return rq->curr == rq->idle ? IDLE_PRIO : rq->curr->prio;
}

/* Where t comes first, best of all its own CPU or else where least is lost; -1: nowhere. */
static int sched_rt_choose(const struct task *t, u64 mask, const struct rq *locked)
{
	int best = -1, least = t->prio;

	for (; mask; mask &= mask - 1) {
		unsigned cpu = first_cpu(mask);
		struct rq *rq = &rqs[cpu];

		if (rq == locked || (locked && !spin_trylock_raw(&rq->lock)))
			continue;
		if (!locked)
			spin_lock_raw(&rq->lock);
		int prio = running_prio(rq);
		spin_unlock_raw(&rq->lock);
		if (prio > least || (prio == least && best >= 0 && cpu == t->cpu)) {
			least = prio;
			best = cpu;
		}
	}
	return best;
}

bool sched_rt_has_place(struct rq *rq, const struct task *t)
{
	return sched_rt_choose(t, t->cpus_allowed & atomic_load_relaxed(&sched_cpus), rq) >= 0;
}

/* Both locks are held, and the task waits in `from`. */
static void rq_move(struct rq *to, struct rq *from, struct task *t)
{
	trace_sched_migrate_task(t, to->cpu);
	rq_dequeue(from, t);
	if (likely(t->shares))
		t->vruntime += to->min_vruntime - from->min_vruntime;
	WRITE_ONCE(t->cpu, to->cpu);
	rq_enqueue(to, t);
}

void sched_rt_pull(struct rq *rq)
{
	u64 others = atomic_load_relaxed(&sched_cpus) & ~(1UL << rq->cpu);

	for (; others; others &= others - 1) {
		struct rq *from = &rqs[first_cpu(others)];
		if (!READ_ONCE(from->queued) || !spin_trylock_raw(&from->lock))
			continue;
		struct task *t = from->queued ? rq_first(from) : NULL;
		if (t && !t->shares && task_allowed(t, rq->cpu) && t->prio >= from->curr->prio &&
		    (!rq->queued || sched_before(t->vruntime, rq_first(rq)->vruntime)))
			rq_move(rq, from, t);
		spin_unlock_raw(&from->lock);
	}
}

void sched_rt_push(struct rq *rq)
{
	struct task *t = rq_first(rq);
	int cpu = sched_rt_choose(t, t->cpus_allowed & atomic_load_relaxed(&sched_cpus), rq);

	if (cpu < 0 || !spin_trylock_raw(&rqs[cpu].lock))
		return;
	rq_move(&rqs[cpu], rq, t);
	rq_check_preempt(&rqs[cpu], t);
	spin_unlock_raw(&rqs[cpu].lock);
}

/* ---- Placement and stealing ---- */

static unsigned sched_best_cpu(const struct task *t, u64 mask)
{
	unsigned best = t->cpu;

	if ((mask & (mask - 1)) == 0)
		return mask ? first_cpu(mask) : best;
	if (unlikely(!t->shares)) {
		int cpu = sched_rt_choose(t, mask, NULL);
		if (cpu >= 0)
			return cpu;
	}
	if (!(mask >> best & 1))
		best = first_cpu(mask);
	else if (rq_idle(&rqs[best]))
		return best;
	unsigned least = sched_runnable(best);
	for (; mask; mask &= mask - 1) {
		unsigned cpu = first_cpu(mask), n = sched_runnable(cpu);
		if (n < least) {
			least = n;
			best = cpu;
		}
		if (!least)
			break;
	}
	return best;
}

unsigned sched_choose_cpu(const struct task *t)
{
	u64 mask = t->cpus_allowed & atomic_load_relaxed(&sched_cpus);

	return explore_cpu(t, mask, sched_best_cpu(t, mask));
}

/*
 * Both locks are held. The task that has waited longest for its turn is taken last: it has its turn
 * soon where it is. What an idle CPU has in its queue was just put there, and the CPU told to come.
 */
static bool steal_from(struct rq *to, struct rq *from)
{
	struct list_head *at;

	if (from->curr == from->idle)
		return false;
	for (at = from->queue.prev; at != &from->queue; at = at->prev) {
		struct task *t = list_entry(at, struct task, rq_node);
		if (!task_allowed(t, to->cpu) || explore_is_held(t))
			continue;
		rq_move(to, from, t);
		return true;
	}
	return false;
}

bool sched_steal(struct rq *rq)
{
	u64 others = atomic_load_relaxed(&sched_cpus) & ~(1UL << rq->cpu);

	for (; others; others &= others - 1) {
		struct rq *from = &rqs[first_cpu(others)];
		if (!READ_ONCE(from->queued) || READ_ONCE(from->curr) == from->idle ||
		    !spin_trylock_raw(&from->lock))
			continue;
		bool got = steal_from(rq, from);
		spin_unlock_raw(&from->lock);
		if (got)
			return true;
	}
	return false;
}

void sched_kick_idle(struct rq *rq)
{
	const struct task *waits = list_first_entry(&rq->queue, struct task, rq_node);
	u64 mask = waits->cpus_allowed & atomic_load_relaxed(&sched_cpus) & ~(1UL << rq->cpu);

	for (; mask; mask &= mask - 1) {
		struct rq *other = &rqs[first_cpu(mask)];
		if (rq_idle(other)) {
			rq_resched(other);
			return;
		}
	}
}

/*
 * Sets the mask, and takes a task that only waits out of a queue it may not stay in. True: it is to
 * be carried to another.
 */
static bool change_affinity(struct task *t, u64 cpus)
{
	u64 flags;
	struct rq *rq = task_rq_lock_settled(t, &flags);
	bool carry = false;

	t->cpus_allowed = cpus;
	if (t->on_rq && !task_allowed(t, rq->cpu)) {
		if (t == rq->curr) {
			rq_resched(rq);
		} else {
			rq_dequeue(rq, t);
			t->state = TASK_RUNNING;
			carry = true;
		}
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return carry;
}

int task_set_affinity(struct task *t, u64 cpus)
{
	if (!(cpus & atomic_load(&sched_cpus)))
		return -EINVAL;
	if (change_affinity(t, cpus)) {
		u64 flags = irq_save();
		preempt_disable();
		sched_place(t, PLACE_CARRIED);
		irq_restore(flags);
		preempt_enable();
	}
	return 0;
}
