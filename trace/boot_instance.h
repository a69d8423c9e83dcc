/* trace_instance=: instances that the kernel command line asks for. */
#pragma once

/* At boot, when events are known; once, before the first switch of tasks. */
void trace_boot_instances(void);
