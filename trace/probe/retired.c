/*
 * Retired legacy probe events. Their document deletes the probes before it reads the trace, so
 * their records must stay readable. Task context under host_lock.
 */
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/event/retired.h"
#include "trace/host_memory.h"
#include "trace/host_probe.h"
#include "trace/probe/probe.h"

#define PAST_MAX 16

static void free_event(struct probe_event *ev)
{
	host_free(ev->first);
	host_free(ev);
}

static void probe_event_free_call(struct trace_event_call *call)
{
	free_event(probe_event_of(call));
}

static struct trace_retired past = TRACE_RETIRED_INIT(past, PAST_MAX, probe_event_free_call);

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
	if (trace_event_retire(&ev->call))
		trace_retired_add(&past, &ev->call);
	else
		free_event(ev);
}
