/*
 * The floating-point and vector registers, which belong to ring 3 alone: the kernel is compiled
 * without them.
 */
#pragma once

#include "arch/arch.h"

/* On each CPU, once: clean registers, and which states there are. */
void fpu_setup(void);
/*
 * Interrupts off, within arch_switch(): saves prev's registers, loads next's if this CPU does not
 * hold them still.
 */
void fpu_switch(struct arch_task *prev, struct arch_task *next);
