/* Reduces a schedule that fails to as few points as still make it fail in the same way. */
#pragma once

#include "tools/trapline/explore/search.h"

struct shrunk {
	struct schedule schedule;
	bool is_list; /* `schedule` fails; false: only the seed does, not its points as a list */
	unsigned bad, good; /* numbers of runs; `good` has one point less */
	bool has_good;
	unsigned tried;
	struct run_result result;
};

/* Returns early if a signal comes: runs_interrupted(). */
void shrink(struct runs *r, struct shrunk *s, const struct found *f);
