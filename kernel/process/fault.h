/* Reports a ring-3 program that faulted. Task context, interrupts on. */
#pragma once

#include "kernel/lib/types.h"

struct regs;

/* "prog[12]: segfault at 0 ip 0000000000401136 sp 00007ffe... error 4 in prog[401000+1000]" */
void fault_report(const struct regs *r, const char *what, u64 addr);
/* "traps: prog[12] trap divide error ip:401136 sp:7ffe... error:0 in prog[401000+1000]" */
void trap_report(const struct regs *r, const char *what);
