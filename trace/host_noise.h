/*
 * Events of osnoise and timerlat: the host has a tracepoint for each, as Linux's system `osnoise`.
 * Times are of host_clock_ns(). Called between host_preempt_disable() and host_preempt_enable();
 * host_nmi_noise() in NMI context. Weak: nothing happens.
 */
#pragma once

#include "kernel/lib/types.h"

void host_sample_threshold(u64 start, u64 ns, u64 interference);
void host_nmi_noise(u64 start, u64 ns);
void host_irq_noise(int vector, const char *name, u64 start, u64 ns);
void host_thread_noise(const void *task, u64 start, u64 ns); /* task: as host_task_of() has it */
