/*
 * Timers that end with a signal: see alarm.h. Task context, but for their ends (irq).
 *
 * A timer that repeats is not started again at its end but when its signal is taken; the ends that
 * were missed meanwhile are counted then. So the shortest interval costs no more interrupts than
 * there are signals taken.
 *
 * Time on a CPU has no timer of its own. At least the time that is missing must pass: then the end
 * of an ordinary timer looks at the clock again.
 *
 * The mutex alarm_setting orders all calls that make, set, read and remove timers. The group's lock
 * protects the fields that a timer's end and the taking of its signal change. timer_cancel() is
 * called without that lock, because it waits for the timer's end, which takes it.
 */
#include "kernel/task/alarm.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/group.h"

#define ALARMS_MAX    1024	/* of timer_create(), in a process */
#define ALARM_LOOK_NS 1000000UL /* time on a CPU is not looked at more often */

struct alarm {
	struct list_head node; /* [G] group->alarms */
	struct thread_group *group;
	int id;
	enum alarm_clock clock;
	struct alarm_notice notice; /* its task is counted */
	struct task *runner;	    /* ALARM_THREAD_TIME: whose time it is, counted */
	struct timer timer;
	u64 expires, interval; /* [G] by its clock; expires 0: off */
	bool sent;	       /* [G] its signal waits to be taken */
	u32 overrun;	       /* [G] of the signal taken last */
};

static struct mutex alarm_setting = MUTEX_INIT(alarm_setting);

/* How far the clock is ahead of clock_ns(). Not for clocks of CPU time. */
static u64 alarm_base(const struct alarm *a)
{
	return a->clock == ALARM_REALTIME ? clock_boot_unix_ns() : 0;
}

static bool alarm_by_cpu(const struct alarm *a)
{
	return a->clock >= ALARM_PROCESS_TIME;
}

/* No lock held. */
static u64 alarm_now(const struct alarm *a)
{
	if (a->clock == ALARM_PROCESS_TIME)
		return group_runtime_ns(a->group);
	return a->runner ? task_runtime_ns(a->runner) : alarm_base(a) + clock_ns();
}

/* Starts the timer for the next end. group->lock held. */
static void alarm_start(struct alarm *a, u64 now)
{
	u64 left = a->expires > now ? a->expires - now : 0;

	if (!a->notice.sig)
		return; /* alarm_get() computes its state from the clock */
	if (alarm_by_cpu(a))
		timer_start(&a->timer, clock_ns() + MAX(left, ALARM_LOOK_NS));
	else
		timer_start(&a->timer, MAX(a->expires, alarm_base(a)) - alarm_base(a));
}

/* Moves on to the first end after `now`, or turns the timer off. Returns the ends missed, as many
 * as an int holds. group->lock held. */
static u32 alarm_forward(struct alarm *a, u64 now)
{
	u64 missed = 0;

	if (!a->interval) {
		a->expires = 0;
		return 0;
	}
	if (now > a->expires)
		missed = (now - a->expires) / a->interval;
	a->expires += (missed + 1) * a->interval;
	return MIN(missed, (u64)INT_MAX);
}

static void alarm_send(struct alarm *a)
{
	struct signal_info info = {.code = SI_KERNEL};

	if (a->id >= 0)
		info =
		    (struct signal_info){.code = SI_TIMER, .pid = a->id, .value = a->notice.value};
	if (a->notice.task)
		signal_send_info(a->notice.task, a->notice.sig, &info, false);
	else
		signal_send_process(a->group, a->notice.sig, &info);
}

/* An ignored signal is never taken: the timer is started again here. */
static void alarm_after_send(struct alarm *a, u64 now)
{
	struct thread_group *g = a->group;
	u64 flags = spin_lock_irqsave(&g->lock);
	const struct sigpending *p = a->notice.task ? &a->notice.task->sig.pending : &g->pending;

	if (a->sent && !(p->set >> (a->notice.sig - 1) & 1)) {
		a->sent = false;
		alarm_forward(a, now);
		if (a->expires)
			timer_start(&a->timer, clock_ns() + MAX(a->interval, TICK_NS));
	}
	spin_unlock_irqrestore(&g->lock, flags);
}

static void alarm_expired(struct timer *timer)
{
	struct alarm *a = container_of(timer, struct alarm, timer);
	u64 now = alarm_now(a), flags = spin_lock_irqsave(&a->group->lock);
	bool over = a->expires && !a->sent && now >= a->expires;

	if (over)
		a->sent = true;
	else if (a->expires && !a->sent)
		alarm_start(a, now);
	spin_unlock_irqrestore(&a->group->lock, flags);
	if (!over)
		return;
	alarm_send(a);
	alarm_after_send(a, now);
}

u32 alarm_signal_taken(struct thread_group *g, int sig, int id)
{
	struct alarm *a;
	u32 overrun = 0;

	list_for_each_entry (a, &g->alarms, node) {
		/* CPU time cannot be read under this lock: no end counts as missed. */
		u64 now = alarm_by_cpu(a) ? a->expires : alarm_base(a) + clock_ns();

		if (!a->sent || a->notice.sig != sig)
			continue;
		a->sent = false;
		a->overrun = alarm_forward(a, now);
		if (a->expires)
			alarm_start(a, now);
		if (a->id == id)
			overrun = a->overrun;
	}
	return overrun;
}

/* ---- Making, setting, reading: alarm_setting is held ---- */

static struct alarm *alarm_find(int id)
{
	struct alarm *a;

	list_for_each_entry (a, &current()->group->alarms, node)
		if (a->id == id)
			return a;
	return NULL;
}

static struct alarm *alarm_new(int id, enum alarm_clock clock, const struct alarm_notice *notice)
{
	struct thread_group *g = current()->group;
	struct alarm *a = kzalloc(sizeof(*a));
	u64 flags;

	if (!a)
		return NULL;
	a->group = g;
	a->id = id;
	a->clock = clock;
	a->notice = *notice;
	if (notice->numbered)
		a->notice.value = id;
	if (notice->task)
		task_get(notice->task);
	if (clock == ALARM_THREAD_TIME) {
		a->runner = current();
		task_get(a->runner);
	}
	timer_setup(&a->timer, alarm_expired);
	flags = spin_lock_irqsave(&g->lock);
	list_add_tail(&a->node, &g->alarms);
	spin_unlock_irqrestore(&g->lock, flags);
	return a;
}

static void alarm_off(struct alarm *a)
{
	u64 flags = spin_lock_irqsave(&a->group->lock);

	a->expires = a->interval = 0;
	a->sent = false;
	a->overrun = 0;
	spin_unlock_irqrestore(&a->group->lock, flags);
	timer_cancel(&a->timer);
}

static void alarm_free(struct alarm *a)
{
	struct thread_group *g = a->group;
	u64 flags;

	alarm_off(a);
	flags = spin_lock_irqsave(&g->lock);
	list_del(&a->node);
	spin_unlock_irqrestore(&g->lock, flags);
	if (a->notice.task)
		task_put(a->notice.task);
	if (a->runner)
		task_put(a->runner);
	kfree(a);
}

/* The time left; of a timer that repeats until its next end, even if no signal was taken. */
static void alarm_left(const struct alarm *a, struct timer_setting *s)
{
	u64 now = alarm_now(a), flags = spin_lock_irqsave(&a->group->lock);

	*s = (struct timer_setting){.interval = a->interval};
	if (a->expires > now)
		s->value = a->expires - now;
	else if (a->expires && a->interval)
		s->value = a->interval - (now - a->expires) % a->interval;
	else if (a->expires && a->notice.sig && !a->sent)
		s->value = 1; /* its end comes at once */
	spin_unlock_irqrestore(&a->group->lock, flags);
}

static int alarm_create_locked(enum alarm_clock clock, const struct alarm_notice *notice)
{
	struct alarm *a;
	int id = 0, count = 0;

	list_for_each_entry (a, &current()->group->alarms, node) {
		id = MAX(id, a->id + 1);
		count++;
	}
	if (count >= ALARMS_MAX || id == INT_MAX)
		return -EAGAIN;
	return alarm_new(id, clock, notice) ? id : -ENOMEM;
}

int alarm_create(enum alarm_clock clock, const struct alarm_notice *notice)
{
	int id;

	mutex_lock(&alarm_setting);
	id = alarm_create_locked(clock, notice);
	mutex_unlock(&alarm_setting);
	return id;
}

int alarm_delete(int id)
{
	struct alarm *a;

	mutex_lock(&alarm_setting);
	a = id < 0 ? NULL : alarm_find(id);
	if (a)
		alarm_free(a);
	mutex_unlock(&alarm_setting);
	return a ? 0 : -EINVAL;
}

/* Makes one of the timers of setitimer(). */
static struct alarm *alarm_make_own(int id)
{
	static const int sig[] = {SIGALRM, SIGVTALRM, SIGPROF};
	struct alarm_notice notice = {.sig = sig[-1 - id]};

	return alarm_new(id, id == ALARM_REAL ? ALARM_MONOTONIC : ALARM_PROCESS_TIME, &notice);
}

static void alarm_begin(struct alarm *a, const struct timer_setting *set, bool absolute)
{
	u64 now = alarm_now(a), flags = spin_lock_irqsave(&a->group->lock);

	a->expires = absolute ? set->value : now + set->value;
	a->interval = set->interval;
	alarm_start(a, now);
	spin_unlock_irqrestore(&a->group->lock, flags);
}

static int alarm_set_locked(
    int id, const struct timer_setting *set, bool absolute, struct timer_setting *old)
{
	struct alarm *a = alarm_find(id);

	if (old)
		*old = (struct timer_setting){0};
	if (!a && id >= 0)
		return -EINVAL;
	if (!a && !set->value)
		return 0;
	if (!a)
		a = alarm_make_own(id);
	if (!a)
		return -ENOMEM;
	if (old)
		alarm_left(a, old);
	alarm_off(a);
	if (set->value)
		alarm_begin(a, set, absolute);
	return 0;
}

int alarm_set(int id, const struct timer_setting *set, bool absolute, struct timer_setting *old)
{
	int err;

	mutex_lock(&alarm_setting);
	err = alarm_set_locked(id, set, absolute, old);
	mutex_unlock(&alarm_setting);
	return err;
}

int alarm_get(int id, struct timer_setting *now)
{
	struct alarm *a;

	*now = (struct timer_setting){0};
	mutex_lock(&alarm_setting);
	a = alarm_find(id);
	if (a)
		alarm_left(a, now);
	mutex_unlock(&alarm_setting);
	return a || id < 0 ? 0 : -EINVAL;
}

int alarm_overrun(int id)
{
	struct alarm *a;
	int n;

	mutex_lock(&alarm_setting);
	a = alarm_find(id);
	n = a && id >= 0 ? (int)a->overrun : -EINVAL;
	mutex_unlock(&alarm_setting);
	return n;
}

void alarms_remove(struct thread_group *g, bool all)
{
	struct alarm *a, *next;

	if (list_empty(&g->alarms))
		return;
	mutex_lock(&alarm_setting);
	list_for_each_entry_safe (a, next, &g->alarms, node)
		if (all || a->id >= 0)
			alarm_free(a);
	mutex_unlock(&alarm_setting);
}
