/*
 * Code of the kernel run after a panic, by the one CPU that is left: nobody lets a lock go any
 * more, and nothing comes to those who wait. Whatever would wait gives up instead and returns into
 * rescue_try(); what it had begun stays half done.
 */
#pragma once

#include "kernel/lib/types.h"

extern bool rescue_on; /* from rescue_begin() on, for good */

static inline bool rescue_active(void)
{
	return unlikely(*(volatile bool *)&rescue_on);
}

/* The other CPUs are stopped, interrupts are off. */
void rescue_begin(void);
/* Runs fn(arg); NULL, or why it gave up. Not nested. */
const char *rescue_try(void (*fn)(void *), void *arg);
/* Returns if nothing is being tried. `why` is kept, not copied. */
void rescue_give_up(const char *why);
