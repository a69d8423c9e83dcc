/*
 * Code run one instruction at a time, and other code run at one boundary of it, as an interrupt
 * there would: in the same task, on the same stack, all registers as they were after it. Interrupts
 * must be off; one CPU at a time.
 */
#pragma once

#include "kernel/lib/types.h"

/* Before the first call, and after the last. Task context. */
void stepper_begin(void);
void stepper_end(void);

/*
 * Until stepper_end(), stepper_run() skips each boundary that hooks cannot tell from the one before
 * it: the instruction between the two used only registers and the interrupted code's own stack.
 */
void stepper_skip_private(void);

/*
 * Runs fn(arg); at boundary `at` (0: before its first instruction) hook(hook_arg). From there on fn
 * runs at full speed. False: fn had ended before, and there was no such boundary. A hook may call
 * it again.
 */
bool stepper_run(void (*fn)(void *), void *arg, u64 at, void (*hook)(void *), void *hook_arg);
