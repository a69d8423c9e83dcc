/*
 * Timers of a process that end with a signal: setitimer(2), alarm(2), timer_create(2). Task
 * context, always for the current process. They end with the process; execve() keeps only those of
 * setitimer().
 */
#pragma once

#include "kernel/task/timer.h"

struct alarm;
struct task;
struct thread_group;

/* Those of setitimer(), in its order; timer_create()'s are 0 and more. */
enum { ALARM_REAL = -1, ALARM_VIRTUAL = -2, ALARM_PROFILE = -3 };

/* The clock of a timer. The last two advance only while the process or the thread runs. */
enum alarm_clock { ALARM_REALTIME, ALARM_MONOTONIC, ALARM_PROCESS_TIME, ALARM_THREAD_TIME };

/* The signal at its end. */
struct alarm_notice {
	int sig;	   /* 0: none */
	bool numbered;	   /* siginfo has the timer's number, and no `value` */
	u64 value;	   /* siginfo's */
	struct task *task; /* the thread that gets the signal; NULL: the process */
};

/* Makes a timer, off: returns its number, -EAGAIN if there are too many, -ENOMEM. */
int alarm_create(enum alarm_clock clock, const struct alarm_notice *notice);
int alarm_delete(int id); /* 0, -EINVAL if there is none */
/*
 * Sets a timer, to a time of its clock if `absolute`; *old (may be NULL) is the setting before. The
 * first call for one of setitimer() makes it. 0, -EINVAL, -ENOMEM.
 */
int alarm_set(int id, const struct timer_setting *set, bool absolute, struct timer_setting *old);
int alarm_get(int id, struct timer_setting *now);
/* The number of expirations beyond the first that the timer's last signal reported; -EINVAL. */
int alarm_overrun(int id);

/* ---- for the life of processes and their signals ---- */

/* Removes the timers of timer_create(), or `all`. */
void alarms_remove(struct thread_group *g, bool all);
/*
 * A signal was taken or thrown away: restarts the timers that sent it. Returns the overrun of `id`.
 * group->lock held.
 */
u32 alarm_signal_taken(struct thread_group *g, int sig, int id);
