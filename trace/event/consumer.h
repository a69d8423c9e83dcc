/*
 * Consumers of a tracepoint besides its own event: each is called with the arguments of the call
 * site. They follow the event's record, in the order of their addition. Adding and removing: task
 * context under host_lock.
 */
#pragma once

#include "trace/event/event.h"

struct trace_consumer {
	/*
	 * Any context, between host_preempt_disable() and host_preempt_enable(). `args`: the
	 * arguments as words, call->n_args of them, and then the stack pointer of the stub.
	 */
	void (*fn)(struct trace_consumer *consumer, const u64 *args);
	struct trace_consumer *next; /* [A] of the same tracepoint; stays for walkers */
	bool left;		     /* [L] it was removed: walkers may still stand on it */
};

/* The tracepoint of that name, in any system; NULL: there is none. */
struct trace_event_call *trace_tracepoint_find(const char *name);
/* Added, the tracepoint calls it. After the removal and host_synchronize(), nobody is in fn(). */
void trace_consumer_add(struct trace_event_call *call, struct trace_consumer *consumer);
void trace_consumer_remove(struct trace_event_call *call, struct trace_consumer *consumer);

/* For the stub of a tracepoint. Inline, since a hit is to cost little. */
static inline __attribute__((always_inline)) void trace_consumers_call(
    const struct trace_event_call *call, const u64 *args)
{
	for (struct trace_consumer *c = READ_ONCE(call->consumers); c; c = READ_ONCE(c->next))
		c->fn(c, args);
}

/* Is anything to be done with an event whose call site others use as well? Any context. */
static inline bool trace_event_wanted(const struct trace_event_call *call)
{
	return READ_ONCE(call->live) || READ_ONCE(call->consumers);
}
