/*
 * The page that tells a reader outside the machine where the rings are: kernel/abi/trace_export.h.
 * Task context under host_lock.
 */
#pragma once

#include "trace/event/event.h"

/* Once there is a global trace array, the clock is known and all CPUs have their rings. */
void trace_export_init(void);
