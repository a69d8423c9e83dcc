/* Debug registers, within arch/x86_64: between watch.c and what takes traps, NMIs and calls. */
#pragma once

#include "arch/arch.h"

/*
 * Data that runs before a debug trap is known to be a watchpoint's, or that the CPU itself reads to
 * take one. It cannot be watched: the trap would trap.
 */
#define __nowatch __attribute__((section(".bss.nowatch")))

/* This CPU begins with what the others watch. */
void watch_cpu_init(void);
/*
 * First thing in a debug trap, where entry code has switched DR7 off: reports what was accessed and
 * switches it on again. True: there was nothing else.
 */
bool watch_trap(struct regs *r, u64 dr6);
/*
 * Around an NMI, which may come in a debug trap before its registers are read: inside, the
 * watchpoints are on and DR6 begins empty.
 */
struct watch_nmi {
	u64 dr6, dr7; /* as the interrupted code had them; dr7 0: they were not touched */
};
void watch_nmi_begin(struct watch_nmi *outer);
void watch_nmi_end(const struct watch_nmi *outer);
/* In the interrupt by which ipi_call_watch() calls the other CPUs. */
void watch_follow(void);
