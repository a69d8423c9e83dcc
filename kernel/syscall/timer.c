/* System calls on timers that end with a signal: alarm, setitimer, timer_create. Task context. */
#include "arch/arch.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"
#include "kernel/task/alarm.h"

/* ---- alarm, setitimer ---- */

long __x64_sys_alarm(const struct regs *r)
{
	struct timer_setting set = {.value = (u32)r->rdi * NS_PER_SEC}, old;
	int err = alarm_set(ALARM_REAL, &set, false, &old);

	if (err)
		return err;
	/* Rounded to the nearest second, but a timer that runs has one left at least. */
	return MAX((old.value + NS_PER_SEC / 2) / NS_PER_SEC, (u64) !!old.value);
}

static int sys_timeval_ns(const struct abi_timeval *tv, u64 *ns)
{
	struct abi_timespec ts = {tv->tv_sec, tv->tv_usec * 1000};

	return (u64)tv->tv_usec >= 1000000 ? -EINVAL : sys_timespec_ns(&ts, ns);
}

/* Rounds up: a timer that runs is not shown as 0, which is off. */
static struct abi_timeval sys_timeval_left(u64 ns)
{
	ns += ns ? 999 : 0;
	return (struct abi_timeval){ns / NS_PER_SEC, ns % NS_PER_SEC / 1000};
}

static long sys_put_itimerval(u64 to, const struct timer_setting *s)
{
	struct abi_itimerval v = {sys_timeval_left(s->interval), sys_timeval_left(s->value)};

	return copy_to_user(to, &v, sizeof(v));
}

enum { ITIMERS = 3 };

static int sys_itimer(u32 which)
{
	return ALARM_REAL - (int)which;
}

/* A NULL for the new setting turns the timer off, as on Linux. */
long __x64_sys_setitimer(const struct regs *r)
{
	struct abi_itimerval v = {0};
	struct timer_setting set, old;
	int err;

	if (r->rsi && copy_from_user(&v, r->rsi, sizeof(v)))
		return -EFAULT;
	if (sys_timeval_ns(&v.it_value, &set.value) ||
	    sys_timeval_ns(&v.it_interval, &set.interval) || (u32)r->rdi >= ITIMERS)
		return -EINVAL;
	err = alarm_set(sys_itimer(r->rdi), &set, false, &old);
	return err || !r->rdx ? err : sys_put_itimerval(r->rdx, &old);
}

long __x64_sys_getitimer(const struct regs *r)
{
	struct timer_setting now;

	if ((u32)r->rdi >= ITIMERS)
		return -EINVAL;
	alarm_get(sys_itimer(r->rdi), &now);
	return sys_put_itimerval(r->rsi, &now);
}

/* ---- timer_create and its kin ---- */

/* A clock made of a pid must be of the caller's own process or thread. */
static int sys_timer_cpu_clock(s32 which, enum alarm_clock *clock)
{
	bool thread;
	struct task *t = sys_cpu_clock_task(which, &thread);
	bool own = t && (thread ? t == current() : t->group == current()->group);

	if (t)
		task_put(t);
	*clock = thread ? ALARM_THREAD_TIME : ALARM_PROCESS_TIME;
	return own ? 0 : -EINVAL;
}

static int sys_timer_clock(u32 which, enum alarm_clock *clock)
{
	switch (which) {
	case ABI_CLOCK_REALTIME:
		*clock = ALARM_REALTIME;
		return 0;
	case ABI_CLOCK_MONOTONIC:
	case ABI_CLOCK_BOOTTIME:
		*clock = ALARM_MONOTONIC;
		return 0;
	case ABI_CLOCK_PROCESS_CPUTIME:
		*clock = ALARM_PROCESS_TIME;
		return 0;
	case ABI_CLOCK_THREAD_CPUTIME:
		*clock = ALARM_THREAD_TIME;
		return 0;
	default:
		return sys_timer_cpu_clock(which, clock);
	}
}

/* Reads a struct sigevent; notice->task is counted. 0, -EFAULT, -EINVAL. */
static long sys_get_notice(u64 from, struct alarm_notice *notice)
{
	struct abi_sigevent e;
	struct task *t;

	if (copy_from_user(&e, from, sizeof(e)))
		return -EFAULT;
	*notice = (struct alarm_notice){.value = e.value};
	if (e.notify == ABI_SIGEV_NONE)
		return 0;
	if (e.signo < 1 || e.signo > SIG_COUNT ||
	    (e.notify != ABI_SIGEV_SIGNAL && e.notify != ABI_SIGEV_THREAD &&
		e.notify != ABI_SIGEV_THREAD_ID))
		return -EINVAL;
	notice->sig = e.signo;
	if (e.notify != ABI_SIGEV_THREAD_ID)
		return 0;
	t = e.tid > 0 ? task_find(e.tid) : NULL;
	if (t && t->group != current()->group) {
		task_put(t);
		t = NULL;
	}
	notice->task = t;
	return t ? 0 : -EINVAL;
}

long __x64_sys_timer_create(const struct regs *r)
{
	struct alarm_notice notice = {.sig = SIGALRM, .numbered = true};
	enum alarm_clock clock;
	long err = sys_timer_clock(r->rdi, &clock);
	s32 id;

	if (!err && r->rsi)
		err = sys_get_notice(r->rsi, &notice);
	if (err)
		return err;
	id = alarm_create(clock, &notice);
	if (notice.task)
		task_put(notice.task);
	if (id < 0)
		return id;
	if (!copy_to_user(r->rdx, &id, sizeof(id)))
		return 0;
	alarm_delete(id);
	return -EFAULT;
}

long __x64_sys_timer_settime(const struct regs *r)
{
	struct abi_itimerspec its;
	struct timer_setting set, old;
	long err;

	if (!r->rdx)
		return -EINVAL;
	if (copy_from_user(&its, r->rdx, sizeof(its)))
		return -EFAULT;
	if ((s32)r->rdi < 0 || sys_timespec_ns(&its.it_value, &set.value) ||
	    sys_timespec_ns(&its.it_interval, &set.interval))
		return -EINVAL;
	err = alarm_set(r->rdi, &set, r->rsi & ABI_TIMER_ABSTIME, &old);
	return err || !r->r10 ? err : sys_put_setting(r->r10, &old);
}

long __x64_sys_timer_gettime(const struct regs *r)
{
	struct timer_setting now;
	long err = (s32)r->rdi < 0 ? -EINVAL : alarm_get(r->rdi, &now);

	return err ? err : sys_put_setting(r->rsi, &now);
}

long __x64_sys_timer_getoverrun(const struct regs *r)
{
	return alarm_overrun(r->rdi);
}

long __x64_sys_timer_delete(const struct regs *r)
{
	return alarm_delete(r->rdi);
}
