/*
 * Chosen schedules. See the header.
 *
 * Each CPU stores the time since when its explored task is in ring 3 or in the kernel; a task that
 * leaves one of them adds the elapsed time to its clock. For a point inside a stretch, the CPU's
 * timer interrupts there; at the end of the interrupt, or on its way to ring 3, the task checks
 * which points are due. If a point is due when a lock is released, the task is held at once, or by
 * the timer's interrupt as soon as interrupts are on.
 *
 * A held task stays in its run queue, which passes over it, until its timer fires.
 */
#include "kernel/task/explore.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/critical.h"
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/task/group.h"
#include "kernel/task/sched.h"
#include "kernel/task/timer.h"

#define STALL_MOST   17	 /* of a CPU: the logarithm of ns */
#define STEPS_MOST   512 /* single steps to a point */
#define RFLAGS_TF    0x100u
#define SPAN_DEFAULT 10000
#define GRACE_NS     100000000UL /* within which killed tasks must end */
#define SIGKILL	     9

enum { NOWHERE = SCHEDULE_CLOCKS };

/* A CPU with an explored task; [C], interrupts off. */
struct where {
	u8 in; /* SCHEDULE_U, SCHEDULE_K, NOWHERE */
	u64 since;
	const struct schedule_point *unlocked; /* due at an unlock; hold the task when possible */
} __aligned(64);

/* The hold of a point. */
struct hold {
	struct timer timer;
	struct task *task; /* counted */
};

struct static_key explore_key;

static struct where wheres[MAX_CPUS];
static u64 clocks[SCHEDULE_CLOCKS];	     /* [A] */
static struct schedule plan;		     /* [I] */
static bool taken[SCHEDULE_POINTS];	     /* [A] */
static unsigned next_point[SCHEDULE_CLOCKS]; /* [A] the first that is not taken */
static unsigned end_of[SCHEDULE_CLOCKS];     /* [I] after the last of that clock */
static struct hold holds[SCHEDULE_POINTS];
static unsigned alive, ready; /* [A] explored tasks: all; those that are runnable */
/* Stretches in ring 3 that a point may be in, in ns with the kernel's way there and back. */
static u64 longest;			/* [A] */
static u32 lengths[SCHEDULE_STRETCHES]; /* of the first ones; the task that is in it writes */
static bool hung;
static struct timer limit;
static struct wait_queue over = WAIT_QUEUE_INIT(over); /* all of them have ended */

/* ---- clocks and points ---- */

static inline bool explore_is_contended(void)
{
	return atomic_load_relaxed(&ready) >= 2;
}

static inline void explore_count(enum schedule_clock clock)
{
	if (atomic_load_relaxed(&alive) >= 2)
		atomic_add(&clocks[clock], 1);
}

/* The task has run that much longer in its stretch. */
static void explore_account_user(struct task *t, u64 took)
{
	u64 ran = t->explore_user.ran_ns + took, stretch = t->explore_user.stretch;

	t->explore_user.ran_ns = ran;
	if (ran > READ_ONCE(longest))
		WRITE_ONCE(longest, ran);
	if (stretch <= SCHEDULE_STRETCHES)
		WRITE_ONCE(lengths[stretch - 1], (u32)MIN(ran, SCHEDULE_STEPS));
}

/* Adds the time since the last call to the clock. */
static void explore_account(struct where *w)
{
	u64 now = clock_ns(), took = now - w->since;

	if (w->in == SCHEDULE_K && explore_is_contended())
		atomic_add(&clocks[SCHEDULE_K], took);
	else if (w->in == SCHEDULE_U && current()->explore_user.stretch)
		explore_account_user(current(), took);
	w->since = now;
}

/* Arms the timer for the next point in the kernel. */
static void explore_arm(const struct where *w)
{
	unsigned next = atomic_load(&next_point[SCHEDULE_K]);

	if (w->in != SCHEDULE_K || next >= end_of[SCHEDULE_K] || !explore_is_contended())
		return;
	u64 at = plan.point[next].at, is = atomic_load(&clocks[SCHEDULE_K]);
	timers_interrupt_at(w->since + (at > is ? at - is : 0));
}

/* Takes the first point of that clock that is due; NULL: none. */
static const struct schedule_point *explore_due(enum schedule_clock clock)
{
	unsigned i = atomic_load(&next_point[clock]);

	while (i < end_of[clock] && plan.point[i].at <= atomic_load(&clocks[clock])) {
		if (atomic_cas(&next_point[clock], i, i + 1)) {
			WRITE_ONCE(taken[i], true);
			return &plan.point[i];
		}
		i = atomic_load(&next_point[clock]);
	}
	return NULL;
}

/*
 * The next point of the stretch that is due now; else NULL, and *wanted is how many instructions
 * later one is: 0: none.
 */
static const struct schedule_point *explore_due_user(const struct task *t, u32 *wanted)
{
	*wanted = 0;
	for (unsigned i = 0; t->explore_user.stretch && i < end_of[SCHEDULE_U]; i++) {
		const struct schedule_point *p = &plan.point[i];

		if (p->at != t->explore_user.stretch || taken[i])
			continue;
		if (p->step > t->explore_user.done) {
			*wanted = p->step;
			return NULL;
		}
		WRITE_ONCE(taken[i], true);
		return p;
	}
	return NULL;
}

/* The point of the last lock, once. */
static const struct schedule_point *explore_due_unlocked(struct where *w)
{
	const struct schedule_point *p = w->unlocked;

	w->unlocked = NULL;
	return p;
}

static const struct schedule_point *explore_due_hold(const struct task *t, u32 *wanted)
{
	const struct schedule_point *p = explore_due_unlocked(&wheres[cpu_id()]);

	if (!p)
		p = explore_due(SCHEDULE_C);

	if (!p)
		p = explore_due(SCHEDULE_K);
	return p ? p : explore_due_user(t, wanted);
}

/* ---- holding ---- */

static void explore_release(struct timer *timer)
{
	struct hold *h = container_of(timer, struct hold, timer);
	u64 flags;
	struct rq *rq = task_rq_lock(h->task, &flags);

	h->task->explore &= ~EXPLORE_HELD;
	rq_resched(rq);
	spin_unlock_irqrestore(&rq->lock, flags);
	task_put(h->task);
}

/* The current task does not run for the time of the point. Interrupts off; it may be preempted. */
static void explore_hold(const struct schedule_point *p, u64 rip)
{
	struct hold *h = &holds[p - plan.point];
	struct task *t = current();
	struct rq *rq = this_rq();

	trace_explore_hold(p->clock, p->at, 1UL << p->amount, rip);
	task_get(t);
	h->task = t;
	spin_lock(&rq->lock);
	t->explore |= EXPLORE_HELD;
	spin_unlock_raw(&rq->lock);
	timer_setup(&h->timer, explore_release);
	timer_start(&h->timer, clock_ns() + (1UL << p->amount));
	preempt_enable_no_resched();
	sched_preempt_irq(rip);
}

/* Stalls this CPU: for a task that cannot be preempted. */
static void explore_stall(const struct schedule_point *p, u64 rip)
{
	u64 ns = 1UL << MIN(p->amount, (u8)STALL_MOST), end = clock_ns() + ns;

	trace_explore_hold(p->clock, p->at, ns, rip);
	while (clock_ns() < end)
		cpu_relax();
}

/* ---- called by the rest of the kernel ---- */

/* The current task has left ring 3. Interrupts off. */
static void explore_left(struct regs *r)
{
	struct task *t = current();
	struct where *w = &wheres[cpu_id()];

	explore_account(w);
	w->in = SCHEDULE_K;
	explore_arm(w);
	r->rflags &= ~RFLAGS_TF;
	atomic_or(&t->arch.work, TASK_WORK_EXPLORE);
}

void explore_interrupted(struct regs *r)
{
	struct task *t = current();

	if (!(t->explore & EXPLORE_TASK))
		return;
	explore_left(r);
	if (t->explore_user.look_ns && clock_ns() >= t->explore_user.look_ns)
		t->explore_user.done = t->explore_user.wanted;
}

void explore_faulted(struct regs *r)
{
	u64 flags = irq_save();

	if (current()->explore & EXPLORE_TASK) {
		explore_left(r);
		current()->explore |= EXPLORE_NEW;
	}
	irq_restore(flags);
}

void explore_entered_call(struct regs *r)
{
	const struct schedule_point *p;
	u64 flags;

	if (!(current()->explore & EXPLORE_TASK))
		return;
	flags = irq_save();
	explore_left(r);
	current()->explore |= EXPLORE_CALL | EXPLORE_NEW;
	explore_count(SCHEDULE_C);
	while ((p = explore_due(SCHEDULE_C)))
		explore_hold(p, r->rip);
	irq_restore(flags);
}

/* A trap follows each instruction; the task is held on its way back from the last one. */
bool explore_stepped(struct regs *r)
{
	struct task *t = current();

	if (!(t->explore & EXPLORE_TASK) || !t->explore_user.wanted || t->explore_user.look_ns)
		return false;
	if (++t->explore_user.done == t->explore_user.wanted) {
		r->rflags &= ~RFLAGS_TF;
		atomic_or(&t->arch.work, TASK_WORK_EXPLORE);
	}
	return true;
}

/* Begins a stretch of the task in ring 3. */
static void explore_begin_stretch(struct task *t)
{
	if (t->explore & EXPLORE_CALL)
		explore_count(SCHEDULE_C);
	t->explore_user.stretch = 0;
	t->explore_user.done = 0;
	t->explore_user.ran_ns = 0;
	if (t->explore & EXPLORE_NEW && explore_is_contended())
		t->explore_user.stretch = atomic_add(&clocks[SCHEDULE_U], 1);
	t->explore &= ~(EXPLORE_CALL | EXPLORE_NEW);
}

/* Steps up to the next point, or has the timer interrupt it there, when it is far. */
static void explore_want(struct task *t, struct regs *r, u32 wanted)
{
	t->explore_user.wanted = wanted;
	t->explore_user.look_ns = 0;
	if (!wanted)
		return;
	if (wanted - t->explore_user.done <= STEPS_MOST) {
		r->rflags |= RFLAGS_TF;
	} else {
		t->explore_user.look_ns = clock_ns() + (wanted - t->explore_user.done);
		timers_interrupt_at(t->explore_user.look_ns);
	}
}

void explore_enter_user(struct regs *r)
{
	struct task *t = current();
	const struct schedule_point *p;
	u32 wanted = 0;

	irq_disable();
	explore_account(&wheres[cpu_id()]);
	if (t->explore & (EXPLORE_CALL | EXPLORE_NEW))
		explore_begin_stretch(t);
	while ((p = explore_due_hold(t, &wanted))) {
		explore_hold(p, r->rip);
		explore_account(&wheres[cpu_id()]);
	}
	atomic_and(&t->arch.work, ~TASK_WORK_EXPLORE);
	explore_want(t, r, wanted);
	struct where *w = &wheres[cpu_id()];
	w->in = t->explore & EXPLORE_TASK ? SCHEDULE_U : NOWHERE;
	w->since = clock_ns();
}

void explore_irq_ended(const struct regs *r)
{
	struct where *w = &wheres[cpu_id()];
	const struct schedule_point *p;

	if (w->in != SCHEDULE_K || regs_user(r))
		return;
	bool may = !this_cpu_read(preempt_count) && !arch_probe_in_slot(r->rip) &&
		   !arch_hook_in_entry(r->rip);
	explore_account(w);
	p = may ? explore_due_unlocked(w) : NULL;
	if (!p)
		p = explore_due(SCHEDULE_K);
	if (p && may)
		explore_hold(p, r->rip);
	else if (p)
		explore_stall(p, r->rip);
	explore_account(&wheres[cpu_id()]);
	explore_arm(&wheres[cpu_id()]);
}

/* The time of l goes on: the point that is due; else NULL. */
static const struct schedule_point *explore_tell_lock(void)
{
	if (!(current()->explore & EXPLORE_TASK) || !explore_is_contended())
		return NULL;
	atomic_add(&clocks[SCHEDULE_L], 1);
	return explore_due(SCHEDULE_L);
}

void explore_acted(u64 rip)
{
	u64 flags = irq_save();
	const struct schedule_point *p = explore_tell_lock();

	if (p && !this_cpu_read(preempt_count))
		explore_hold(p, rip);
	else if (p)
		wheres[cpu_id()].unlocked = p;
	irq_restore(flags);
}

/* Preemption is still off for one instruction: nobody else has turned it off. */
static void explore_unlocked(u64 rip)
{
	bool may = irqs_enabled();
	u64 flags = irq_save();
	const struct schedule_point *p = explore_tell_lock();

	if (p && may) {
		preempt_count_sub(1);
		explore_hold(p, rip);
		preempt_count_add(1);
	} else if (p) {
		wheres[cpu_id()].unlocked = p;
		timers_interrupt_at(0);
	}
	irq_restore(flags);
}

void explore_switched(const struct task *to)
{
	struct where *w = &wheres[cpu_id()];

	explore_account(w);
	w->in = to->explore & EXPLORE_TASK ? SCHEDULE_K : NOWHERE;
	w->unlocked = NULL;
	explore_arm(w);
}

void explore_forked(struct task *child)
{
	if (!(current()->explore & EXPLORE_TASK))
		return;
	child->explore = EXPLORE_TASK | EXPLORE_CALL | EXPLORE_NEW;
	atomic_or(&child->arch.work, TASK_WORK_EXPLORE);
	atomic_add(&alive, 1);
}

void explore_ended(struct task *t)
{
	u64 flags = irq_save();

	if (t->explore & EXPLORE_TASK) {
		explore_account(&wheres[cpu_id()]);
		wheres[cpu_id()].in = NOWHERE;
		t->explore = 0;
		atomic_sub(&ready, 1);
		if (!atomic_sub(&alive, 1)) {
			timer_cancel(&limit);
			wake_up(&over);
		}
	}
	irq_restore(flags);
}

void explore_changed(const struct task *t, int change)
{
	if (!(t->explore & EXPLORE_TASK))
		return;
	explore_account(&wheres[cpu_id()]);
	atomic_add(&ready, change);
}

unsigned explore_other_cpu(const struct task *t, u64 mask, unsigned cpu)
{
	const struct schedule_point *p;

	if (!(t->explore & EXPLORE_TASK))
		return cpu;
	explore_count(SCHEDULE_W);
	p = explore_due(SCHEDULE_W);
	if (!p || !mask)
		return cpu;
	for (unsigned n = p->amount; n; n--)
		do
			cpu = (cpu + 1) % MAX_CPUS;
		while (!(mask >> cpu & 1));
	trace_explore_move(t, p->at, cpu);
	return cpu;
}

/* ---- who hangs ---- */

/* When the program hangs; 0: it may take as long as it likes. */
static u64 limit_ms(void)
{
	return cmdline_u64("sched_limit", 0);
}

static void explore_say_hung(const struct task *t)
{
	pr_err("explore: %s[%d] is %s", t->comm, t->pid,
	    t->explore & EXPLORE_HELD  ? "held"
	    : t->state == TASK_RUNNING ? "running"
				       : "waiting");
}

/* All of the program's processes are killed; if that does not end them, the machine ends. */
static void explore_limit(struct timer *unused __maybe_unused)
{
	struct task *t;
	u64 flags = spin_lock_irqsave(&task_lock);

	if (READ_ONCE(hung)) {
		spin_unlock_irqrestore(&task_lock, flags);
		panic("explore: the program cannot be killed");
	}
	WRITE_ONCE(hung, true);
	pr_err("explore: not over after %lu ms", limit_ms());
	list_for_each_entry (t, &task_list, all_node) {
		if (!(t->explore & EXPLORE_TASK))
			continue;
		explore_say_hung(t);
		signal_send(t, SIGKILL);
	}
	spin_unlock_irqrestore(&task_lock, flags);
	timer_start(&limit, clock_ns() + GRACE_NS);
}

/* ---- the beginning ---- */

static int explore_schedule(const char *seed)
{
	const char *list = seed ? NULL : cmdline_get("sched_points"),
		   *text = cmdline_get("sched_span");
	struct schedule_span span = {.steps = SPAN_DEFAULT};
	u64 number;
	int err = text ? schedule_parse_span(&span, text) : 0;

	for (unsigned i = 0; !text && i < SCHEDULE_CLOCKS; i++)
		span.clock[i] = SPAN_DEFAULT;
	if (err || list)
		return err ? err : schedule_parse(&plan, list);
	if (!seed)
		seed = cmdline_get("sched_seed");
	err = seed ? parse_u64(seed, 10, &number) : -EINVAL;
	if (!err)
		schedule_of_seed(&plan, number, &span);
	return err;
}

/* Nothing is explored: nobody else reads what is written here. */
static void explore_reset(void)
{
	for (unsigned i = 0, c = 0; c < SCHEDULE_CLOCKS; end_of[c++] = i) {
		clocks[c] = 0;
		for (next_point[c] = i; i < plan.count && plan.point[i].clock == c; i++)
			taken[i] = false;
	}
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		wheres[cpu].in = NOWHERE;
		wheres[cpu].unlocked = NULL;
	}
	WRITE_ONCE(hung, false);
	WRITE_ONCE(longest, 0);
	memset(lengths, 0, sizeof(lengths));
	atomic_store(&ready, 1);
}

/*
 * Each program begins in the middle between two ticks. Else the ticks would come elsewhere in a
 * machine that has run others before, and the same schedule would be another.
 */
static int explore_sleep_to_tick(void)
{
	return sleep_ns(TICK_NS * 3 / 2 - clock_ns() % TICK_NS, NULL);
}

int explore_begin(const char *seed)
{
	struct static_key *const key = &explore_key;
	struct task *t = current();
	u8 on = 1;
	int err;

	if (t->explore)
		return -EBUSY;
	err = wait_event_interruptible(&over, atomic_cas(&alive, 0, 1));
	if (err)
		return err;
	err = explore_schedule(seed);
	if (!err)
		err = explore_sleep_to_tick();
	if (err) {
		atomic_store(&alive, 0);
		wake_up(&over);
		return err;
	}
	explore_reset();
	t->explore = EXPLORE_TASK | EXPLORE_CALL | EXPLORE_NEW;
	atomic_or(&t->arch.work, TASK_WORK_EXPLORE);
	if (!key->enabled) {
		static_key_set_many(&key, &on, 1);
		critical_follow_preempt_on(explore_unlocked);
	}
	timer_setup(&limit, explore_limit);
	if (limit_ms())
		timer_start(&limit, clock_ns() + limit_ms() * 1000000);
	return 0;
}

void explore_ask(struct explore_state *s)
{
	for (unsigned i = 0; i < SCHEDULE_CLOCKS; i++)
		s->span.clock[i] = atomic_load(&clocks[i]);
	s->span.steps = READ_ONCE(longest);
	s->span.lengths = (unsigned)MIN(s->span.clock[SCHEDULE_U], SCHEDULE_STRETCHES);
	for (unsigned i = 0; i < s->span.lengths; i++)
		s->span.length[i] = READ_ONCE(lengths[i]);
	schedule_trim_span(&s->span);
	s->tasks = atomic_load(&alive);
	s->hung = READ_ONCE(hung);
	s->schedule = plan;
	for (unsigned i = 0; i < plan.count; i++)
		s->taken[i] = READ_ONCE(taken[i]);
}
