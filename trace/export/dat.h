/*
 * A trace array's buffer as a trace.dat file: everything there is to know about a trace, in
 * trace-cmd's format. Recording goes on while it is read. Task context under host_lock, all of it;
 * belongs to one open file.
 */
#pragma once

#include "trace/event/array.h"

struct trace_dat;

/*
 * Of the array's main buffer, or of its spare one (which may be missing: then nothing is in it). 0
 * or -ENOMEM.
 */
int trace_dat_create(struct trace_array *tr, bool snapshot, struct trace_dat **out);
/* The next bytes of it: up to n; 0: the end. */
ssize trace_dat_read(struct trace_dat *dat, void *buf, size_t n);
void trace_dat_free(struct trace_dat *dat);
