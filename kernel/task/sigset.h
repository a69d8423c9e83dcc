/*
 * Sets of signals as 64-bit words, and what each signal does by default. For the signal files only.
 */
#pragma once

#include "kernel/task/group.h"

static inline u64 sig_bit(int sig)
{
	return 1UL << (sig - 1);
}

#define SIG_BIT(sig)	 (1UL << ((sig)-1))
#define SIGS_STOP	 (SIG_BIT(SIGSTOP) | SIG_BIT(SIGTSTP) | SIG_BIT(SIGTTIN) | SIG_BIT(SIGTTOU))
#define SIGS_UNBLOCKABLE (SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP))
#define SIGS_DEFAULT_IGNORE                                                                        \
	(SIG_BIT(SIGCHLD) | SIG_BIT(SIGCONT) | SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH))
/* The signals that pid 1 accepts. */
#define SIGS_INIT (INIT_HALT | INIT_POWEROFF | INIT_REBOOT)
/* Signals caused by an instruction: delivered first, so that their frame shows the instruction. */
#define SIGS_SYNCHRONOUS                                                                           \
	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | SIG_BIT(SIGILL) | SIG_BIT(SIGTRAP) |                 \
	    SIG_BIT(SIGFPE) | SIG_BIT(SIGSYS))

enum sig_default { SIG_DEFAULT_END, SIG_DEFAULT_IGNORE, SIG_DEFAULT_STOP };
enum sig_default signal_default(int sig);
/* Sets the current task's mask; signals that it unblocks are delivered on the way to ring 3. */
void signal_set_blocked(u64 mask);
/* The task's pending signals that are not blocked. Other tasks get a snapshot. */
static inline u64 signal_ready(const struct task *t)
{
	u64 pending =
	    atomic_load_relaxed(&t->sig.pending.set) | atomic_load_relaxed(&t->group->pending.set);

	return pending & ~t->sig.blocked;
}

/* Discards pending signals of the set, of the process and its threads. group->lock held. */
void signal_forget(struct thread_group *g, u64 set);
/* The same for one of the sets of the group. */
void signal_discard(struct thread_group *g, struct sigpending *p, u64 set);
/* Frees the signals pending for a thread that is gone; no lock held. */
void signal_abandon(struct task *t);
/*
 * Makes all threads of the group except `but`, stopped ones too, check for signals. group->lock
 * held.
 */
void signal_wake_others(struct thread_group *g, const struct task *but);
/*
 * Called when the current thread stops taking signals of the set: wakes other threads for those
 * pending for the process.
 */
void signal_retarget(u64 set);
/*
 * kernel/process/exit.c: reports to the parent that the current task stopped (or, with SIGCONT,
 * continued).
 */
struct task;
void task_report_stop(struct task *t, int sig);

/* A signal removed from the pending ones, with its action. */
struct taken_signal {
	int sig;
	struct signal_info info;
	u32 overrun; /* SI_TIMER */
	struct ksigaction action;
};
/*
 * Takes one signal of the set that is pending for the current thread or its process; false: none.
 * Does not fill in the action. group->lock held.
 */
bool signal_take(u64 set, struct taken_signal *s);
/* The same with no lock held. */
bool signal_take_now(u64 set, struct taken_signal *s);
/*
 * Waits for a signal of the set and takes it: 0; -EAGAIN: the deadline passed; -EINTR: another
 * signal came.
 */
int signal_wait(u64 set, u64 deadline, struct taken_signal *s);
/* kernel/process/sigframe.c: fills in the siginfo of ring 3. */
struct abi_siginfo;
void signal_fill_info(struct abi_siginfo *to, const struct taken_signal *s);
/*
 * kernel/process/sigframe.c: builds the handler's frame on the ring-3 stack and points the
 * registers at it. 0 or -EFAULT.
 */
struct regs;
int signal_frame(struct regs *r, const struct taken_signal *s);
/*
 * sigaltstack's two halves, for the current task: 0, -EPERM (running on it), -EINVAL, -ENOMEM (too
 * small).
 */
struct abi_stack;
int signal_set_altstack(const struct abi_stack *st);
void signal_get_altstack(struct abi_stack *st);
