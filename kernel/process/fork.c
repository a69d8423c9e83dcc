/*
 * fork, vfork and the clone() of a C library's fork: a copy of the current process. Task context.
 * Everything that can fail comes before the child is linked to its parent; then it is announced and
 * started.
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
#include "kernel/task/group.h"

#define CLONE_KNOWN                                                                                \
	(CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_SETTLS |      \
	    CLONE_CHILD_SETTID)

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

static int check_flags(const struct kernel_clone_args *args)
{
	u64 flags = args->flags;

	if ((flags & ~(u64)CLONE_KNOWN) || (args->exit_signal && args->exit_signal != SIGCHLD))
		return -EINVAL;
	/* two tasks running in one address space: there are no threads here */
	if ((flags & CLONE_VM) && !(flags & CLONE_VFORK))
		return -EINVAL;
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

static int copy_files(struct task *child)
{
	struct task *t = current();

	child->files = files_copy(t->files);
	child->fs = fs_copy(t->fs);
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

static int copy_sighand(struct task *child)
{
	struct sighand *h = sighand_copy(current()->group->sighand);

	if (h)
		group_set_sighand(child->group, h);
	return h ? 0 : -ENOMEM;
}

static void copy_signals(struct task *child)
{
	const struct signals *from = &current()->sig;
	struct signals *to = &child->sig;

	to->blocked = from->blocked;
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
static void discard(struct task *child)
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
		(void)copy_to_user((u64)set_tid, &pid,
		    sizeof(pid)); /* as Linux: nobody is told of a bad address */
	irq_disable();
	arch_enter_user();
}

static void link_child(struct task *child)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	group_adopt(current()->group, child->group);
	spin_unlock_irqrestore(&task_lock, flags);
	process_count_add(1);
}

static int copy_process(struct task *child, const struct kernel_clone_args *args)
{
	int err = copy_fpu(child);

	if (!err)
		err = copy_files(child);
	if (!err)
		err = copy_mm(child, args->flags);
	if (!err)
		err = copy_sighand(child);
	if (err)
		return err;
	child->flags &= ~TASK_KTHREAD;
	child->cpus_allowed = current()->cpus_allowed;
	copy_signals(child);
	copy_regs(child, args->stack, args->flags, args->tls);
	return 0;
}

long kernel_clone(struct kernel_clone_args *args)
{
	struct task *t = current(), *child;
	struct mm *mm = t->mm;
	u64 flags = args->flags;
	int pid, err = check_flags(args);

	if (!err && (flags & CLONE_SETTLS) && args->tls >= USER_END)
		err = -EPERM;
	if (err)
		return err;
	child = process_count() < process_max() && !memory_low() ? task_alloc(t->comm) : NULL;
	if (!child)
		return -EAGAIN;
	err = copy_process(child, args);
	if (err) {
		discard(child);
		return err;
	}
	child->thread_fn = fork_child_main;
	child->thread_arg = flags & CLONE_CHILD_SETTID ? (void *)args->child_tid : NULL;
	child->clear_tid = flags & CLONE_CHILD_CLEARTID ? args->child_tid : 0;
	pid = child->pid;
	if (flags & CLONE_PARENT_SETTID)
		(void)copy_to_user(args->parent_tid, &pid, sizeof(pid));
	link_child(child);
	trace_task_newtask(child, flags);
	trace_sched_process_fork(t, child);
	task_get(child);
	task_start(child);
	if (flags & CLONE_VFORK)
		wait_event(&mm->vfork_wq, READ_ONCE(child->mm) != mm);
	task_put(child);
	return pid;
}

SYM_ALIAS(_do_fork, kernel_clone); /* to 5.9 */
SYM_ALIAS(do_fork, kernel_clone);  /* to 4.1 */
