/* Searches for a seed that fails: see search.h. */
#include <stdlib.h>
#include <time.h>

#include "tools/trapline/explore/search.h"
#include "tools/trapline/lib/output.h"

#define SEEDS_A_MACHINE 100

struct search {
	struct runs *runs;
	const struct search_range *range;
	struct found *found;
	uint64_t next, end;  /* seeds that no machine has tried yet */
	struct seeds *again; /* seeds that a machine gave back untried or in doubt */
	size_t agains;
	uint64_t tried;
	unsigned doubtful; /* seeds that failed after others in one machine, but not alone */
};

static bool take_seeds(struct search *s, struct seeds *seeds)
{
	if (s->agains) {
		*seeds = s->again[--s->agains];
		return true;
	}
	if (s->next == s->end || s->found->any)
		return false;
	bool fast = !s->range->alone;
	uint64_t n = fast ? SEEDS_A_MACHINE : 1, left = s->end - s->next;
	*seeds = (struct seeds){s->next, s->next + (n < left ? n : left) - 1, !fast, !fast, 0};
	s->next = seeds->last + 1;
	return true;
}

static void give_back(struct search *s, struct seeds seeds)
{
	s->again = xrealloc(s->again, (s->agains + 1) * sizeof(*s->again));
	s->again[s->agains++] = seeds;
}

static void start_seeds(struct search *s, struct seeds seeds)
{
	char text[SCHEDULE_TEXT];

	if (!seeds.alone) {
		runs_start_many(s->runs, seeds);
		return;
	}
	candidate_text(text, &(struct candidate){seeds.first, seeds.moved}, s->runs->span);
	runs_start(s->runs, text, seeds);
}

/* Keeps the lowest seed that failed, whichever machine finishes first. */
static void take_found(
    struct search *s, uint64_t seed, unsigned moved, const struct run_result *result)
{
	struct runs *r = s->runs;
	size_t kept = 0;

	if (s->found->any)
		runs_forget(r, s->found->result.number);
	*s->found = (struct found){true, {seed, moved}, *result};
	runs_drop_beyond(r, seed);
	for (size_t i = 0; i < s->agains; i++)
		if (s->again[i].first < seed)
			s->again[kept++] = s->again[i];
	s->agains = kept;
}

/* The result of a seed that had a machine of its own. */
static void take_one(struct search *s, const struct seeds *seeds, const struct run_result *result)
{
	struct seeds again = *seeds;

	s->tried += !seeds->moved;
	if (result->end != RUN_GOOD) {
		take_found(s, seeds->first, seeds->moved, result);
		return;
	}
	runs_forget(s->runs, result->number);
	if (!seeds->moved && seeds->first < seeds->last)
		give_back(s, (struct seeds){seeds->first + 1, seeds->last, seeds->all_alone,
				 seeds->all_alone, 0});
	if (seeds->all_alone)
		return;
	s->doubtful += again.moved++ == MOVED_WAYS;
	if (again.moved <= MOVED_WAYS)
		give_back(s, again);
}

/*
 * The result of a machine that tried many seeds. The seed at which it stopped is to be tried alone;
 * those after it are still untried.
 */
static void take_many(struct search *s, const struct seeds *seeds, struct run_result *result)
{
	bool any = result->end == RUN_LEDGER; /* any of the seeds may have caused it */
	uint64_t from = any ? seeds->first : result->seed;

	if (result->end == RUN_TROUBLE || from < seeds->first || from > seeds->last) {
		result->end = RUN_TROUBLE;
		take_found(s, seeds->first, 0, result);
		return;
	}
	runs_forget(s->runs, result->number);
	s->tried += from - seeds->first;
	if (result->end == RUN_GOOD && !result->status)
		s->tried++;
	else
		give_back(s, (struct seeds){from, seeds->last, true, any, 0});
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* True if a signal ended it. */
static bool try_seeds(struct search *s)
{
	struct runs *r = s->runs;
	struct run_result result;
	struct seeds seeds;

	while (!runs_interrupted()) {
		while (runs_have_room(r) && take_seeds(s, &seeds))
			start_seeds(s, seeds);
		if (!r->busy)
			break;
		struct job job = runs_wait(r, &result);
		if (!job.pid)
			continue;
		if (job.seeds.alone)
			take_one(s, &job.seeds, &result);
		else
			take_many(s, &job.seeds, &result);
		progress("schedules", s->tried, 0);
	}
	return runs_interrupted();
}

bool search_seeds(struct runs *r, const struct search_range *range, struct found *found)
{
	struct search s = {.runs = r,
	    .range = range,
	    .found = found,
	    .next = range->from,
	    .end = range->from + range->count};
	double began = now();
	bool interrupted;

	found->any = false;
	interrupted = try_seeds(&s);
	free(s.again);
	if (interrupted)
		return false;
	if (!range->quiet)
		say("%llu schedules, %.1f a second", (unsigned long long)s.tried,
		    s.tried / (now() - began));
	if (s.doubtful && !range->quiet)
		say("%u failed after others, but not alone", s.doubtful);
	return true;
}
