/*
 * Sends signals: checks that a task may get one, keeps the pending ones, wakes the task. Task and
 * irq context. The thread group's lock (group.h) orders senders with the taker in
 * kernel/process/sigdeliver.c and with sigaction.
 */
#include "kernel/task/signal.h"

#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/alarm.h"
#include "kernel/task/group.h"
#include "kernel/task/sigset.h"

/* What signal_generate shows as its result, Linux's numbers. */
enum { GENERATED, GENERATED_IGNORED, GENERATED_ALREADY, GENERATED_OVERFLOW };

#define SIGNALS_QUEUED_MAX 1024u /* of a process, beside the first of each number */

struct wait_queue signal_queued = WAIT_QUEUE_INIT(signal_queued);

enum sig_default signal_default(int sig)
{
	u64 bit = sig_bit(sig);

	if (bit & SIGS_DEFAULT_IGNORE)
		return SIG_DEFAULT_IGNORE;
	return bit & SIGS_STOP ? SIG_DEFAULT_STOP : SIG_DEFAULT_END;
}

/*
 * Would this signal do nothing? Blocked ones wait: what they do is settled when they are let
 * through. group->lock held.
 */
static bool signal_ignored(struct task *t, int sig)
{
	u64 handler = READ_ONCE(group_action(t->group, sig)->handler);

	if (t == init_task && (sig_bit(sig) & SIGS_INIT))
		return false;
	if (t->flags & (TASK_KTHREAD | TASK_EXITING))
		return true;
	if ((t->sig.blocked | t->sig.blocked_before) & sig_bit(sig))
		return false;
	if (handler == SIG_DFL && t == init_task)
		return true; /* pid 1 lives until it ends itself */
	return handler == SIG_IGN ||
	       (handler == SIG_DFL && signal_default(sig) == SIG_DEFAULT_IGNORE);
}

void signal_discard(struct thread_group *g, struct sigpending *p, u64 set)
{
	struct signal_more **at = &p->more, *m;

	atomic_and(&p->set, ~set);
	while ((m = *at)) {
		if (!(set & sig_bit(m->sig))) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		g->queued--;
		kfree(m);
	}
}

void signal_forget(struct thread_group *g, u64 set)
{
	struct task *t;

	signal_discard(g, &g->pending, set);
	list_for_each_entry (t, &g->threads, thread_node)
		signal_discard(g, &t->sig.pending, set);
}

void signal_abandon(struct task *t)
{
	u64 flags = spin_lock_irqsave(&t->group->lock);

	signal_discard(t->group, &t->sig.pending, ~0UL);
	spin_unlock_irqrestore(&t->group->lock, flags);
}

/* Another real-time signal of a number that waits already. group->lock held. */
static int signal_queue(
    struct thread_group *g, struct sigpending *p, int sig, const struct signal_info *info)
{
	struct signal_more **at = &p->more, *m;

	if (sig < SIGRTMIN)
		return GENERATED_ALREADY;
	m = g->queued < SIGNALS_QUEUED_MAX ? kmalloc(sizeof(*m)) : NULL;
	if (!m)
		return GENERATED_OVERFLOW;
	*m = (struct signal_more){NULL, sig, *info};
	while (*at)
		at = &(*at)->next;
	*at = m;
	g->queued++;
	return GENERATED;
}

/* The next of a number whose first was taken; none: it waits no more. group->lock held. */
static void signal_next(struct thread_group *g, struct sigpending *p, int sig)
{
	struct signal_more **at = &p->more, *m;

	while ((m = *at) && m->sig != sig)
		at = &m->next;
	if (!m) {
		atomic_and(&p->set, ~sig_bit(sig));
		return;
	}
	p->info[sig - 1] = m->info;
	*at = m->next;
	g->queued--;
	kfree(m);
}

static int signal_first(u64 ready)
{
	u64 first = ready & SIGS_SYNCHRONOUS;

	return __builtin_ctzl(first ? first : ready) + 1;
}

static bool signal_take_from(
    struct thread_group *g, struct sigpending *p, u64 set, struct taken_signal *s)
{
	u64 ready = p->set & set;

	if (!ready)
		return false;
	s->sig = signal_first(ready);
	s->info = p->info[s->sig - 1];
	signal_next(g, p, s->sig);
	return true;
}

bool signal_take(u64 set, struct taken_signal *s)
{
	struct task *t = current();
	struct thread_group *g = t->group;

	if (!signal_take_from(g, &t->sig.pending, set, s) &&
	    !signal_take_from(g, &g->pending, set, s))
		return false;
	s->overrun = 0;
	if (unlikely(!list_empty(&g->alarms)))
		s->overrun = alarm_signal_taken(
		    g, s->sig, s->info.code == SI_TIMER ? s->info.pid : ALARM_REAL);
	return true;
}

/* Makes the task look for signals: out of a wait, a stop, or ring 3 on another CPU. */
static void signal_wake(struct task *t, bool stopped_too)
{
	u32 state = READ_ONCE(t->state);

	atomic_or(&t->arch.work, TASK_WORK_SIGNAL);
	/* The current task too: an interrupt may find it about to sleep. */
	if (state == TASK_STOPPED) {
		if (stopped_too)
			wake_up_process(t);
	} else if (state & TASK_INTERRUPTIBLE) {
		wake_up_process(t);
	} else if (t != current() && READ_ONCE(t->on_cpu)) {
		ipi_send(READ_ONCE(t->cpu), IPI_RESCHEDULE);
	}
}

void signal_wake_others(struct thread_group *g, const struct task *but)
{
	struct task *t;

	list_for_each_entry (t, &g->threads, thread_node)
		if (t != but && !(t->flags & TASK_EXITING))
			signal_wake(t, true);
}

/* Stop and continue undo each other where they wait. group->lock held. */
static void signal_cancel_opposite(struct thread_group *g, int sig)
{
	if (sig == SIGCONT || sig == SIGKILL) {
		signal_forget(g, SIGS_STOP);
		g->continue_seen = true;
		if (g->call != GROUP_STOPS)
			return;
		g->call = GROUP_RUNS;
		g->report_continue = sig == SIGCONT && g->stopped == g->live;
		signal_wake_others(g, NULL);
	} else if (sig_bit(sig) & SIGS_STOP) {
		signal_forget(g, sig_bit(SIGCONT));
	}
}

static bool signal_takes(const struct task *t, int sig)
{
	return !(t->flags & TASK_EXITING) && !(t->sig.blocked & sig_bit(sig));
}

/* The thread to take a signal of the process: `t` unless it blocks it; NULL: all block it. */
static struct task *signal_choose(struct task *t, int sig)
{
	struct task *other;

	if (signal_takes(t, sig))
		return t;
	list_for_each_entry (other, &t->group->threads, thread_node)
		if (signal_takes(other, sig))
			return other;
	return NULL;
}

/* Wakes the thread that is to take the signal. group->lock held. */
static void signal_poke(struct task *t, int sig, bool group)
{
	struct task *to = t;

	if (sig == SIGKILL) {
		signal_wake_others(t->group, NULL);
		return;
	}
	if (group)
		to = signal_choose(t, sig);
	if (to && signal_takes(to, sig))
		signal_wake(to, false);
}

void signal_retarget(u64 set)
{
	struct task *t = current();
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&g->lock);

	for (u64 left = g->pending.set & set; left; left &= left - 1) {
		int sig = __builtin_ctzl(left) + 1;
		struct task *to = signal_choose(t, sig);

		if (to && to != t)
			signal_wake(to, false);
	}
	spin_unlock_irqrestore(&g->lock, flags);
}

/* A thread that receives for its process: t, or if t has ended, one that has not. */
static struct task *signal_stand_in(struct task *t)
{
	struct task *other;

	if (likely(!(t->flags & TASK_EXITING)))
		return t;
	list_for_each_entry (other, &t->group->threads, thread_node)
		if (!(other->flags & TASK_EXITING))
			return other;
	return t;
}

static int signal_make_pending(struct task *t, int sig, const struct signal_info *info, bool group)
{
	struct thread_group *g = t->group;
	struct sigpending *p = group ? &g->pending : &t->sig.pending;
	u64 bit = sig_bit(sig);
	u64 flags = spin_lock_irqsave(&g->lock);
	int result = GENERATED;

	if (group)
		t = signal_stand_in(t);
	signal_cancel_opposite(g, sig);
	if (signal_ignored(t, sig)) {
		result = GENERATED_IGNORED;
	} else if (p->set & bit) {
		result = signal_queue(g, p, sig, info);
	} else {
		p->info[sig - 1] = *info;
		atomic_or(&p->set, bit);
		signal_poke(t, sig, group);
	}
	spin_unlock_irqrestore(&g->lock, flags);
	return result;
}

int signal_send_info(struct task *t, int sig, const struct signal_info *info, bool group)
{
	int result;

	if (sig < 1 || sig > SIG_COUNT)
		return -EINVAL;
	result = signal_make_pending(t, sig, info, group);
	trace_signal_generate(sig, 0, info->code, t, group, result);
	if (unlikely(!list_empty_lockless(&signal_queued.waiters)))
		wake_up(&signal_queued);
	return result == GENERATED_OVERFLOW && info->code != SI_USER ? -EAGAIN : 0;
}

void signal_send_process(struct thread_group *g, int sig, const struct signal_info *info)
{
	u64 flags = spin_lock_irqsave(&g->lock);
	struct task *t = g->leader; /* another by an execve(), when the lock is free */

	task_get(t);
	spin_unlock_irqrestore(&g->lock, flags);
	signal_send_info(t, sig, info, true);
	task_put(t);
}

/* The running task as a sender; 0 stands for the kernel. */
static struct signal_info sender(int code)
{
	return (struct signal_info){.code = code, .pid = current()->tgid};
}

int signal_send(struct task *t, int sig)
{
	struct signal_info info = sender(SI_USER);

	return signal_send_info(t, sig, &info, false);
}

bool signal_ineffective_current(int sig)
{
	struct task *t = current();

	return (t->sig.blocked & sig_bit(sig)) ||
	       READ_ONCE(group_action(t->group, sig)->handler) == SIG_IGN;
}

bool signal_pending_current(void)
{
	return signal_ready(current()) || group_calls(current());
}

u64 signal_take_init(void)
{
	struct task *t = current();
	u64 asked, flags = spin_lock_irqsave(&t->group->lock);

	asked = t->group->pending.set & SIGS_INIT;
	signal_forget(t->group, ~0UL);
	spin_unlock_irqrestore(&t->group->lock, flags);
	atomic_and(&t->arch.work, ~TASK_WORK_SIGNAL);
	return asked;
}

void signal_set_blocked(u64 mask)
{
	struct task *t = current();

	u64 more = mask & ~t->sig.blocked;

	WRITE_ONCE(t->sig.blocked, mask & ~SIGS_UNBLOCKABLE);
	if (unlikely(more & READ_ONCE(t->group->pending.set)))
		signal_retarget(more);
	if (signal_pending_current())
		atomic_or(&t->arch.work, TASK_WORK_SIGNAL);
}

/* Unblocks the set and sleeps until a signal or the deadline. The caller blocks it again. */
static void signal_sleep(u64 set, struct timer_wake *w)
{
	struct task *t = current();
	u64 flags = spin_lock_irqsave(&t->group->lock);

	t->sig.blocked_before = t->sig.blocked;
	WRITE_ONCE(t->sig.blocked, t->sig.blocked & ~set);
	spin_unlock_irqrestore(&t->group->lock, flags);
	for (;;) {
		atomic_store(&t->state, TASK_INTERRUPTIBLE);
		if (signal_pending_current() || atomic_load(&w->due))
			break;
		schedule();
	}
	atomic_store(&t->state, TASK_RUNNING);
}

bool signal_take_now(u64 set, struct taken_signal *s)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&g->lock);
	bool taken = signal_take(set, s);

	spin_unlock_irqrestore(&g->lock, flags);
	return taken;
}

int signal_wait(u64 set, u64 deadline, struct taken_signal *s)
{
	struct signals *sig = &current()->sig;
	struct timer_wake w;
	bool taken;

	set &= ~SIGS_UNBLOCKABLE;
	if (signal_take_now(set, s))
		return 0;
	if (deadline <= clock_ns())
		return -EAGAIN;
	timer_wake_at(&w, deadline);
	signal_sleep(set, &w);
	timer_wake_cancel(&w);
	taken = signal_take_now(set, s);
	/* Signals of the process that came meanwhile and were not taken go to other threads. */
	signal_set_blocked(sig->blocked_before);
	sig->blocked_before = 0;
	if (taken)
		return 0;
	return signal_pending_current() ? -EINTR : -EAGAIN;
}

/* One task by its pid; sig 0 only looks. */
static int kill_one(int pid, int sig)
{
	struct signal_info info = sender(SI_USER);
	struct task *t = task_find(pid);

	if (!t)
		return -ESRCH;
	if (sig)
		signal_send_info(t, sig, &info, true);
	task_put(t);
	return 0;
}

static bool in_group(const struct task *t, int pgid)
{
	if (t->reaped)
		return false;
	return pgid ? t->group->pgid == pgid
		    : t != init_task && !(t->flags & TASK_KTHREAD) && t->group != current()->group;
}

/* All of a group, or with pgid 0 every process but the caller and pid 1. */
static int signal_kill_group(int pgid, int sig, const struct signal_info *info)
{
	struct task *t;
	u64 flags;
	int ret = -ESRCH;

	flags = spin_lock_irqsave(&task_lock);
	for_each_leader(t)
	{
		if (!in_group(t, pgid))
			continue;
		ret = 0;
		if (sig)
			signal_send_info(t, sig, info, true);
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

void signal_send_group(int pgid, int sig)
{
	struct signal_info info = {.code = SI_KERNEL};

	if (pgid > 0)
		signal_kill_group(pgid, sig, &info);
}

int signal_kill(int pid, int sig)
{
	struct signal_info info = sender(SI_USER);

	if (sig < 0 || sig > SIG_COUNT)
		return -EINVAL;
	if (pid > 0)
		return kill_one(pid, sig);
	if (pid == -1)
		return signal_kill_group(0, sig, &info);
	if (pid == INT_MIN)
		return -ESRCH;
	if (pid == 0 && !current()->group->pgid)
		return -ESRCH;
	return signal_kill_group(pid ? -pid : current()->group->pgid, sig, &info);
}
