/*
 * Sessions, process groups, and the controlling terminal of a session: POSIX job control. The
 * terminal itself is in kernel/console/tty.c, which embeds a struct ctty. Task context unless
 * stated otherwise; task_lock protects fields marked [T].
 *
 * A terminal controls at most one session and a session has at most one terminal, so only the
 * terminal stores the pair.
 */
#pragma once

#include "kernel/lib/list.h"
#include "kernel/lib/types.h"

struct task;
struct thread_group;

struct ctty {
	struct list_head node; /* [T] in the list of all terminals */
	int sid;	       /* [T] the session it controls; 0: none */
	/* [T] foreground process group; 0: none. Read without the lock to send signals. */
	int pgid;
	/*
	 * Called when the session loses its terminal: files open on it return end of file and EIO
	 * from then on. task_lock held, interrupts off.
	 */
	void (*hang_up)(struct ctty *c);
	/*
	 * Wakes the tasks that wait for the terminal, once the foreground group has the signals of
	 * the hang-up. task_lock held, interrupts off.
	 */
	void (*wake)(struct ctty *c);
};

/* Registers a terminal for good. The caller has set hang_up and wake. */
void session_add_terminal(struct ctty *c);
/* The current task's controlling terminal, or NULL. */
struct ctty *session_terminal(void);

/* setsid: the new session's id, or -EPERM if the caller leads a process group. */
int session_create(void);
/*
 * Makes c the controlling terminal of the session that the current task leads, with the task's
 * group in the foreground. With `steal` it takes a terminal from another session. 0; -EPERM: not a
 * session leader, has another terminal, or c is in use.
 */
int session_acquire(struct ctty *c, bool steal);
/* Hangs up all open files of the terminal; the session that it controls loses it. */
void session_hang_up(struct ctty *c);
/* TIOCNOTTY: gives the terminal up; a leader's whole session loses it. 0 or -ENOTTY. */
int session_release(struct ctty *c);
/*
 * Sets the foreground group. 0; -ENOTTY: not the caller's terminal; -ESRCH: there is no such group;
 * -EPERM: it is of another session.
 */
int session_set_foreground(struct ctty *c, int pgid);
/*
 * Checks that the current task may use its terminal as a foreground group does. 0: yes, also if c
 * does not control it; -EINTR: its group was sent `sig` (SIGTTIN, SIGTTOU); -EIO: a signal would
 * have no effect.
 */
int session_check(struct ctty *c, int sig);

/* setpgid on t, or getpgid and getsid of it: what the system calls return. */
int session_set_group(struct task *t, int pgid);
/*
 * True if the current task's group is orphaned: no process in its session outside the group could
 * continue it.
 */
bool session_orphaned(void);

/* For kernel/process/exit.c: a leader's session loses its terminal. */
void session_leader_exit(struct thread_group *g);
/*
 * For kernel/process/exit.c: hangs up the stopped groups that are orphaned when g, child of
 * `parent`, ends or loses that parent. task_lock held.
 */
void session_hang_up_orphans(
    struct thread_group *g, const struct thread_group *parent, const struct thread_group *leaving);
