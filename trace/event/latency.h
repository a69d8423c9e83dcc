/* The longest latency that a tracer found in an array: what the header of `trace` reports. */
#pragma once

#include "trace/host_task.h"

struct trace_latency {
	u64 ns;
	u64 start; /* by the array's clock: `trace` shows nothing older */
	u32 cpu;
	bool alone;   /* `trace` shows only this CPU's records */
	u64 from, to; /* code where it began and ended; 0: not known */
	struct host_task task;
};
