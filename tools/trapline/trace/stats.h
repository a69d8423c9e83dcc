/* The statistics of a trace: a text with a part for each CPU, and the ledger behind them. */
#pragma once

#include "tools/trapline/trace/trace.h"

/* Whose value this is: counters of a CPU out of its statistics. 0: not said. */
uint64_t stats_number(const struct trace *t, unsigned cpu, const char *name);
/* The ledger out of the statistics; NULL: there is none. */
const char *stats_ledger(const struct trace *t);
