/* tracefs as files of this kernel. Task context. */
#pragma once

/* /sys/kernel/tracing, and /sys/kernel/debug/tracing. */
void tracefs_init(void);
