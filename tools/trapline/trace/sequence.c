/*
 * E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986; see sequence.h. The words: a
 * *path* leads from (x, y), so many items of A and of B gone, to the end of both. A step right
 * leaves out an item of A, a step down one of B, a step along a diagonal takes one of both, which
 * are the same. *Diagonal* k has the points with x - y == k.
 *
 *  1. For d = 0, 1, 2 ...: the furthest point on each diagonal -d..d that a path with d steps right
 *     or down reaches is one step from the furthest of d - 1 on a diagonal beside it, and along the
 *     diagonal as far as there is the same in both.
 *  2. When the end is reached, d is the fewest of differences. When d is as large as the effort
 *     allows, the path that has gone through the most items is taken, and the search begins again
 *     where it ends: each such window goes `effort` items on, or more.
 *  3. The path is found backwards: the furthest points of each d were kept.
 */
#include "tools/trapline/trace/sequence.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE (-1)

struct search {
	const struct sequence *a, *b;
	size_t x0, y0; /* where the window begins: all points are seen from there */
	long width, height;
	long effort;
	long *furthest; /* [d][effort + 1 + k]: x, or NOWHERE; a column to spare at each side */
	struct runs *runs;
	size_t room;
};

static long *at(const struct search *s, long d, long k)
{
	return &s->furthest[d * (2 * s->effort + 3) + s->effort + 1 + k];
}

/* Step 1: where d steps to diagonal k begin to run along it. */
static long enter(const struct search *s, long d, long k, bool *down)
{
	long above = *at(s, d - 1, k + 1), left = *at(s, d - 1, k - 1);

	if (above != NOWHERE && above - k > s->height)
		above = NOWHERE;
	left = left == NOWHERE || left == s->width ? NOWHERE : left + 1;
	*down = above > left;
	return *down ? above : left;
}

static long follow(const struct search *s, long x, long k)
{
	while (
	    x < s->width && x - k < s->height && s->a->item[s->x0 + x] == s->b->item[s->y0 + x - k])
		x++;
	return x;
}

/* All diagonals of a d; true: one of them is the end's, and there. */
static bool extend(struct search *s, long d)
{
	bool down, end = false;

	for (long k = -s->effort - 1; k <= s->effort + 1; k++)
		*at(s, d, k) = NOWHERE;
	for (long k = -d; k <= d; k += d ? 2 : 1) {
		long x = d ? enter(s, d, k, &down) : 0;
		if (x == NOWHERE)
			continue;
		x = follow(s, x, k);
		*at(s, d, k) = x;
		end |= x == s->width && x - k == s->height;
	}
	return end;
}

/* Step 2: the diagonal on which most was gone through. */
static long best(const struct search *s, long d)
{
	long k_best = 0, most = NOWHERE;

	for (long k = -d; k <= d; k += d ? 2 : 1) {
		long x = *at(s, d, k);
		if (x != NOWHERE && 2 * x - k > most) {
			most = 2 * x - k;
			k_best = k;
		}
	}
	return k_best;
}

static void add_run(struct search *s, size_t a, size_t b, size_t length)
{
	if (!length)
		return;
	if (s->runs->count == s->room) {
		s->room = s->room * 2 + 16;
		s->runs->run = xrealloc(s->runs->run, s->room * sizeof(struct run));
	}
	s->runs->run[s->runs->count++] = (struct run){a, b, length};
}

/* Step 3. The runs come last first, and are turned around. */
static void backwards(struct search *s, long d, long k)
{
	size_t first = s->runs->count;
	bool down;

	for (; d >= 0; d--) {
		long x = *at(s, d, k), from = d ? enter(s, d, k, &down) : 0;
		add_run(s, s->x0 + from, s->y0 + from - k, x - from);
		if (d)
			k += down ? 1 : -1;
	}
	for (size_t i = first, j = s->runs->count; i + 1 < j; i++) {
		struct run run = s->runs->run[i];
		s->runs->run[i] = s->runs->run[--j];
		s->runs->run[j] = run;
	}
}

/* False: that was the end. */
static bool window(struct search *s)
{
	long d = 0;
	bool end;

	s->width = s->a->count - s->x0;
	s->height = s->b->count - s->y0;
	while (!(end = extend(s, d)) && d < s->effort)
		d++;
	long k = end ? s->width - s->height : best(s, d), x = *at(s, d, k);
	backwards(s, d, k);
	s->x0 += x;
	s->y0 += x - k;
	return !end;
}

/* Runs that touch, of two windows, are one. */
static void join(struct runs *runs)
{
	size_t kept = 0;

	for (size_t i = 0; i < runs->count; i++) {
		struct run *last = kept ? &runs->run[kept - 1] : NULL, run = runs->run[i];
		if (last && last->a + last->length == run.a && last->b + last->length == run.b)
			last->length += run.length;
		else
			runs->run[kept++] = run;
	}
	runs->count = kept;
}

void sequence_compare(
    struct runs *runs, const struct sequence *a, const struct sequence *b, unsigned effort)
{
	struct search s = {.a = a, .b = b, .effort = effort, .runs = runs};

	*runs = (struct runs){.run = NULL};
	s.furthest = xmalloc((s.effort + 1) * (2 * s.effort + 3) * sizeof(long));
	while (window(&s))
		;
	join(runs);
	free(s.furthest);
}

void runs_free(struct runs *runs)
{
	free(runs->run);
	*runs = (struct runs){.run = NULL};
}
