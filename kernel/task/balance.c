/*
 * Which CPU a task runs on: placement at wake-up, stealing when a CPU runs dry, affinity. Locks:
 * see sched.h.
 *
 * A task goes back to where it ran last if that CPU is idle, else to any idle one, else to the
 * least busy. What goes wrong with that later an idle CPU sets right: it steals before it sleeps,
 * and a CPU with somebody waiting wakes it at its tick.
 */
/* hot: runs with each event */
#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
#include "kernel/task/sched.h"

static unsigned first_cpu(u64 mask)
{
	return __builtin_ctzl(mask);
}

unsigned sched_choose_cpu(const struct task *t)
{
	u64 mask = t->cpus_allowed & atomic_load_relaxed(&sched_cpus);
	unsigned best = t->cpu;

	if ((mask & (mask - 1)) == 0)
		return mask ? first_cpu(mask) : best;
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
		if (!task_allowed(t, to->cpu))
			continue;
		trace_sched_migrate_task(t, to->cpu);
		rq_dequeue(from, t);
		t->vruntime += to->min_vruntime - from->min_vruntime;
		WRITE_ONCE(t->cpu, to->cpu);
		rq_enqueue(to, t);
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
 * Sets the mask, and takes a task that only waits out of a queue it may not stay in. False: it is
 * on its way, try again.
 */
static bool change_affinity(struct task *t, u64 cpus, bool *carry)
{
	u64 flags;
	struct rq *rq = task_rq_lock(t, &flags);
	bool between = t->state == TASK_RUNNING && !t->on_rq && t != rq->idle;

	*carry = false;
	if (!between) {
		t->cpus_allowed = cpus;
		if (t->on_rq && !task_allowed(t, rq->cpu)) {
			if (t == rq->curr) {
				rq_resched(rq);
			} else {
				rq_dequeue(rq, t);
				t->state = TASK_RUNNING;
				*carry = true;
			}
		}
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return !between;
}

int task_set_affinity(struct task *t, u64 cpus)
{
	bool carry;

	if (!(cpus & atomic_load(&sched_cpus)))
		return -EINVAL;
	while (!change_affinity(t, cpus, &carry))
		cpu_relax();
	if (carry) {
		u64 flags = irq_save();
		preempt_disable();
		sched_place(t, PLACE_CARRIED);
		irq_restore(flags);
		preempt_enable();
	}
	return 0;
}
