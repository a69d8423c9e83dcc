/* See retired.h. */
#include "trace/event/retired.h"
#include "trace/event/array.h"
#include "trace/event/snapshot.h"

struct list_head trace_retired_kinds = LIST_HEAD_INIT(trace_retired_kinds);

static void clear_rings(void)
{
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node) {
		trace_array_clear(tr, -1);
		trace_snapshot_clear(tr, -1);
	}
}

static bool rings_are_empty(void)
{
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node)
		if (!ring_buffer_empty(tr->buffer) ||
		    (tr->snapshot && !ring_buffer_empty(tr->snapshot)))
			return false;
	return true;
}

static void trace_retired_free_all(struct trace_retired *r)
{
	struct trace_event_call *call, *next;

	list_for_each_entry_safe (call, next, &r->calls, node) {
		list_del(&call->node);
		trace_event_free_id(call);
		r->free(call);
	}
	r->count = 0;
}

void trace_retired_add(struct trace_retired *r, struct trace_event_call *call)
{
	if (!r->node.next)
		list_add_tail(&r->node, &trace_retired_kinds);
	if (r->count == r->most) {
		clear_rings();
		trace_retired_free_all(r);
	}
	list_add_tail(&call->node, &r->calls);
	r->count++;
}

void trace_retired_settle(void)
{
	struct trace_retired *r;

	if (!rings_are_empty())
		return;
	list_for_each_entry (r, &trace_retired_kinds, node)
		trace_retired_free_all(r);
}
