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
#define SINGLE		  16 /* so many places of a stretch are single instructions */
#define PAIRS		  32 /* after those, two each up to this one */

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

/* A comma and a number. */
static bool schedule_next_number(const char **text, u64 *number)
{
	return *(*text)++ == ',' && schedule_number(text, number);
}

int schedule_parse_span(struct schedule_span *span, const char *text)
{
	u64 length;

	*span = (struct schedule_span){.lengths = 0};
	if (!schedule_number(&text, &span->clock[0]))
		return -EINVAL;
	for (unsigned i = 1; i <= SCHEDULE_CLOCKS; i++)
		if (!schedule_next_number(
			&text, i < SCHEDULE_CLOCKS ? &span->clock[i] : &span->steps))
			return -EINVAL;
	while (*text) {
		if (span->lengths == SCHEDULE_STRETCHES || !schedule_next_number(&text, &length) ||
		    length > SCHEDULE_STEPS)
			return -EINVAL;
		span->length[span->lengths++] = (u32)length;
	}
	return 0;
}

void schedule_trim_span(struct schedule_span *span)
{
	u32 shortest = 0;

	for (unsigned i = 0; i < span->lengths; i++)
		if (span->length[i] && (!shortest || span->length[i] < shortest))
			shortest = span->length[i];
	if (!shortest)
		return;
	for (unsigned i = 0; i < span->lengths; i++)
		span->length[i] = MAX(span->length[i], shortest) - shortest + 1;
	span->steps = MAX(span->steps, (u64)shortest) - shortest + 1;
}

static u64 schedule_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/*
 * The number of places in a stretch of so many instructions. Most stretches are short, and most
 * races are soon after a call: so places are single instructions at first, then two each up to the
 * 32nd, then half of those from 32 to 63, from 64 to 127, and so on.
 */
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

/* How finely a stretch is divided. With turns, more seeds than places would be needed. */
static u32 schedule_single(bool turns)
{
	return turns ? 0 : SINGLE;
}

/* The places of a stretch. With turns its neighbours may come in its place. */
static u64 schedule_places_at(const struct schedule_span *span, u64 stretch, bool turns)
{
	u64 first = stretch - (turns && stretch), last = stretch + turns, longest = 0;

	for (u64 i = first; i <= last && i < span->clock[SCHEDULE_U]; i++)
		longest = MAX(longest, i < span->lengths ? (u64)span->length[i] : span->steps);
	return schedule_places_of(longest, schedule_single(turns));
}

/* The number of places at which a point can be. On the clock u they are those of all stretches. */
static u64 schedule_places(u8 clock, const struct schedule_span *span, bool turns)
{
	u64 places = 0, known = MIN(span->lengths, span->clock[SCHEDULE_U]);

	if (clock != SCHEDULE_U)
		return span->clock[clock];
	for (u64 i = 0; i < known; i++)
		places += schedule_places_at(span, i, turns);
	return places + (span->clock[SCHEDULE_U] - known) *
			    schedule_places_of(span->steps, schedule_single(turns));
}

/* The stretch with that place. Sets *place to its number within the stretch. */
static u64 schedule_stretch(u64 *place, const struct schedule_span *span, bool turns)
{
	u64 longest = schedule_places_of(span->steps, schedule_single(turns));

	for (u64 i = 0; i < span->lengths; i++) {
		u64 here = schedule_places_at(span, i, turns);

		if (*place < here)
			return i;
		*place -= here;
	}
	u64 stretch = span->lengths + *place / longest;
	*place %= longest;
	return stretch;
}

/* Adds a point at that place. The random `by` chooses among the place's instructions. */
static void schedule_put(struct schedule *s, u8 clock, u64 place, u64 by, u8 hold,
    const struct schedule_span *span, bool turns)
{
	struct schedule_point p = {.clock = clock, .amount = clock == SCHEDULE_W ? 1 : hold};

	if (clock != SCHEDULE_U) {
		p.at = place + 1;
	} else {
		p.at = schedule_stretch(&place, span, turns) + 1;
		p.step = schedule_step((u32)place, schedule_single(turns), by);
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
static void schedule_one_point(struct schedule *s, u64 seed, u8 clock, u64 *state,
    const struct schedule_span *span, bool turns)
{
	u64 places = schedule_places(clock, span, turns), by = schedule_random(state);

	if (places)
		schedule_put(s, clock, schedule_spread(schedule_earlier(seed), places), by >> 8,
		    (u8)(HOLD_ALONE + (by >> 40) % (HOLD_ALONE_MOST - HOLD_ALONE + 1)), span,
		    turns);
}

/* Adds 8 to 24 points at random places. */
static void schedule_many_points(
    struct schedule *s, const char likely[17], u64 *state, const struct schedule_span *span)
{
	for (u64 n = 8 + schedule_random(state) % 17; n; n--) {
		u64 by = schedule_random(state), place = schedule_random(state);
		u8 clock = (u8)(strchr(letters, likely[by % 16]) - letters), least = HOLD_LEAST;
		u64 places = schedule_places(clock, span, true);

		if (!places)
			continue;
		if (clock == SCHEDULE_K || clock == SCHEDULE_L)
			least = HOLD_KERNEL_LEAST;
		schedule_put(s, clock, place % places, by >> 8,
		    (u8)(least + (by >> 40) % (u64)(HOLD_MOST - least + 1)), span, true);
	}
}

void schedule_of_seed(struct schedule *s, u64 seed, const struct schedule_span *span)
{
	u64 state = seed;
	char kind = kinds[seed % KINDS];

	s->count = 0;
	if (!seed)
		return;
	switch (kind) {
	case 'A':
		schedule_many_points(s, "uuuuuuuuucccwlkw", &state, span);
		break;
	case 'B':
		schedule_many_points(s, "lllllllkkkkkkccw", &state, span);
		break;
	case 't':
		schedule_take_turns(s, span);
		schedule_one_point(s, seed, SCHEDULE_U, &state, span, true);
		break;
	default:
		schedule_one_point(
		    s, seed, (u8)(strchr(letters, kind) - letters), &state, span, false);
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
