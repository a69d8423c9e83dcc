/*
 * Shared by the cases of the event core: the tracer with a few events of ours, and its files by
 * path, as a shell uses them. In the guest it is the running kernel's tracer: trace_fresh() turns
 * everything off first.
 */
#pragma once

#include "kernel/lib/ktap.h"
#include "trace/event/array.h"
#include "trace/event/event.h"
#include "trace/host_key.h"
#include "trace/tracefs/tracefs.h"

#define TRACE_KEY	  struct host_key
#define TRACE_BRANCH(key) READ_ONCE((key).enabled)
#define TRACE_DEF	  "tests/unit/trace/sample.def"
#include "trace/event/tracepoint.h"
#undef TRACE_DEF
#define TRACE_DEF "tests/unit/trace/sample2.def"
#include "trace/event/tracepoint.h"
#undef TRACE_DEF

/* All events off, all options as at start, nothing recorded, recording on. */
void trace_fresh(void);
/* Writes as `echo -n text > path` (or >>): 0 or the error of open or write. */
int trace_put(const char *path, const char *text);
int trace_append(const char *path, const char *text);
/*
 * The whole text of a file, NUL-terminated, until the next call; "" when it cannot be read, and the
 * error in *err (or NULL).
 */
const char *trace_get(const char *path, int *err);
/*
 * The n-th line of `trace` that is no comment, from its "[0" (the CPU) on, without its newline;
 * "" if there is none.
 */
const char *trace_nth(unsigned n);
/* The same from the event's name on. */
const char *trace_nth_event(unsigned n);
/*
 * What print() makes of a record of these bytes after the common fields, which ends with them;
 * until the next call.
 */
const char *trace_printed(const struct trace_event_call *call,
    void (*print)(struct trace_out *out, const void *rec, u32 len), const void *bytes, u32 n);
/* The hwlat tracer off, its files as at start. */
void trace_hwlat_fresh(void);
/* mkdir and rmdir in instances/. */
int trace_make_instance(const char *name);
int trace_drop_instance(const char *name);
int trace_walk(const char *path, struct tracefs_node *out);
/* The outcomes of the event's hits in the global array, on all CPUs together. */
struct trace_event_count trace_counts(const char *system, const char *event);
