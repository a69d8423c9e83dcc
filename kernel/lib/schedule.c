/* Chosen schedules: parsing, printing, and those that a seed stands for. Pure; see the header. */
#include "kernel/lib/schedule.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* How long a seed's points hold a task: the logarithm of ns. */
#define HOLD_LEAST	  12
#define HOLD_KERNEL_LEAST 16 /* in the kernel: other tasks need that long to get there */
#define HOLD_MOST	  26
#define HOLD_ALONE	  19 /* a seed's only long point */
#define HOLD_ALONE_MOST	  24
#define NEAR		  32 /* each of the first 32 instructions of a stretch is a place */

static const char letters[SCHEDULE_CLOCKS + 1] = "ukcwl";

static bool schedule_before(const struct schedule_point *a, const struct schedule_point *b)
{
	if (a->clock != b->clock)
		return a->clock < b->clock;
	return a->at != b->at ? a->at < b->at : a->step < b->step;
}

bool schedule_add(struct schedule *s, struct schedule_point p)
{
	struct schedule_point *at = s->point + s->count;

	if (s->count == SCHEDULE_POINTS)
		return false;
	for (; at > s->point && schedule_before(&p, at - 1); at--)
		*at = at[-1];
	*at = p;
	s->count++;
	return true;
}

/* Parses a number of at most 19 digits and advances *text; false: there is none. */
static bool schedule_number(const char **text, u64 *number)
{
	const char *begin = *text;

	*number = 0;
	for (; is_digit(**text) && *text - begin < 20; (*text)++)
		*number = *number * 10 + (u64)(**text - '0');
	return *text > begin && *text - begin < 20;
}

/* Parses a point and the comma after it. */
static int schedule_parse_point(struct schedule_point *p, const char **text)
{
	u64 at, step = 0, amount;
	u8 clock = 0;

	while (clock < SCHEDULE_CLOCKS && letters[clock] != **text)
		clock++;
	if (clock == SCHEDULE_CLOCKS)
		return -EINVAL;
	++*text;
	if (!schedule_number(text, &at))
		return -EINVAL;
	if (clock == SCHEDULE_U && (*(*text)++ != '+' || !schedule_number(text, &step)))
		return -EINVAL;
	if (*(*text)++ != '~' || !schedule_number(text, &amount) || amount > SCHEDULE_LONGEST ||
	    step > SCHEDULE_STEPS)
		return -EINVAL;
	if (**text == ',' ? !(*text)[1] : **text)
		return -EINVAL;
	*text += **text == ',';
	*p = (struct schedule_point){at, (u32)step, clock, (u8)amount};
	return 0;
}

int schedule_parse(struct schedule *s, const char *text)
{
	struct schedule_point p;

	s->count = 0;
	while (*text)
		if (schedule_parse_point(&p, &text) || !schedule_add(s, p))
			return -EINVAL;
	return 0;
}

int schedule_parse_span(struct schedule_span *span, const char *text)
{
	for (unsigned i = 0; i <= SCHEDULE_CLOCKS; i++) {
		if (i && *text++ != ',')
			return -EINVAL;
		if (!schedule_number(&text, i < SCHEDULE_CLOCKS ? &span->clock[i] : &span->steps))
			return -EINVAL;
	}
	return *text ? -EINVAL : 0;
}

static u64 schedule_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/*
 * The number of places at which a point can be. On the clock u, a place is one of the first 32
 * instructions of a stretch, or half of those from 32 to 63, from 64 to 127, and so on: most
 * stretches are short, and most races are soon after a call.
 */
static u64 schedule_places(u8 clock, const struct schedule_span *span)
{
	u64 longest = span->steps < SCHEDULE_STEPS ? span->steps : SCHEDULE_STEPS, places = NEAR;

	if (clock != SCHEDULE_U)
		return span->clock[clock];
	for (u64 n = NEAR; n < longest; n *= 2)
		places += 2;
	return span->clock[SCHEDULE_U] * places;
}

/* Adds a point at that place. The random `by` chooses among the place's instructions. */
static void schedule_put(
    struct schedule *s, u8 clock, u64 place, u64 by, u8 hold, const struct schedule_span *span)
{
	struct schedule_point p = {.clock = clock, .amount = clock == SCHEDULE_W ? 1 : hold};
	u64 stretches = clock == SCHEDULE_U ? span->clock[SCHEDULE_U] : 0;

	p.at = (stretches ? place % stretches : place) + 1;
	if (stretches)
		p.step = (u32)(place / stretches);
	if (p.step >= NEAR) {
		u32 half = p.step % 2, more = (p.step - NEAR) / 2;
		p.step = ((NEAR + half * NEAR / 2) << more) + (u32)by % (NEAR / 2 << more);
	}
	schedule_add(s, p);
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

/*
 * In two seeds of three, adds points at which a task yields once, in a quarter or half of the
 * stretches: some races need one task in its window while the other has come close to it.
 */
static void schedule_take_turns(
    struct schedule *s, u64 some, u64 *state, const struct schedule_span *span)
{
	u64 stretches = span->clock[SCHEDULE_U], n = some % 3 ? stretches >> some % 3 : 0;

	for (n = MIN(n, SCHEDULE_POINTS - 1ul); n; n--)
		schedule_put(s, SCHEDULE_U, schedule_random(state) % stretches, 0, 0, span);
}

/*
 * The kinds of seeds, in turn. Most races need one point, and an earlier second one often spoils
 * it. So most seeds have one long point, on the clock of that letter. The others have few points
 * (A, B) or many (C, D), most of them in ring 3 (A, C) or in the kernel (B, D).
 */
static const char turns[] = "uuluuAuukuuBuuluuCuukuuAuuluuckD";
#define TURNS (sizeof(turns) - 1)

/* The number of lower seeds of the same kind. */
static u64 schedule_earlier(u64 seed)
{
	u64 all = 0, before = 0;

	for (unsigned i = 0; i < TURNS; i++) {
		if (turns[i] != turns[seed % TURNS])
			continue;
		all++;
		before += i < seed % TURNS;
	}
	return seed / TURNS * all + before;
}

void schedule_of_seed(struct schedule *s, u64 seed, const struct schedule_span *span)
{
	static const char likely_clocks[2][17] = {"uuuuuuuuucccwlkw", "lllllllkkkkkkccw"};
	char turn = turns[seed % TURNS];
	const char *alone = strchr(letters, turn), *likely = likely_clocks[turn % 2 == 0];
	u64 state = seed, some = schedule_random(&state);
	u64 n = alone ? 1 : turn < 'C' ? 2 + some % 4 : 8 + some % 17;

	s->count = 0;
	if (!seed)
		return;
	if (turn == 'u')
		schedule_take_turns(s, some >> 8, &state, span);
	for (; n; n--) {
		u64 by = schedule_random(&state), place = schedule_random(&state);
		const char *letter = alone ? alone : strchr(letters, likely[by % 16]);
		u8 clock = (u8)(letter - letters), least = HOLD_LEAST;
		u64 places = schedule_places(clock, span);

		if (!places)
			continue;
		if (alone)
			least = HOLD_ALONE;
		else if (clock == SCHEDULE_K || clock == SCHEDULE_L)
			least = HOLD_KERNEL_LEAST;
		place = alone ? schedule_spread(schedule_earlier(seed), places) : place % places;
		schedule_put(s, clock, place, by >> 8,
		    (u8)(least +
			 (by >> 40) % (u64)((alone ? HOLD_ALONE_MOST : HOLD_MOST) - least + 1)),
		    span);
	}
}

static char *schedule_digits(char *to, u64 number)
{
	char digits[DIGITS_MAX], *end = digits + sizeof(digits), *p = digits_dec(end, number);

	memcpy(to, p, (size_t)(end - p));
	return to + (end - p);
}

unsigned schedule_print(char text[SCHEDULE_POINT_MAX], const struct schedule_point *p)
{
	char *end = text;

	*end++ = letters[p->clock];
	end = schedule_digits(end, p->at);
	if (p->clock == SCHEDULE_U) {
		*end++ = '+';
		end = schedule_digits(end, p->step);
	}
	*end++ = '~';
	end = schedule_digits(end, p->amount);
	*end = '\0';
	return (unsigned)(end - text);
}
