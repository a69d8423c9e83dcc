/* Calls of the host's functions, for cases that trace them. */
#pragma once

#include "kernel/lib/types.h"

enum { HOST_FUNCTION_OF_IRQ = 4 };

u64 host_function_address(unsigned i);
/* As if the function of that number had been called from `parent`. */
void host_function_call(unsigned i, u64 parent);
/* The same in two steps: it is called, and returns. `slot` tells calls apart. */
void host_function_enter(unsigned i, u64 *slot);
void host_function_return(u64 *slot, u64 value);
/* The current task has had a CPU for so much longer. */
void host_task_runs(u64 ns);
