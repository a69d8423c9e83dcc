/* What two sequences of numbers have in common, in order: as diff(1) finds it. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/* Of so many differences the fewest are found; where there are more, some that are enough. */
#define SEQUENCE_EFFORT 256

struct sequence {
	const uint32_t *item;
	size_t count;
};

/*
 * Items that are the same: a.item[a..a+length) and b.item[b..b+length). What lies between two runs
 * is in one of them only.
 */
struct run {
	size_t a, b, length;
};

struct runs {
	struct run *run; /* in order, apart from each other */
	size_t count;
};

/* `effort` of at least 1; time grows by (a + b) * effort, memory by its square. */
void sequence_compare(
    struct runs *runs, const struct sequence *a, const struct sequence *b, unsigned effort);
void runs_free(struct runs *runs);
