/*
 * Critical sections: stretches that a CPU runs with interrupts off, or with preemption off, for the
 * tracers irqsoff, preemptoff and preemptirqsoff. Weak: the host cannot watch them, and those
 * tracers refuse to begin.
 */
#pragma once

#include "kernel/lib/types.h"

enum { HOST_CRITICAL_IRQS = 1, HOST_CRITICAL_PREEMPT = 2 };

/*
 * Makes the host call trace_critical_begin() and trace_critical_end() for sections of these kinds;
 * 0: no more. False: the host cannot. Task context under host_lock.
 */
bool host_critical_watch(u32 which);

/*
 * The host calls these with interrupts off, on the CPU of the section. trace_critical_begin(): a
 * section may begin here; one that is open goes on. trace_critical_end(): it ends here; without an
 * open one nothing happens. `ip` is in the function that begins or ends the section, `parent` in
 * its caller; 0: not known. Any context but NMI.
 */
void trace_critical_begin(u64 ip, u64 parent);
void trace_critical_end(u64 ip, u64 parent);
