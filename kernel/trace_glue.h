/* The tracer's part in the life of the kernel. */
#pragma once

void trace_files_init(
    void); /* boot, when there are files: what is left of trace_event=, and /proc/sys/kernel */
void trace_glue_panic(void);   /* the kernel dies: ftrace_dump_on_oops. Any context */
void trace_glue_warning(void); /* a warning was printed: traceoff_on_warning. Any context */
