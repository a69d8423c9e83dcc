/* Runs one seed after another until one fails. The lowest one that fails is the result. */
#pragma once

#include "tools/trapline/explore/points.h"
#include "tools/trapline/explore/runs.h"

struct search_range {
	uint64_t from, count;
	bool alone; /* each seed gets a machine of its own */
	bool quiet; /* do not report how many seeds a second were tried */
};

struct found {
	bool any;
	struct candidate candidate;
	struct run_result result; /* its files are kept; RUN_TROUBLE: a run could not be made */
};

/* False: a signal ended the search. */
bool search_seeds(struct runs *r, const struct search_range *range, struct found *found);
