/*
 * Columns of a picture over a stretch of time: how much of each column was busy, and who used most
 * of it. Also rates of events over time whose end is not yet known. Pure.
 */
#pragma once

#include "tools/trapline/lib/util.h"

#define COLUMNS 1160 /* of the picture: units of its drawing, too */
#define PARTIES 16

struct column {
	uint64_t busy; /* time */
	uint64_t most; /* of it, used by `who` */
	uint32_t who;
};

struct columns {
	uint64_t begin, end; /* at least COLUMNS apart */
	struct column column[COLUMNS];
	/*
	 * The users of the last column added to; if there are too many, those with the least share
	 * an entry.
	 */
	unsigned at, parties;
	struct party {
		uint32_t who;
		uint64_t time;
	} party[PARTIES];
};

void columns_begin(struct columns *c, uint64_t begin, uint64_t end);
/* Ignores time outside; counts an empty interval as 1. Calls must be in order of `from`. */
void columns_add(struct columns *c, uint64_t from, uint64_t to, uint32_t who);
/* The column of a time within the stretch, and the begin of a column. */
unsigned columns_of(const struct columns *c, uint64_t time);
uint64_t columns_edge(const struct columns *c, unsigned column);

/*
 * Counts events in bins of equal length from the first time on; bins double in length when time
 * runs past the last.
 */
#define RATE_BINS 16384
struct rate {
	bool any;
	uint64_t first;
	unsigned shift; /* a bin is 1 << shift */
	uint64_t bin[RATE_BINS];
};
void rate_add(struct rate *r, uint64_t time);
