/* Finds a common subsequence of two sequences of numbers, as diff(1) does. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * Up to this many differences the result is minimal; beyond that it is valid, but may not be
 * minimal.
 */
#define SEQUENCE_EFFORT 256

struct sequence {
	const uint32_t *item;
	size_t count;
};

/*
 * Equal items: a.item[a..a+length) and b.item[b..b+length). Items between two runs are in one
 * sequence only.
 */
struct run {
	size_t a, b, length;
};

struct runs {
	struct run *run; /* in order, disjoint */
	size_t count;
};

/* `effort` of at least 1; time grows by (a + b) * effort, memory by its square. */
void sequence_compare(
    struct runs *runs, const struct sequence *a, const struct sequence *b, unsigned effort);
void runs_free(struct runs *runs);
