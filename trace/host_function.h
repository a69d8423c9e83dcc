/*
 * The host's functions that can call the tracer when they are called. Any context. Weak: there is
 * none.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * Functions have numbers from 0, in the order of their addresses. host_function_count(): one more
 * than the greatest. host_function(): its name and, by addr, where it begins; NULL: it has no hook.
 */
unsigned host_function_count(void);
const char *host_function(unsigned i, u64 *addr);

/*
 * Who is called when functions are. fn: in any context, as after host_preempt_disable(), at the
 * function's beginning; `slot` is where its return address stands. host_hook_set(): a bit for each
 * function that the hook wants, in words of 64; NULL: none. When host_hook_remove() returns nobody
 * is in fn(). Task context.
 */
struct host_hook {
	void (*fn)(struct host_hook *hook, u64 ip, u64 parent_ip, u64 *slot);
	int number; /* the host's */
};
int host_hook_add(struct host_hook *hook); /* 0; -ENOMEM; -EBUSY: there are too many */
void host_hook_set(struct host_hook *hook, const u64 *functions);
void host_hook_remove(struct host_hook *hook);
/*
 * Calls on this CPU do not reach fn() until the hook is told otherwise, or removed. Any context, as
 * after host_preempt_disable(); the hook was added.
 */
void host_hook_skip(const struct host_hook *hook, bool skip);

/* Who is called when that function is. Task context. */
struct host_function_state {
	unsigned users;
	bool probed;  /* probes are among them */
	bool touched; /* it has been patched */
	u64 entry;    /* what it calls first; 0: nothing */
	u64 fn;	      /* the only user's; 0: there are none or several */
};
void host_function_state(unsigned i, struct host_function_state *out);
