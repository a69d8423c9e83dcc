/* Load averages: the mean number of runnable tasks over one, five and fifteen minutes. */
#pragma once

#include "kernel/lib/types.h"

#define LOAD_SHIFT 11 /* a load of 1 is 1 << LOAD_SHIFT */

/*
 * Samples the load when a sample is due. Called by the tick of each CPU that is not idle; any
 * context but NMI.
 */
void load_tick(u64 now);
/* The averages until now. Any context but NMI. */
void load_averages(u64 load[3]);
