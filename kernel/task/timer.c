/*
 * One-shot timers, a sorted list per CPU, and the tick. The hardware timer is set for whatever
 * comes first: the first timer of the list, or the tick while this CPU has something to run. Task
 * and irq context; each list has a lock, taken with interrupts off, not held while a callback runs.
 */
/* hot: runs with each event */
#include "kernel/task/timer.h"
#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
#include "kernel/task/load.h"
#include "kernel/task/sched.h"

#define NEVER	UINT64_MAX
#define SOONEST 1000 /* ns; the hardware's least */

struct timer_base {
	struct spinlock lock;
	struct list_head timers; /* [L] soonest first */
	struct timer *running;	 /* [L] its callback is being called */
	u64 armed_for;		 /* [C] when the hardware is set to interrupt; NEVER: not */
	u64 tick_at;		 /* [C] */
} __aligned(64);

static struct timer_base bases[MAX_CPUS];

void timers_init(unsigned cpu)
{
	struct timer_base *b = &bases[cpu];
	list_init(&b->timers);
	b->armed_for = NEVER;
}

/* An interrupt at `when` or before. Own CPU, interrupts off. */
static void arm(struct timer_base *b, u64 when, u64 now)
{
	if (when >= b->armed_for)
		return;
	b->armed_for = when;
	timer_arm(when > now + SOONEST ? when - now : SOONEST);
}

void timers_tick_on(u64 now)
{
	struct timer_base *b = &bases[cpu_id()];

	if (b->tick_at <= now)
		b->tick_at = now + TICK_NS;
	arm(b, b->tick_at, now);
}

void timer_setup(struct timer *t, void (*fn)(struct timer *))
{
	list_init(&t->node);
	t->expires = 0;
	t->fn = fn;
	t->cpu = cpu_id();
	t->armed = false;
	trace_timer_init(t);
}

/* Locks the list of the CPU the timer was armed on; interrupts are off. */
static inline __attribute__((always_inline)) struct timer_base *timer_lock_base(struct timer *t)
{
	for (;;) {
		unsigned cpu = READ_ONCE(t->cpu);
		struct timer_base *b = &bases[cpu];
		spin_lock_raw(&b->lock);
		if (likely(cpu == READ_ONCE(t->cpu)))
			return b;
		spin_unlock_raw(&b->lock);
	}
}

/* Takes the timer off its list; true if it was on it. The base is locked. */
static bool detach(struct timer *t)
{
	bool was = t->armed;
	if (was) {
		list_del(&t->node);
		t->armed = false;
	}
	return was;
}

/* Equals keep their order. The base is locked. */
static void insert(struct timer_base *b, struct timer *t)
{
	struct list_head *at = b->timers.prev;

	while (at != &b->timers && list_entry(at, struct timer, node)->expires > t->expires)
		at = at->prev;
	list_add(&t->node, at);
	t->armed = true;
}

void timer_start(struct timer *t, u64 expires_ns)
{
	u64 flags = irq_save();
	u64 now = clock_ns();
	struct timer_base *b = timer_lock_base(t);
	struct timer_base *own = &bases[cpu_id()];

	detach(t);
	if (b != own) {
		/* Nobody else starts this timer meanwhile: that is its owner's to see to. */
		spin_unlock_raw(&b->lock);
		spin_lock_raw(&own->lock);
		WRITE_ONCE(t->cpu, cpu_id());
	}
	t->expires = expires_ns;
	insert(own, t);
	spin_unlock_raw(&own->lock);
	trace_timer_start(t, t->fn, expires_ns, now, t->cpu);
	arm(own, expires_ns, now);
	irq_restore(flags);
}

bool timer_cancel(struct timer *t)
{
	u64 flags = irq_save();
	struct timer_base *b = timer_lock_base(t);
	bool was = detach(t);

	/*
	 * On the callback's own CPU it is the callback, or something above it, that asks: it cannot
	 * wait for itself.
	 */
	while (b->running == t && b != &bases[cpu_id()]) {
		spin_unlock_raw(&b->lock);
		cpu_relax();
		spin_lock_raw(&b->lock);
	}
	spin_unlock_raw(&b->lock);
	if (was)
		trace_timer_cancel(t);
	irq_restore(flags);
	return was;
}

static void run_due(struct timer_base *b)
{
	u64 now = clock_ns();

	spin_lock_raw(&b->lock);
	while (!list_empty(&b->timers)) {
		struct timer *t = list_first_entry(&b->timers, struct timer, node);
		if (t->expires > now) {
			now = clock_ns(); /* callbacks take time */
			if (t->expires > now)
				break;
		}
		detach(t);
		b->running = t;
		spin_unlock_raw(&b->lock);
		trace_timer_expire_entry(t, t->fn, now);
		t->fn(t); /* may free it or start it again */
		trace_timer_expire_exit(t);
		spin_lock_raw(&b->lock);
		b->running = NULL;
	}
	spin_unlock_raw(&b->lock);
}

void timers_interrupt(void)
{
	struct timer_base *b = &bases[cpu_id()];
	bool busy = this_rq()->curr != this_rq()->idle;

	b->armed_for = NEVER;
	run_due(b);
	u64 now = clock_ns();
	if (busy) {
		if (b->tick_at <= now) {
			sched_tick();
			load_tick(now);
			b->tick_at = now + TICK_NS;
		}
		arm(b, b->tick_at, now);
	}
	/*
	 * Only this CPU adds to the list, and interrupts are off: a timer that goes meanwhile costs
	 * a look in vain.
	 */
	spin_lock_raw(&b->lock);
	u64 first = list_empty(&b->timers)
			? NEVER
			: list_first_entry(&b->timers, struct timer, node)->expires;
	spin_unlock_raw(&b->lock);
	arm(b, first, now);
}

void timers_interrupt_at(u64 when)
{
	struct timer_base *b = &bases[cpu_id()];
	u64 now = clock_ns();

	if (when >= b->armed_for)
		return;
	b->armed_for = when;
	timer_arm(when > now ? when - now : 1);
}

void timers_interrupt_in(u64 ns)
{
	u64 now = clock_ns();

	arm(&bases[cpu_id()], now + ns, now);
}

/* ---- Sleeping ---- */

static void timer_wake_expired(struct timer *t)
{
	struct timer_wake *w = container_of(t, struct timer_wake, timer);
	struct task *task = w->task; /* the other goes on once it sees `due` */

	atomic_store(&w->due, true);
	wake_up_process(task);
}

void timer_wake_at(struct timer_wake *w, u64 deadline)
{
	w->task = current();
	w->due = false;
	timer_setup(&w->timer, timer_wake_expired);
	if (deadline != UINT64_MAX)
		timer_start(&w->timer, deadline);
}

void timer_wake_cancel(struct timer_wake *w)
{
	timer_cancel(&w->timer);
}

static void sleep_timer_expired(struct timer *t)
{
	struct sleeper *s = container_of(t, struct sleeper, timer);
	struct task *task = s->task;

	atomic_store(&s->due, true);
	wake_up_process(task);
}

/* Until clock_ns() is s->expires: 0 or -EINTR. */
static int sleeper_wait(struct sleeper *s)
{
	int err = 0;

	s->task = current();
	timer_setup(&s->timer, sleep_timer_expired);
	timer_start(&s->timer, s->expires);
	for (;;) {
		atomic_store(&current()->state, TASK_INTERRUPTIBLE);
		if (atomic_load(&s->due))
			break;
		if (signal_pending_current()) {
			err = -EINTR;
			break;
		}
		schedule();
	}
	atomic_store(&current()->state, TASK_RUNNING);
	timer_cancel(&s->timer);
	return err;
}

/* When `ns` from now is. */
static u64 sleep_end(u64 ns)
{
	u64 now = clock_ns();

	return ns > UINT64_MAX / 2 - now ? UINT64_MAX / 2 : now + ns;
}

int sleep_ns(u64 ns, u64 *left)
{
	struct sleeper s = {.expires = sleep_end(ns)};
	int err = sleeper_wait(&s);
	u64 now = clock_ns();

	if (left)
		*left = err && s.expires > now ? s.expires - now : 0;
	return err;
}

int __noinline do_nanosleep(struct sleeper *t, u32 mode)
{
	if (mode == SLEEP_FOR)
		t->expires = sleep_end(t->expires);
	return sleeper_wait(t);
}
