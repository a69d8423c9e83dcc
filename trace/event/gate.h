/* What the gate of events (trace/event/gate.c) needs before a filter or a trigger is set. */
#pragma once

/* Scratch memory for every CPU there is now. Task context under host_lock, cheap when it is there. 0 or -ENOMEM. */
int trace_gate_prepare(void);
/* The same for CPUs that came up since, if it was ever wanted. */
int trace_gate_cpus_up(void);
void trace_gate_exit(void);
