/*
 * System calls on who a task is, which programs ask for and few change: everybody is root. Task
 * context.
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
