/*
 * The hardware latency tracer: looks for time that nobody on the CPU has had (SMIs, a hypervisor).
 * See hwlat.c for how. Settings: task context under host_lock.
 */
#pragma once

#include "trace/event/ftrace.h"

#define HWLAT_WIDTH_US	500000UL
#define HWLAT_WINDOW_US 1000000UL

enum hwlat_mode { HWLAT_NONE, HWLAT_ROUND_ROBIN, HWLAT_PER_CPU, HWLAT_MODES };
extern const char *const hwlat_mode_names[HWLAT_MODES];

u64 hwlat_width(void), hwlat_window(void); /* microseconds */
enum hwlat_mode hwlat_mode(void);
/* -EINVAL: the width would be more than the window. */
int hwlat_set_width(u64 us);
int hwlat_set_window(u64 us);
/* The samplers, if any run, begin anew in that mode. */
void hwlat_set_mode(enum hwlat_mode mode);

/* The host calls this before and after the handlers of each NMI. NMI context. */
void trace_hwlat_nmi(bool enter);
/* SMIs that came to a CPU during its samples, since the tracer was chosen. */
u64 hwlat_smis(unsigned cpu);
