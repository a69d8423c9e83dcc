/*
 * Watchpoints: the host calls the tracer when a few bytes of memory, or a port of a device, were
 * accessed. Only trace/probe/ needs them. Weak: nothing can be watched.
 */
#pragma once

#include "kernel/lib/types.h"

enum host_watch_access {
	HOST_WATCH_READ = 1,
	HOST_WATCH_WRITE = 2,
	HOST_WATCH_PORT = 4,
};
#define HOST_WATCH_NOWHERE (~0UL)

struct host_watch;
/*
 * The host calls fn() in any context, never inside another fn(), and does not move it to another
 * CPU. `ip` is the instruction after the access; `value` is what the place holds now, or what went
 * through the port.
 */
struct host_watch_form {
	u8 access, len;
	void (*fn)(void *arg, const void *regs, u64 ip, u64 addr, u64 value);
	void (*missed)(void *arg); /* fn, or the host on its way to it, made an access */
	void *arg;
};
/*
 * The reason why a place cannot be watched; NULL: it can be. With HOST_WATCH_NOWHERE this checks
 * the form alone.
 */
const char *host_watch_refused(const struct host_watch_form *form, u64 addr);
/*
 * A new watchpoint watches nothing. -ENOSPC: the machine has no more; -EINVAL: see
 * host_watch_refused(); -ENOMEM. Opening and closing: task context under host_lock. When
 * host_watch_close() returns, no CPU runs fn() any more.
 */
int host_watch_open(const struct host_watch_form *form, struct host_watch **out);
void host_watch_close(struct host_watch *w);
/*
 * Makes w watch `addr`, which host_watch_refused() must allow, or nothing. Any context. Other CPUs
 * may follow a little later; host_watch_sync() waits for them, in task context.
 */
void host_watch_move(struct host_watch *w, u64 addr);
void host_watch_sync(void);
