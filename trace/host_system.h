/* The host's name and how it was started. Weak, all of them. */
#pragma once

#include "kernel/lib/types.h"

s32 host_tgid(s32 pid); /* thread group of a task; 0: unknown. Any context. Weak: 0 */
/* "read" of system call 0; NULL: there is none of that number. Any context. Weak: NULL */
const char *host_syscall_name(u64 nr);
/*
 * For headers of trace output: the release ("6.1.0", which the weak one says, too), how it preempts
 * ("preempt"; weak: "none").
 */
const char *host_release(void);
const char *host_preemption(void);
const char *host_uname(void); /* "sysname nodename release machine" */
/*
 * The n-th value of a boot parameter ("trace_event"), or its last one; NULL: there is none. Weak:
 * NULL
 */
#define HOST_PARAM_LAST ~0U
const char *host_param(const char *name, unsigned nth);
