/*
 * System calls that belong to no bigger subject: names, limits, thread registers, random bytes,
 * futexes, power. Task context.
 */
#include "arch/arch.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"
#include "kernel/mem/mem.h"
#include "kernel/base/random.h"
#include "kernel/syscall/user.h"
#include "kernel/process/process.h"
#include "kernel/task/group.h"
#include "kernel/trace/tracing.h"
#include "kernel/base/version.h"

long __x64_sys_newuname(const struct regs *r)
{
	static const struct abi_utsname name = {
	    .sysname = KERNEL_NAME,
	    .nodename = "trapline",
	    .release = ABI_RELEASE,
	    .version = KERNEL_NAME " " KERNEL_RELEASE,
	    .machine = "x86_64",
	    .domainname = "(none)",
	};

	return copy_to_user(r->rdi, &name, sizeof(name));
}

/* The limits are what they are: they can be read, and set to themselves. */
static struct abi_rlimit64 limit_of(u32 resource)
{
	u64 v = ABI_RLIM_INFINITY;

	if (resource == ABI_RLIMIT_STACK)
		v = USER_STACK_SIZE;
	else if (resource == ABI_RLIMIT_NOFILE)
		v = FILES_MAX;
	else if (resource == ABI_RLIMIT_NPROC)
		v = process_max();
	else if (resource == ABI_RLIMIT_CORE)
		v = 0;
	return (struct abi_rlimit64){v, v};
}

static long sys_prlimit(int pid, u32 resource, u64 set, u64 get)
{
	struct abi_rlimit64 old, new;

	if (resource >= ABI_RLIMITS)
		return -EINVAL;
	if (pid && pid != current()->tgid && pid != current()->pid)
		return -ESRCH;
	old = limit_of(resource);
	if (set && copy_from_user(&new, set, sizeof(new)))
		return -EFAULT;
	if (set && new.rlim_cur > new.rlim_max)
		return -EINVAL;
	if (set && (new.rlim_cur != old.rlim_cur || new.rlim_max != old.rlim_max))
		return -EPERM;
	return get ? copy_to_user(get, &old, sizeof(old)) : 0;
}

long __x64_sys_prlimit64(const struct regs *r)
{
	return sys_prlimit(r->rdi, r->rsi, r->rdx, r->r10);
}

long __x64_sys_getrlimit(const struct regs *r)
{
	return sys_prlimit(0, r->rdi, 0, r->rsi);
}

long __x64_sys_set_tid_address(const struct regs *r)
{
	current()->clear_tid = r->rdi;
	return current()->pid;
}

long __x64_sys_arch_prctl(const struct regs *r)
{
	struct arch_task *t = &current()->arch;

	switch ((u32)r->rdi) {
	case ABI_ARCH_SET_FS:
		return arch_set_fs_base(t, r->rsi);
	case ABI_ARCH_GET_FS:
		return copy_to_user(r->rsi, &t->fs_base, sizeof(t->fs_base));
	default:
		return -EINVAL;
	}
}

static long set_name(u64 from)
{
	char comm[TASK_COMM_LEN];
	long n = strncpy_from_user(comm, from, TASK_COMM_LEN - 1);

	if (n == -EFAULT)
		return n;
	comm[n < 0 ? TASK_COMM_LEN - 1 : n] = 0;
	task_set_comm(current(), comm);
	return 0;
}

static long sys_set_death_signal(u64 sig)
{
	if (sig > SIG_COUNT)
		return -EINVAL;
	WRITE_ONCE(current()->group->death_signal, sig);
	return 0;
}

/* 0 or 1; nothing is dumped here, but programs ask for what they have set. */
static long sys_set_dumpable(u64 on)
{
	if (on > 1)
		return -EINVAL;
	WRITE_ONCE(current()->group->undumpable, !on);
	return 0;
}

static long sys_set_subreaper(bool on)
{
	WRITE_ONCE(current()->group->subreaper, on);
	return 0;
}

static long sys_set_timer_slack(struct task *t, u64 ns)
{
	t->timer_slack_ns = ns ? ns : t->default_slack_ns;
	return 0;
}

#define CAPABILITY_LAST 40u

long __x64_sys_prctl(const struct regs *r)
{
	struct task *t = current();
	s32 sig = READ_ONCE(t->group->death_signal), subreaper = READ_ONCE(t->group->subreaper);
	bool more = r->rdx || r->r10 || r->r8;

	switch ((u32)r->rdi) {
	case ABI_PR_SET_NAME:
		return set_name(r->rsi);
	case ABI_PR_GET_NAME:
		return copy_to_user(r->rsi, t->comm, TASK_COMM_LEN);
	case ABI_PR_SET_PDEATHSIG:
		return sys_set_death_signal(r->rsi);
	case ABI_PR_GET_PDEATHSIG:
		return copy_to_user(r->rsi, &sig, sizeof(sig));
	case ABI_PR_SET_DUMPABLE:
		return sys_set_dumpable(r->rsi);
	case ABI_PR_GET_DUMPABLE:
		return !READ_ONCE(t->group->undumpable);
	case ABI_PR_SET_NO_NEW_PRIVS:
		if (r->rsi != 1 || more)
			return -EINVAL;
		t->flags |= TASK_NO_NEW_PRIVS;
		return 0;
	case ABI_PR_GET_NO_NEW_PRIVS:
		return r->rsi || more ? -EINVAL : !!(t->flags & TASK_NO_NEW_PRIVS);
	case ABI_PR_GET_KEEPCAPS:
	case ABI_PR_GET_SECCOMP:
		return 0;
	case ABI_PR_SET_TIMERSLACK:
		return sys_set_timer_slack(t, r->rsi);
	case ABI_PR_GET_TIMERSLACK:
		return t->timer_slack_ns;
	case ABI_PR_SET_CHILD_SUBREAPER:
		return sys_set_subreaper(r->rsi);
	case ABI_PR_GET_CHILD_SUBREAPER:
		return copy_to_user(r->rsi, &subreaper, sizeof(subreaper));
	case ABI_PR_CAPBSET_READ:
		return r->rsi > CAPABILITY_LAST ? -EINVAL : 1;
	default:
		return -EINVAL;
	}
}

long __x64_sys_getcpu(const struct regs *r)
{
	u32 cpu = cpu_id(), node = 0;

	if (r->rdi && copy_to_user(r->rdi, &cpu, sizeof(cpu)))
		return -EFAULT;
	return r->rsi ? copy_to_user(r->rsi, &node, sizeof(node)) : 0;
}

#define GRND_KNOWN 7u /* nonblock, random, insecure: all the same here */

long __x64_sys_getrandom(const struct regs *r)
{
	u64 to = r->rdi, left = MIN(r->rsi, (u64)INT_MAX), done = 0;
	u8 buf[256];

	if ((u32)r->rdx & ~GRND_KNOWN)
		return -EINVAL;
	while (left) {
		size_t n = MIN(left, sizeof(buf));

		random_bytes(buf, n);
		if (copy_to_user(to + done, buf, n))
			return done ? (long)done : -EFAULT;
		done += n;
		left -= n;
		if (left && signal_pending_current())
			break;
	}
	return done;
}

static bool reboot_magic(u32 magic1, u32 magic2)
{
	return magic1 == ABI_REBOOT_MAGIC1 &&
	       (magic2 == ABI_REBOOT_MAGIC2 || magic2 == ABI_REBOOT_MAGIC2A ||
		   magic2 == ABI_REBOOT_MAGIC2B || magic2 == ABI_REBOOT_MAGIC2C);
}

long __x64_sys_reboot(const struct regs *r)
{
	if (!reboot_magic(r->rdi, r->rsi))
		return -EINVAL;
	switch ((u32)r->rdx) {
	case ABI_REBOOT_RESTART:
		trace_glue_end();
		machine_reboot();
	case ABI_REBOOT_POWER_OFF:
		machine_walls_check("at the end");
		trace_glue_end();
		machine_poweroff();
	case ABI_REBOOT_HALT:
		trace_glue_end();
		machine_halt();
	case ABI_REBOOT_CAD_ON:
	case ABI_REBOOT_CAD_OFF:
		return 0;
	default:
		return -EINVAL;
	}
}
