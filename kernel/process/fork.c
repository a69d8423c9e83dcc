/*
 * fork, vfork, clone: a copy of the current process, or another thread in it. Task context. Of what
 * a task has each part is shared (counted) or copied, as the flags say. Everything that can fail
 * comes before the child is linked to its parent or its threads; then it is announced and started.
 */
#include "kernel/abi/linux.h"
#include "kernel/base/events.h"
#include "kernel/base/sym.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/files.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/exec.h"
#include "kernel/process/process.h"
#include "kernel/task/explore.h"
#include "kernel/task/group.h"

#define CLONE_KNOWN                                                                                \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_PTRACE | CLONE_VFORK |          \
	    CLONE_PARENT | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |     \
	    CLONE_CHILD_CLEARTID | CLONE_UNTRACED | CLONE_CHILD_SETTID | CLONE_IO |                \
	    CLONE_CLEAR_SIGHAND)

static u32 processes; /* [A] */

void process_count_add(int n)
{
	atomic_add(&processes, n);
}

unsigned process_count(void)
{
	return atomic_load_relaxed(&processes);
}

/*
 * A process costs some 100 KiB even when it does nothing; the kernel and its shell must stay alive
 * beside all of them.
 */
unsigned process_max(void)
{
	return MIN(page_total() / 64, (u64)PID_MAX / 2);
}

void *fpu_alloc(void)
{
	size_t size = 64;

	while (size < arch_fpu_size())
		size *= 2; /* kmalloc aligns powers of two */
	return kzalloc(
	    size); /* XSAVE leaves parts of its header as they were, and they must be zero */
}

void mm_release(struct mm *mm)
{
	wake_up(&mm->vfork_wq);
	mm_put(mm);
}

/* clone(2): the combinations of flags that are refused. */
static int check_flags(const struct kernel_clone_args *args)
{
	u64 flags = args->flags;

	if ((flags & ~CLONE_KNOWN) || (u32)args->exit_signal > SIG_COUNT)
		return -EINVAL;
	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	if ((flags & CLONE_SIGHAND) && (!(flags & CLONE_VM) || (flags & CLONE_CLEAR_SIGHAND)))
		return -EINVAL;
	if ((flags & CLONE_PARENT) && current() == init_task)
		return -EINVAL;
	if ((flags & CLONE_SETTLS) && args->tls >= USER_END)
		return -EPERM;
	return 0;
}

static int copy_mm(struct task *child, u64 flags)
{
	struct mm *mm = current()->mm;

	if (flags & CLONE_VM)
		atomic_add(&mm->refs, 1);
	else
		mm = mm_fork(mm);
	if (!mm)
		return -ENOMEM;
	child->mm = mm;
	child->arch.as = mm->as;
	return 0;
}

static int copy_files(struct task *child, u64 flags)
{
	struct task *t = current();

	if (flags & CLONE_FILES) {
		atomic_add(&t->files->refs, 1);
		child->files = t->files;
	} else {
		child->files = files_copy(t->files);
	}
	if (flags & CLONE_FS) {
		atomic_add(&t->fs->refs, 1);
		child->fs = t->fs;
	} else {
		child->fs = fs_copy(t->fs);
	}
	return child->files && child->fs ? 0 : -ENOMEM;
}

static int copy_fpu(struct task *child)
{
	child->arch.fpu = fpu_alloc();
	if (!child->arch.fpu)
		return -ENOMEM;
	arch_fpu_save(child->arch.fpu);
	return 0;
}

/* The actions of a new process; threads have those of their group. */
static int copy_sighand(struct task *child, u64 flags)
{
	struct sighand *h = current()->group->sighand;

	if (flags & CLONE_THREAD)
		return 0;
	if (flags & CLONE_SIGHAND)
		atomic_add(&h->refs, 1);
	else
		h = sighand_copy(h);
	if (!h)
		return -ENOMEM;
	if (flags & CLONE_CLEAR_SIGHAND)
		sighand_reset(h);
	group_set_sighand(child->group, h);
	return 0;
}

static void copy_signals(struct task *child, u64 flags)
{
	const struct signals *from = &current()->sig;
	struct signals *to = &child->sig;

	to->blocked = from->blocked;
	if ((flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) {
		to->altstack_flags = ABI_SS_DISABLE; /* two cannot run on one stack */
		return;
	}
	to->altstack_sp = from->altstack_sp;
	to->altstack_size = from->altstack_size;
	to->altstack_flags = from->altstack_flags;
}

static void copy_regs(struct task *child, u64 stack, u64 flags, u64 tls)
{
	struct task *t = current();
	struct regs *r = task_regs(&child->arch);

	*r = *task_regs(&t->arch);
	r->rax = 0;
	if (stack)
		r->rsp = stack;
	child->arch.fs_base = flags & CLONE_SETTLS ? tls : t->arch.fs_base;
	child->arch.gs_base = t->arch.gs_base;
}

/* Takes apart what was copied of a child that never ran. */
static void fork_discard(struct task *child)
{
	files_put(child->files);
	fs_put(child->fs);
	child->files = NULL;
	child->fs = NULL;
	child->arch.as = NULL;
	if (child->mm)
		mm_put(child->mm);
	child->mm = NULL;
	task_put(child);
	task_put(child);
}

/* First run: thread_arg is where ring 3 wants its own pid. */
static void fork_child_main(void *set_tid)
{
	int pid = current()->pid;

	if (set_tid)
		(void)copy_to_user(
		    (u64)set_tid, &pid, sizeof(pid)); /* as Linux: a bad address is no error */
	arch_enter_user();
}

static int link_child(struct task *child, const struct kernel_clone_args *args)
{
	struct thread_group *g = current()->group;
	u64 flags;
	int err = 0;

	if (args->flags & CLONE_THREAD) {
		err = group_join(g, child);
	} else {
		flags = spin_lock_irqsave(&task_lock);
		child->group->exit_signal =
		    args->flags & CLONE_PARENT ? g->exit_signal : args->exit_signal;
		group_adopt(g, child->group, args->flags & CLONE_PARENT ? g->parent : g);
		spin_unlock_irqrestore(&task_lock, flags);
	}
	if (!err)
		process_count_add(1);
	return err;
}

static int copy_process(struct task *child, const struct kernel_clone_args *args)
{
	int err = copy_fpu(child);

	if (!err)
		err = copy_files(child, args->flags);
	if (!err)
		err = copy_mm(child, args->flags);
	if (!err)
		err = copy_sighand(child, args->flags);
	if (err)
		return err;
	child->cpus_allowed = current()->cpus_allowed;
	task_inherit_policy(child);
	child->timer_slack_ns = child->default_slack_ns = current()->timer_slack_ns;
	child->flags |= current()->flags & TASK_NO_NEW_PRIVS;
	if (!(args->flags & CLONE_THREAD))
		child->group->undumpable = current()->group->undumpable;
	copy_signals(child, args->flags);
	copy_regs(child, args->stack, args->flags, args->tls);
	return 0;
}

int kernel_clone(struct kernel_clone_args *args)
{
	struct task *t = current(), *child;
	struct mm *mm = t->mm;
	u64 flags = args->flags;
	struct thread_group *group = flags & CLONE_THREAD ? t->group : NULL;
	int pid, err = check_flags(args);

	if (err)
		return err;
	child =
	    process_count() < process_max() && !mem_is_low() ? task_alloc(t->comm, group) : NULL;
	if (!child)
		return -EAGAIN;
	err = copy_process(child, args);
	if (err) {
		fork_discard(child);
		return err;
	}
	child->thread_fn = fork_child_main;
	child->thread_arg = flags & CLONE_CHILD_SETTID ? (void *)args->child_tid : NULL;
	child->clear_tid = flags & CLONE_CHILD_CLEARTID ? args->child_tid : 0;
	pid = child->pid;
	err = link_child(child, args);
	if (err) {
		fork_discard(child);
		return err;
	}
	if (flags & CLONE_PARENT_SETTID)
		(void)copy_to_user(args->parent_tid, &pid, sizeof(pid));
	trace_task_newtask(child, flags);
	trace_sched_process_fork(t, child);
	task_get(child);
	explore_fork(child);
	task_start(child);
	if (flags & CLONE_VFORK)
		wait_event(&mm->vfork_wq, READ_ONCE(child->mm) != mm);
	task_put(child);
	return pid;
}

SYM_ALIAS(_do_fork, kernel_clone); /* to 5.9 */
SYM_ALIAS(do_fork, kernel_clone);  /* to 4.1 */
