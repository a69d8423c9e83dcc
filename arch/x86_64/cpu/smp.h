/* Starting the other CPUs: what C and the trampoline share. Boot only. */
#pragma once

/*
 * A CPU on its way up: 0 (not heard of) -> ALIVE (by the CPU, when it runs the kernel's text) -> GO
 * (boot CPU: number and stack are set) -> RUNNING (the CPU: set up) -> RELEASED (boot CPU: skew
 * measured). GIVEN_UP instead of ALIVE or GO, by the boot CPU: too late, or no memory; the CPU
 * parks for ever.
 */
#define SMP_ALIVE    1
#define SMP_GO	     2
#define SMP_RUNNING  3
#define SMP_RELEASED 4
#define SMP_GIVEN_UP 5

/* Offsets and size of struct smp_slot. */
#define SLOT_APIC_ID 0
#define SLOT_STATE   4
#define SLOT_STACK   8
#define SLOT_CPU     16
#define SLOT_SIZE    24

#ifndef __ASSEMBLY__
#include "arch/arch.h"

struct smp_slot {
	u32 apic_id;
	u32 state; /* [A] */
	u64 stack; /* top */
	u32 cpu, pad;
};

/* The contents of the MADT, for arch_smp_boot(). */
void smp_remember(const struct machine_info *mi);
/* First C of another CPU, on the stack of its slot, with the kernel's page tables, but neither %gs
 * nor IDT. Never returns. */
void smp_ap_main(struct smp_slot *slot);
#endif
