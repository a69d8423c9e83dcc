/* tracefs as files of this kernel. Task context. */
#pragma once

/* /sys/kernel/tracing, and /sys/kernel/debug/tracing. */
void tracefs_init(void);
/* The tracer has a directory more. Under Linux's name, which people probe to see what comes. */
void tracefs_create_dir(const char *name, const char *parent);
