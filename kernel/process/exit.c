/*
 * The end of tasks, and waiting for it. Task context. task_lock protects the tree (parent,
 * children), stop_status, continued, and a task's step to TASK_ZOMBIE: a child is seen under it
 * either running or ready to be reaped.
 *
 * A zombie keeps its task and its pid until its parent (or pid 1, for orphans) has asked for its
 * status. Where nobody will ask - there is no parent, the parent ignores SIGCHLD, or pid 1 is a
 * kernel thread - the task reaps itself.
 *
 * Threads end one by one. One that is not the leader is gone when it has ended. The leader waits
 * for the others as a zombie that cannot be reaped yet. The process has ended when the leader is a
 * zombie and alone in its group; the thread that ended last notifies the parent.
 */
#include "kernel/abi/linux.h"
#include "kernel/base/events.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/files.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/base/panic.h"
#include "kernel/process/futex.h"
#include "kernel/process/process.h"
#include "kernel/task/alarm.h"
#include "kernel/task/explore.h"
#include "kernel/task/group.h"
#include "kernel/task/session.h"
#include "kernel/task/sigset.h"

struct task *init_task;

/*
 * Besides its locks: as on Linux, a zero at clear_tid and a wake-up there tell the C library that
 * the thread is gone.
 */
void exit_mm_release(struct task *t)
{
	int zero = 0;

	if (t->mm)
		futex_exit(t);
	if (t->clear_tid && t->mm && atomic_load(&t->mm->refs) > 1 &&
	    !copy_to_user(t->clear_tid, &zero, sizeof(zero)))
		futex_wake(t->clear_tid, true, 1, FUTEX_BITSET_ALL);
	t->clear_tid = 0;
}

static void leave_mm(struct task *t)
{
	struct mm *mm = t->mm;

	if (!mm)
		return;
	preempt_disable();
	task_mm_set(t, NULL);
	t->arch.as = NULL;
	aspace_switch(NULL);
	preempt_enable();
	mm_release(mm);
	process_count_add(-1);
}

static void leave_files(struct task *t)
{
	struct files *files = t->files;
	struct fs_struct *fs = t->fs;
	u64 flags = spin_lock_irqsave(&task_lock);

	t->files = NULL;
	t->fs = NULL;
	spin_unlock_irqrestore(&task_lock, flags);
	files_put(files);
	fs_put(fs);
}

static bool ignores_children(struct thread_group *parent)
{
	const struct ksigaction *a = group_action(parent, SIGCHLD);

	return a->handler == SIG_IGN || (a->flags & ABI_SA_NOCLDWAIT);
}

/* True if no parent will ask for this process's status. task_lock held. */
static bool exit_is_self_reaping(struct thread_group *g)
{
	return !g->parent || g->orphan ||
	       (g->exit_signal == SIGCHLD && ignores_children(g->parent));
}

/* True if only the leader is left, as a zombie. task_lock held. */
static bool exit_is_complete(const struct thread_group *g)
{
	return g->leader->state == TASK_ZOMBIE && g->threads.next == g->threads.prev;
}

static void exit_tell_parent(struct thread_group *g, int sig, const struct signal_info *info)
{
	if (sig)
		signal_send_info(g->parent->leader, sig, info, true);
	wake_up(&g->parent->child_wq);
}

/* What became of a process that has ended. task_lock held. */
static void exit_notify_parent(struct thread_group *g, int sig)
{
	int status = g->exit_code, signal = status & 0x7f;
	struct signal_info info = {.code = signal ? CLD_KILLED : CLD_EXITED,
	    .pid = g->tgid,
	    .status = signal ? signal : status >> 8};

	exit_tell_parent(g, sig, &info);
}

/* The nearest ancestor that asked for what its descendants leave, or pid 1. task_lock held. */
static struct thread_group *exit_reaper(const struct thread_group *g)
{
	struct thread_group *init = init_task->group, *reaper = g->parent;

	while (reaper && reaper != init && !READ_ONCE(reaper->subreaper))
		reaper = reaper->parent;
	return reaper ? reaper : init;
}

/*
 * Gives the children to the reaper; zombies whose status it will not ask for go to `dead`.
 * task_lock held.
 */
static void give_children_away(struct thread_group *g, struct list_head *dead)
{
	struct thread_group *child, *next, *reaper = exit_reaper(g);

	list_for_each_entry_safe (child, next, &g->children, sibling) {
		bool zombie = exit_is_complete(child);

		if (READ_ONCE(child->death_signal))
			signal_send_info(child->leader, READ_ONCE(child->death_signal),
			    &(struct signal_info){.code = SI_USER, .pid = g->tgid}, true);
		list_del(&child->sibling);
		child->parent = reaper;
		child->exit_signal = SIGCHLD;
		session_hang_up_orphans(child, g, NULL);
		if (reaper->leader->flags & TASK_KTHREAD)
			child->orphan = true;
		if (zombie && exit_is_self_reaping(child)) {
			child->parent = NULL;
			child->leader->reaped = true;
			list_add_tail(&child->sibling, dead);
		} else {
			list_add_tail(&child->sibling, &reaper->children);
			if (zombie)
				exit_notify_parent(child, SIGCHLD);
		}
	}
}

/*
 * The end of a process: its children are given away, its parent is notified. Returns whether its
 * leader must drop its place in the tree by itself. task_lock held.
 */
static bool exit_process(struct thread_group *g, struct list_head *dead)
{
	bool alone;

	session_hang_up_orphans(g, g->parent, g);
	give_children_away(g, dead);
	alone = exit_is_self_reaping(g);
	if (g->parent)
		exit_notify_parent(g, g->exit_signal);
	if (alone && g->parent)
		list_del(&g->sibling);
	if (alone)
		g->parent = NULL;
	g->leader->reaped = alone;
	if (alone)
		atomic_store(&g->leader->state, TASK_DEAD);
	return alone;
}

/* References that are dropped when task_lock is free again. */
struct leavings {
	struct task *self, *leader; /* out of the tree now; NULL: they stay in it */
	struct list_head children;  /* zombies out of the tree, by their groups */
};

/* The last step of a task's end that other tasks see. */
static void become_zombie(struct task *t, struct leavings *l)
{
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&task_lock);

	*l = (struct leavings){NULL, NULL, LIST_HEAD_INIT(l->children)};
	if (t == g->leader) {
		atomic_store(&t->state, TASK_ZOMBIE);
	} else {
		spin_lock(&g->lock);
		list_del(&t->thread_node);
		spin_unlock(&g->lock);
		g->ended_ns += task_runtime_ns(t);
		t->reaped = true;
		l->self = t;
		atomic_store(&t->state, TASK_DEAD);
	}
	if (READ_ONCE(g->exec))
		wake_up(&g->child_wq);
	else if (exit_is_complete(g) && exit_process(g, &l->children))
		l->leader = g->leader;
	spin_unlock_irqrestore(&task_lock, flags);
}

static void exit_put(const struct leavings *l)
{
	struct thread_group *child, *next;

	if (l->self)
		task_put(l->self);
	if (l->leader)
		task_put(l->leader);
	list_for_each_entry_safe (child, next, &l->children, sibling) {
		list_del(&child->sibling);
		task_put(child->leader);
	}
}

/* The thread takes no more signals: others get those of the process. True: it is the last. */
static bool exit_begin(struct task *t, long code)
{
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&g->lock);
	bool last = --g->live == 0, stopped;

	t->flags |= TASK_EXITING;
	if (last && !g->ended) { /* the last thread's status is the process's, as on Linux 5.19 */
		g->ended = true;
		g->exit_code = code;
	}
	stopped = !last && g->call == GROUP_STOPS && g->stopped == g->live;
	spin_unlock_irqrestore(&g->lock, flags);
	if (!last)
		signal_retarget(~0UL);
	if (stopped)
		task_report_stop(t, g->stop_signal);
	return last;
}

/* __noipa: else the compiler sees that it never returns, and ends process_exit() with the call. */
void __noipa do_exit(long code)
{
	struct task *t = current();
	struct thread_group *g = t->group;
	struct leavings left;
	bool last;

	if (t == init_task)
		panic("Attempted to kill init! exitcode=0x%08x", (u32)code);
	last = exit_begin(t, code);
	if (last)
		alarms_remove(g, true);
	exit_mm_release(t);
	leave_mm(t);
	trace_sched_process_exit(t);
	leave_files(t);
	if (last)
		session_leader_exit(g);
	explore_exit(t);
	preempt_disable(); /* once it is a zombie, a switch is its last */
	become_zombie(t, &left);
	exit_put(&left);
	irq_disable();
	preempt_enable_no_resched();
	schedule();
	panic("task %d runs after its end", t->pid);
}

void process_exit(long code)
{
	struct thread_group *g = current()->group;

	if (!group_end(g, code, NULL))
		code = g->exit_code;
	do_exit(code);
}

/* The current thread takes the place of the leader, which has ended. task_lock held. */
static struct task *exit_take_lead(struct task *t)
{
	struct thread_group *g = t->group;
	struct task *old = g->leader;

	task_exchange_pids(t, old);
	spin_lock(&g->lock);
	list_del(&old->thread_node);
	g->leader = t;
	spin_unlock(&g->lock);
	g->ended_ns += task_runtime_ns(old);
	old->reaped = true;
	atomic_store(&old->state, TASK_DEAD);
	return old;
}

static bool exit_is_alone(struct task *t)
{
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	struct task *other;
	bool alone = true;

	list_for_each_entry (other, &g->threads, thread_node)
		if (other != t && !(other == g->leader && other->state == TASK_ZOMBIE))
			alone = false;
	spin_unlock_irqrestore(&task_lock, flags);
	return alone;
}

int process_be_alone(void)
{
	struct task *t = current(), *old = NULL;
	struct thread_group *g = t->group;
	u64 flags;

	if (READ_ONCE(g->live) == 1 && g->leader == t)
		return 0;
	if (!group_end(g, SIGKILL, t))
		return -EAGAIN;
	wait_event(&g->child_wq, exit_is_alone(t));
	flags = spin_lock_irqsave(&task_lock);
	if (g->leader != t)
		old = exit_take_lead(t);
	spin_lock(&g->lock);
	g->exec = NULL;
	g->call = GROUP_RUNS;
	spin_unlock(&g->lock);
	spin_unlock_irqrestore(&task_lock, flags);
	if (old)
		task_put(old);
	return 0;
}

void task_report_stop(struct task *t, int sig)
{
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	bool stopped = sig != SIGCONT;

	g->stop_status = stopped ? sig << 8 | 0x7f : 0;
	g->continued = !stopped;
	if (g->parent && !(group_action(g->parent, SIGCHLD)->flags & ABI_SA_NOCLDSTOP))
		exit_tell_parent(g, SIGCHLD,
		    &(struct signal_info){.code = stopped ? CLD_STOPPED : CLD_CONTINUED,
			.pid = g->tgid,
			.status = sig});
	else if (g->parent)
		wake_up(&g->parent->child_wq);
	spin_unlock_irqrestore(&task_lock, flags);
}

static bool exit_is_wanted(const struct thread_group *child, const struct child_wait *w)
{
	if (!(w->options & ABI_WALL) &&
	    (child->exit_signal != SIGCHLD) != !!(w->options & ABI_WCLONE))
		return false;
	switch (w->which) {
	case WAIT_PID:
		return child->tgid == w->id;
	case WAIT_GROUP:
		return child->pgid == (w->id ? w->id : current()->group->pgid);
	default:
		return true;
	}
}

/* The parent has the status now: its children's time includes the child's. task_lock held. */
static void exit_reap(struct thread_group *child)
{
	struct thread_group *parent = child->parent;

	parent->children_ns +=
	    child->children_ns + child->ended_ns + task_runtime_ns(child->leader);
	list_del(&child->sibling);
	child->parent = NULL;
	child->leader->reaped = true;
}

/* True if this child has a status to report; fills it. task_lock held. */
static bool exit_take_report(struct thread_group *child, struct child_wait *w)
{
	bool keep = w->options & ABI_WNOWAIT;

	w->pid = child->tgid;
	if ((w->options & ABI_WEXITED) && exit_is_complete(child)) {
		w->status = child->exit_code;
		w->runtime_ns =
		    child->children_ns + child->ended_ns + task_runtime_ns(child->leader);
		if (!keep)
			exit_reap(child);
		return true;
	}
	if ((w->options & ABI_WUNTRACED) && child->stop_status) {
		w->status = child->stop_status;
		child->stop_status = keep ? child->stop_status : 0;
		return true;
	}
	if ((w->options & ABI_WCONTINUED) && child->continued) {
		w->status = 0xffff;
		child->continued = keep;
		return true;
	}
	return false;
}

/* One look at the children: a pid, 0 (none is ready), -ECHILD. */
static int exit_look(struct child_wait *w)
{
	struct thread_group *child;
	struct task *found = NULL;
	int ret = -ECHILD;
	u64 flags = spin_lock_irqsave(&task_lock);

	list_for_each_entry (child, &current()->group->children, sibling) {
		if (!exit_is_wanted(child, w))
			continue;
		if (exit_is_complete(child) && !(w->options & ABI_WEXITED))
			continue; /* it will neither stop nor continue any more */
		ret = 0;
		if (exit_take_report(child, w)) {
			ret = w->pid;
			found = child->leader->reaped ? child->leader : NULL;
			break;
		}
	}
	spin_unlock_irqrestore(&task_lock, flags);
	if (found)
		task_put(found);
	return ret;
}

int task_wait_child(struct child_wait *w)
{
	struct wait_queue *wq = &current()->group->child_wq;
	struct wait_entry e;
	int ret;

	trace_sched_process_wait(w->which == WAIT_ANY		    ? 0
				 : w->which == WAIT_GROUP && !w->id ? current()->group->pgid
								    : w->id);
	for (;;) {
		wait_prepare(wq, &e, true);
		ret = exit_look(w);
		if (ret || (w->options & ABI_WNOHANG))
			break;
		if (signal_pending_current()) {
			ret = -EINTR;
			break;
		}
		schedule();
		wait_finish(wq, &e);
	}
	wait_finish(wq, &e);
	return ret;
}

struct child_wait task_wait_which(int pid, u32 options)
{
	return (struct child_wait){
	    .which = pid > 0	 ? WAIT_PID
		     : pid == -1 ? WAIT_ANY
				 : WAIT_GROUP,
	    .id = pid < 0 ? -(u32)pid : (u32)pid,
	    .options = options | ABI_WEXITED,
	};
}

int task_wait(int pid, int *status, int options)
{
	struct child_wait w = task_wait_which(pid, options);
	int ret = task_wait_child(&w);

	if (status && ret > 0)
		*status = w.status;
	return ret;
}
