/* Reads a machine's memory repeatedly, and gives new records as a trace. */
#pragma once

#include "tools/trapline/trace/guest.h"

struct live {
	struct guest guest;
	struct trace trace;  /* with the records of the last look */
	struct bytes *pages; /* by CPU */
	uint64_t seen, lost; /* in all */
	bool *came;	     /* by event number: a record has it */
	bool lost_unknown;
};

bool live_open(struct live *l, const char *file, const char *instance);
/* The same for open memory, which it takes over. */
bool live_open_in(
    struct live *l, const char *file, const struct memory *memory, const char *instance);
void live_close(struct live *l);
/*
 * Looks: trace_next(&l->trace) then returns the records since the last look. False: there are none.
 */
bool live_look(struct live *l);
/*
 * Reads formats and names again. Keeps the formats of events that were removed since: the result
 * does not depend on the time of a look.
 */
void live_describe(struct live *l);
