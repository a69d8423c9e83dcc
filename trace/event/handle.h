/*
 * Weak handles: is an object of the tracer still there? Instances, systems and events come and go
 * while somebody stands in their directories. Such a place keeps the number of the object's handle
 * and no reference; it checks the number before it follows a pointer. Numbers are never used again,
 * so a new object at an old address is not taken for the old one.
 *
 * Task context under host_lock.
 */
#pragma once

#include "kernel/lib/types.h"

/* Part of the object. */
struct trace_handle {
	u64 number; /* 0: not valid */
	struct trace_handle *next;
};

void trace_handle_begin(struct trace_handle *handle);
/* From here on the object may be freed: nobody follows a pointer to it any more. */
void trace_handle_end(struct trace_handle *handle);
bool trace_handle_is_valid(u64 number);
