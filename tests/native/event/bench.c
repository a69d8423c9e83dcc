/*
 * A whole event of ours on the processor itself: a tracepoint that is on and records two words,
 * through the core of the tracer as a small host has it. Prints one row. A process has no
 * preemption to hold off and no interrupts, so nothing is said of them.
 */
#define _GNU_SOURCE
#include "tests/native/whole_event.h"

#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/host_key.h"
#include "trace/host_lock.h"
#include "trace/ring/ring.h"
#include "trace/trace.h"

#define TRACE_KEY	  struct host_key
#define TRACE_BRANCH(key) ((key).enabled)
#define TRACE_DEF	  "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"
#include "trace/tracepoint_define.h"

/* One thread. */
void host_lock(void)
{
}

void host_unlock(void)
{
}

static inline void record_event(unsigned long a, unsigned long b)
{
	trace_bench_2u64(a, b);
}

int main(void)
{
	trace_events_register(trace_event_list, ARRAY_SIZE(trace_event_list));
	if (trace_init(NULL) || trace_set_events(trace_global, NULL, "bench", "bench_2u64", true)) {
		fprintf(stderr, "the event cannot be enabled\n");
		return 1;
	}
	measure_event("tp.on_2u64");
	return !ring_buffer_entries(trace_global->buffer);
}
