/*
 * Signals as the task itself meets them: on its way to ring 3 (kernel_user_exit_work) and by its
 * own faults. Task context.
 *
 * An interrupted system call left with -ERESTART...: here it becomes -EINTR or is done again, by
 * setting rip back to the syscall instruction (2 bytes) and rax to the call's number.
 */
#include "kernel/abi/linux.h"
#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
#include "kernel/base/printk.h"
#include "kernel/process/fault.h"
#include "kernel/process/process.h"
#include "kernel/task/explore.h"
#include "kernel/task/session.h"
#include "kernel/task/sigset.h"
#include "kernel/task/task.h"

#define SYSCALL_INSN_LEN 2

static void restart(struct regs *r)
{
	r->rax = r->error;
	r->rip -= SYSCALL_INSN_LEN;
	r->orig_rax = ~0UL; /* once */
}

static void restart_before_handler(struct regs *r, const struct ksigaction *action)
{
	if (!regs_in_syscall(r))
		return;
	if (r->rax == (u64)-ERESTARTSYS && (action->flags & ABI_SA_RESTART))
		restart(r);
	else if (r->rax == (u64)-ERESTARTNOINTR)
		restart(r);
	else if (r->rax == (u64)-ERESTARTSYS || r->rax == (u64)-ERESTARTNOHAND)
		r->rax = -EINTR;
	current()->sig.restart_ns = 0;
}

static void restart_without_handler(struct regs *r)
{
	if (regs_in_syscall(r) && (r->rax == (u64)-ERESTARTSYS || r->rax == (u64)-ERESTARTNOINTR ||
				      r->rax == (u64)-ERESTARTNOHAND))
		restart(r);
}

static void take_action(struct sighand *h, struct taken_signal *s)
{
	struct ksigaction *a = &h->action[s->sig - 1];

	spin_lock(&h->lock);
	s->action = *a;
	if (a->handler > SIG_IGN && (a->flags & ABI_SA_RESETHAND))
		a->handler = SIG_DFL;
	spin_unlock(&h->lock);
}

/* Takes one signal that may be delivered; false: there is none. */
static bool take(struct taken_signal *s)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&g->lock);
	bool ready = signal_take(~current()->sig.blocked, s);

	if (ready) {
		if (sig_bit(s->sig) & SIGS_STOP)
			g->continue_seen = false;
		take_action(g->sighand, s);
	}
	spin_unlock_irqrestore(&g->lock, flags);
	return ready;
}

/* Calls all threads of the process to stop, unless a SIGCONT has come meanwhile. */
static void signal_stop_group(int sig)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&g->lock);

	if (!g->continue_seen && g->call == GROUP_RUNS) {
		g->call = GROUP_STOPS;
		g->stop_signal = sig;
		g->stopped = 0;
		g->stops++;
		signal_wake_others(g, NULL);
	}
	spin_unlock_irqrestore(&g->lock, flags);
}

/* Counts the current thread as stopped; true: it is the last. */
static bool signal_count_stopped(struct thread_group *g, unsigned *stop)
{
	u64 flags = spin_lock_irqsave(&g->lock);
	bool last = g->call == GROUP_STOPS && ++g->stopped == g->live;

	*stop = g->stops;
	spin_unlock_irqrestore(&g->lock, flags);
	return last;
}

/*
 * True if that stop is over, even if another has begun. False: the current thread sleeps from the
 * next schedule() on.
 */
static bool signal_goes_on(struct thread_group *g, unsigned stop, bool *report)
{
	/*
	 * The state is set under the group's lock: a SIGCONT comes before it and has ended the
	 * stop, or after it and wakes.
	 */
	u64 flags = spin_lock_irqsave(&g->lock);
	bool on = g->call != GROUP_STOPS || g->stops != stop;

	*report = on && g->report_continue;
	if (on)
		g->report_continue = false;
	else
		atomic_store(&current()->state, TASK_STOPPED);
	spin_unlock_irqrestore(&g->lock, flags);
	return on;
}

/* The current thread stops with its process, until SIGCONT, SIGKILL or its end. */
static void signal_stop(void)
{
	struct thread_group *g = current()->group;
	unsigned stop;
	bool report;

	if (signal_count_stopped(g, &stop))
		task_report_stop(current(), g->stop_signal);
	while (!signal_goes_on(g, stop, &report))
		schedule();
	if (report)
		task_report_stop(current(), SIGCONT);
}

static void run_default(const struct taken_signal *s)
{
	switch (signal_default(s->sig)) {
	case SIG_DEFAULT_IGNORE:
		break;
	case SIG_DEFAULT_STOP:
		/* Nobody could continue a group without a parent in its session. */
		if (s->sig == SIGSTOP || !session_orphaned())
			signal_stop_group(s->sig);
		break;
	case SIG_DEFAULT_END:
		process_exit(s->sig);
	}
}

/*
 * Builds the frame; a stack that cannot take it ends the program, unless it handles SIGSEGV
 * elsewhere.
 */
static void run_handler(struct regs *r, const struct taken_signal *s)
{
	restart_before_handler(r, &s->action);
	if (signal_frame(r, s) == 0)
		return;
	if (s->sig == SIGSEGV)
		group_action(current()->group, SIGSEGV)->handler = SIG_DFL;
	if (signal_fatal(SIGSEGV))
		fault_report(r, "no room for a signal frame", r->rsp);
	signal_force(r, SIGSEGV, SI_KERNEL, 0);
}

/*
 * Stops or ends the current thread if its process does. As on Linux, a thread that is ended sees
 * SIGKILL come, whatever ends the others.
 */
static void signal_heed_group(void)
{
	struct task *t = current();

	while (unlikely(group_calls(t))) {
		if (READ_ONCE(t->group->call) == GROUP_ENDS) {
			trace_signal_deliver(SIGKILL, 0, 0, SIG_DFL, 0);
			do_exit(t->group->exit_code);
		}
		signal_stop();
	}
}

/*
 * On the way to ring 3: takes one pending signal, runs its default or builds its frame. Fires
 * signal_deliver.
 */
static void signal_deliver(struct regs *r)
{
	struct signals *sig = &current()->sig;
	struct taken_signal s;
	bool handled = false;

	atomic_and(&current()->arch.work, ~TASK_WORK_SIGNAL);
	while (signal_heed_group(), take(&s)) {
		trace_signal_deliver(s.sig, 0, s.info.code, s.action.handler, s.action.flags);
		if (s.action.handler == SIG_IGN)
			continue;
		if (s.action.handler == SIG_DFL) {
			run_default(&s);
			continue;
		}
		run_handler(r, &s);
		handled = true;
	}
	if (!handled) {
		restart_without_handler(r);
		if (sig->restore_blocked)
			signal_set_blocked(sig->saved_blocked);
		sig->restore_blocked = false;
	}
}

bool signal_fatal(int sig)
{
	const struct task *t = current();

	return READ_ONCE(group_action(t->group, sig)->handler) <= SIG_IGN ||
	       (t->sig.blocked & sig_bit(sig));
}

void signal_force(struct regs *r, int sig, int code, u64 addr)
{
	struct task *t = current();
	struct signal_info info = {.code = code, .addr = addr};
	u64 flags = spin_lock_irqsave(&t->group->lock);

	(void)r;
	if (signal_fatal(sig)) {
		group_action(t->group, sig)->handler = SIG_DFL;
		t->sig.blocked &= ~sig_bit(sig);
	}
	t->sig.pending.info[sig - 1] = info;
	atomic_or(&t->sig.pending.set, sig_bit(sig));
	atomic_or(&t->arch.work, TASK_WORK_SIGNAL);
	spin_unlock_irqrestore(&t->group->lock, flags);
	trace_signal_generate(sig, 0, code, t, 0, 0);
}

static const char *const trap_names[32] = {
    [0] = "trap divide error",
    [1] = "trap debug",
    [3] = "trap int3",
    [4] = "trap overflow",
    [5] = "trap bounds",
    [6] = "trap invalid opcode",
    [11] = "trap segment not present",
    [12] = "trap stack segment",
    [13] = "general protection fault",
    [16] = "trap fpu exception",
    [17] = "trap alignment check",
    [19] = "trap simd exception",
};

void kernel_user_trap(struct regs *r, int signo, int code, u64 addr)
{
	unsigned vector = regs_vector(r);
	const char *name = vector < ARRAY_SIZE(trap_names) ? trap_names[vector] : NULL;

	irq_enable();
	if (signal_fatal(signo))
		trap_report(r, name ? name : "trap");
	signal_force(r, signo, code, addr);
}

void kernel_user_exit_work(struct regs *r)
{
	struct task *t = current();

	irq_enable();
	while (atomic_load_relaxed(&t->arch.work) & TASK_WORK_SIGNAL)
		signal_deliver(r);
	if (unlikely(atomic_load_relaxed(&t->arch.work) & TASK_WORK_EXPLORE))
		explore_enter_user(r);
}
