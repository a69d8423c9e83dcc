/*
 * Debug registers, within arch/x86_64: the functions of watch.c that handlers of traps, NMIs and
 * IPIs call.
 */
#pragma once

#include "arch/arch.h"

/*
 * Data that the kernel uses before it knows that a debug trap is a watchpoint's, or that the CPU
 * itself reads to take a trap. It cannot be watched: the trap would trap again.
 */
#define __nowatch __attribute__((section(".bss.nowatch")))

/* Makes this CPU, which starts, watch the same places as the others. */
void watch_cpu_init(void);
/*
 * A debug trap calls this first, after entry code has switched DR7 off. Reports the watched
 * accesses and switches DR7 on again. Returns true if the trap had no other cause.
 */
bool watch_trap(struct regs *r, u64 dr6);
/*
 * The NMI handler calls these first and last. An NMI may interrupt a debug trap that has not yet
 * read its registers. Inside the NMI the watchpoints are on, and DR6 begins empty.
 */
struct watch_nmi {
	u64 dr6, dr7; /* the interrupted code's values; dr7 0: the NMI left them alone */
};
void watch_nmi_begin(struct watch_nmi *outer);
void watch_nmi_end(const struct watch_nmi *outer);
/* The handler of the interrupt that ipi_call_watch() sends. */
void watch_follow(void);
