/* Prepares a CPU for C: its cpu_local, stacks, descriptor tables, control registers. */
#pragma once

#include "arch/arch.h"

/*
 * Boot CPU, before any C with a canary in it: chooses the boot's canary, and makes it readable by
 * %gs.
 */
void cpu_canary_init(void);
/*
 * On the boot CPU, before CPU `cpu` is let go: memory for its cpu_local, TSS and stacks. Returns
 * the top of the stack its idle loop will run on, 0: no memory.
 */
u64 cpu_prepare(unsigned cpu, u32 apic_id);
/*
 * On the new CPU itself, first C it runs, interrupts off, no %gs yet, on the stack cpu_prepare()
 * gave, the kernel's page tables loaded: GDT, IDT, TSS, %gs, system-call MSRs, CR0 and CR4 as the
 * boot CPU has them. Takes no lock.
 */
void cpu_setup(unsigned cpu, u32 apic_id);
/* Do traps and system calls of this CPU enter where they should? NULL, or what is wrong. */
const char *cpu_entries_wrong(void);
