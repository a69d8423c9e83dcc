/* Reduces a schedule that fails to as few points as possible: see shrink.h. */
#include "tools/trapline/explore/shrink.h"

/* Runs that are tried together: the first bad one and the first good one are kept. */
struct round {
	bool any_bad, any_good;
	uint64_t bad, good; /* which part was left out */
	struct run_result bad_run, good_run;
};

static void take_round(
    struct runs *r, struct round *round, uint64_t part, const struct run_result *result, bool bad)
{
	bool *any = bad ? &round->any_bad : &round->any_good;
	uint64_t *which = bad ? &round->bad : &round->good;
	struct run_result *run = bad ? &round->bad_run : &round->good_run;

	if (*any && *which < part) {
		runs_forget(r, result->number);
		return;
	}
	if (*any)
		runs_forget(r, run->number);
	*any = true;
	*which = part;
	*run = *result;
}

/* The schedules of a round: make() builds number n. False: there are no more. */
struct variant {
	bool (*make)(struct schedule *to, const struct schedule *from, unsigned n, unsigned size);
	unsigned size;
};

/* Runs each of the variants, until one is bad. */
static void try_variants(struct runs *r, struct shrunk *s, struct variant v, struct round *round)
{
	unsigned next = 0;
	struct run_result result;
	char text[SCHEDULE_TEXT];
	struct schedule less;

	while (!runs_interrupted()) {
		while (!round->any_bad && runs_have_room(r) &&
		       v.make(&less, &s->schedule, next, v.size)) {
			points_text(text, &less);
			runs_start(r, text, (struct seeds){.first = next});
			next++;
		}
		if (!r->busy)
			break;
		struct job job = runs_wait(r, &result);
		if (!job.pid)
			continue;
		s->tried++;
		if (result.end == s->result.end || result.end == RUN_GOOD)
			take_round(r, round, job.seeds.first, &result, result.end != RUN_GOOD);
		else
			runs_forget(r, result.number);
	}
}

/* One round; false: none of its variants is bad. The first bad one is the schedule from now on. */
static bool take_variant(struct runs *r, struct shrunk *s, struct variant v)
{
	struct round round = {.any_bad = false};
	struct schedule less;

	try_variants(r, s, v, &round);
	if (round.any_good) {
		if (s->has_good)
			runs_forget(r, s->good);
		s->has_good = true;
		s->good = round.good_run.number;
	}
	if (!round.any_bad)
		return false;
	runs_forget(r, s->bad);
	s->bad = round.bad_run.number;
	s->result = round.bad_run;
	v.make(&less, &s->schedule, (unsigned)round.bad, v.size);
	s->schedule = less;
	return true;
}

#define MANY  4	 /* points; most races need fewer */
#define MOVES 16 /* ticks of its clock by which a point alone is moved */

/* Leaves out parts of the schedule as long as the rest fails. */
static void drop_parts(struct runs *r, struct shrunk *s)
{
	for (unsigned size = (s->schedule.count + 1) / 2; size;
	     size = size > 1 ? (size + 1) / 2 : 0)
		while (!runs_interrupted() && s->schedule.count &&
		       take_variant(r, s, (struct variant){points_leave_out, size}))
			;
	if (s->schedule.count >= MANY && !runs_interrupted() &&
	    take_variant(r, s, (struct variant){points_move_one, MOVES}))
		take_variant(
		    r, s, (struct variant){points_leave_out, 1}); /* the nearest good run */
}

void shrink(struct runs *r, struct shrunk *s, const struct found *f)
{
	char text[SCHEDULE_TEXT];

	*s = (struct shrunk){.bad = f->result.number, .result = f->result};
	candidate_points(&s->schedule, &f->candidate, r->span);
	points_text(text, &s->schedule);
	runs_start(r, text, (struct seeds){.first = 0});
	while (!runs_interrupted() && !runs_wait(r, &s->result).pid)
		;
	if (runs_interrupted())
		return;
	s->tried = 1;
	s->is_list = s->result.end == f->result.end;
	if (!s->is_list) {
		runs_forget(r, s->result.number);
		s->result = f->result;
		return;
	}
	runs_forget(r, s->bad);
	s->bad = s->result.number;
	drop_parts(r, s);
}
