/* Descriptor tables of a CPU (Intel SDM volume 3, chapters 3, 6, 7). */
#pragma once

#include "arch/x86_64/cpu/stacks.h"

/* Points an entry of this CPU's interrupt stack table elsewhere. */
/* Once, before any CPU is set up. */
void cpu_idt_init(void);
void cpu_ist_set(enum ist which, u64 top);
/* The stack this CPU enters the kernel on from ring 3. */
void cpu_set_kernel_stack(u64 top);
