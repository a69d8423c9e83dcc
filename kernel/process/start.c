/*
 * Processes that the kernel itself starts, for pid 1 and the monitor: a thread that becomes a
 * program. Task context.
 */
#include "arch/arch.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/lib/errno.h"
#include "kernel/process/exec.h"
#include "kernel/process/process.h"
#include "kernel/task/group.h"

int process_open_terminal(const char *device, u32 flags)
{
	struct task *t = current();
	struct file *f;
	int e;

	if (!t->files)
		t->files = files_create();
	if (!t->files)
		return -ENOMEM;
	e = file_open(device, O_RDWR | flags, 0, &f);
	if (e)
		return e;
	for (int fd = 0; fd < 3 && e >= 0; fd++)
		e = files_install_at(t->files, fd, file_get(f), false);
	file_put(f);
	return e < 0 ? e : 0;
}

int process_become(const char *path, const char *const argv[], const char *const env[])
{
	struct exec_args a = {0};
	int e = 0;

	for (; *argv && !e; argv++)
		e = exec_args_add(&a, *argv, false);
	for (; *env && !e; env++)
		e = exec_args_add(&a, *env, true);
	if (!e)
		e = task_exec_args(path, &a);
	exec_args_free(&a);
	return e;
}

static void process_begin(void *start)
{
	struct process_start *s = start;
	int e = s->become(s);

	if (e)
		do_exit((e == -ENOENT ? 127 : 126) << 8);
	arch_enter_user();
}

int process_start(struct process_start *s, const char *name)
{
	struct task *from = current(), *t = kthread_create(process_begin, s, -1, name);
	int pid;

	if (!t)
		return -ENOMEM;
	if (from->fs && !(t->fs = fs_copy(from->fs))) {
		task_put(t);
		task_put(t);
		return -ENOMEM;
	}
	u64 flags = spin_lock_irqsave(&task_lock);
	group_adopt(from->group, t->group, from->group);
	spin_unlock_irqrestore(&task_lock, flags);
	pid = t->pid;
	kthread_start(t);
	return pid;
}
