/* System calls on processes: fork, execve, wait, exit, ids, groups, scheduling. Task context. */
/* hot: runs with each event */
#include "arch/arch.h"
#include "kernel/process/exec.h"
#include "kernel/syscall/user.h"
#include "kernel/task/session.h"

long sys_fork(const u64 *a)
{
	(void)a;
	struct kernel_clone_args args = {.exit_signal = SIGCHLD};

	return kernel_clone(&args);
}

long sys_vfork(const u64 *a)
{
	(void)a;
	struct kernel_clone_args args = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD};

	return kernel_clone(&args);
}

long sys_clone(const u64 *a)
{
	struct kernel_clone_args args = {
	    .flags = (u32)a[0] & ~CLONE_SIGNAL,
	    .parent_tid = a[2],
	    .child_tid = a[3],
	    .exit_signal = a[0] & CLONE_SIGNAL,
	    .stack = a[1],
	    .tls = a[4],
	};

	return kernel_clone(&args);
}

long sys_execve(const u64 *a)
{
	struct exec_args args = {0};
	struct filename name;
	long ret = filename_get(a[0], &name);

	if (ret)
		return ret;
	ret = exec_args_from_user(&args, a[1], a[2]);
	if (!ret)
		ret = task_exec_args(name.name, &args);
	exec_args_free(&args);
	filename_put(&name);
	return ret;
}

long sys_exit(const u64 *a)
{
	do_exit((a[0] & 0xff) << 8);
}

long sys_exit_group(const u64 *a)
{
	do_exit((a[0] & 0xff) << 8);
}

long sys_wait4(const u64 *a)
{
	const struct abi_rusage none = {0};
	u32 options = a[2];
	int status, ret;

	if (options & ~(ABI_WNOHANG | ABI_WUNTRACED | ABI_WCONTINUED |
			  0xe0000000u /* threads, all children */))
		return -EINVAL;
	if ((s32)a[0] == INT_MIN)
		return -ESRCH;
	ret = task_wait(a[0], &status, options);
	if (ret <= 0)
		return restartable(ret);
	if (a[1] && copy_to_user(a[1], &status, sizeof(status)))
		return -EFAULT;
	if (a[3] && copy_to_user(a[3], &none, sizeof(none)))
		return -EFAULT;
	return ret;
}

long sys_getpid(const u64 *a)
{
	(void)a;
	return current()->tgid;
}

long sys_gettid(const u64 *a)
{
	(void)a;
	return current()->pid;
}

long sys_getppid(const u64 *a)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	long pid = current()->parent ? current()->parent->tgid : 0;

	(void)a;
	spin_unlock_irqrestore(&task_lock, flags);
	return pid;
}

/* There is one user, who may do everything. */
static long root(void)
{
	return 0;
}

long sys_getuid(const u64 *a)
{
	(void)a;
	return root();
}

long sys_geteuid(const u64 *a)
{
	(void)a;
	return root();
}

long sys_getgid(const u64 *a)
{
	(void)a;
	return root();
}

long sys_getegid(const u64 *a)
{
	(void)a;
	return root();
}

long sys_setpgid(const u64 *a)
{
	int pid = a[0] ? (int)a[0] : current()->pid, pgid = (int)a[1] ? (int)a[1] : pid;
	struct task *t;
	long ret;

	if (pgid < 0)
		return -EINVAL;
	t = task_find(pid);
	if (!t)
		return -ESRCH;
	ret = session_set_group(t, pgid);
	task_put(t);
	return ret;
}

static long ids_of(int pid, bool session)
{
	struct task *t = task_find(pid ? pid : current()->pid);
	long ret;

	if (!t)
		return -ESRCH;
	ret = session ? t->sid : t->pgid;
	task_put(t);
	return ret;
}

long sys_getpgid(const u64 *a)
{
	return ids_of(a[0], false);
}

long sys_getsid(const u64 *a)
{
	return ids_of(a[0], true);
}

long sys_getpgrp(const u64 *a)
{
	(void)a;
	return current()->pgid;
}

long sys_setsid(const u64 *a)
{
	(void)a;
	return session_create();
}

long sys_sched_yield(const u64 *a)
{
	(void)a;
	sched_yield_current();
	return 0;
}

long sys_sched_setaffinity(const u64 *a)
{
	u64 mask = 0;
	struct task *t;
	long ret;

	if (copy_from_user(&mask, a[2], MIN((u32)a[1], sizeof(mask))))
		return -EFAULT;
	t = task_find((s32)a[0] ? (s32)a[0] : current()->pid);
	if (!t)
		return -ESRCH;
	ret = task_set_affinity(t, mask);
	task_put(t);
	return ret;
}

long sys_sched_getaffinity(const u64 *a)
{
	u64 all = cpu_count() == 64 ? ~0UL : (1UL << cpu_count()) - 1, mask;
	struct task *t;

	if ((u32)a[1] < sizeof(mask) || ((u32)a[1] & 7))
		return -EINVAL;
	t = task_find((s32)a[0] ? (s32)a[0] : current()->pid);
	if (!t)
		return -ESRCH;
	mask = t->cpus_allowed & all;
	task_put(t);
	return copy_to_user(a[2], &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}
