/*
 * Interruptions of a workload: NMIs, interrupts, other tasks. Counted and measured for osnoise.c,
 * by hooks in tracepoints; each makes an event of its own. See noise.c.
 */
#pragma once

#include "kernel/lib/types.h"

enum noise_kind { NOISE_NMI, NOISE_IRQ, NOISE_THREAD, NOISE_KINDS };

struct noise_cpu {
	bool sampling; /* [C] a workload runs, or all that runs is noise */
	s32 pid;       /* [C] the workload's; 0: none, so that each task is noise */
	/* [C] counts each that began, so that a reader of the clock sees whether one came in */
	u64 interferences;
	u32 counts[NOISE_KINDS]; /* [C] */
	u64 arrivals[NOISE_KINDS];
	u64 starts[NOISE_KINDS]; /* [C] the same, later by what came in; 0: it does not run */
};
extern struct noise_cpu noise_cpus[]; /* by CPU */

/* Hooks the tracepoints, or takes the hooks away. Task context under host_lock. */
void noise_watch(bool on);
/* The time, and the interferences until then. Any context, on its CPU. */
u64 noise_now(const struct noise_cpu *c, u64 *interferences);
/* The host calls this before and after the handlers of each NMI. */
void trace_noise_nmi(bool enter);
