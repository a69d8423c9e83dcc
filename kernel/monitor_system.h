/* The monitor (kernel/monitor/) started: as a task, or after a panic. */
#pragma once

#include "kernel/lib/types.h"

/*
 * Boot, pid 1: a task waits for the sysrq key; memory for after a panic, if panic=monitor asks for
 * it.
 */
void monitor_init(void);
/* On the consoles, in the current task, until `exit`. `why`: said first; NULL: it was asked for. */
void monitor_session(const char *why);
/* Is this what panic= says? */
bool monitor_wanted_after_panic(void);
/*
 * On the only CPU left, interrupts off; does not come back: then the machine halts, after `last`
 * was called.
 */
void __noreturn monitor_after_panic(void (*last)(void));
