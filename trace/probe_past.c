/*
 * Events of 2009's probes that are gone. Their document clears the probes first and reads the trace then, so what they recorded stays
 * readable: such an event has no files and no name any more, but its id, by which its records are printed. Task context under
 * host_lock; printing from anywhere.
 */
#include "trace/probe.h"
#include "trace/snapshot.h"
#include "trace/trace_array.h"

#define PAST_MAX 16

static struct list_head past = LIST_HEAD_INIT(past);
static u32 n_past;

static void free_event(struct probe_event *ev)
{
	host_free(ev->first);
	host_free(ev);
}

/* Their records go first. */
static void forget_all(void)
{
	struct trace_event_call *call, *next;
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node) {
		trace_array_clear(tr, -1);
		trace_snapshot_clear(tr, -1);
	}
	list_for_each_entry_safe (call, next, &past, node) {
		list_del(&call->node);
		trace_event_give_id(call);
		free_event(probe_event_of(call));
	}
	n_past = 0;
}

void probe_event_retire(struct probe_event *ev)
{
	struct trace_probe *tp = ev->first;
	struct trace_array *tr;

	list_for_each_entry (tr, &trace_arrays, node)
		trace_set_events(tr, NULL, ev->group, ev->name, false);
	if (tp->host)
		host_probe_destroy(tp->host);
	tp->host = NULL;
	dynevent_remove(&tp->dyn);
	if (!trace_event_retire(&ev->call)) {
		free_event(ev);
		return;
	}
	if (n_past == PAST_MAX)
		forget_all();
	list_add_tail(&ev->call.node, &past);
	n_past++;
}
