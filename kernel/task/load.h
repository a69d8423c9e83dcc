/* How many tasks wanted to run on average: over one, five and fifteen minutes. */
#pragma once

#include "kernel/lib/types.h"

#define LOAD_SHIFT 11 /* a load of 1 is 1 << LOAD_SHIFT */

/* Counts when it is time to. From the tick of each CPU that is not idle; any context but NMI. */
void load_tick(u64 now);
/* The averages until now. Any context but NMI. */
void load_averages(u64 load[3]);
