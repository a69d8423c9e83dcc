/* The statistics of a trace: a text with a part for each CPU, then the ledger. */
#pragma once

#include "tools/trapline/trace/trace.h"

/* A counter from the statistics of a CPU; 0: the text does not have it. */
uint64_t stats_number(const struct trace *t, unsigned cpu, const char *name);
/* The ledger in the statistics; NULL: there is none. */
const char *stats_ledger(const struct trace *t);
