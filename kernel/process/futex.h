/* Waiting on a word of ring-3 memory: FUTEX_WAIT and FUTEX_WAKE. Task context. */
#pragma once

#include "kernel/lib/types.h"

/*
 * Sleeps while the word at addr holds val, until woken, `deadline` (clock_ns(), ~0: never) or a
 * signal: 0, -EAGAIN, -EFAULT, -ETIMEDOUT, -EINTR.
 */
int futex_wait(u64 addr, u32 val, u64 deadline);
/* Wakes at most n; returns how many, or -EFAULT. */
int futex_wake(u64 addr, int n);
