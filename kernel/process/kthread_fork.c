/* Kernel threads that inherit what a process has. Task context. */
#include "kernel/fs/cwd.h"
#include "kernel/fs/files.h"
#include "kernel/process/process.h"
#include "kernel/task/group.h"

/*
 * Files, directory and groups of the current task; false: no memory, and what was copied is in t.
 */
static bool inherit(struct task *t)
{
	struct task *from = current();

	if (from->files && !(t->files = files_copy(from->files)))
		return false;
	return !from->fs || (t->fs = fs_copy(from->fs));
}

static void adopt(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	group_adopt(current()->group, t->group, current()->group);
	spin_unlock_irqrestore(&task_lock, flags);
}

struct task *kthread_fork(void (*fn)(void *), void *arg, const char *name)
{
	struct task *t = kthread_create(fn, arg, name);

	if (!t)
		return NULL;
	if (!inherit(t)) {
		files_put(t->files);
		fs_put(t->fs);
		task_put(t);
		task_put(t);
		return NULL;
	}
	adopt(t);
	kthread_start(t);
	return t;
}
