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
#include "kernel/fs/files.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/base/panic.h"
#include "kernel/process/futex.h"
#include "kernel/process/process.h"
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
	if (t->files)
		files_destroy(t->files);
	t->files = NULL;
	if (t->cwd)
		vnode_put(t->cwd);
	t->cwd = NULL;
	kfree(t->cwd_path);
	t->cwd_path = NULL;
}

static bool ignores_children(struct task *parent)
{
	const struct ksigaction *a = &parent->sig.action[SIGCHLD - 1];

	return a->handler == SIG_IGN || (a->flags & ABI_SA_NOCLDWAIT);
}

/* Does nobody want this task's status? task_lock held. */
static bool exit_is_self_reaping(struct task *t)
{
	return !t->parent || (t->flags & TASK_ORPHAN) || ignores_children(t->parent);
}

/*
 * Gives the children to pid 1; those that are dead already and nobody will ask for go to `dead`.
 * task_lock held.
 */
static void give_children_away(struct task *t, struct list_head *dead)
{
	struct task *child, *next;

	list_for_each_entry_safe (child, next, &t->children, sibling) {
		list_del(&child->sibling);
		child->parent = init_task;
		session_hang_up_orphans(child, t, NULL);
		if (init_task->flags & TASK_KTHREAD)
			child->flags |= TASK_ORPHAN;
		if (child->state == TASK_ZOMBIE && exit_is_self_reaping(child)) {
			child->parent = NULL;
			child->reaped = true;
			list_add_tail(&child->sibling, dead);
		} else {
			list_add_tail(&child->sibling, &init_task->children);
			if (child->state == TASK_ZOMBIE)
				wake_up(&init_task->child_wq);
		}
	}
}

static void exit_notify_parent(struct task *t, int code, int status)
{
	struct signal_info info = {.code = code, .pid = t->pid, .status = status};

	signal_send_info(t->parent, SIGCHLD, &info, true);
	wake_up(&t->parent->child_wq);
}

/*
 * The last step that others see. Returns whether the task must drop its place in the tree by
 * itself.
 */
static bool become_zombie(struct task *t, struct list_head *dead)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int signal = t->exit_code & 0x7f;
	bool alone;

	session_hang_up_orphans(t, t->parent, t);
	give_children_away(t, dead);
	alone = exit_is_self_reaping(t);
	if (t->parent)
		exit_notify_parent(
		    t, signal ? CLD_KILLED : CLD_EXITED, signal ? signal : t->exit_code >> 8);
	if (alone && t->parent)
		list_del(&t->sibling);
	t->ppid_at_exit = t->parent ? t->parent->pid : 0;
	if (alone)
		t->parent = NULL;
	t->reaped = alone;
	atomic_store(&t->state, alone ? TASK_DEAD : TASK_ZOMBIE);
	spin_unlock_irqrestore(&task_lock, flags);
	return alone;
}

void __noreturn do_exit(long code)
{
	struct task *t = current(), *child, *next;
	struct list_head dead = LIST_HEAD_INIT(dead);

	if (t == init_task)
		panic("Attempted to kill init! exitcode=0x%08x", (u32)code);
	t->flags |= TASK_EXITING;
	t->exit_code = code;
	if (t->sig.alarm.fn)
		timer_cancel(&t->sig.alarm);
	clear_child_tid(t);
	leave_mm(t);
	trace_sched_process_exit(t);
	leave_files(t);
	session_leader_exit(t);
	preempt_disable(); /* once it is a zombie, a switch is its last */
	if (become_zombie(t, &dead))
		task_put(t);
	list_for_each_entry_safe (child, next, &dead, sibling) {
		list_del(&child->sibling);
		task_put(child);
	}
	irq_disable();
	preempt_enable_no_resched();
	schedule();
	panic("task %d runs after its end", t->pid);
}

void task_report_stop(struct task *t, int sig)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	bool stopped = sig != SIGCONT;

	t->sig.stop_status = stopped ? sig << 8 | 0x7f : 0;
	t->sig.continued = !stopped;
	if (t->parent && !(t->parent->sig.action[SIGCHLD - 1].flags & ABI_SA_NOCLDSTOP))
		exit_notify_parent(t, stopped ? CLD_STOPPED : CLD_CONTINUED, sig);
	else if (t->parent)
		wake_up(&t->parent->child_wq);
	spin_unlock_irqrestore(&task_lock, flags);
}

static bool wanted(const struct task *child, int pid)
{
	if (pid > 0)
		return child->pid == pid;
	if (pid == -1)
		return true;
	return child->pgid == (pid ? -pid : current()->pgid);
}

/* What this child has to report: true, and its status. task_lock held. */
static bool take_report(struct task *child, int options, int *status)
{
	struct signals *s = &child->sig;

	if (child->state == TASK_ZOMBIE) {
		*status = child->exit_code;
		list_del(&child->sibling);
		child->parent = NULL;
		child->reaped = true;
		return true;
	}
	if ((options & ABI_WUNTRACED) && s->stop_status) {
		*status = s->stop_status;
		s->stop_status = 0;
		return true;
	}
	if ((options & ABI_WCONTINUED) && s->continued) {
		*status = 0xffff;
		s->continued = false;
		return true;
	}
	return false;
}

/* One look at the children: a pid, 0 (none is ready), -ECHILD. */
static int look(int pid, int *status, int options)
{
	struct task *child, *found = NULL;
	int ret = -ECHILD;
	u64 flags = spin_lock_irqsave(&task_lock);

	list_for_each_entry (child, &current()->children, sibling) {
		if (!wanted(child, pid))
			continue;
		ret = 0;
		if (take_report(child, options, status)) {
			ret = child->pid;
			found = child->state == TASK_ZOMBIE ? child : NULL;
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
	struct wait_queue *wq = &current()->child_wq;
	struct wait_entry e;
	int ret, nobody_asks;

	if (!status)
		status = &nobody_asks;
	trace_sched_process_wait(pid == -1 ? 0 : pid < 0 ? -pid : pid ? pid : current()->pgid);
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
