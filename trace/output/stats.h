/* Texts that are both files and parts of a trace.dat. Task context under host_lock. */
#pragma once

#include "kernel/lib/types.h"

struct ring_buffer;
struct seq;
struct trace_array;

/* Prints what a CPU's ring holds and has lost: the file `stats`. */
void trace_show_stats(
    struct seq *s, const struct trace_array *tr, struct ring_buffer *buffer, unsigned cpu);
/* The header of a sub-buffer: the file `header_page`. */
void trace_show_page_format(struct seq *s, size_t page_size);
