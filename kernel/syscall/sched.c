/* System calls on how tasks are scheduled. Everybody is root, and may do it all. Task context. */
#include "arch/arch.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"
#include "kernel/task/group.h"

/* ---- Nice values ---- */

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
			task_set_nice(t, *nice);
		ret = nice ? 0 : MAX(ret, (long)NICE_MOST + 1 - READ_ONCE(t->how.nice));
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

/* ---- Policies ---- */

#define RESET_ON_FORK 0x40000000u /* beside a policy */

/* With a reference; 0 is the current task. -EINVAL, -ESRCH. */
static long sys_sched_task(s32 pid, struct task **out)
{
	if (pid < 0)
		return -EINVAL;
	*out = task_find(pid ? pid : current()->pid);
	return *out ? 0 : -ESRCH;
}

static long sys_sched_policy_of(s32 pid, struct task_policy *out)
{
	struct task *t;
	long err = sys_sched_task(pid, &t);

	if (err)
		return err;
	*out = task_get_policy(t);
	task_put(t);
	return 0;
}

static bool sys_policy_is_realtime(u32 policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* SCHED_DEADLINE is Linux's alone. */
static bool sys_policy_is_valid(const struct task_policy *p)
{
	if (p->policy > SCHED_IDLE || p->policy == SCHED_BATCH + 1)
		return false;
	return p->rt_priority <= RT_PRIORITY_MOST &&
	       sys_policy_is_realtime(p->policy) == !!p->rt_priority;
}

long __x64_sys_sched_getscheduler(const struct regs *r)
{
	struct task_policy how;
	long err = sys_sched_policy_of(r->rdi, &how);

	return err ? err : how.policy | (how.reset_on_fork ? RESET_ON_FORK : 0);
}

long __x64_sys_sched_getparam(const struct regs *r)
{
	struct task_policy how;
	long err = r->rsi ? sys_sched_policy_of(r->rdi, &how) : -EINVAL;

	return err ? err : copy_to_user(r->rsi, &how.rt_priority, sizeof(how.rt_priority));
}

#define POLICY_KEPT -1

/* Sets what the call names, and keeps the nice value. */
static long sys_set_policy(s32 pid, s32 policy, u64 param)
{
	struct task *t;
	u32 priority;
	long err;

	if (!param || pid < 0)
		return -EINVAL;
	if (copy_from_user(&priority, param, sizeof(priority)))
		return -EFAULT;
	err = sys_sched_task(pid, &t);
	if (err)
		return err;
	struct task_policy how = task_get_policy(t);
	if (policy != POLICY_KEPT) {
		how.policy = policy & ~RESET_ON_FORK;
		how.reset_on_fork = policy & RESET_ON_FORK;
	}
	how.rt_priority = priority;
	if (sys_policy_is_valid(&how))
		task_set_policy(t, &how);
	else
		err = -EINVAL;
	task_put(t);
	return err;
}

long __x64_sys_sched_setscheduler(const struct regs *r)
{
	return (s32)r->rsi < 0 ? -EINVAL : sys_set_policy(r->rdi, r->rsi, r->rdx);
}

long __x64_sys_sched_setparam(const struct regs *r)
{
	return sys_set_policy(r->rdi, POLICY_KEPT, r->rsi);
}

/* ---- Policies with attributes ---- */

struct abi_sched_attr {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime, deadline, period; /* of SCHED_DEADLINE */
	u64 clamps;		       /* not in the first version */
};
#define ATTR_SIZE_FIRST offsetof(struct abi_sched_attr, clamps)

enum {
	ATTR_RESET_ON_FORK = 1,
	ATTR_KEEP_POLICY = 8,
	ATTR_KEEP_PARAMS = 16,
	ATTR_UTIL = 0x60,
	ATTR_FLAGS = 0x7f,
};

/* Writes the size that this kernel knows to a caller whose size is wrong: -E2BIG. */
static long sys_attr_size_refused(u64 at)
{
	u32 size = sizeof(struct abi_sched_attr);
	long err = copy_to_user(at, &size, sizeof(size));

	return err ? err : -E2BIG;
}

/* Bytes after the attributes known here must be 0. */
static long sys_attr_copy(struct abi_sched_attr *attr, u64 at)
{
	u32 size;
	u8 more;

	if (copy_from_user(&size, at, sizeof(size)))
		return -EFAULT;
	if (!size)
		size = ATTR_SIZE_FIRST;
	if (size < ATTR_SIZE_FIRST || size > PAGE_SIZE)
		return sys_attr_size_refused(at);
	for (u32 i = sizeof(*attr); i < size; i++) {
		if (copy_from_user(&more, at + i, sizeof(more)))
			return -EFAULT;
		if (more)
			return sys_attr_size_refused(at);
	}
	*attr = (struct abi_sched_attr){0};
	if (copy_from_user(attr, at, MIN((u64)size, sizeof(*attr))))
		return -EFAULT;
	return (attr->flags & ATTR_UTIL) && size < sizeof(*attr) ? -EINVAL : 0;
}

static long sys_attr_apply(struct task *t, const struct abi_sched_attr *attr)
{
	struct task_policy how = task_get_policy(t);

	if (!(attr->flags & ATTR_KEEP_POLICY)) {
		how.policy = attr->policy;
		how.reset_on_fork = attr->flags & ATTR_RESET_ON_FORK;
	}
	if (!(attr->flags & ATTR_KEEP_PARAMS)) {
		how.rt_priority = attr->priority;
		if (!sys_policy_is_realtime(how.policy))
			how.nice = MAX(MIN(attr->nice, NICE_MOST), NICE_LEAST);
	}
	if (attr->flags & ~(u64)ATTR_FLAGS || !sys_policy_is_valid(&how))
		return -EINVAL;
	if (attr->flags & ATTR_UTIL)
		return -EOPNOTSUPP;
	task_set_policy(t, &how);
	return 0;
}

long __x64_sys_sched_setattr(const struct regs *r)
{
	struct abi_sched_attr attr;
	struct task *t;
	long err;

	if (!r->rsi || (s32)r->rdi < 0 || (u32)r->rdx)
		return -EINVAL;
	err = sys_attr_copy(&attr, r->rsi);
	if (!err && (s32)attr.policy < 0)
		err = -EINVAL;
	if (!err)
		err = sys_sched_task(r->rdi, &t);
	if (err)
		return err;
	err = sys_attr_apply(t, &attr);
	task_put(t);
	return err;
}

long __x64_sys_sched_getattr(const struct regs *r)
{
	u32 size = r->rdx;
	struct task_policy how;
	long err;

	if (!r->rsi || size < ATTR_SIZE_FIRST || size > PAGE_SIZE || (u32)r->r10)
		return -EINVAL;
	err = sys_sched_policy_of(r->rdi, &how);
	if (err)
		return err;
	struct abi_sched_attr attr = {
	    .size = MIN(size, (u32)sizeof(attr)),
	    .policy = how.policy,
	    .flags = how.reset_on_fork ? ATTR_RESET_ON_FORK : 0,
	    .nice = sys_policy_is_realtime(how.policy) ? 0 : how.nice,
	    .priority = how.rt_priority,
	};
	return copy_to_user(r->rsi, &attr, attr.size);
}

/* ---- Limits ---- */

static long sys_priority_limit(u32 policy, long real_time)
{
	if (sys_policy_is_realtime(policy))
		return real_time;
	return policy <= SCHED_DEADLINE && policy != SCHED_BATCH + 1 ? 0 : -EINVAL;
}

long __x64_sys_sched_get_priority_max(const struct regs *r)
{
	return sys_priority_limit(r->rdi, RT_PRIORITY_MOST);
}

long __x64_sys_sched_get_priority_min(const struct regs *r)
{
	return sys_priority_limit(r->rdi, RT_PRIORITY_LEAST);
}

/* How long a turn lasts: until the task gives it up for SCHED_FIFO. */
long __x64_sys_sched_rr_get_interval(const struct regs *r)
{
	struct task_policy how;
	long err = sys_sched_policy_of(r->rdi, &how);

	if (err)
		return err;
	struct abi_timespec ts = sys_timespec(how.policy == SCHED_RR	 ? RR_SLICE_NS
					      : how.policy == SCHED_FIFO ? 0
									 : TICK_NS);
	return copy_to_user(r->rsi, &ts, sizeof(ts));
}
