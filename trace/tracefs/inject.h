/* Events made by hand. */
#pragma once

#include "trace/event/event.h"

/* Records as if the event had been hit here. Task context under host_lock. */
int tracefs_inject(struct trace_event_file *file, const void *rec, size_t len);
