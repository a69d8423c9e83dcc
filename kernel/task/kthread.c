/* Kernel threads. Task context. */
#include "kernel/events.h"
#include "kernel/fs/files.h"
#include "kernel/fs/vfs.h"
#include "kernel/mem/mem.h"
#include "kernel/task/exec.h"
#include "kernel/task/pid.h"

/* What Linux's kernel_thread() passes to clone. */
#define KTHREAD_CLONE_FLAGS (CLONE_VM | 0x800000 /* CLONE_UNTRACED */)

static struct task *kthread_new(void (*fn)(void *), void *arg, const char *name, int pid)
{
	struct task *t = task_alloc_pid(name, pid);

	if (!t)
		return NULL;
	t->flags = TASK_KTHREAD;
	t->thread_fn = fn;
	t->thread_arg = arg;
	return t;
}

static void kthread_start(struct task *t)
{
	trace_task_newtask(t, KTHREAD_CLONE_FLAGS);
	trace_sched_process_fork(current(), t);
	task_start(t);
}

struct task *kthread_run(void (*fn)(void *), void *arg, int cpu, const char *name)
{
	struct task *t = cpu < (int)cpu_count() ? kthread_new(fn, arg, name, 0) : NULL;

	if (!t)
		return NULL;
	if (cpu >= 0)
		t->cpus_allowed = 1UL << cpu;
	kthread_start(t);
	return t;
}

struct task *kthread_run_init(void (*fn)(void *), void *arg)
{
	struct task *t = kthread_new(fn, arg, "init", 1);

	if (t)
		kthread_start(t);
	return t;
}

/* Files, directory and groups of the current task; false: no memory, and what was copied is in t. */
static bool inherit(struct task *t)
{
	struct task *from = current();

	if (from->files && !(t->files = files_copy(from->files)))
		return false;
	if (from->cwd_path && !(t->cwd_path = kstrdup(from->cwd_path)))
		return false;
	if (from->cwd)
		t->cwd = vnode_get(from->cwd);
	t->umask = from->umask;
	return true;
}

static void adopt(struct task *t)
{
	struct task *parent = current();

	u64 flags = spin_lock_irqsave(&task_lock);
	t->pgid = parent->pgid;
	t->sid = parent->sid;
	t->parent = parent;
	list_add_tail(&t->sibling, &parent->children);
	spin_unlock_irqrestore(&task_lock, flags);
}

struct task *kthread_fork(void (*fn)(void *), void *arg, const char *name)
{
	struct task *t = kthread_new(fn, arg, name, 0);

	if (!t)
		return NULL;
	if (!inherit(t)) {
		if (t->files)
			files_destroy(t->files);
		kfree(t->cwd_path);
		task_put(t);
		task_put(t);
		return NULL;
	}
	adopt(t);
	kthread_start(t);
	return t;
}
