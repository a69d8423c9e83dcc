/*
 * Critical sections: stretches that a CPU runs with interrupts off, or with preemption off, for the
 * tracers irqsoff, preemptoff and preemptirqsoff. Weak: the host cannot watch them, and those
 * tracers refuse to begin.
 */
#pragma once

#include "kernel/lib/types.h"

enum { HOST_CRITICAL_IRQS = 1, HOST_CRITICAL_PREEMPT = 2 };

/*
 * The host calls trace_critical_begin() and trace_critical_end() from now on, for sections of these
 * kinds; 0: it does not any more. false: it cannot. Task context under host_lock.
 */
bool host_critical_watch(u32 which);

/*
 * The host calls these, with interrupts off, on the CPU whose section it is: wherever one may begin
 * (again: it goes on) and where it ends (none has begun: nothing happens). `ip` is in the function
 * that begins or ends it, `parent` in the one that called that; 0: not known. Any context but NMI.
 */
void trace_critical_begin(u64 ip, u64 parent);
void trace_critical_end(u64 ip, u64 parent);
