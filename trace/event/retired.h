/*
 * Retired events: unregistered while rings still have their records. They have no files and no
 * name, but keep the id that printing the records needs. Task context under host_lock; printing
 * from anywhere.
 */
#pragma once

#include "trace/event/event.h"

/* The retired events of one kind. */
struct trace_retired {
	struct list_head node;	/* trace_retired_kinds, from the first event on */
	struct list_head calls; /* trace_event_call.node */
	u32 count, most;
	/* frees the event and the object that contains it */
	void (*free)(struct trace_event_call *call);
};
#define TRACE_RETIRED_INIT(name, n, free_call)                                                     \
	{                                                                                          \
		.calls = LIST_HEAD_INIT(name.calls), .most = n, .free = free_call                  \
	}

extern struct list_head trace_retired_kinds;

/*
 * Adds an event for which trace_event_retire() returned true. If its kind then has too many, clears
 * all rings and frees all events of the kind.
 */
void trace_retired_add(struct trace_retired *r, struct trace_event_call *call);
/* Frees all retired events if every ring is empty. */
void trace_retired_settle(void);
