/*
 * Thread groups: what the threads of a process share, kernel threads being groups of one.
 *
 * A group lives as long as some task counts it, and its `leader` is the task whose pid is the
 * group's. Fields: [I] set at creation, [T] task_lock, [G] the group's own lock (interrupts off),
 * [A] atomic.
 *
 * Locks: task_lock, then a group's lock, then a sighand's, then run-queue locks; never two groups
 * at once. The list of threads changes under both task_lock and the group's lock, so who holds one
 * of them may walk it.
 */
#pragma once

#include "kernel/task/task.h"

/* What is done about each signal: in one group, or in several made with CLONE_SIGHAND. */
struct sighand {
	u32 refs;			     /* [A] groups */
	struct spinlock lock;		     /* interrupts off */
	struct ksigaction action[SIG_COUNT]; /* [lock]; others peek at single words */
};

struct thread_group {
	u32 refs; /* [A] tasks */
	int tgid; /* [I] */
	struct spinlock lock;
	struct task *leader;	  /* [T] */
	struct list_head threads; /* [T] and [G], in the order of their creation */
	struct sighand *sighand;  /* [G] counted */

	struct thread_group *parent;	    /* [T] */
	struct list_head children, sibling; /* [T] */
	struct wait_queue child_wq;	    /* its threads that wait for children */
	/*
	 * [T] adopted by a pid 1 that is a kernel thread: nobody waits for it, it reaps itself
	 */
	bool orphan;
	int pgid, sid; /* [T] process group and session, as Linux */
	bool no_ctty;  /* [T] gave up its session's terminal (TIOCNOTTY); children inherit it */

	bool continue_seen;	   /* [G] a SIGCONT came since the last stop signal was taken */
	int stop_status;	   /* [T] wait status of a stop not yet reported; 0: none */
	bool continued;		   /* [T] a continue not yet reported */
	struct timer alarm;	   /* SIGALRM comes; no function: never set */
	struct sigpending pending; /* [G] sent to the process; last: its end is not cleared */
};

/* A group of one, all actions as they are at first; NULL: no memory. Task context. */
struct thread_group *group_create(struct task *leader);
void group_put(struct thread_group *g);
/* Makes `child` a child of `parent`, in its process group and session. task_lock held. */
void group_adopt(struct thread_group *parent, struct thread_group *child);

/* The same actions for one group alone; NULL: no memory. */
struct sighand *sighand_copy(struct sighand *from);
void sighand_put(struct sighand *h);
/* Takes the reference; the old one goes. */
void group_set_sighand(struct thread_group *g, struct sighand *h);

static inline struct ksigaction *group_action(struct thread_group *g, int sig)
{
	return &g->sighand->action[sig - 1];
}

/* All processes, kernel threads too, in the order of their pids. task_lock held. */
#define for_each_leader(t)                                                                         \
	list_for_each_entry (t, &task_list, all_node)                                              \
		if ((t)->group && (t)->group->leader == (t))
