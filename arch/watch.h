/*
 * Part of arch/arch.h: watchpoints. Debug registers of the CPU report each access to up to 8 bytes
 * of memory, or to an I/O port, after the instruction that made it. All CPUs watch the same places.
 * A place is an address: an access by another address of the same memory is not seen.
 */
#pragma once

#include "kernel/lib/types.h"

#define ARCH_WATCHES	   4
#define ARCH_WATCH_NOWHERE (~0UL)

/* Numbers as the hardware has them. */
enum arch_watch_kind { ARCH_WATCH_WRITE = 1, ARCH_WATCH_PORT = 2, ARCH_WATCH_ACCESS = 3 };

/* The reason why a place cannot be watched; NULL: it can be. Any context. */
const char *arch_watch_refused(enum arch_watch_kind kind, u64 addr, unsigned len);
/*
 * Takes a debug register, which watches nothing yet, and returns its number; -ENOSPC: none is free.
 * Task context, one at a time (the caller's lock).
 */
int arch_watch_take(enum arch_watch_kind kind, unsigned len);
/* When this returns, no CPU reports accesses by that register. Contexts as arch_watch_take(). */
void arch_watch_give(unsigned n);
/*
 * Makes register n watch `addr`, or nothing (ARCH_WATCH_NOWHERE). This CPU follows at once, the
 * others soon after. Any context.
 */
void arch_watch_move(unsigned n, u64 addr);
/* Waits until all CPUs have followed arch_watch_move(). Task context, interrupts on. */
void arch_watch_sync(void);
