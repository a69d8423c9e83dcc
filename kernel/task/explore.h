/*
 * Chosen schedules: the kernel takes the CPU from chosen tasks at chosen moments, so that each
 * machine tries another order of their actions. It does so only with sched_seed= or sched_points=
 * on the command line.
 *
 * Words. The *explored* tasks are those of one program: the task that called explore_begin(), and
 * its descendants. They have five clocks. Three run while at least two of the tasks are runnable:
 *   u  stretches in ring 3: one at each return from a system call or a fault, and a new task's
 *      first; its points also have a number of instructions after that
 *   k  instructions in the kernel, with the interrupts that come meanwhile
 *   l  moments in the kernel when a task has released a lock, has taken a mutex, or is about to
 *      enter a wait queue
 * and two while there are two or more:
 *   c  system calls: one at each entry, one at each exit; a new task's first instruction counts as
 *      an exit
 *   w  choices of a CPU: a task wakes up, or is new
 * A *point* names a clock, a time on it, and an action. On all clocks but w the kernel *holds* the
 * task: it does not run for the given time, even on an idle CPU. If the task cannot be preempted,
 * its CPU stalls instead, so that other CPUs overtake it. On w the task goes to another CPU than
 * the scheduler chose.
 *
 *     sched_points=u12+7~20,c14~16,w3~1   a point each: clock, time, ~, and the logarithm of the ns
 *                                         to hold it, or how many CPUs further
 *     sched_seed=N                        a few points, chosen by N; of 0: none
 *     sched_span=U,K,C,W,L,STEPS,LENGTH... how far each clock goes, the longest stretch, and the
 *                                         length of each of the first ones, for sched_seed
 *     sched_limit=MS                      kill tasks that still run by then; none: never
 */
#pragma once

#include "kernel/lib/schedule.h"
#include "kernel/task/task.h"

/* Bits of task.explore; [O] but EXPLORE_HELD. */
enum {
	EXPLORE_TASK = 1,
	EXPLORE_CALL = 2, /* in a system call, or new */
	EXPLORE_HELD = 4, /* [R] */
	EXPLORE_NEW = 8,  /* another stretch in ring 3 begins */
};

extern struct static_key explore_key;

/*
 * Makes the current task the first explored one. `seed` replaces the command line's; NULL: keep
 * that. Waits until earlier explored tasks have ended. -EINVAL: there is no schedule, or an invalid
 * one; -EBUSY: the current task is explored already; -EINTR. Task context.
 */
int explore_begin(const char *seed);

/* Interrupts are off, but in the first three. */
void explore_entered_call(struct regs *r);
void explore_faulted(struct regs *r);
void explore_forked(struct task *child);
void explore_enter_user(struct regs *r); /* last before the return to ring 3; may switch tasks */
void explore_interrupted(struct regs *r);
bool explore_stepped(struct regs *r);
void explore_irq_ended(const struct regs *r);
void explore_acted(u64 rip);
void explore_switched(const struct task *to);
void explore_ended(struct task *t);
void explore_changed(const struct task *t, int ready);
unsigned explore_other_cpu(const struct task *t, u64 mask, unsigned cpu);

/* A system call begins. */
static inline void explore_call(struct regs *r)
{
	if (static_branch(&explore_key))
		explore_entered_call(r);
}

/* An interrupt left ring 3. */
static inline void explore_irq_enter(struct regs *r)
{
	if (static_branch(&explore_key) && regs_user(r))
		explore_interrupted(r);
}

/* A fault left ring 3; interrupts are on. */
static inline void explore_fault(struct regs *r)
{
	if (static_branch(&explore_key) && regs_user(r))
		explore_faulted(r);
}

/* A debug trap; true: it belongs to a step towards a point. */
static inline bool explore_step(struct regs *r)
{
	return static_branch(&explore_key) && regs_user(r) && explore_stepped(r);
}

/* The end of an interrupt's handlers; its task may be preempted afterwards. */
static inline void explore_irq_exit(const struct regs *r)
{
	if (static_branch(&explore_key))
		explore_irq_ended(r);
}

/* The task took or released a mutex, or has decided to wait. */
static inline void explore_act(void)
{
	if (static_branch(&explore_key))
		explore_acted((u64)__builtin_return_address(0));
}

/* A switch: the run queue is locked. */
static inline void explore_switch(const struct task *to)
{
	if (static_branch(&explore_key))
		explore_switched(to);
}

/* True if the task must not run now. Its run queue is locked. */
static inline bool explore_is_held(const struct task *t)
{
	return static_branch(&explore_key) && t->explore & EXPLORE_HELD;
}

/* The task enters a run queue (1), or leaves it to sleep (-1). */
static inline void explore_ready(const struct task *t, int change)
{
	if (static_branch(&explore_key))
		explore_changed(t, change);
}

/* A child of the current task, before it runs. */
static inline void explore_fork(struct task *child)
{
	if (static_branch(&explore_key))
		explore_forked(child);
}

/* It ends. */
static inline void explore_exit(struct task *t)
{
	if (static_branch(&explore_key))
		explore_ended(t);
}

/* `cpu` is the scheduler's choice among those of `mask`. */
static inline unsigned explore_cpu(const struct task *t, u64 mask, unsigned cpu)
{
	return static_branch(&explore_key) ? explore_other_cpu(t, mask, cpu) : cpu;
}

/* ---- what came of it, for /proc/trapline/explore ---- */

struct explore_state {
	struct schedule_span span;
	unsigned tasks; /* alive now */
	bool hung;	/* sched_limit= came */
	struct schedule schedule;
	bool taken[SCHEDULE_POINTS]; /* its time came */
};

void explore_ask(struct explore_state *state);
