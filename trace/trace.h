/*
 * The tracer core, as its host sees it: start it, and report to it.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * What happened before there was a tracer: `replay` is called when the events of `system` that the
 * command line wants are on, and none else yet. It hits them in the order of time, each after
 * trace_early_time(), and they are recorded with that time.
 */
struct trace_early {
	const char *system;
	void (*replay)(void);
};

/*
 * Global trace array, event list; then boot parameters trace_event=, trace_buf_size=, trace_clock=
 * ... early: NULL: nothing.
 */
int trace_init(const struct trace_early *early);
/* The time (host_clock()) of the records that follow; one before the last is taken for the last. */
void trace_early_time(u64 clock);

/* For a host that ends: gives back the global trace array. The registered events stay. */
void trace_exit(void);

/* More CPUs came up since trace_init(): their rings. Task context. 0 or -ENOMEM. */
int trace_cpus_up(void);

/*
 * Applies the boot parameters that trace_init() could not: kprobe_event=, ftrace=,
 * ftrace_boot_snapshot, and trace_event= again, for events that were not there yet. Task context,
 * once, before the first file is opened.
 */
void trace_apply_params(void);

bool tracing_is_on(void);
void tracing_on(void);
void tracing_off(void);
