/*
 * The host's functions that can call the tracer when they are called. Any context. Weak: there is
 * none.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * Functions have numbers from 0, in the order of their addresses. host_function_count(): one more
 * than the greatest. host_function(): its name and, by addr, where it begins; NULL: it has no hook.
 */
unsigned host_function_count(void);
const char *host_function(unsigned i, u64 *addr);
