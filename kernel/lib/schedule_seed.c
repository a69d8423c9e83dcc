/*
 * The points that a seed stands for. Pure; see schedule.h.
 *
 * A *place* is where the long point of a seed can be. On the clocks k, c, w and l each tick is a
 * place. On the clock u a place is one or more neighbouring instructions of a stretch; a random
 * number chooses one of them:
 *
 *     0 1 2 ... 15   16-17 18-19 ... 30-31   32-47 48-63   64-95 96-127   128-191 ...
 *
 * Most stretches are short, and most races are soon after a call: so the first 16 instructions are
 * a place each, then two are, and from the 32nd on half of those up to the next power of two.
 *
 * A schedule with turns has a point at the beginning of each stretch, at which the task yields. Its
 * stretches come in another order, so the length of a stretch is known only to be one of its
 * neighbours': each counts as long as the longest of the three. That makes more places, so each is
 * two instructions or more. Seeds with many points use the same places. struct schedule_ground is
 * this difference; all else is one rule.
 *
 * Seeds of one kind (`kinds`) take the places of their clock in turn: schedule_spread().
 */
#include "kernel/lib/schedule.h"
#include "kernel/lib/string.h"

/* How long a seed's points hold a task: the logarithm of ns. */
#define HOLD_LEAST	  12
#define HOLD_KERNEL_LEAST 16 /* in the kernel: other tasks need that long to get there */
#define HOLD_MOST	  26
#define HOLD_ALONE	  19 /* a seed's only long point */
#define HOLD_ALONE_MOST	  24
#define SINGLE		  16 /* so many places of a stretch are single instructions */
#define PAIRS		  32 /* after those, two each up to this one */

/* Where points can be. */
struct schedule_ground {
	struct schedule_span span;
	u32 single; /* so many places at the beginning of a stretch are single instructions */
};

/* The length of a stretch, counted from 0. */
static u64 schedule_length(const struct schedule_span *span, u64 stretch)
{
	if (stretch >= span->clock[SCHEDULE_U])
		return 0;
	return stretch < span->lengths ? (u64)span->length[stretch] : span->steps;
}

/* Where the point of a seed without turns can be. */
static void schedule_ground_fine(struct schedule_ground *g, const struct schedule_span *span)
{
	g->span = *span;
	g->single = SINGLE;
}

/* With turns, and with many points. */
static void schedule_ground_coarse(struct schedule_ground *g, const struct schedule_span *span)
{
	g->span = *span;
	g->single = 0;
	for (unsigned i = 0; i < span->lengths; i++) {
		u64 longest = MAX(schedule_length(span, i), schedule_length(span, i + 1));

		if (i)
			longest = MAX(longest, schedule_length(span, i - 1));
		g->span.length[i] = (u32)MIN(longest, (u64)SCHEDULE_STEPS);
	}
}

/* The number of places in a stretch of so many instructions. */
static u64 schedule_places_of(u64 length, u64 single)
{
	u64 places = length < single ? length : (single + MIN(length, (u64)PAIRS) + 1) / 2;

	for (u64 n = PAIRS; n < length && n < SCHEDULE_STEPS; n *= 2)
		places += 2;
	return MAX(places, (u64)1);
}

/* An instruction of the place in a stretch; the random `by` chooses. */
static u32 schedule_step(u32 place, u32 single, u64 by)
{
	u32 pairs = (PAIRS - single) / 2;

	if (place < single)
		return place;
	place -= single;
	if (place < pairs)
		return single + 2 * place + (u32)by % 2;
	place -= pairs;
	return ((PAIRS + place % 2 * PAIRS / 2) << place / 2) + (u32)by % (PAIRS / 2 << place / 2);
}

/* The number of places of a clock. On the clock u they are those of all stretches. */
static u64 schedule_places(const struct schedule_ground *g, u8 clock)
{
	u64 places = 0, stretches = g->span.clock[SCHEDULE_U];
	u64 known = MIN(g->span.lengths, stretches);

	if (clock != SCHEDULE_U)
		return g->span.clock[clock];
	for (u64 i = 0; i < known; i++)
		places += schedule_places_of(g->span.length[i], g->single);
	return places + (stretches - known) * schedule_places_of(g->span.steps, g->single);
}

/* The stretch with that place. Sets *place to its number within the stretch. */
static u64 schedule_stretch(const struct schedule_ground *g, u64 *place)
{
	u64 longest = schedule_places_of(g->span.steps, g->single);

	for (u64 i = 0; i < g->span.lengths; i++) {
		u64 here = schedule_places_of(g->span.length[i], g->single);

		if (*place < here)
			return i;
		*place -= here;
	}
	u64 stretch = g->span.lengths + *place / longest;
	*place %= longest;
	return stretch;
}

/* Adds a point at that place. The random `by` chooses among the place's instructions. */
static void schedule_put(
    struct schedule *s, const struct schedule_ground *g, u8 clock, u64 place, u64 by, u8 hold)
{
	struct schedule_point p = {.clock = clock, .amount = clock == SCHEDULE_W ? 1 : hold};

	if (clock != SCHEDULE_U) {
		p.at = place + 1;
	} else {
		p.at = schedule_stretch(g, &place) + 1;
		p.step = schedule_step((u32)place, g->single, by);
	}
	schedule_add(s, p);
}

static u64 schedule_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/*
 * A permutation: n consecutive values of `index` give each number below n once. However many are
 * used, they are spread evenly, because a step is about n divided by the golden ratio.
 */
static u64 schedule_spread(u64 index, u64 n)
{
	u64 step = n * 4181 / 6765, a, b;

	do {
		step++;
		for (a = n, b = step; b;) {
			u64 rest = a % b;
			a = b;
			b = rest;
		}
	} while (a != 1);
	return index % n * step % n;
}

/* Adds points at which a task yields once: one at each of the first stretches. */
static void schedule_take_turns(struct schedule *s, const struct schedule_span *span)
{
	for (u64 at = 1; at <= MIN(span->clock[SCHEDULE_U], SCHEDULE_POINTS - 1ul); at++)
		schedule_add(s, (struct schedule_point){.at = at});
}

/*
 * The kinds of seeds, in turn. Most races need one point, and an earlier second one often spoils
 * it. So most seeds have one long point, on the clock of that letter. Some races need one task in
 * its window while the other has come close to it. So with `t` the tasks also take turns, and the
 * long point is in ring 3. The others have many points, most of them in ring 3 (A) or in the kernel
 * (B).
 */
static const char kinds[] = "utlukutAutkutuBuckutltutultutkut";
#define KINDS (sizeof(kinds) - 1)

/* The number of lower seeds of the same kind. */
static u64 schedule_earlier(u64 seed)
{
	u64 all = 0, before = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		if (kinds[i] != kinds[seed % KINDS])
			continue;
		all++;
		before += i < seed % KINDS;
	}
	return seed / KINDS * all + before;
}

/* Adds the long point of a seed: each place of its clock in turn. */
static void schedule_one_point(
    struct schedule *s, const struct schedule_ground *g, u64 seed, u8 clock)
{
	u64 state = seed, by = schedule_random(&state), places = schedule_places(g, clock);

	if (places)
		schedule_put(s, g, clock, schedule_spread(schedule_earlier(seed), places), by >> 8,
		    (u8)(HOLD_ALONE + (by >> 40) % (HOLD_ALONE_MOST - HOLD_ALONE + 1)));
}

/* Adds 8 to 24 points at random places. Each of the letters is as likely as it is frequent. */
static void schedule_many_points(
    struct schedule *s, const struct schedule_ground *g, u64 seed, const char likely[17])
{
	u64 state = seed;

	for (u64 n = 8 + schedule_random(&state) % 17; n; n--) {
		u64 by = schedule_random(&state), place = schedule_random(&state);
		u8 clock = (u8)(strchr(schedule_letters, likely[by % 16]) - schedule_letters),
		   least = HOLD_LEAST;
		u64 places = schedule_places(g, clock);

		if (!places)
			continue;
		if (clock == SCHEDULE_K || clock == SCHEDULE_L)
			least = HOLD_KERNEL_LEAST;
		schedule_put(s, g, clock, place % places, by >> 8,
		    (u8)(least + (by >> 40) % (u64)(HOLD_MOST - least + 1)));
	}
}

void schedule_of_seed(struct schedule *s, u64 seed, const struct schedule_span *span)
{
	struct schedule_ground g;
	char kind = kinds[seed % KINDS];

	s->count = 0;
	if (!seed)
		return;
	if (strchr("tAB", kind))
		schedule_ground_coarse(&g, span);
	else
		schedule_ground_fine(&g, span);
	switch (kind) {
	case 'A':
		schedule_many_points(s, &g, seed, "uuuuuuuuucccwlkw");
		break;
	case 'B':
		schedule_many_points(s, &g, seed, "lllllllkkkkkkccw");
		break;
	case 't':
		schedule_take_turns(s, span);
		schedule_one_point(s, &g, seed, SCHEDULE_U);
		break;
	default:
		schedule_one_point(
		    s, &g, seed, (u8)(strchr(schedule_letters, kind) - schedule_letters));
	}
}
