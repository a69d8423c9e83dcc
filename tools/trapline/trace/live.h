/* Records out of a machine's memory as a trace: what there is new, looked at again and again. */
#pragma once

#include "tools/trapline/trace/guest.h"

struct live {
	struct guest guest;
	struct trace trace;  /* its records: those of the last look */
	struct bytes *pages; /* by CPU */
	uint64_t seen, lost; /* in all */
	bool *came;	     /* by number of event: it is in a record */
	bool lost_unknown;
};

bool live_open(struct live *l, const char *file, const char *instance);
/* The same of memory that is open, which is its own from now on. */
bool live_open_in(
    struct live *l, const char *file, const struct memory *memory, const char *instance);
void live_close(struct live *l);
/* Looks: trace_next(&l->trace) then gives what came since. False: nothing did. */
bool live_look(struct live *l);
/*
 * Reads formats and names again. Keeps the formats of events that came and have gone since: the
 * result does not depend on the time of a look.
 */
void live_describe(struct live *l);
