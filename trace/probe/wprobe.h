/* Watchpoints as probe events: shared by wprobe.c, which defines them, and wprobe_trigger.c. */
#pragma once

#include "trace/host_watch.h"
#include "trace/probe/probe.h"

#define WPROBE_GROUP "wprobes"

struct wprobe {
	struct trace_probe *probe;
	struct host_watch *watch; /* [L] from trace_key.take() on; NULL: switched off */
	u64 home;		  /* [I] the address in the definition; HOST_WATCH_NOWHERE: none */
	u64 addr;		  /* [A] watched while it is on; HOST_WATCH_NOWHERE: nothing */
	u64 old;		  /* [A] the value after the previous access */
	u8 access, len;
	const char *place; /* [I] as listed */
};

/* The watchpoint of an event; NULL: the event has none. */
struct wprobe *wprobe_of(const struct trace_event_call *call);
struct host_watch_form wprobe_form(struct wprobe *w);
/*
 * Moves the watchpoint to `addr` if it is at `from`; false: it is not. `file` records while the
 * watchpoint has an address. Any context, while the event is live.
 */
bool wprobe_move(struct wprobe *w, struct trace_event_file *file, u64 from, u64 addr);
