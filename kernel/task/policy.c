/*
 * How tasks are scheduled: their policy, their nice value and what follows for their priority. Task
 * context, under task_lock too.
 */
#include "kernel/task/sched.h"

static int policy_prio(const struct task_policy *p)
{
	if (p->policy == SCHED_FIFO || p->policy == SCHED_RR)
		return RT_PRIORITY_MOST - p->rt_priority;
	return DEFAULT_PRIO + p->nice;
}

struct task_policy task_get_policy(struct task *t)
{
	u64 flags;
	struct rq *rq = task_rq_lock(t, &flags);
	struct task_policy how = t->how;

	spin_unlock_irqrestore(&rq->lock, flags);
	return how;
}

void task_set_policy(struct task *t, const struct task_policy *policy)
{
	u64 flags;
	struct rq *rq = task_rq_lock_settled(t, &flags);

	t->how = *policy;
	rq_set_prio(rq, t, policy_prio(policy));
	spin_unlock_irqrestore(&rq->lock, flags);
}

/* A real-time task has its nice value for later. */
void task_set_nice(struct task *t, s32 nice)
{
	u64 flags;
	struct rq *rq = task_rq_lock_settled(t, &flags);

	WRITE_ONCE(t->how.nice, nice);
	if (t->shares)
		rq_set_prio(rq, t, policy_prio(&t->how));
	spin_unlock_irqrestore(&rq->lock, flags);
}

void task_inherit_policy(struct task *child)
{
	struct task_policy how = task_get_policy(current());

	if (how.reset_on_fork) {
		bool realtime = how.rt_priority;
		how = (struct task_policy){.nice = realtime ? 0 : MAX(how.nice, 0)};
	}
	task_set_policy(child, &how);
}
