/*
 * Signals, Linux's numbers and meanings for the subset a C library and a shell need. Kernel threads
 * get them too: a pending one ends their interruptible waits with -EINTR, and kthread loops look at
 * signal_pending_current().
 */
#pragma once

#include "kernel/task/signal_number.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"

enum { SIG_DFL = 0, SIG_IGN = 1 }; /* handlers that are none */

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

/* A real-time signal that came while another of its number waited. */
struct signal_more {
	struct signal_more *next;
	int sig;
	struct signal_info info;
};

/*
 * Signals that wait to be taken: of each number one, and of real-time signals all that came, in
 * their order. All changes are made under the lock of the thread group.
 */
struct sigpending {
	u64 set;			    /* [A] bit n-1; written under the lock */
	struct signal_more *more;	    /* of each number those after the first */
	struct signal_info info[SIG_COUNT]; /* of those in the set; of the others nothing */
};

/*
 * What a thread has for itself: [G] the lock of its thread group, interrupts off; [A] atomic; [O]
 * only the thread itself. All zeros is a thread without any signal set up.
 */
struct signals {
	u64 blocked;	      /* [O] others peek */
	u64 saved_blocked;    /* [O] the mask that sigsuspend restores */
	u64 blocked_before;   /* [G] in sigtimedwait(), which unblocks its set: `blocked` before */
	bool restore_blocked; /* [O] saved_blocked counts */
	u64 restart_ns;	      /* [O] clock_ns() until which an interrupted sleep goes on; 0: none */
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
 * Inside the kernel only: an interrupted system call, turned into -EINTR or done again on the way
 * to ring 3.
 */
enum {
	ERESTARTSYS = 512, /* again after a handler with SA_RESTART, or when there was no handler */
	ERESTARTNOINTR = 513, /* again in any case */
	ERESTARTNOHAND = 514, /* again only when there was no handler */
};

struct task;
struct regs;

/*
 * Kernel threads outside any process group (pgid 0) take no signals at all. Others get them as
 * pending bits; what is to be ignored is not even made pending.
 *
 * To one thread, as if the running task sent it (SI_USER). Task context. 0 or -EINVAL. Fires
 * signal_generate.
 */
int signal_send(struct task *t, int sig);
/* Linux's kill(): pid > 0, 0 (own group), -1, < -1 (group). */
int signal_kill(int pid, int sig);
void signal_send_group(int pgid, int sig);
/*
 * The same with what siginfo shows: si_code, and the sender's pid or the address. `group`: to the
 * process of the thread, of which any that does not block it may take it.
 */
int signal_send_info(struct task *t, int sig, const struct signal_info *info, bool group);
bool signal_pending_current(void);
/* signal_send_info() wakes it. Readers of signalfds wait on it. */
extern struct wait_queue signal_queued;
/* Would this signal do nothing to the current task now: ignored, or blocked? */
bool signal_ineffective_current(int sig);
/*
 * For pid 1: what it was sent of SIGUSR1, SIGUSR2 and SIGTERM, and forgets it. Numbers are those of
 * busybox's init.
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
/* Would this fault's signal end the current task: no handler, or blocked? */
bool signal_fatal(int sig);
const char *signal_name(int sig); /* "INT" */
