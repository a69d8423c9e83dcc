/*
 * Consumers of tracepoints. While a tracepoint has one, each live file of the event has
 * TRACE_WAY_CONSUMED, and the call site is patched to call. trace_record_NAME() then ends with a
 * jump to the stub (trace/tracepoint_define.h), which builds the words.
 */
/* hot: runs with each event */
#include "trace/event/consumer.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/host_lock.h"
#include "trace/host_cpus.h"

struct trace_event_call *trace_tracepoint_find(const char *name)
{
	struct trace_event_call *call;

	list_for_each_entry (call, &trace_events, node)
		if (call->stub && !strcmp(call->name, name))
			return call;
	return NULL;
}

static void trace_consumers_show(struct trace_event_call *call)
{
	for (struct trace_event_file *file = call->live; file; file = file->next_live)
		trace_file_way(file, TRACE_WAY_CONSUMED, call->consumers);
}

void trace_consumer_add(struct trace_event_call *call, struct trace_consumer *consumer)
{
	host_assert_locked();
	struct trace_consumer **at = &call->consumers;

	if (consumer->left)
		host_synchronize();
	while (*at)
		at = &(*at)->next;
	*consumer = (struct trace_consumer){.fn = consumer->fn};
	atomic_store_release(at, consumer);
	trace_consumers_show(call);
	trace_keys_use(&call->key, 1, 1);
}

void trace_consumer_remove(struct trace_event_call *call, struct trace_consumer *consumer)
{
	host_assert_locked();
	struct trace_consumer **at = &call->consumers;

	trace_keys_use(&call->key, 1, -1);
	while (*at != consumer)
		at = &(*at)->next;
	WRITE_ONCE(*at, consumer->next);
	consumer->left = true;
	trace_consumers_show(call);
}
