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
 * it: the instruction between the two used only registers and the interrupted code's own stack. Of
 * the boundaries of a loop that waits, which all are at one address, it leaves 16.
 */
void stepper_skip_private(void);

/*
 * Runs fn(arg); at boundary `at` (0: before its first instruction) hook(hook_arg). From there on fn
 * runs at full speed. False: fn had ended before, and there was no such boundary. A hook may call
 * it again.
 */
bool stepper_run(void (*fn)(void *), void *arg, u64 at, void (*hook)(void *), void *hook_arg);

/*
 * The same with a hook at each boundary from `from` on: while it returns true, fn goes on to the
 * next one; after false fn runs at full speed.
 */
bool stepper_run_each(
    void (*fn)(void *), void *arg, u64 from, bool (*hook)(void *), void *hook_arg);

/*
 * A point to come back to, for hooks: one at a time, interrupts off. stepper_mark() returns false
 * at once, and true after each stepper_return(): the stack below `stack_end`, the preempt count and
 * the runs under way are then what they were. All other memory is the caller's to put back.
 */
bool stepper_mark(const void *stack_end);
void stepper_return(void) __noreturn;
