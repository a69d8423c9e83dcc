/* Text from programs into the trace. */
#pragma once

#include "kernel/lib/types.h"

struct trace_array;

/*
 * The record carries this function's address: the line reads "tracing_mark_write: text". Task
 * context. Returns the bytes taken (at most 1024), -EINVAL with options/markers off, -EBADF when
 * the ring takes nothing.
 */
ssize tracing_mark_write(struct trace_array *tr, const void *text, size_t n);
