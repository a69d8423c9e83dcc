/*
 * System calls on time: clocks, sleeping, time used. Task context. All clocks are the TSC's; wall
 * time is the CMOS clock's at boot plus it.
 */
#include "kernel/syscall/time.h"
#include "arch/arch.h"
#include "kernel/fs/proc.h"
#include "kernel/syscall/user.h"
#include "kernel/task/group.h"

#define SEC_MAX (1L << 33) /* longer sleeps end never */

static u64 sys_cpu_time_ns(void)
{
	return group_runtime_ns(current()->group);
}

/*
 * The CPU time of each process and thread has a clock. Its number is ~pid << 3, a bit for a thread,
 * and two bits for the kind of time. The kinds 0 to 2 are the same here; 3 is no clock.
 */
#define CPU_CLOCK_THREAD 4u
#define CPU_CLOCK_NONE	 3u

/* The task of such a clock, counted; NULL: there is none. */
struct task *sys_cpu_clock_task(s32 which, bool *thread)
{
	int pid = ~(which >> 3);
	struct task *t;

	*thread = which & CPU_CLOCK_THREAD;
	if (which >= 0 || (which & CPU_CLOCK_NONE) == CPU_CLOCK_NONE)
		return NULL;
	t = task_find(pid ? pid : *thread ? current()->pid : current()->tgid);
	if (t && (*thread ? t->group != current()->group : t->pid != t->tgid)) {
		task_put(t);
		return NULL;
	}
	return t;
}

static bool sys_read_cpu_clock(s32 which, u64 *ns)
{
	bool thread;
	struct task *t = sys_cpu_clock_task(which, &thread);

	if (!t)
		return false;
	*ns = thread ? task_runtime_ns(t) : group_runtime_ns(t->group);
	task_put(t);
	return true;
}

bool sys_read_clock(u32 which, u64 *ns)
{
	switch (which) {
	case ABI_CLOCK_REALTIME:
	case ABI_CLOCK_REALTIME_COARSE:
		*ns = clock_boot_unix_ns() + clock_ns();
		return true;
	case ABI_CLOCK_MONOTONIC:
	case ABI_CLOCK_MONOTONIC_RAW:
	case ABI_CLOCK_MONOTONIC_COARSE:
	case ABI_CLOCK_BOOTTIME:
		*ns = clock_ns();
		return true;
	case ABI_CLOCK_PROCESS_CPUTIME:
		*ns = sys_cpu_time_ns();
		return true;
	case ABI_CLOCK_THREAD_CPUTIME:
		*ns = task_runtime_ns(current());
		return true;
	default:
		return sys_read_cpu_clock(which, ns);
	}
}

int sys_timespec_ns(const struct abi_timespec *ts, u64 *ns)
{
	if (ts->tv_sec < 0 || ts->tv_nsec < 0 || ts->tv_nsec >= (s64)NS_PER_SEC)
		return -EINVAL;
	*ns = MIN(ts->tv_sec, SEC_MAX) * NS_PER_SEC + ts->tv_nsec;
	return 0;
}

int sys_get_timespec(u64 from, u64 *ns)
{
	struct abi_timespec ts;

	return copy_from_user(&ts, from, sizeof(ts)) ? -EFAULT : sys_timespec_ns(&ts, ns);
}

int sys_put_setting(u64 to, const struct timer_setting *s)
{
	struct abi_itimerspec its = {sys_timespec(s->interval), sys_timespec(s->value)};

	return copy_to_user(to, &its, sizeof(its));
}

long __x64_sys_clock_gettime(const struct regs *r)
{
	struct abi_timespec ts;
	u64 ns;

	if (!sys_read_clock(r->rdi, &ns))
		return -EINVAL;
	ts = sys_timespec(ns);
	return copy_to_user(r->rsi, &ts, sizeof(ts));
}

long __x64_sys_clock_getres(const struct regs *r)
{
	struct abi_timespec ts = {0, 1};
	u64 ns;

	if (!sys_read_clock(r->rdi, &ns))
		return -EINVAL;
	return r->rsi ? copy_to_user(r->rsi, &ts, sizeof(ts)) : 0;
}

long __x64_sys_gettimeofday(const struct regs *r)
{
	u64 ns = clock_boot_unix_ns() + clock_ns();
	struct abi_timeval tv = sys_timeval(ns);
	u64 zone = 0;

	if (r->rdi && copy_to_user(r->rdi, &tv, sizeof(tv)))
		return -EFAULT;
	return r->rsi ? copy_to_user(r->rsi, &zone, sizeof(zone)) : 0;
}

long __x64_sys_time(const struct regs *r)
{
	s64 now = (clock_boot_unix_ns() + clock_ns()) / NS_PER_SEC;

	return r->rdi && copy_to_user(r->rdi, &now, sizeof(now)) ? -EFAULT : now;
}

static long sleep_until(u64 expires)
{
	struct sleeper t = {.expires = expires};

	return do_nanosleep(&t, SLEEP_UNTIL) ? sys_interrupted(ERESTARTNOHAND) : 0;
}

/*
 * When a signal comes, the end of the sleep stays in restart_ns: if the signal had no handler, the
 * same call comes again and goes on with it.
 */
static long sleep_for(u64 ns, u64 remains)
{
	u64 deadline = current()->sig.restart_ns, now;
	struct sleeper t = {.expires = deadline ? deadline : ns};
	struct abi_timespec ts;

	current()->sig.restart_ns = 0;
	if (do_nanosleep(&t, deadline ? SLEEP_UNTIL : SLEEP_FOR) == 0)
		return 0;
	now = clock_ns();
	ts = sys_timespec(t.expires > now ? t.expires - now : 0);
	if (remains && copy_to_user(remains, &ts, sizeof(ts)))
		return -EFAULT;
	current()->sig.restart_ns = t.expires;
	return sys_interrupted(ERESTARTNOHAND);
}

/* With Linux's name and first arguments, for kprobes. `remains` is ring 3's; 0: it does not ask. */
static long __noinline hrtimer_nanosleep(u64 rqtp, u32 mode, u32 clockid, u64 remains)
{
	u64 base = clockid == ABI_CLOCK_REALTIME ? clock_boot_unix_ns() : 0;

	if (mode == SLEEP_FOR)
		return sleep_for(rqtp, remains);
	return rqtp > base ? sleep_until(rqtp - base) : 0;
}

long __x64_sys_nanosleep(const struct regs *r)
{
	u64 ns;
	int err = sys_get_timespec(r->rdi, &ns);

	return err ? err : hrtimer_nanosleep(ns, SLEEP_FOR, ABI_CLOCK_MONOTONIC, r->rsi);
}

long __x64_sys_clock_nanosleep(const struct regs *r)
{
	u32 which = r->rdi;
	u64 ns;
	int err;

	if (which != ABI_CLOCK_REALTIME && which != ABI_CLOCK_MONOTONIC &&
	    which != ABI_CLOCK_BOOTTIME)
		return sys_read_clock(which, &ns) ? -EOPNOTSUPP : -EINVAL;
	err = sys_get_timespec(r->rdx, &ns);
	if (err)
		return err;
	return hrtimer_nanosleep(
	    ns, (u32)r->rsi & ABI_TIMER_ABSTIME ? SLEEP_UNTIL : SLEEP_FOR, which, r->r10);
}

/* ---- time used: all of it counts as the program's own, not as the kernel's for it ---- */

#define CLOCK_TICKS 100UL

static u64 sys_children_time_ns(void)
{
	u64 flags = spin_lock_irqsave(&task_lock), ns = current()->group->children_ns;

	spin_unlock_irqrestore(&task_lock, flags);
	return ns;
}

long __x64_sys_times(const struct regs *r)
{
	const u64 tick = NS_PER_SEC / CLOCK_TICKS;
	u64 tms[4] = {sys_cpu_time_ns() / tick, 0, sys_children_time_ns() / tick, 0};

	if (r->rdi && copy_to_user(r->rdi, tms, sizeof(tms)))
		return -EFAULT;
	return clock_ns() / tick;
}

enum { RUSAGE_CHILDREN = -1, RUSAGE_SELF, RUSAGE_THREAD };

long __x64_sys_getrusage(const struct regs *r)
{
	const struct task *t = current();
	struct abi_rusage ru = {0};

	switch ((s32)r->rdi) {
	case RUSAGE_SELF:
		ru.ru_utime = sys_timeval(sys_cpu_time_ns());
		break;
	case RUSAGE_CHILDREN:
		ru.ru_utime = sys_timeval(sys_children_time_ns());
		break;
	case RUSAGE_THREAD:
		ru.ru_utime = sys_timeval(task_runtime_ns(t));
		break;
	default:
		return -EINVAL;
	}
	if ((s32)r->rdi != RUSAGE_CHILDREN) {
		ru.ru_maxrss = pid_memory(current()).resident * PAGE_SIZE / 1024;
		ru.ru_nvcsw = t->nvcsw;
		ru.ru_nivcsw = t->nivcsw;
	}
	return copy_to_user(r->rsi, &ru, sizeof(ru));
}
