/*
 * The scheduler: one run queue per CPU, tasks share it by virtual time. Contexts as task.h says for
 * each function.
 *
 * Words. A task's *vruntime* is the time it has had on the CPU, weighted by its nice value; the
 * queue is sorted by it and who has had least comes first. *min_vruntime* follows the least of a
 * queue; whoever comes from sleep starts not far below it, so that sleeping saves up no claim, and
 * a task that changes queues takes its distance from it along.
 *
 * A *real-time* task (SCHED_FIFO, SCHED_RR) comes before all that share. Its vruntime is no time,
 * but a number made of its priority, below all times: so the one comparison orders both. Equals
 * take their turns in order of arrival; who is preempted keeps its turn, who yields or has used up
 * its slice (SCHED_RR) goes behind the others. Real-time tasks may have RT_SHARE_NS of each
 * RT_PERIOD_NS of a CPU that others wait for; then they rest until the period ends.
 *
 * A task is in one of these places, all under the lock of rqs[t->cpu]:
 *   running   rq->curr, on_rq
 *   queued    on rq->queue, on_rq
 *   asleep    state not TASK_RUNNING, not on_rq, off the CPU for good
 *   between   TASK_RUNNING, not on_rq: somebody carries it to another queue and will be there in a
 *             moment
 *
 * The lock is held from before the choice of the next task until after the stacks were switched,
 * where the next task releases it: who gets the lock and sees a task not on_rq knows that nobody
 * stands on its stack.
 *
 * balance.c chooses the CPU of a task that wakes: the last one if that is idle, else any idle one;
 * a CPU without work takes tasks from others. policy.c has the policies and nice values. There is
 * no tick on an idle CPU: it sleeps until its first timer (timer.c). wait.c has wait queues and
 * mutexes. irq_work.c defers work of NMIs and tracepoints to a moment when locks may be taken.
 */
/* hot: runs with each event */
#include "kernel/task/sched.h"
#include "kernel/base/critical.h"
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/base/rescue.h"
#include "kernel/task/explore.h"
#include "kernel/task/timer.h"

/*
 * How far behind a sleeper may start, and how far it must be behind the running task to interrupt
 * it.
 */
#define SLEEPER_CREDIT_NS (TICK_NS / 2)
#define WAKEUP_GRAIN_NS	  (TICK_NS / 4)

/* So far apart that no grain bridges it, with room between two for who keeps its turn. */
#define RT_STEP	     (1UL << 32)
#define RT_VRUNTIME  (-(1UL << 62))
#define RT_PERIOD_NS 1000000000UL
#define RT_SHARE_NS  950000000UL

struct rq rqs[MAX_CPUS];
u64 sched_cpus;

static struct static_key observed;
static const struct sched_observer *observer; /* [A] the last; never NULL while `observed` */

void sched_observe(const struct sched_observer *by)
{
	struct static_key *const key = &observed;
	u8 on = by != NULL;

	if (by)
		WRITE_ONCE(observer, by);
	static_key_set_many(&key, &on, 1);
}

struct rq *task_rq_lock(struct task *t, u64 *flags)
{
	for (;;) {
		struct rq *rq = &rqs[READ_ONCE(t->cpu)];
		*flags = spin_lock_irqsave(&rq->lock);
		if (likely(rq->cpu == READ_ONCE(t->cpu)))
			return rq;
		spin_unlock_irqrestore(&rq->lock, *flags);
	}
}

struct rq *task_rq_lock_settled(struct task *t, u64 *flags)
{
	for (;;) {
		struct rq *rq = task_rq_lock(t, flags);
		if (likely(t->state != TASK_RUNNING || t->on_rq || t == rq->idle))
			return rq;
		spin_unlock_irqrestore(&rq->lock, *flags);
		cpu_relax();
	}
}

/* ---- Queues ---- */

/* Before all whose vruntime is greater than that; equals keep their order of arrival. */
static inline __attribute__((always_inline)) void rq_insert(
    struct rq *rq, struct task *t, u64 vruntime)
{
	struct list_head *at = rq->queue.prev;

	while (at != &rq->queue &&
	       sched_before(vruntime, list_entry(at, struct task, rq_node)->vruntime))
		at = at->prev;
	list_add(&t->rq_node, at);
	WRITE_ONCE(rq->queued, rq->queued + 1);
	t->on_rq = true;
}

void rq_enqueue(struct rq *rq, struct task *t)
{
	rq_insert(rq, t, t->vruntime);
}

void rq_dequeue(struct rq *rq, struct task *t)
{
	list_del(&t->rq_node);
	WRITE_ONCE(rq->queued, rq->queued - 1);
	t->on_rq = false;
}

/* A step of the nice value is a fifth more time, or less: its time counts by so much. */
static u64 sched_weighted(u64 ran, int nice)
{
	for (; unlikely(nice > 0); nice--)
		ran += ran / 4;
	for (; unlikely(nice < 0); nice++)
		ran -= ran / 5;
	return ran;
}

/* The same for a real-time task: it counts against the slice and the share of the period. */
static void sched_charge_realtime(struct rq *rq, struct task *t, u64 ran)
{
	rq->rt_ns += ran;
	if (t->how.policy == SCHED_RR) {
		t->slice_ns += ran;
		t->turn_over |= t->slice_ns >= RR_SLICE_NS;
	}
	trace_sched_stat_runtime(t, ran, 0);
}

/*
 * Charges the running task for its time until now. Another CPU, whose clock may be ahead, does so
 * when it changes the task's priority.
 */
static void sched_update_curr(struct rq *rq, u64 now)
{
	struct task *t = rq->curr;
	u64 ran;

	if (unlikely(sched_before(now, t->run_start_ns)))
		return;
	ran = now - t->run_start_ns;
	t->run_start_ns = now;
	t->run_total_ns += ran;
	if (!t->shares) {
		if (unlikely(t != rq->idle))
			sched_charge_realtime(rq, t, ran);
		return;
	}
	t->vruntime += sched_weighted(ran, READ_ONCE(t->how.nice));
	u64 least = t->vruntime;
	if (rq->queued && sched_before(rq_first(rq)->vruntime, least))
		least = rq_first(rq)->vruntime;
	if (sched_before(rq->min_vruntime, least))
		rq->min_vruntime = least;
	trace_sched_stat_runtime(t, ran, t->vruntime);
}

void rq_resched(struct rq *rq)
{
	struct cpu_local *c = cpu_local_of(rq->cpu);

	if (READ_ONCE(c->need_resched))
		return; /* who set it has sent the interrupt */
	WRITE_ONCE(c->need_resched, 1);
	if (rq->cpu != cpu_id())
		ipi_send(rq->cpu, IPI_RESCHEDULE);
}

void rq_check_preempt(struct rq *rq, const struct task *woken)
{
	const struct task *curr = rq->curr;

	if (curr == rq->idle || sched_before(woken->vruntime + WAKEUP_GRAIN_NS, curr->vruntime))
		rq_resched(rq);
}

/* ---- Switching ---- */

/* Second half of a switch, on the next task's stack. */
static void sched_finish_switch(void)
{
	struct rq *rq = this_rq();
	struct task *prev = rq->prev;
	bool dead = prev->state & (TASK_DEAD | TASK_ZOMBIE);
	bool carry = prev->state == TASK_RUNNING && !prev->on_rq && prev != rq->idle;

	prev->on_cpu = false;
	spin_unlock_raw(&rq->lock);
	preempt_count_sub(1);
	if (unlikely(carry))
		sched_place(prev, PLACE_CARRIED);
	if (unlikely(dead))
		task_put(prev);
}

/*
 * Why a task gives the CPU up: by its own will (to sleep, if its state says so), against its will,
 * to let others go first.
 */
enum reason { GIVES_UP, PREEMPTED, YIELDS };

/*
 * What becomes of a real-time task: it is carried to another CPU if it has to wait here and not
 * there. If it sleeps, others may have waited for it.
 */
static void put_realtime(struct rq *rq, struct task *prev, enum reason why)
{
	bool keeps_turn = why != YIELDS && !prev->turn_over;
	u64 turn = keeps_turn ? prev->vruntime - 1 : prev->vruntime;

	prev->on_rq = false;
	if (why != PREEMPTED && prev->state != TASK_RUNNING) {
		sched_rt_pull(rq);
		return;
	}
	if (!keeps_turn)
		prev->slice_ns = prev->turn_over = 0;
	bool waits = rq->queued && !sched_before(turn, rq_first(rq)->vruntime);
	if (task_allowed(prev, rq->cpu) && !(waits && sched_rt_has_place(rq, prev)))
		rq_insert(rq, prev, turn);
	else
		prev->state = TASK_RUNNING;
}

/* What becomes of the running task: back into the queue, or off it. */
static void put_curr(struct rq *rq, struct task *prev, enum reason why)
{
	if (!prev->shares) {
		if (unlikely(prev != rq->idle))
			put_realtime(rq, prev, why);
		return;
	}
	prev->on_rq = false;
	if (why != PREEMPTED && prev->state != TASK_RUNNING) {
		explore_ready(prev, -1);
		return;
	}
	if (why == YIELDS && rq->queued) {
		u64 last = list_entry(rq->queue.prev, struct task, rq_node)->vruntime;
		if (sched_before(prev->vruntime, last))
			prev->vruntime = last;
	}
	if (likely(task_allowed(prev, rq->cpu)))
		rq_enqueue(rq, prev);
	else
		prev->state =
		    TASK_RUNNING; /* sched_finish_switch() carries it to where it may run */
}

/* While real-time tasks rest: the first that is none, or the first of all. */
static struct task *rq_first_sharing(struct rq *rq)
{
	struct task *t;

	if (clock_ns() - rq->rt_began >= RT_PERIOD_NS) {
		rq->rt_rests = false;
		return rq_first(rq);
	}
	list_for_each_entry (t, &rq->queue, rq_node)
		if (t->shares)
			return t;
	return rq_first(rq);
}

/* The first that may run; NULL: none. */
static inline struct task *rq_first_free(struct rq *rq)
{
	struct task *t;

	list_for_each_entry (t, &rq->queue, rq_node)
		if (!explore_is_held(t))
			return t;
	return NULL;
}

static struct task *take_next(struct rq *rq)
{
	if (!rq->queued && !sched_steal(rq))
		return rq->idle;
	struct task *next = unlikely(rq->rt_rests) ? rq_first_sharing(rq) : rq_first(rq);
	if (unlikely(explore_is_held(next))) {
		next = rq_first_free(rq);
		if (!next && sched_steal(rq))
			next = rq_first_free(rq);
		if (!next)
			return rq->idle;
	}
	rq_dequeue(rq, next);
	next->on_rq = true;
	return next;
}

static void switch_to(struct rq *rq, struct task *prev, struct task *next)
{
	rq->curr = next;
	rq->prev = prev;
	next->on_cpu = true;
	if (prev == rq->idle)
		timers_tick_on(next->run_start_ns);
	arch_switch(&prev->arch, &next->arch, next, next->pid_common);
	sched_finish_switch();
}

/* Preemption is off already, once. */
static void __noinline __schedule(enum reason why)
{
	u64 flags = irq_save();
	struct rq *rq = this_rq();

	spin_lock(&rq->lock);
	u64 now = clock_ns(); /* not before: another CPU may have charged the task meanwhile */
	struct task *prev = rq->curr;
	u32 prev_state = prev->state;
	this_cpu()->need_resched = 0;
	sched_update_curr(rq, now);
	put_curr(rq, prev, why);
	struct task *next = take_next(rq);
	if (likely(next != prev)) {
		next->run_start_ns = now;
		if (why == PREEMPTED || prev_state == TASK_RUNNING)
			prev->nivcsw++;
		else
			prev->nvcsw++;
		trace_sched_switch(why == PREEMPTED, prev, next, prev_state);
		if (static_branch(&observed))
			observer->switched(prev, next, why == PREEMPTED ? 0 : prev_state);
		explore_switch(next);
		switch_to(rq, prev, next);
	} else {
		spin_unlock_raw(&rq->lock);
		preempt_count_sub(1);
	}
	irq_restore(flags);
}

/*
 * Of each stretch that a task runs, the last instruction is known if it was preempted there: `at`,
 * else 0.
 */
static void schedule_loop(enum reason why, u64 at)
{
	WRITE_ONCE(current()->preempted_at, at);
	for (;;) {
		preempt_disable();
		__schedule(why);
		preempt_enable_no_resched();
		if (likely(!this_cpu_read(need_resched)))
			return;
		if (why == YIELDS)
			why = GIVES_UP; /* it has let the others go first */
	}
}

static inline __attribute__((always_inline)) void schedule_task(enum reason why)
{
	if (rescue_active())
		rescue_give_up("it would have to wait");
	if (unlikely(this_cpu_read(preempt_count)))
		panic("schedule: preempt_count is %#x in %s", this_cpu_read(preempt_count),
		    current()->comm);
	schedule_loop(why, 0);
}

void schedule(void)
{
	schedule_task(GIVES_UP);
}

void sched_yield_current(void)
{
	schedule_task(YIELDS);
}

void preempt_resched(void)
{
	if (this_cpu_read(preempt_count) == 0 && irqs_enabled())
		schedule_loop(PREEMPTED, 0);
}

void sched_preempt_irq(u64 rip)
{
	schedule_loop(PREEMPTED, rip);
}

/* Where a new task begins: interrupts off, one preempt_count of the switcher's. */
void task_first_run(void *unused)
{
	(void)unused;
	sched_finish_switch();
	irq_enable();
	preempt_enable();
	struct task *t = current();
	t->thread_fn(t->thread_arg);
	do_exit(0);
}

/* ---- Idle ---- */

static void sched_setup_idle(void)
{
	unsigned cpu = cpu_id();
	struct rq *rq = &rqs[cpu];
	struct task *t = task_alloc_idle(cpu);

	if (!t)
		panic("no memory for the idle task of CPU %u", cpu);
	rq->cpu = cpu;
	list_init(&rq->queue);
	rq->curr = rq->idle = t;
	t->run_start_ns = clock_ns();
	this_cpu()->current = t;
	this_cpu()->preempt_count = 1; /* the idle task is never preempted: it looks for itself */
	timers_init(cpu);
	atomic_or(&sched_cpus, 1UL << cpu);
}

struct task *sched_idle_task(unsigned cpu)
{
	return rqs[cpu].idle;
}

void sched_init(void)
{
	sched_setup_idle();
}

void sched_init_ap(void)
{
	sched_setup_idle();
}

void sched_idle(void)
{
	unsigned cpu = cpu_id();

	for (;;) {
		irq_disable();
		if (!this_cpu_read(need_resched)) {
			trace_cpu_idle(1, cpu);
			critical_idle_begin();
			cpu_idle_wait();
			critical_idle_end();
			trace_cpu_idle((u32)-1, cpu);
		}
		irq_enable();
		if (this_cpu_read(need_resched))
			__schedule(GIVES_UP);
	}
}

/* ---- Waking ---- */

/* Into the queue of `to`, unless the affinity changed since it was chosen. Its lock is held. */
static bool place_on(struct rq *to, struct task *t, s64 distance, enum place why)
{
	if (likely(t->shares))
		t->vruntime = to->min_vruntime + MAX(distance, -(s64)SLEEPER_CREDIT_NS);
	WRITE_ONCE(t->cpu, to->cpu);
	if (unlikely(!task_allowed(t, to->cpu)))
		return false;
	rq_enqueue(to, t);
	if (why == PLACE_WOKEN)
		trace_sched_wakeup(t);
	else if (why == PLACE_NEW)
		trace_sched_wakeup_new(t);
	if (why != PLACE_CARRIED) {
		if (static_branch(&observed))
			observer->woken(t);
		explore_ready(t, 1);
	}
	rq_check_preempt(to, t);
	return true;
}

void sched_place(struct task *t, enum place why)
{
	bool placed;

	do {
		unsigned cpu = sched_choose_cpu(t);
		struct rq *to = &rqs[cpu];
		/*
		 * How far it was from the others in the queue it leaves; without that lock an
		 * estimate.
		 */
		s64 distance = t->vruntime - READ_ONCE(rqs[t->cpu].min_vruntime);
		if (cpu != t->cpu && why != PLACE_NEW)
			trace_sched_migrate_task(t, cpu);
		spin_lock(&to->lock);
		placed = place_on(to, t, distance, why);
		spin_unlock_raw(&to->lock);
		preempt_count_sub(1);
	} while (unlikely(!placed));
}

bool __noinline try_to_wake_up(struct task *p, u32 state, int wake_flags __maybe_unused)
{
	u64 flags;
	struct rq *rq = task_rq_lock(p, &flags);

	if (!(data_race(p->state) & state)) { /* its owner sets it without the lock */
		spin_unlock_irqrestore(&rq->lock, flags);
		return false;
	}
	trace_sched_waking(p);
	bool asleep = !p->on_rq;
	WRITE_ONCE(p->state, TASK_RUNNING); /* others see a running task now: it is ours to carry */
	if (!asleep)
		trace_sched_wakeup(p);
	spin_unlock_raw(&rq->lock);
	if (asleep)
		sched_place(p, PLACE_WOKEN);
	irq_restore(flags);
	preempt_enable();
	return true;
}

bool wake_up_process(struct task *p)
{
	return wake_up_state(
	    p, TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE | TASK_STOPPED | TASK_IDLE);
}

void task_start(struct task *t)
{
	u64 flags = irq_save();

	preempt_disable();
	t->vruntime = READ_ONCE(rqs[t->cpu].min_vruntime);
	WRITE_ONCE(t->state, TASK_RUNNING);
	sched_place(t, PLACE_NEW);
	irq_restore(flags);
	preempt_enable();
}

void rq_set_prio(struct rq *rq, struct task *t, int prio)
{
	bool shared = t->shares, queued = t->on_rq && t != rq->curr;

	if (t == rq->curr)
		sched_update_curr(rq, clock_ns());
	if (queued)
		rq_dequeue(rq, t);
	WRITE_ONCE(t->prio, prio);
	t->shares = !task_is_realtime(t);
	t->slice_ns = t->turn_over = 0;
	if (!t->shares)
		t->vruntime = RT_VRUNTIME + prio * RT_STEP;
	else if (!shared)
		t->vruntime = rq->min_vruntime;
	if (queued) {
		rq_enqueue(rq, t);
		rq_check_preempt(rq, t);
	} else if (t == rq->curr && rq->queued &&
		   sched_before(rq_first(rq)->vruntime, t->vruntime)) {
		rq_resched(rq);
	}
}

/* ---- Ticks and numbers ---- */

/* When real-time tasks run or wait: whose turn is it? */
static void sched_tick_realtime(struct rq *rq, u64 now)
{
	const struct task *first = rq_first(rq);
	struct task *curr = rq->curr;

	if (now - rq->rt_began >= RT_PERIOD_NS) {
		rq->rt_began = now;
		rq->rt_ns = 0;
		rq->rt_rests = false;
	} else if (rq->rt_ns >= RT_SHARE_NS && !rq->rt_rests) {
		rq->rt_rests = true;
		rq_resched(rq);
	}
	if (curr->turn_over) {
		if (first->vruntime == curr->vruntime)
			rq_resched(rq);
		else
			curr->slice_ns = curr->turn_over = 0;
	}
	if (!first->shares)
		sched_rt_push(rq);
}

void sched_tick(void)
{
	struct rq *rq = this_rq();
	u64 now;

	spin_lock(&rq->lock);
	now = clock_ns(); /* not before, as in __schedule() */
	sched_update_curr(rq, now);
	if (rq->queued) {
		if (unlikely(!rq->curr->shares || !rq_first(rq)->shares))
			sched_tick_realtime(rq, now);
		if (rq->curr == rq->idle ||
		    sched_before(rq_first(rq)->vruntime, rq->curr->vruntime))
			rq_resched(rq);
		sched_kick_idle(rq);
	}
	spin_unlock_raw(&rq->lock);
	preempt_count_sub(1);
}

unsigned sched_runnable(unsigned cpu)
{
	return READ_ONCE(rqs[cpu].queued) + (READ_ONCE(rqs[cpu].curr) != rqs[cpu].idle);
}
