/* Kernel threads that inherit what a process has. Task context. */
#include "kernel/fs/files.h"
#include "kernel/fs/vfs.h"
#include "kernel/mem/mem.h"
#include "kernel/process/process.h"

/*
 * Files, directory and groups of the current task; false: no memory, and what was copied is in t.
 */
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
	t->no_ctty = parent->no_ctty;
	t->parent = parent;
	list_add_tail(&t->sibling, &parent->children);
	spin_unlock_irqrestore(&task_lock, flags);
}

struct task *kthread_fork(void (*fn)(void *), void *arg, const char *name)
{
	struct task *t = kthread_create(fn, arg, name);

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
