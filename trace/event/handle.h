/*
 * Weak handles tell whether an object of the tracer still exists. Instances, systems and events may
 * be removed while programs have their directories open. An open directory keeps the number of the
 * object's handle instead of a reference, and checks the number before it follows the pointer.
 * Numbers are never reused, so a new object at an old address is not mistaken for the old one.
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
/*
 * Ends the handle: the object may be freed after this call, since nobody follows a pointer to it.
 */
void trace_handle_end(struct trace_handle *handle);
bool trace_handle_is_valid(u64 number);
