/* The receiving ends of ipi.c. */
#pragma once

#include "arch/arch.h"

/* On the call-function interrupt: does what cpu_call() or cpu_call_all() left for this CPU. */
void cpu_call_run(void);
/*
 * Has all other CPUs call watch_follow() a little later. Any context. It is no event: one whose
 * trigger moves a watchpoint would be its own cause.
 */
void ipi_call_watch(void);
/* In every NMI: does not return when machine_stop_others() was called. */
void machine_stop_check(void);
