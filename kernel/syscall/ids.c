/*
 * System calls on who a task is and how it is scheduled, which programs ask for and few change:
 * everybody is root, and all tasks share by their nice values. Task context.
 */
#include "arch/arch.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"
#include "kernel/task/group.h"

/* -1 leaves what there is; anything but root is nobody here. */
static long sys_set_id(u32 a, u32 b, u32 c)
{
	return (a && ~a) || (b && ~b) || (c && ~c) ? -EPERM : 0;
}

long __x64_sys_setuid(const struct regs *r)
{
	return (u32)r->rdi == ~0u ? -EINVAL : sys_set_id(r->rdi, 0, 0);
}

long __x64_sys_setgid(const struct regs *r)
{
	return (u32)r->rdi == ~0u ? -EINVAL : sys_set_id(r->rdi, 0, 0);
}

long __x64_sys_setreuid(const struct regs *r)
{
	return sys_set_id(r->rdi, r->rsi, 0);
}

long __x64_sys_setregid(const struct regs *r)
{
	return sys_set_id(r->rdi, r->rsi, 0);
}

long __x64_sys_setresuid(const struct regs *r)
{
	return sys_set_id(r->rdi, r->rsi, r->rdx);
}

long __x64_sys_setresgid(const struct regs *r)
{
	return sys_set_id(r->rdi, r->rsi, r->rdx);
}

static long sys_put_ids(const struct regs *r)
{
	u32 root = 0;

	if (copy_to_user(r->rdi, &root, sizeof(root)) ||
	    copy_to_user(r->rsi, &root, sizeof(root)) || copy_to_user(r->rdx, &root, sizeof(root)))
		return -EFAULT;
	return 0;
}

long __x64_sys_getresuid(const struct regs *r)
{
	return sys_put_ids(r);
}

long __x64_sys_getresgid(const struct regs *r)
{
	return sys_put_ids(r);
}

#define GROUPS_MAX 65536u

/* Root needs no groups: none are kept. */
long __x64_sys_setgroups(const struct regs *r)
{
	u32 last;

	if ((u32)r->rdi > GROUPS_MAX)
		return -EINVAL;
	if ((u32)r->rdi && copy_from_user(&last, r->rsi + 4 * ((u32)r->rdi - 1UL), sizeof(last)))
		return -EFAULT;
	return (u32)r->rdi ? -EPERM : 0;
}

/* Is there such a task (0: the current one)? */
static long sys_task_exists(s32 pid)
{
	struct task *t = pid < 0 ? NULL : task_find(pid ? pid : current()->pid);

	if (!t)
		return pid < 0 ? -EINVAL : -ESRCH;
	task_put(t);
	return 0;
}

enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };

static bool sys_priority_means(const struct task *t, u32 which, s32 who)
{
	const struct thread_group *own = current()->group;

	if (which == PRIO_PROCESS)
		return who ? t->pid == who : t == current();
	if (which == PRIO_PGRP)
		return t->group->pgid == (who ? who : own->pgid) && t->group->pgid;
	return !who && !(t->flags & TASK_KTHREAD); /* all users' are root's */
}

#define NICE_LEAST -20
#define NICE_MOST  19

/* Sets the nice value of all tasks meant; with NULL returns their highest priority. */
static long sys_priority(u32 which, s32 who, const s32 *nice)
{
	struct task *t;
	long ret = -ESRCH;
	u64 flags;

	if (which > PRIO_USER)
		return -EINVAL;
	flags = spin_lock_irqsave(&task_lock);
	list_for_each_entry (t, &task_list, all_node) {
		if (t->reaped || !sys_priority_means(t, which, who))
			continue;
		if (nice)
			WRITE_ONCE(t->prio, DEFAULT_PRIO + *nice);
		ret = nice ? 0 : MAX(ret, (long)DEFAULT_PRIO + NICE_MOST + 1 - t->prio);
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

/* The call gives 20 for a nice value of 0, and more for a higher priority. */
long __x64_sys_getpriority(const struct regs *r)
{
	return sys_priority(r->rdi, r->rsi, NULL);
}

long __x64_sys_setpriority(const struct regs *r)
{
	s32 nice = MAX(MIN((s32)r->rdx, NICE_MOST), NICE_LEAST);

	return sys_priority(r->rdi, r->rsi, &nice);
}

enum { SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE = 5, SCHED_DEADLINE };

long __x64_sys_sched_getscheduler(const struct regs *r)
{
	long err = sys_task_exists(r->rdi);

	return err ? err : SCHED_OTHER;
}

long __x64_sys_sched_getparam(const struct regs *r)
{
	s32 priority = 0;
	long err = r->rsi ? sys_task_exists(r->rdi) : -EINVAL;

	return err ? err : copy_to_user(r->rsi, &priority, sizeof(priority));
}

/* There are no real-time policies: who asks for one is not allowed to. */
static long sys_set_policy(s32 pid, u32 policy, u64 param)
{
	s32 priority;
	long err;

	if (!param)
		return -EINVAL;
	if (copy_from_user(&priority, param, sizeof(priority)))
		return -EFAULT;
	err = sys_task_exists(pid);
	if (err)
		return err;
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		return priority < 1 || priority > 99 ? -EINVAL : -EPERM;
	if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE)
		return -EINVAL;
	return priority ? -EINVAL : 0;
}

long __x64_sys_sched_setscheduler(const struct regs *r)
{
	return (s32)r->rsi < 0 ? -EINVAL : sys_set_policy(r->rdi, r->rsi, r->rdx);
}

long __x64_sys_sched_setparam(const struct regs *r)
{
	return sys_set_policy(r->rdi, SCHED_OTHER, r->rsi);
}

static long sys_priority_limit(u32 policy, long real_time)
{
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		return real_time;
	return policy <= SCHED_DEADLINE && policy != 4 ? 0 : -EINVAL;
}

long __x64_sys_sched_get_priority_max(const struct regs *r)
{
	return sys_priority_limit(r->rdi, 99);
}

long __x64_sys_sched_get_priority_min(const struct regs *r)
{
	return sys_priority_limit(r->rdi, 1);
}

long __x64_sys_sched_rr_get_interval(const struct regs *r)
{
	struct abi_timespec ts = sys_timespec(TICK_NS);
	long err = sys_task_exists(r->rdi);

	return err ? err : copy_to_user(r->rsi, &ts, sizeof(ts));
}
