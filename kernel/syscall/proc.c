/* System calls on processes: fork, execve, wait, exit, ids, groups, scheduling. Task context. */
/* hot: runs with each event */
#include "arch/arch.h"
#include "kernel/process/exec.h"
#include "kernel/process/process.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"
#include "kernel/task/group.h"
#include "kernel/task/session.h"

long __x64_sys_fork(const struct regs *r)
{
	(void)r;
	struct kernel_clone_args args = {.exit_signal = SIGCHLD};

	return kernel_clone(&args);
}

long __x64_sys_vfork(const struct regs *r)
{
	(void)r;
	struct kernel_clone_args args = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD};

	return kernel_clone(&args);
}

long __x64_sys_clone(const struct regs *r)
{
	struct kernel_clone_args args = {
	    .flags = (u32)r->rdi & ~(CLONE_SIGNAL | CLONE_DETACHED),
	    .parent_tid = r->rdx,
	    .child_tid = r->r10,
	    .exit_signal = r->rdi & CLONE_SIGNAL,
	    .stack = r->rsi,
	    .tls = r->r8,
	};

	return kernel_clone(&args);
}

/* Copies a clone_args. Bytes beyond the fields known here must be 0: 0, -E2BIG, -EFAULT. */
static long get_clone_args(struct abi_clone_args *args, u64 from, u64 size)
{
	u8 tail[64];
	int err = copy_from_user(args, from, MIN(size, sizeof(*args)));

	for (u64 at = sizeof(*args); at < size && !err; at += sizeof(tail)) {
		u64 n = MIN(size - at, sizeof(tail));

		err = copy_from_user(tail, from + at, n);
		for (u64 i = 0; i < n && !err; i++)
			err = tail[i] ? -E2BIG : 0;
	}
	return err;
}

long __x64_sys_clone3(const struct regs *r)
{
	struct abi_clone_args a = {0};
	long err;

	if (r->rsi > PAGE_SIZE)
		return -E2BIG;
	if (r->rsi < ABI_CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	err = get_clone_args(&a, r->rdi, r->rsi);
	if (err)
		return err;
	if (a.exit_signal > SIG_COUNT || a.set_tid_size || a.set_tid)
		return -EINVAL;
	if ((a.flags & (CLONE_THREAD | CLONE_PARENT)) && a.exit_signal)
		return -EINVAL;
	if (!a.stack != !a.stack_size || (a.stack && a.stack_size > USER_END - a.stack))
		return -EINVAL;
	return kernel_clone(&(struct kernel_clone_args){
	    .flags = a.flags,
	    .child_tid = a.child_tid,
	    .parent_tid = a.parent_tid,
	    .exit_signal = a.exit_signal,
	    .stack = a.stack + a.stack_size,
	    .tls = a.tls,
	});
}

long __noinline do_execveat_common(
    int fd, struct filename *filename, u64 argv, u64 envp, int flags __maybe_unused)
{
	struct exec_args args = {0};
	const char *path;
	long ret = sys_path_at(fd, filename->name, &path);

	if (ret)
		return ret;
	ret = exec_args_from_user(&args, argv, envp);
	if (!ret)
		ret = task_exec_args(path, &args);
	exec_args_free(&args);
	sys_path_put(path, filename->name);
	return ret;
}

long __x64_sys_execve(const struct regs *r)
{
	struct filename name;
	long ret = filename_get(r->rdi, &name);

	if (ret)
		return ret;
	ret = do_execveat_common(ABI_AT_FDCWD, &name, r->rsi, r->rdx, 0);
	filename_put(&name);
	return ret;
}

long __x64_sys_exit(const struct regs *r)
{
	do_exit((r->rdi & 0xff) << 8);
	return 0;
}

long __x64_sys_exit_group(const struct regs *r)
{
	process_exit((r->rdi & 0xff) << 8);
	return 0;
}

#define WAIT_OPTIONS (ABI_WNOHANG | ABI_WNOTHREAD | ABI_WALL | ABI_WCLONE)

static long sys_put_rusage(u64 to, u64 runtime_ns)
{
	struct abi_rusage ru = {.ru_utime = sys_timeval(runtime_ns)};

	return to ? copy_to_user(to, &ru, sizeof(ru)) : 0;
}

long __x64_sys_wait4(const struct regs *r)
{
	struct child_wait w = task_wait_which(r->rdi, r->rdx);
	int ret;

	if ((u32)r->rdx & ~(WAIT_OPTIONS | ABI_WUNTRACED | ABI_WCONTINUED))
		return -EINVAL;
	if ((s32)r->rdi == INT_MIN)
		return -ESRCH;
	ret = task_wait_child(&w);
	if (ret <= 0)
		return sys_restartable(ret);
	if (r->rsi && copy_to_user(r->rsi, &w.status, sizeof(w.status)))
		return -EFAULT;
	return sys_put_rusage(r->r10, w.runtime_ns) ? -EFAULT : ret;
}

/* waitid()'s siginfo of a wait status; all zeros if no child was found. */
static struct abi_siginfo sys_child_info(const struct child_wait *w, int pid)
{
	struct abi_siginfo i = {0};

	if (!pid)
		return i;
	i.si_signo = SIGCHLD;
	i.si_pid = pid;
	if (w->status == 0xffff) {
		i.si_code = CLD_CONTINUED;
		i.si_status = SIGCONT;
	} else if ((w->status & 0x7f) == 0x7f) {
		i.si_code = CLD_STOPPED;
		i.si_status = w->status >> 8;
	} else if (w->status & 0x7f) {
		i.si_code = CLD_KILLED;
		i.si_status = w->status & 0x7f;
	} else {
		i.si_code = CLD_EXITED;
		i.si_status = w->status >> 8;
	}
	return i;
}

static int sys_waitid_which(u32 which, s32 id, struct child_wait *w)
{
	switch (which) {
	case ABI_P_ALL:
		w->which = WAIT_ANY;
		return 0;
	case ABI_P_PID:
		w->which = WAIT_PID;
		return id > 0 ? 0 : -EINVAL;
	case ABI_P_PGID:
		w->which = WAIT_GROUP;
		return id >= 0 ? 0 : -EINVAL;
	case ABI_P_PIDFD:
		return id >= 0 ? -EBADF : -EINVAL; /* no descriptor is a process */
	default:
		return -EINVAL;
	}
}

long __x64_sys_waitid(const struct regs *r)
{
	const u32 events = ABI_WEXITED | ABI_WUNTRACED | ABI_WCONTINUED;
	struct child_wait w = {.id = r->rsi, .options = r->r10};
	struct abi_siginfo info;
	int ret;

	if ((w.options & ~(WAIT_OPTIONS | ABI_WNOWAIT | events)) || !(w.options & events))
		return -EINVAL;
	ret = sys_waitid_which(r->rdi, r->rsi, &w);
	if (!ret)
		ret = task_wait_child(&w);
	if (ret < 0)
		return sys_restartable(ret);
	info = sys_child_info(&w, ret);
	if (ret && sys_put_rusage(r->r8, w.runtime_ns))
		return -EFAULT;
	/* The rest of a siginfo is left as it is. */
	return r->rdx ? copy_to_user(r->rdx, &info, offsetof(struct abi_siginfo, si_value) + 4) : 0;
}

long __x64_sys_getpid(const struct regs *r)
{
	(void)r;
	return current()->tgid;
}

long __x64_sys_gettid(const struct regs *r)
{
	(void)r;
	return current()->pid;
}

long __x64_sys_getppid(const struct regs *r)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	long pid = current()->group->parent ? current()->group->parent->tgid : 0;

	(void)r;
	spin_unlock_irqrestore(&task_lock, flags);
	return pid;
}

/* There is one user, who may do everything. */
static long root(void)
{
	return 0;
}

long __x64_sys_getuid(const struct regs *r)
{
	(void)r;
	return root();
}

long __x64_sys_geteuid(const struct regs *r)
{
	(void)r;
	return root();
}

long __x64_sys_getgid(const struct regs *r)
{
	(void)r;
	return root();
}

/* Root is in no group beside its own. */
long __x64_sys_getgroups(const struct regs *r)
{
	return (s32)r->rdi < 0 ? -EINVAL : root();
}

long __x64_sys_getegid(const struct regs *r)
{
	(void)r;
	return root();
}

long __x64_sys_setpgid(const struct regs *r)
{
	int pid = r->rdi ? (int)r->rdi : current()->tgid, pgid = (int)r->rsi ? (int)r->rsi : pid;
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
	struct task *t = task_find(pid ? pid : current()->tgid);
	long ret;

	if (!t)
		return -ESRCH;
	ret = session ? t->group->sid : t->group->pgid;
	task_put(t);
	return ret;
}

long __x64_sys_getpgid(const struct regs *r)
{
	return ids_of(r->rdi, false);
}

long __x64_sys_getsid(const struct regs *r)
{
	return ids_of(r->rdi, true);
}

long __x64_sys_getpgrp(const struct regs *r)
{
	(void)r;
	return current()->group->pgid;
}

long __x64_sys_setsid(const struct regs *r)
{
	(void)r;
	return session_create();
}

long __x64_sys_sched_yield(const struct regs *r)
{
	(void)r;
	sched_yield_current();
	return 0;
}

long __x64_sys_sched_setaffinity(const struct regs *r)
{
	u64 mask = 0;
	struct task *t;
	long ret;

	if (copy_from_user(&mask, r->rdx, MIN((u32)r->rsi, sizeof(mask))))
		return -EFAULT;
	t = task_find((s32)r->rdi ? (s32)r->rdi : current()->pid);
	if (!t)
		return -ESRCH;
	ret = task_set_affinity(t, mask);
	task_put(t);
	return ret;
}

long __x64_sys_sched_getaffinity(const struct regs *r)
{
	u64 all = cpu_count() == 64 ? ~0UL : (1UL << cpu_count()) - 1, mask;
	struct task *t;

	if ((u32)r->rsi < sizeof(mask) || ((u32)r->rsi & 7))
		return -EINVAL;
	t = task_find((s32)r->rdi ? (s32)r->rdi : current()->pid);
	if (!t)
		return -ESRCH;
	mask = t->cpus_allowed & all;
	task_put(t);
	return copy_to_user(r->rdx, &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}
