/*
 * Calls of functions for code of the kernel, with Linux's names: a function of its own is called
 * when one of those that it wants is entered. It is less than a probe: there are no registers, and
 * the call costs less.
 */
#pragma once

#include "arch/arch.h"

struct ftrace_ops;

/*
 * `ip`: where the function begins, `parent_ip`: where it was called from; regs: NULL. Any context,
 * NMI included, with preemption off. What it calls must not be hooked (see __notrace), or it must
 * see that it calls itself.
 */
typedef void (*ftrace_func_t)(u64 ip, u64 parent_ip, struct ftrace_ops *ops, struct regs *regs);

/* Zeroed but for func and what the caller keeps in `private`. */
struct ftrace_ops {
	ftrace_func_t func;
	void *private;
	/* Of kernel/kprobe/ftrace.c. */
	struct hook_user user;
	u64 *wanted, *unwanted; /* sets of functions; wanted NULL: all */
	bool registered;
};

/*
 * Adds functions to those that are wanted, or not wanted: a name or a glob, `len` bytes of it. Of
 * those not wanted none is called. `reset`: the list is emptied before; buf NULL: it stays empty,
 * and with no list of wanted ones all are. 0; -EINVAL: there is no such function; -ENOMEM. They
 * take effect at once if it is registered. Task context, all of these.
 */
int ftrace_set_filter(struct ftrace_ops *ops, const char *buf, int len, int reset);
int ftrace_set_notrace(struct ftrace_ops *ops, const char *buf, int len, int reset);
/* 0; -EBUSY: it is registered, or there are too many; -ENOMEM. */
int register_ftrace_function(struct ftrace_ops *ops);
/* On return nobody is in func. 0; -EINVAL: it was not registered. The lists are kept ... */
int unregister_ftrace_function(struct ftrace_ops *ops);
/* ... until this. It is not registered. */
void ftrace_free_filter(struct ftrace_ops *ops);
