/*
 * Events that are gone while rings have their records: they have no files and no name any more, but
 * their id, by which the records are printed. Task context under host_lock; printing from anywhere.
 */
#pragma once

#include "trace/event/event.h"

/* Those of one kind. */
struct trace_retired {
	struct list_head node;	/* trace_retired_kinds, from the first event on */
	struct list_head calls; /* trace_event_call.node */
	u32 count, most;
	void (*free)(struct trace_event_call *call); /* and what it is a part of */
};
#define TRACE_RETIRED_INIT(name, n, free_call)                                                     \
	{                                                                                          \
		.calls = LIST_HEAD_INIT(name.calls), .most = n, .free = free_call                  \
	}

extern struct list_head trace_retired_kinds;

/*
 * One of which trace_event_retire() said that it may have records. One too many: all rings are
 * cleared, and all of its kind are freed.
 */
void trace_retired_add(struct trace_retired *r, struct trace_event_call *call);
/* Frees all of all kinds if no ring has a record of anything. */
void trace_retired_settle(void);
