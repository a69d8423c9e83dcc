/*
 * Waiting on words of ring-3 memory: what the futex system call does, for the current task. Task
 * context. `shared`: others may have the word mapped elsewhere; else it is a word of the address
 * space. A deadline is clock_ns(), FUTEX_NEVER: none.
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
/* Wakes at most n (but one at least); returns how many, or negative errno; so do the next two. */
int futex_wake(u64 addr, bool shared, int n, u32 bitset);
int futex_move(u64 from, u64 to, bool shared, int wake, int move, const u32 *val);
int futex_wake_two(u64 one, u64 two, bool shared, int n1, int n2, const struct futex_op *op);
/* A lock whose word holds its owner's tid: 0 or negative errno; -EAGAIN: held, and `try`. */
int futex_pi_lock(u64 addr, bool shared, u64 deadline, bool try);
int futex_pi_unlock(u64 addr, bool shared);
/*
 * The current thread leaves its address space: the words of its robust list say so, and who waits
 * for locks of its is woken.
 */
void futex_exit(struct task *t);
