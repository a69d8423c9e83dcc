/* ftrace_dump_on_oops. */
#pragma once

enum { TRACE_DUMP_NONE, TRACE_DUMP_ALL, TRACE_DUMP_ORIG };

/* The global buffer into the log, all CPUs' or this one's; once. Any context, when the kernel dies. */
void trace_dump(int mode);
