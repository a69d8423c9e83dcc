/* Calls of the host's functions, for cases that trace them. */
#pragma once

#include "kernel/lib/types.h"

/* As if the function of that number had been called from `parent`. */
void host_function_call(unsigned i, u64 parent);
