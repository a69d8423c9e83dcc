/*
 * The local APIC: this CPU's interrupts, timer, and messages to other CPUs. (Intel SDM volume 3,
 * chapter 11.) Used only inside arch/x86_64. apic_send() and apic_eoi(): any context; the rest at
 * boot with interrupts off.
 */
#pragma once

#include "arch/arch.h"

/* Messages of apic_send() that are no vector. */
enum {
	APIC_SEND_NMI = 4 << 8,
	APIC_SEND_INIT = 5 << 8 | 1 << 14,
	APIC_SEND_STARTUP = 6 << 8 | 1 << 14, /* + page number of the code */
};

/* Boot CPU, once: registers mapped, or x2APIC mode chosen where CPUID has it. NULL, or a sentence.
 */
const char *apic_find(u64 base);
/* Each CPU on itself: on, timer and error vectors set, NMI taken from input LINT`lint_nmi`. */
void apic_init_cpu(unsigned lint_nmi);
u32 apic_id(void);	   /* this CPU's */
bool apic_reaches(u32 id); /* can apic_send() name it? Only x2APIC has more than 8 bits. */
void apic_eoi(void);
void apic_send(u32 to_apic_id, u32 what);
void apic_clear_errors(void);

/* The timer: counts down to 0 from what is started, then interrupts once. */
void apic_timer_start(u32 count);
u32 apic_timer_now(void);
/*
 * Interrupts again and again, until apic_timer_once() stops it and sets the mode the kernel runs
 * with.
 */
void apic_timer_repeat(u32 count);
void apic_timer_once(void);
