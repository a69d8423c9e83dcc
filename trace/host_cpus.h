/*
 * The other CPUs, numbered from 0. Task context; each call returns when the work is done.
 */
#pragma once

#include "kernel/lib/types.h"

unsigned host_cpu_count(void); /* any context */
/*
 * More than the number of any CPU that runs now or later; it may fall, never rise. What has a place
 * for each CPU is of this size. Any context. Weak: MAX_CPUS.
 */
unsigned host_cpu_limit(void);
/*
 * Waits until every CPU has left each section between host_preempt_disable() and
 * host_preempt_enable() that it was in.
 */
void host_synchronize(void);
/* Runs fn(arg) on each CPU, or on one, with interrupts off there. */
void host_on_each_cpu(
    void (*fn)(void *), void *arg); /* weak: host_on_cpu() for one after the other */
void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg);
/* The same at a moment when that CPU is in no such section, so that only an NMI can come in. */
void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg);
