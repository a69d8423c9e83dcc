/* The page that tells a reader outside the machine where the rings are: kernel/abi/trace_export.h. Task context under host_lock. */
#pragma once

#include "trace/event/event.h"

/* Once there is a global trace array, the clock is known and all CPUs have their rings. */
void trace_export_init(void);
/* Before the event's first record: keeps its format where the page leads. 0 or -ENOMEM. */
int trace_export_event(struct trace_event_call *call);
/* The event goes. */
void trace_export_forget(struct trace_event_call *call);
