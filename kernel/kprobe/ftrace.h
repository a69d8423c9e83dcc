/*
 * Callbacks at the entry of functions, for code of the kernel, with Linux's names: the kernel calls
 * `func` when it enters a function of the filter. A callback costs less than a probe, and gets no
 * registers.
 */
#pragma once

#include "arch/arch.h"

struct ftrace_ops;

/*
 * `ip`: where the function begins; `parent_ip`: where it returns to; regs: NULL. Any context, NMI
 * included, with preemption off. The callback may call only functions without a hook (see
 * __notrace), or must detect its own recursion.
 */
typedef void (*ftrace_func_t)(u64 ip, u64 parent_ip, struct ftrace_ops *ops, struct regs *regs);

/* The caller sets func, may set `private`, and zeroes the rest. */
struct ftrace_ops {
	ftrace_func_t func;
	void *private;
	/* Private to kernel/kprobe/ftrace.c. */
	struct hook_user user;
	u64 *wanted, *unwanted; /* sets of functions; wanted NULL: all */
	bool registered;
};

/*
 * Adds functions to the list of wanted or of unwanted ones: a name or a glob of `len` bytes. The
 * kernel does not call func for an unwanted function. `reset` empties the list first; with buf NULL
 * it stays empty. An empty list of wanted ones stands for all functions. 0; -EINVAL: no such
 * function; -ENOMEM. A registered ops follows at once. Task context, as for all calls here.
 */
int ftrace_set_filter(struct ftrace_ops *ops, const char *buf, int len, int reset);
int ftrace_set_notrace(struct ftrace_ops *ops, const char *buf, int len, int reset);
/* 0; -EBUSY: it is registered, or there are too many; -ENOMEM. */
int register_ftrace_function(struct ftrace_ops *ops);
/* When this returns, no CPU runs func. 0; -EINVAL: it was not registered. Keeps the lists ... */
int unregister_ftrace_function(struct ftrace_ops *ops);
/* ... until this frees them. Only for an ops that is not registered. */
void ftrace_free_filter(struct ftrace_ops *ops);
