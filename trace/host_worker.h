/*
 * Tasks of the tracer's own, for the tracers hwlat, osnoise and timerlat, and what hwlat measures.
 * Task context but for host_smi_count(). Weak: no worker starts.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * A worker calls step(arg), sleeps as many nanoseconds as that returned, and so on. start: cpu < 0
 * is any; NULL: no memory. stop: when it returns, step() does not run any more. move: called by
 * step(), which goes on on that CPU.
 */
struct host_worker;
struct host_worker *host_worker_start(const char *name, int cpu, u64 (*step)(void *arg), void *arg);
/*
 * The same, but step() returns the time of host_clock_ns() until which the worker sleeps. At the
 * end of each sleep due(arg) is called by the interrupt of the timer, before the worker is woken.
 */
struct host_worker *host_worker_start_timed(
    const char *name, int cpu, u64 (*step)(void *arg), void (*due)(void *arg), void *arg);
void host_worker_stop(struct host_worker *w);
/* Called by step(): the worker has that real-time priority from then on, 1 to 99, by SCHED_FIFO. */
void host_worker_realtime(u32 priority);
void host_worker_move(unsigned cpu);
/* Only NMIs come in between the two. What the first returns is the second's. */
u64 host_irqs_off(void);
void host_irqs_restore(u64 flags);
/* Counts the SMIs of this CPU since its reset; false: it cannot, and *n stays. Any context. */
bool host_smi_count(u64 *n);
