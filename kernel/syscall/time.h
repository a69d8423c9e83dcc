/* Clocks and times of ring 3. Task context. */
#pragma once

#include "kernel/abi/linux.h"
#include "kernel/lib/types.h"

#define NS_PER_SEC 1000000000UL

/* A clock's nanoseconds; false: there is none of this number. */
bool sys_read_clock(u32 which, u64 *ns);
/* The task of a clock that a program made of a pid, counted; NULL: it is none. */
struct task;
struct task *sys_cpu_clock_task(s32 which, bool *thread);
/* Nanoseconds of a timespec of ring 3: 0, -EFAULT, -EINVAL. */
int sys_get_timespec(u64 from, u64 *ns);
/* The same of one that is here already. */
int sys_timespec_ns(const struct abi_timespec *ts, u64 *ns);

struct timer_setting;
/* A setting into ring 3 as a struct itimerspec: 0 or -EFAULT. */
int sys_put_setting(u64 to, const struct timer_setting *s);

static inline struct abi_timeval sys_timeval(u64 ns)
{
	return (struct abi_timeval){ns / NS_PER_SEC, ns % NS_PER_SEC / 1000};
}

static inline struct abi_timespec sys_timespec(u64 ns)
{
	return (struct abi_timespec){ns / NS_PER_SEC, ns % NS_PER_SEC};
}
