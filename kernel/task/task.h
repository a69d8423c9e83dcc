/*
 * Tasks: kernel threads and the threads of ring-3 processes, one run queue per CPU. A task is one
 * thread; what the threads of a process share is counted and lives apart: group.h (the process
 * itself), kernel/process/mm.h, kernel/fs/files.h, kernel/fs/cwd.h. Fields: [I] set at
 * creation, [O] only the task itself, [R] run-queue lock of its CPU, [T] task_lock, [A] atomic.
 */
#pragma once

#include "arch/arch.h"
#include "kernel/lib/list.h"
#include "kernel/task/signal.h"
#include "kernel/task/sync.h"

#define TASK_COMM_LEN	  16
#define DEFAULT_PRIO	  120 /* Linux's number for nice 0; kernel threads have it too; idle 120 */
#define REALTIME_PRIO	  100 /* real-time priorities are below: 99 - rt_priority */
#define NICE_LEAST	  -20
#define NICE_MOST	  19
#define RT_PRIORITY_LEAST 1
#define RT_PRIORITY_MOST  99
#define PID_MAX		  32768

/* Linux's bits, as sched_switch shows them. */
enum task_state {
	TASK_RUNNING = 0,
	TASK_INTERRUPTIBLE = 1,	  /* S */
	TASK_UNINTERRUPTIBLE = 2, /* D */
	TASK_STOPPED = 4,	  /* T */
	TASK_DEAD = 0x10,	  /* X: never runs again */
	TASK_ZOMBIE = 0x20,	  /* Z: waits for its parent */
	TASK_IDLE = 0x80,	  /* I: kernel thread with nothing to do */
	TASK_NEW = 0x800,	  /* before task_start(): no wake-up reaches it */
};

enum {
	TASK_KTHREAD = 1,
	TASK_EXITING = 2,
	TASK_IDLE_TASK = 4,
	TASK_LOCKS_GONE = 8,	/* it has ended as an owner of futexes */
	TASK_NO_NEW_PRIVS = 16, /* prctl(): for ever, and inherited */
};

/* How a task is scheduled. See sched.c. */
enum { SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE = 5, SCHED_DEADLINE };
struct task_policy {
	u32 policy; /* any of these but SCHED_DEADLINE */
	s32 nice;
	u32 rt_priority;    /* of SCHED_FIFO and SCHED_RR; else 0 */
	bool reset_on_fork; /* its children begin with SCHED_OTHER, and not below nice 0 */
};

struct mm;	     /* kernel/process/mm.h: ring-3 address space */
struct files;	     /* kernel/fs/files.h: open files */
struct fs_struct;    /* kernel/fs/cwd.h: working directory, umask */
struct thread_group; /* kernel/task/group.h */

struct task {
	struct arch_task arch;
	union {
		struct {
			u32 zero;
			int pid; /* [I] but for an execve() of a thread that is no leader */
		};
		u64 pid_common; /* the pid where a record's common fields have it */
	};
	int tgid;			/* [I] as pid */
	char comm[TASK_COMM_LEN];	/* [O] written by itself; readers may see a mix */
	u32 flags;			/* [O] TASK_KTHREAD ... */
	u32 state;			/* [R] enum task_state */
	int prio;			/* [R] others peek; a smaller number comes first */
	struct task_policy how;		/* [R] others peek */
	bool shares;			/* [R] by virtual time; else real-time, or idle */
	bool turn_over;			/* [R] of SCHED_RR: its slice is used up */
	u64 slice_ns;			/* [R] of SCHED_RR: used of its slice */
	unsigned cpu;			/* [R] where it runs or last ran */
	u64 cpus_allowed;		/* [R] a bit per CPU */
	bool on_rq, on_cpu;		/* [R] */
	struct list_head rq_node;	/* [R] */
	struct list_head all_node;	/* [T] */
	u64 run_start_ns, run_total_ns; /* [R] on a CPU since; in all until then */
	u64 vruntime;			/* [R] its place in a queue: see sched.c */
	/* [A] the instruction, if an interrupt took the CPU from it last; 0: it gave it up */
	u64 preempted_at;
	u64 nvcsw, nivcsw; /* [R] switches away by its own will, and against it */
	u64 start_time;	   /* [I] clock_ns() when it was made; by its name in Linux, for probes */
	u64 timer_slack_ns, default_slack_ns; /* [O] prctl(): timers are exact all the same */

	struct thread_group *group;   /* [I] counted */
	struct list_head thread_node; /* [T] and the group's lock, in group->threads */
	bool reaped; /* [T] nobody will ask for its status any more: it is not to be found */

	struct mm *mm;	      /* [O] counted; NULL: kernel thread. Written under task_lock */
	struct files *files;  /* [O] counted; the same */
	struct fs_struct *fs; /* [O] counted; NULL: the root directory. The same */
	u64 clear_tid;	      /* [O] ring-3 address, 0: none */
	u64 robust_list;      /* [O] the same; others peek */
	u32 refs;	      /* [A] */
	u8 explore;	      /* kernel/task/explore.h: bits, and where it is in ring 3 */
	struct {
		u64 stretch;	  /* 0: none that counts */
		u64 ran_ns;	  /* in it so far */
		u32 done, wanted; /* instructions of it, and when to look; 0: never */
		u64 look_ns;	  /* the same by the clock; 0: it steps */
	} explore_user;		  /* [O] */

	void (*thread_fn)(void *); /* [I] kernel threads */
	void *thread_arg;
	struct signals sig; /* last: its end is not cleared */
};

#define TIMER_SLACK_NS 50000 /* what Linux starts with */

/* Bits of arch.work [A]: what is to be done on the way to ring 3. */
enum { TASK_WORK_SIGNAL = 1, TASK_WORK_EXPLORE = 2 };

static inline struct task *current(void)
{
	return current_task();
}

void sched_init(void);	  /* boot CPU: the boot stack becomes the idle task (pid 0) */
void sched_init_ap(void); /* another CPU: the same */
/*
 * The idle loop. Like do_exit() it never returns, but is not declared so: the compiler would end
 * the caller with the call, and stack traces would name the function that follows in memory.
 */
void sched_idle(void);

/*
 * New kernel thread, runnable on any CPU (cpu < 0) or bound to one; NULL: no memory, no such CPU.
 * Inherits nothing. What is returned is valid as long as fn does not return.
 */
struct task *kthread_run(void (*fn)(void *), void *arg, int cpu, const char *name);
/*
 * The same for the first task, once: it is called "init" and has pid 1, whatever was started
 * before.
 */
struct task *kthread_run_init(void (*fn)(void *), void *arg);
/* The same, but the task does not run until kthread_start(), which also records that it is new. */
struct task *kthread_create(void (*fn)(void *), void *arg, int cpu, const char *name);
void kthread_start(struct task *t);
void do_exit(long code); /* current; (exit status << 8) or signal number; never returns */

/*
 * Bare task with pid, stack and links, not runnable; for fork. The caller sets thread_fn and
 * thread_arg: the first run calls it as a kernel thread's, interrupts on. task_start() lets it run
 * and fires wakeup_new; two task_put() instead undo it. With `group`, group_join() makes it another
 * thread of that; else it leads a group of its own, which group_adopt() gives a parent.
 *
 * References: one for the task's own life, dropped by the scheduler when it has switched away from
 * it for the last time (TASK_ZOMBIE, TASK_DEAD); one for its place in its group, dropped by the
 * parent that reaps it, or by do_exit(). So a stack is never freed under its task. Above the first
 * frame of every stack there is room for struct regs: any task may become a program.
 */
struct task *task_alloc(const char *comm, struct thread_group *group);
/* Each gets the other's pid: execve() of a thread takes that of its process. task_lock held. */
void task_exchange_pids(struct task *a, struct task *b);
/* Guards what is marked [T]. Interrupts off; taken before signal locks and run-queue locks. */
extern struct spinlock task_lock;
extern struct list_head
    task_list; /* [T] all tasks, in pid order, by all_node; for walks from irq context */
void task_start(struct task *t);
/*
 * Who keeps something of its own with each task: called for each new one, before it runs, and with
 * its last reference.
 */
struct task_hooks {
	void (*begin)(struct task *t);
	void (*end)(struct task *t);
};
/* Of the tasks that are there already, the caller hears the end alone. Task context. */
void task_hooks_set(const struct task_hooks *hooks);
/* arch.fpu, if there is one, comes from kmalloc; it is freed with the task. Any context but NMI. */
void task_get(struct task *t);
void task_put(struct task *t);
struct task *task_find(int pid); /* with a reference; NULL */
/*
 * Walks all tasks in pid order; returns one with a reference and drops that of `prev`; starts with
 * NULL.
 */
struct task *task_next(struct task *prev);
void task_set_comm(struct task *t, const char *comm); /* fires task_rename */
int task_set_affinity(struct task *t, u64 cpus);      /* -EINVAL if none of them is up */
/* policy.c: the values are valid. Task context, under task_lock too. */
struct task_policy task_get_policy(struct task *t);
void task_set_policy(struct task *t, const struct task_policy *policy);
void task_set_nice(struct task *t, s32 nice);
/* The child of the current task, before task_start(). */
void task_inherit_policy(struct task *child);
#define RR_SLICE_NS 100000000UL

/*
 * The scheduler calls woken() for each task that becomes runnable and switched() for each switch,
 * with interrupts off and a run queue locked. `state` is that of `from`. NULL: no observer. Task
 * context, one at a time.
 */
struct sched_observer {
	void (*woken)(const struct task *t);
	void (*switched)(const struct task *from, const struct task *to, u32 state);
};
void sched_observe(const struct sched_observer *observer);

void schedule(void); /* gives the CPU up; state says for how long */
void sched_yield_current(void);
/*
 * To running; false if it was already (or is new or dead); fires waking and wakeup. Task, irq; not
 * NMI.
 */
bool wake_up_process(struct task *p);
/* As wake_up_process(), but only from one of the states in `state`. wake_flags must be 0. */
bool try_to_wake_up(struct task *p, u32 state, int wake_flags);
static inline bool wake_up_state(struct task *t, u32 states)
{
	return try_to_wake_up(t, states, 0);
}
/*
 * CPU time until now; approximate if the task runs on another CPU. It is read again if the task was
 * charged meanwhile: of the current task, by an interrupt. Inline, because hooks call it: a
 * function that hooks call must have no hook.
 */
static inline __attribute__((always_inline)) u64 task_runtime_ns(const struct task *t)
{
	u64 total, start, now;

	do {
		start = READ_ONCE(t->run_start_ns); /* first: each charge changes it */
		total = READ_ONCE(t->run_total_ns);
		now = READ_ONCE(t->on_cpu) ? clock_ns() : start;
		barrier();
	} while (unlikely(READ_ONCE(t->run_start_ns) != start));
	return total + (now > start ? now - start : 0);
}
unsigned sched_runnable(unsigned cpu); /* tasks on that CPU that run or are runnable */

/*
 * wait4: pid as Linux takes it (-1, 0, < -1, > 0); options WNOHANG 1, WUNTRACED 2. Returns pid, 0,
 * -ECHILD, -EINTR.
 */
int task_wait(int pid, int *status, int options);
/* As task_wait(), with more choice of children; *w gets all that is known of the child found. */
enum wait_which { WAIT_ANY, WAIT_PID, WAIT_GROUP };
struct child_wait {
	enum wait_which which;
	int id;	     /* WAIT_GROUP: 0 is the caller's own */
	u32 options; /* Linux's numbers; WEXITED, too */
	int pid, status;
	u64 runtime_ns; /* of one that ended, with its children */
};
int task_wait_child(struct child_wait *w);
/* Says which children as wait4(): pid > 0, 0 (own group), -1 (any), < -1 (group). */
struct child_wait task_wait_which(int pid, u32 options);
extern struct task *init_task; /* adopts orphans (pid 1) */
