/*
 * The stacks each CPU has for itself: for traps that must not use the interrupted one, and its idle
 * loop's.
 */
#pragma once

#include "arch/arch.h"

/* Numbers in the TSS. */
enum ist { IST_NMI = 1, IST_DF, IST_MC, IST_BP, IST_DB, IST_COUNT = IST_DB };

/*
 * Boot CPU or task context: makes the stacks of a CPU; returns the top of the one for its idle
 * loop, 0: no memory.
 */
u64 stacks_prepare(unsigned cpu);
/* Top of one of them. */
u64 stacks_ist_top(unsigned cpu, enum ist which);
/*
 * While an NMI is handled, #BP and #DB of its handler land elsewhere than those it may have
 * interrupted.
 */
void stacks_nmi_begin(void);
void stacks_nmi_end(void);
/* Does p lie in the addresses of this CPU's own stacks (guard pages among them)? */
bool stacks_own(u64 p);
/* Does p lie in the addresses of any CPU's own stacks? */
bool stacks_hold(u64 p);
bool stack_guard_hit(u64 addr);
/* Has a stack of this CPU a page below it that is mapped? Any context. */
bool stacks_without_guard(unsigned cpu);
