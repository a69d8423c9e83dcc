/*
 * Time. Any context, NMI included.
 */
#pragma once

#include "kernel/lib/types.h"

u64 host_clock(void);	      /* as host_cycles(), where a host may put a clock of its own */
u64 host_clock_ns(u64 clock); /* cycles to nanoseconds since boot */
u64 host_unix_ns(void);	      /* nanoseconds from 1970 to clock 0; weak: 0 */
