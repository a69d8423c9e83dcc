/*
 * Signals, Linux's numbers and meanings for the subset a C library and a shell need. Kernel threads
 * get them too: a pending one ends their interruptible waits with -EINTR, and kthread loops look at
 * signal_pending_current().
 */
#pragma once

#include "kernel/task/signal_number.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"

enum { SIG_DFL = 0, SIG_IGN = 1 }; /* values of `handler` that are no address */

/* The kernel's view of struct sigaction (Linux x86-64 layout of rt_sigaction). */
struct ksigaction {
	u64 handler; /* 0 default, 1 ignore */
	u64 flags;
	u64 restorer;
	u64 mask;
};

/* Who or what sent a pending signal. */
struct signal_info {
	s32 code, pid;
	union {
		s32 status; /* SIGCHLD */
		u64 addr;   /* of a fault */
		u64 value;  /* SI_TIMER, where pid is the timer's number, and SI_QUEUE */
	};
};

/* A real-time signal that arrived while another of its number was pending. */
struct signal_more {
	struct signal_more *next;
	int sig;
	struct signal_info info;
};

/*
 * Pending signals: one of each number, and every real-time signal in order of arrival. All changes
 * are made under the lock of the thread group.
 */
struct sigpending {
	u64 set;			    /* [A] bit n-1; written under the lock */
	struct signal_more *more;	    /* for each number those after the first */
	struct signal_info info[SIG_COUNT]; /* valid for signals in the set only */
};

/*
 * A thread's own signal state: [G] the lock of its thread group, interrupts off; [A] atomic; [O]
 * only the thread itself. All zeros is the initial state.
 */
struct signals {
	u64 blocked;	      /* [O] others only read it */
	u64 saved_blocked;    /* [O] the mask that sigsuspend restores */
	u64 blocked_before;   /* [G] in sigtimedwait(), which unblocks its set: `blocked` before */
	bool restore_blocked; /* [O] saved_blocked is valid */
	u64 restart_ns;	      /* [O] clock_ns() at which an interrupted sleep ends; 0: none */
	u64 altstack_sp, altstack_size; /* [O] */
	int altstack_flags;		/* [O] */
	struct sigpending pending;	/* [G] sent to this thread alone */
};

/* si_code. */
enum {
	SI_USER = 0,
	SI_KERNEL = 0x80,
	SI_QUEUE = -1,
	SI_TIMER = -2,
	SI_TKILL = -6,
	CLD_EXITED = 1,
	CLD_KILLED = 2,
	CLD_STOPPED = 5,
	CLD_CONTINUED = 6,
	SEGV_MAPERR = 1,
	SEGV_ACCERR = 2,
	BUS_ADRERR = 2,
};

/*
 * Kernel-internal results of an interrupted system call: on the way to ring 3 it becomes -EINTR or
 * is restarted.
 */
enum {
	ERESTARTSYS = 512, /* restart after a handler with SA_RESTART, or if there was no handler */
	ERESTARTNOINTR = 513, /* restart always */
	ERESTARTNOHAND = 514, /* restart only if there was no handler */
	EINTRTIMED = 515,     /* of a wait that has an end: -EINTR, with a handler or without */
};

struct task;
struct regs;

/*
 * Kernel threads outside any process group (pgid 0) get no signals. Other tasks get them as pending
 * bits; ignored signals never become pending.
 *
 * Sends to one thread, as from the running task (SI_USER). Task context. 0 or -EINVAL. Fires
 * signal_generate.
 */
int signal_send(struct task *t, int sig);
/* Linux's kill(): pid > 0, 0 (own group), -1, < -1 (group). */
int signal_kill(int pid, int sig);
void signal_send_group(int pgid, int sig);
/*
 * The same with siginfo: si_code, and the sender's pid or the address. `group`: sends to the
 * thread's process, where any thread that does not block the signal may take it.
 */
int signal_send_info(struct task *t, int sig, const struct signal_info *info, bool group);
bool signal_pending_current(void);
/* signal_send_info() wakes it. Readers of signalfds wait on it. */
extern struct wait_queue signal_queued;
/* True if the current task ignores or blocks this signal. */
bool signal_ineffective_current(int sig);
/*
 * For pid 1: returns and clears its pending SIGUSR1, SIGUSR2 and SIGTERM, which have the meanings
 * of busybox's init.
 */
enum {
	INIT_HALT = 1 << (SIGUSR1 - 1),
	INIT_POWEROFF = 1 << (SIGUSR2 - 1),
	INIT_REBOOT = 1 << (SIGTERM - 1)
};
u64 signal_take_init(void);
long signal_return(struct regs *r); /* rt_sigreturn */
/* A synchronous fault: cannot be blocked or ignored. */
void signal_force(struct regs *r, int sig, int code, u64 addr);
/* True if this fault's signal would end the current task: it has no handler or is blocked. */
bool signal_fatal(int sig);
const char *signal_name(int sig); /* "INT" */
