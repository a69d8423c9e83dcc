/* The tracer's part in the life of the kernel. */
#pragma once

#include "kernel/lib/types.h"

struct boot_info;

/* Boot, when there is memory: events exist, earlier ones are recorded, trace_event= works. */
void trace_glue_init(const struct boot_info *bi);
void trace_glue_cpus_up(void); /* boot, when all CPUs run: rings for them */
void trace_files_init(
    void); /* boot, when there are files: what is left of trace_event=, and /proc/sys/kernel */
void trace_glue_panic(void); /* the kernel dies: ftrace_dump_on_oops. Any context */
void trace_glue_end(void);
/* Nothing is recorded any more. Any context. */
void trace_glue_stop(void);    /* it is to end in order: restart, power off, halt. Any context */
bool trace_glue_dump(void);    /* a key asks for it; false: not now. Any context but NMI */
void trace_glue_warning(void); /* a warning was printed: traceoff_on_warning. Any context */
/*
 * Times that a reader of the tracer's was woken by nothing but its alarm, and found something. For
 * tests. [A]
 */
extern u64 trace_glue_late_wakes;
