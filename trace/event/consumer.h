/*
 * Consumers of a tracepoint besides its own event. The call site calls each with its arguments,
 * after it has recorded the event, in the order in which they were added. Adding and removing: task
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
	bool left;		     /* [L] removed, but a walker may still be at it */
};

/* The tracepoint of that name, in any system; NULL: there is none. */
struct trace_event_call *trace_tracepoint_find(const char *name);
/*
 * The tracepoint calls fn() from trace_consumer_add() on. After trace_consumer_remove() and
 * host_synchronize(), no CPU runs fn() any more.
 */
void trace_consumer_add(struct trace_event_call *call, struct trace_consumer *consumer);
void trace_consumer_remove(struct trace_event_call *call, struct trace_consumer *consumer);

/* The stub of a tracepoint calls this. Inline, to keep a hit cheap. */
static inline __attribute__((always_inline)) void trace_consumers_call(
    const struct trace_event_call *call, const u64 *args)
{
	for (struct trace_consumer *c = READ_ONCE(call->consumers); c; c = READ_ONCE(c->next))
		c->fn(c, args);
}

/* True if an event with a shared call site has a live file or a consumer. Any context. */
static inline bool trace_event_wanted(const struct trace_event_call *call)
{
	return READ_ONCE(call->live) || READ_ONCE(call->consumers);
}
