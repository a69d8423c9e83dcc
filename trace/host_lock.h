/*
 * The control plane's lock: one mutex for definitions and files. Task context unless said; to take
 * it twice is a bug.
 */
#pragma once

void host_lock(void);
void host_unlock(void);
/* Panics if the caller does not hold the lock. Task context. Weak: no check. */
void host_assert_locked(void);
/*
 * Calls fn() under the lock once it can be had without waiting, where no lock is held that an
 * interrupt may not come upon: there and then, or later from an interrupt. False from fn(): not
 * now, try again. One fn at a time: another takes its place. Any context. Weak: it is not called.
 */
void host_lock_soon(bool (*fn)(void));
