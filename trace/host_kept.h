/*
 * The flight recorder, trace/persist/. Task context.
 */
#pragma once

#include "kernel/lib/types.h"

/* Memory that a warm reset keeps, as it was found, whole pages; NULL: none. Weak: none. */
void *host_kept_memory(size_t *size);
/* host_clock_ns(c) is (c - *base) * *mult >> 32; *mult 0: not known yet. */
void host_clock_line(u64 *base, u64 *mult);
