/*
 * A thread group holds the state that the threads of a process share. A kernel thread is a group of
 * one.
 *
 * A group lives as long as a task holds a reference; its `leader` is the task whose pid is the
 * group's. Fields: [I] set at creation, [T] task_lock, [G] the group's own lock (interrupts off),
 * [A] atomic.
 *
 * Locks: task_lock, then a group's lock, then a sighand's, then run-queue locks; never two groups
 * at once. The list of threads changes under both task_lock and the group's lock, so the holder of
 * either may walk it.
 */
#pragma once

#include "kernel/task/task.h"

/* The action for each signal, of one group or of several made with CLONE_SIGHAND. */
struct sighand {
	u32 refs;			     /* [A] groups */
	struct spinlock lock;		     /* interrupts off */
	struct ksigaction action[SIG_COUNT]; /* [lock]; single words are also read without it */
};

enum group_call { GROUP_RUNS, GROUP_STOPS, GROUP_ENDS };

struct thread_group {
	u32 refs; /* [A] tasks */
	int tgid; /* [I] */
	struct spinlock lock;
	struct task *leader; /* [T] */
	/*
	 * [T] and [G], in order of creation: the threads that have not ended, and the leader, which
	 * stays as a zombie until the others end.
	 */
	struct list_head threads;
	unsigned live;		 /* [G] threads that have not begun to end */
	u64 ended_ns;		 /* [T] CPU time of threads that have ended */
	u64 children_ns;	 /* [T] ... and of reaped children, with their own children's */
	struct sighand *sighand; /* [G] counted */

	struct thread_group *parent;	    /* [T] */
	struct list_head children, sibling; /* [T] */
	struct wait_queue child_wq;	    /* threads of this group that wait for children */
	/*
	 * [T] adopted by a pid 1 that is a kernel thread: it reaps itself, as nobody waits for it
	 */
	bool orphan;
	int pgid, sid;	  /* [T] process group and session, as Linux */
	bool no_ctty;	  /* [T] gave up its session's terminal (TIOCNOTTY); children inherit it */
	int exit_signal;  /* [T] sent to the parent at the end; 0: none */
	int death_signal; /* [A] sent to it when its parent ends (prctl); 0: none */
	bool subreaper;	  /* [A] prctl(): it gets the children that its descendants leave */
	bool undumpable;  /* [A] set by prctl(); execve() clears it */

	enum group_call call; /* [G] all threads obey it on their way to ring 3 */
	struct task *exec;    /* [G] GROUP_ENDS: all but this one, which becomes another program */
	bool ended;	      /* [G] exit_code is valid: exit_group(), a signal, the last exit() */
	int exit_code;	      /* [G] wait status */
	int stop_signal;      /* [G] of the last GROUP_STOPS */
	unsigned stopped;     /* [G] threads that have stopped */
	unsigned stops;	      /* [G] how often it was called to stop */
	bool report_continue; /* [G] the first thread that continues reports it */

	bool continue_seen;	   /* [G] a SIGCONT came since the last stop signal was taken */
	int stop_status;	   /* [T] wait status of a stop not yet reported; 0: none */
	bool continued;		   /* [T] a continue not yet reported */
	struct list_head alarms;   /* [G] kernel/task/alarm.c: timers that end with a signal */
	unsigned queued;	   /* [G] signals in the lists of `more`, its threads' too */
	struct sigpending pending; /* [G] sent to the process; last: its end is not cleared */
};

/* Creates a group of one with default actions; NULL: no memory. Task context. */
struct thread_group *group_create(struct task *leader);
void group_put(struct thread_group *g);
/* Makes `child` a child of `parent`, in the process group and session of `from`. task_lock held. */
void group_adopt(
    struct thread_group *from, struct thread_group *child, struct thread_group *parent);

/* Copies the actions for one group; NULL: no memory. */
struct sighand *sighand_copy(struct sighand *from);
void sighand_put(struct sighand *h);
/* Resets handlers to defaults, as for a new program; ignored signals stay ignored. */
void sighand_reset(struct sighand *h);
/* Takes over the caller's reference and drops that to the old one. */
void group_set_sighand(struct thread_group *g, struct sighand *h);

static inline struct ksigaction *group_action(struct thread_group *g, int sig)
{
	return &g->sighand->action[sig - 1];
}

/* True if the task must stop or end with its group. */
static inline bool group_calls(const struct task *t)
{
	return READ_ONCE(t->group->call) && READ_ONCE(t->group->exec) != t;
}

/* Adds a thread to the group. -EINTR: the group is ending. Task context. */
int group_join(struct thread_group *g, struct task *t);
/*
 * Tells all threads but the current one to end, with this wait status; false: they were told
 * before. `exec`: the thread that survives, for execve(); else NULL.
 */
bool group_end(struct thread_group *g, int exit_code, struct task *exec);
/* signal_send_info() to a process, for a caller that has no task of it. Task and irq context. */
void signal_send_process(struct thread_group *g, int sig, const struct signal_info *info);
/* The CPU time of the process until now. */
u64 group_runtime_ns(struct thread_group *g);

/* All processes, kernel threads too, in the order of their pids. task_lock held. */
#define for_each_leader(t)                                                                         \
	list_for_each_entry (t, &task_list, all_node)                                              \
		if ((t)->group && (t)->group->leader == (t))
