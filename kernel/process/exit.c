/*
 * The end of tasks, and waiting for it. Task context. task_lock protects the tree (parent,
 * children), stop_status, continued, and a task's step to TASK_ZOMBIE: who holds it sees a child
 * either running or ready to be reaped.
 *
 * A zombie keeps its task and its pid until its parent (or pid 1, for orphans) has asked for its
 * status. Where nobody will ask - there is no parent, the parent ignores SIGCHLD, or pid 1 is a
 * kernel thread - the task reaps itself.
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
#include "kernel/task/group.h"
#include "kernel/task/session.h"
#include "kernel/task/sigset.h"

struct task *init_task;

/*
 * Linux tells the C library that a thread is gone by a zero in its memory, and wakes who waits
 * there.
 */
static void clear_child_tid(struct task *t)
{
	int zero = 0;

	if (t->clear_tid && t->mm && atomic_load(&t->mm->refs) > 1 &&
	    !copy_to_user(t->clear_tid, &zero, sizeof(zero)))
		futex_wake(t->clear_tid, 1);
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

/* Does nobody want this process's status? task_lock held. */
static bool exit_is_self_reaping(struct thread_group *g)
{
	return !g->parent || g->orphan || ignores_children(g->parent);
}

/*
 * Gives the children to pid 1; those that are dead already and nobody will ask for go to `dead`.
 * task_lock held.
 */
static void give_children_away(struct thread_group *g, struct list_head *dead)
{
	struct thread_group *child, *next, *init = init_task->group;

	list_for_each_entry_safe (child, next, &g->children, sibling) {
		bool zombie = child->leader->state == TASK_ZOMBIE;

		list_del(&child->sibling);
		child->parent = init;
		session_hang_up_orphans(child, g, NULL);
		if (init_task->flags & TASK_KTHREAD)
			child->orphan = true;
		if (zombie && exit_is_self_reaping(child)) {
			child->parent = NULL;
			child->leader->reaped = true;
			list_add_tail(&child->sibling, dead);
		} else {
			list_add_tail(&child->sibling, &init->children);
			if (zombie)
				wake_up(&init->child_wq);
		}
	}
}

static void exit_notify_parent(struct thread_group *g, int code, int status)
{
	struct signal_info info = {.code = code, .pid = g->tgid, .status = status};

	signal_send_info(g->parent->leader, SIGCHLD, &info, true);
	wake_up(&g->parent->child_wq);
}

/*
 * The last step that others see. Returns whether the task must drop its place in the tree by
 * itself.
 */
static bool become_zombie(struct task *t, struct list_head *dead)
{
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	int signal = t->exit_code & 0x7f;
	bool alone;

	session_hang_up_orphans(g, g->parent, g);
	give_children_away(g, dead);
	alone = exit_is_self_reaping(g);
	if (g->parent)
		exit_notify_parent(
		    g, signal ? CLD_KILLED : CLD_EXITED, signal ? signal : t->exit_code >> 8);
	if (alone && g->parent)
		list_del(&g->sibling);
	if (alone)
		g->parent = NULL;
	t->reaped = alone;
	atomic_store(&t->state, alone ? TASK_DEAD : TASK_ZOMBIE);
	spin_unlock_irqrestore(&task_lock, flags);
	return alone;
}

void __noreturn do_exit(long code)
{
	struct task *t = current();
	struct thread_group *g = t->group, *child, *next;
	struct list_head dead = LIST_HEAD_INIT(dead);

	if (t == init_task)
		panic("Attempted to kill init! exitcode=0x%08x", (u32)code);
	t->flags |= TASK_EXITING;
	t->exit_code = code;
	if (g->alarm.fn)
		timer_cancel(&g->alarm);
	clear_child_tid(t);
	leave_mm(t);
	trace_sched_process_exit(t);
	leave_files(t);
	session_leader_exit(g);
	preempt_disable(); /* once it is a zombie, a switch is its last */
	if (become_zombie(t, &dead))
		task_put(t);
	list_for_each_entry_safe (child, next, &dead, sibling) {
		list_del(&child->sibling);
		task_put(child->leader);
	}
	irq_disable();
	preempt_enable_no_resched();
	schedule();
	panic("task %d runs after its end", t->pid);
}

void task_report_stop(struct task *t, int sig)
{
	struct thread_group *g = t->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	bool stopped = sig != SIGCONT;

	g->stop_status = stopped ? sig << 8 | 0x7f : 0;
	g->continued = !stopped;
	if (g->parent && !(group_action(g->parent, SIGCHLD)->flags & ABI_SA_NOCLDSTOP))
		exit_notify_parent(g, stopped ? CLD_STOPPED : CLD_CONTINUED, sig);
	else if (g->parent)
		wake_up(&g->parent->child_wq);
	spin_unlock_irqrestore(&task_lock, flags);
}

static bool wanted(const struct thread_group *child, int pid)
{
	if (pid > 0)
		return child->tgid == pid;
	if (pid == -1)
		return true;
	return child->pgid == (pid ? -pid : current()->group->pgid);
}

/* True if this child has a status to report; fills it. task_lock held. */
static bool take_report(struct thread_group *child, int options, int *status)
{
	if (child->leader->state == TASK_ZOMBIE) {
		*status = child->leader->exit_code;
		list_del(&child->sibling);
		child->parent = NULL;
		child->leader->reaped = true;
		return true;
	}
	if ((options & ABI_WUNTRACED) && child->stop_status) {
		*status = child->stop_status;
		child->stop_status = 0;
		return true;
	}
	if ((options & ABI_WCONTINUED) && child->continued) {
		*status = 0xffff;
		child->continued = false;
		return true;
	}
	return false;
}

/* One look at the children: a pid, 0 (none is ready), -ECHILD. */
static int look(int pid, int *status, int options)
{
	struct thread_group *child;
	struct task *found = NULL;
	int ret = -ECHILD;
	u64 flags = spin_lock_irqsave(&task_lock);

	list_for_each_entry (child, &current()->group->children, sibling) {
		if (!wanted(child, pid))
			continue;
		ret = 0;
		if (take_report(child, options, status)) {
			ret = child->tgid;
			found = child->leader->state == TASK_ZOMBIE ? child->leader : NULL;
			break;
		}
	}
	spin_unlock_irqrestore(&task_lock, flags);
	if (found)
		task_put(found);
	return ret;
}

int task_wait(int pid, int *status, int options)
{
	struct wait_queue *wq = &current()->group->child_wq;
	struct wait_entry e;
	int ret, nobody_asks;

	if (!status)
		status = &nobody_asks;
	trace_sched_process_wait(pid == -1 ? 0
				 : pid < 0 ? -pid
				 : pid	   ? pid
					   : current()->group->pgid);
	for (;;) {
		wait_prepare(wq, &e, true);
		ret = look(pid, status, options);
		if (ret || (options & ABI_WNOHANG))
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
