/* The receiving ends of ipi.c. */
#pragma once

#include "arch/arch.h"

/* On the call-function interrupt: does what cpu_call() or cpu_call_all() left for this CPU. */
void cpu_call_run(void);
/*
 * Sends all other CPUs an interrupt that calls watch_follow(). Any context. It fires no trace
 * event: a trigger on such an event could move a watchpoint, and so cause the next one.
 */
void ipi_call_watch(void);
/* In every NMI: does not return when machine_stop_others() was called. */
void machine_stop_check(void);
