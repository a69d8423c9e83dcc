/*
 * A stretch of time as columns of a picture: how much of each something took, and who most of it.
 * And how many, where the end is not known. Pure.
 */
#pragma once

#include "tools/trapline/lib/util.h"

#define COLUMNS 1160 /* of the picture: units of its drawing, too */
#define PARTIES 16

struct column {
	uint64_t busy; /* time */
	uint64_t most; /* of it, who's */
	uint32_t who;
};

struct columns {
	uint64_t begin, end; /* at least COLUMNS apart */
	struct column column[COLUMNS];
	/*
	 * Who shares the column that was added to last; where there are more, those with the least
	 * share a place.
	 */
	unsigned at, parties;
	struct party {
		uint32_t who;
		uint64_t time;
	} party[PARTIES];
};

void columns_begin(struct columns *c, uint64_t begin, uint64_t end);
/*
 * What lies outside is left out; what has no length counts as 1. What is added later begins later.
 */
void columns_add(struct columns *c, uint64_t from, uint64_t to, uint32_t who);
/* The column of a time that lies within, and where a column begins. */
unsigned columns_of(const struct columns *c, uint64_t time);
uint64_t columns_edge(const struct columns *c, unsigned column);

/*
 * How many there were in each of some equal stretches, as long as the first time is known: the
 * stretches grow.
 */
#define RATE_BINS 16384
struct rate {
	bool any;
	uint64_t first;
	unsigned shift; /* a bin is 1 << shift */
	uint64_t bin[RATE_BINS];
};
void rate_add(struct rate *r, uint64_t time);
