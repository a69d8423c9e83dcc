/* See columns.h. */
#include "tools/trapline/plot/columns.h"

#include <string.h>

void columns_begin(struct columns *c, uint64_t begin, uint64_t end)
{
	memset(c, 0, sizeof(*c));
	c->begin = begin;
	c->end = end - begin < COLUMNS ? begin + COLUMNS : end;
}

uint64_t columns_edge(const struct columns *c, unsigned column)
{
	return c->begin + (uint64_t)((unsigned __int128)(c->end - c->begin) * column / COLUMNS);
}

unsigned columns_of(const struct columns *c, uint64_t time)
{
	unsigned column = (unsigned __int128)(time - c->begin) * COLUMNS / (c->end - c->begin);

	if (column >= COLUMNS)
		return COLUMNS - 1;
	return column + 1 < COLUMNS && columns_edge(c, column + 1) <= time ? column + 1 : column;
}

static struct party *party_of(struct columns *c, uint32_t who)
{
	struct party *least = c->party;

	for (unsigned i = 0; i < c->parties; i++) {
		if (c->party[i].who == who)
			return &c->party[i];
		if (c->party[i].time < least->time)
			least = &c->party[i];
	}
	if (c->parties < PARTIES) {
		least = &c->party[c->parties++];
		least->time = 0;
	}
	least->who = who;
	return least;
}

static void add_to(struct columns *c, unsigned at, uint64_t time, uint32_t who)
{
	struct column *column = &c->column[at];

	if (at != c->at)
		c->parties = 0;
	c->at = at;
	struct party *party = party_of(c, who);
	party->time += time;
	column->busy += time;
	if (party->time > column->most) {
		column->most = party->time;
		column->who = who;
	}
}

void columns_add(struct columns *c, uint64_t from, uint64_t to, uint32_t who)
{
	if (to <= from)
		to = from + 1;
	if (to <= c->begin || from >= c->end)
		return;
	from = from < c->begin ? c->begin : from;
	for (unsigned at = columns_of(c, from); at < COLUMNS && from < to; at++) {
		uint64_t edge = columns_edge(c, at + 1), stop = edge < to ? edge : to;
		add_to(c, at, stop - from, who);
		from = stop;
	}
}

void rate_add(struct rate *r, uint64_t time)
{
	if (!r->any)
		r->first = time;
	r->any = true;
	if (time < r->first)
		time = r->first;
	while ((time - r->first) >> r->shift >= RATE_BINS) {
		for (unsigned i = 0; i < RATE_BINS / 2; i++)
			r->bin[i] = r->bin[2 * i] + r->bin[2 * i + 1];
		memset(r->bin + RATE_BINS / 2, 0, sizeof(r->bin) / 2);
		r->shift++;
	}
	r->bin[(time - r->first) >> r->shift]++;
}
