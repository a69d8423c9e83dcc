/*
 * Bytes typed at the consoles, for a prompt of the kernel's own: the caller that claims them gets
 * them as they come, and the console terminal gets none.
 */
#pragma once

#include "kernel/lib/types.h"

/* Each claim but the first is for a prompt that takes over from another. Any context. */
void keys_claim(void);
void keys_release(void);
/* The next byte; -1: there is none. One reader at a time; any context. */
int keys_next(void);
/* The same, waiting for one; -EINTR. Task context. */
int keys_wait(void);
u32 keys_waiting(void); /* how many bytes keys_next() has */
/* Looks at the devices: for a CPU that takes no interrupts any more. */
void keys_look(void);
/* A byte came in; false: nobody has claimed it. Irq context. */
bool keys_take(u8 c);
