/*
 * The operations of the futex system call, for the current task: waiting on words of ring-3 memory.
 * Task context. `shared`: other processes may have the word mapped; else only threads of this
 * address space use it. A deadline is a time of clock_ns(); FUTEX_NEVER: none.
 */
#pragma once

#include "kernel/lib/types.h"
#include "kernel/process/futex_queue.h"

#define FUTEX_NEVER ~0UL

struct task;

/*
 * Sleeps while the word at addr holds val, until woken, the deadline or a signal: 0, -EAGAIN,
 * -EFAULT, -EINVAL, -ETIMEDOUT, -EINTR.
 */
int futex_wait(u64 addr, bool shared, u32 val, u32 bitset, u64 deadline);
/* Wakes up to n waiters, at least one. Returns how many, or -errno, as the next two do. */
int futex_wake(u64 addr, bool shared, int n, u32 bitset);
int futex_move(u64 from, u64 to, bool shared, int wake, int move, const u32 *val);
int futex_wake_two(u64 one, u64 two, bool shared, int n1, int n2, const struct futex_op *op);
/*
 * Takes and releases a PI lock, whose word holds the owner's tid: 0 or negative errno; -EAGAIN:
 * `try`, and the lock is held.
 */
int futex_pi_lock(u64 addr, bool shared, u64 deadline, bool try);
int futex_pi_unlock(u64 addr, bool shared);
/*
 * Called when the current thread leaves its address space: marks the locks of its robust list, and
 * wakes the threads that wait for locks that it holds.
 */
void futex_exit(struct task *t);
