/*
 * Which of the tracer's objects are still there. Instances, systems and events come and go while
 * somebody stands in their directories. Such a place remembers the number of what it belongs to,
 * not a count; before it follows a pointer it asks whether that life goes on. Numbers are never
 * given twice, so a new object at an old address is not taken for the old one.
 *
 * Task context under host_lock.
 */
#pragma once

#include "kernel/lib/types.h"

/* Part of the object. */
struct trace_life {
	u64 number; /* 0: not begun, or over */
	struct trace_life *next;
};

void trace_life_begin(struct trace_life *life);
/* From here on the object may be freed: nobody follows a pointer to it any more. */
void trace_life_end(struct trace_life *life);
bool trace_life_goes_on(u64 number);
