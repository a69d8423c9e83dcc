/*
 * The tracers osnoise and timerlat: how much of a CPU its workload gets, and how late a timer and
 * the task that it wakes are. See osnoise.c. Settings: task context under host_lock; 0 or negative
 * errno; microseconds.
 */
#pragma once

#include "kernel/lib/types.h"

enum osnoise_setting {
	OSNOISE_PERIOD,
	OSNOISE_RUNTIME,
	OSNOISE_STOP,
	OSNOISE_STOP_TOTAL,
	OSNOISE_PRINT_STACK,
	OSNOISE_TIMERLAT_PERIOD,
	OSNOISE_SETTINGS
};
u64 osnoise_get(enum osnoise_setting which);
int osnoise_set(enum osnoise_setting which, u64 us);

u64 osnoise_cpus(void); /* a bit per CPU */
void osnoise_set_cpus(u64 cpus);

/* Bits, by the order of osnoise_option_names. The first is on while the others are as at start. */
enum {
	OSNOISE_DEFAULTS = 1,
	OSNOISE_WORKLOAD = 2,
	OSNOISE_PANIC_ON_STOP = 4,
	OSNOISE_PREEMPT_DISABLE = 8,
	OSNOISE_IRQ_DISABLE = 16
};
#define OSNOISE_OPTIONS 5
extern const char *const osnoise_option_names[OSNOISE_OPTIONS];
u32 osnoise_options(void);
int osnoise_set_option(u32 bit, bool on);
