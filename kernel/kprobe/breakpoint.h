/*
 * Handlers for the kernel's breakpoint and debug traps: probes and tests add them. A handler runs
 * in whatever context the trap hit, NMI included, interrupts off; it returns true if the trap was
 * its own, having set r to where to go on. In r->rip the address after the int3; in r->error of a
 * debug trap DR6. Add and remove: task context.
 */
#pragma once

#include "arch/arch.h"

typedef bool (*trap_handler_fn)(struct regs *r);

/* 0 or -EBUSY: no room. */
int int3_handler_add(trap_handler_fn fn);
int debug_handler_add(trap_handler_fn fn);
/* On return no CPU is inside fn any more. */
void int3_handler_remove(trap_handler_fn fn);
void debug_handler_remove(trap_handler_fn fn);
