/* The texts of chosen schedules. Pure; see the header. */
#include "kernel/lib/schedule.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define HOLD_LEAST	  12 /* of a seed's points */
#define HOLD_KERNEL_LEAST 16 /* of those in the kernel: others need that long to get there */
#define HOLD_MOST	  26

/*
 * How many points a seed has: a few for what takes several at the right places, many for what takes
 * one between two instructions. Those in the kernel have more places to be at.
 */
static const u8 points_least[2][4] = {{1, 2, 8, 12}, {2, 10, 12, 16}},
		points_most[2][4] = {{2, 7, 16, 24}, {7, 16, 24, 28}};

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

/* A number of at most 19 digits; false: there is none. */
static bool schedule_number(const char **text, u64 *number)
{
	const char *begin = *text;

	*number = 0;
	for (; is_digit(**text) && *text - begin < 20; (*text)++)
		*number = *number * 10 + (u64)(**text - '0');
	return *text > begin && *text - begin < 20;
}

/* A point, and the comma behind it. */
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

/* Two thirds near the beginning, for stretches are short; of the rest as many of each length. */
static u32 schedule_step(u64 r, const struct schedule_span *span)
{
	u64 longest = span->steps < SCHEDULE_STEPS ? span->steps : SCHEDULE_STEPS, below = 64;

	if (r % 3 == 0)
		below = 16;
	if (r % 3 == 2)
		for (u64 n = r / 3 % 20; n && below < longest; n--)
			below *= 2;
	return (u32)(r >> 8) % (u32)below;
}

/*
 * Most points are in ring 3 and at system calls: the latter are where programs meet, and they are
 * few; the former find what happens between two instructions. The points of one seed in three are
 * in the kernel, many of them where it lets go of a lock.
 */
void schedule_of_seed(struct schedule *s, u64 seed, const struct schedule_span *span)
{
	static const char likely_clocks[2][17] = {"uuuuuuuuucccclkw", "lllllllkkkkkkccw"};
	u64 state = seed, some, n;
	bool kernel;

	s->count = 0;
	if (!seed)
		return;
	some = schedule_random(&state);
	kernel = (some >> 16) % 3 == 0;
	n = points_least[kernel][some % 4] +
	    (some >> 8) % (u64)(points_most[kernel][some % 4] - points_least[kernel][some % 4] + 1);
	for (; n; n--) {
		u64 r = schedule_random(&state), at = schedule_random(&state);
		u8 clock = (u8)(strchr(letters, likely_clocks[kernel][r % 16]) - letters);
		bool inside = clock == SCHEDULE_K || clock == SCHEDULE_L;
		u8 least = inside ? HOLD_KERNEL_LEAST : HOLD_LEAST;
		u8 hold = (u8)(least + (r >> 32) % (u64)(HOLD_MOST - least + 1));

		if (!span->clock[clock])
			continue;
		schedule_add(
		    s, (struct schedule_point){at % span->clock[clock] + 1,
			   clock == SCHEDULE_U ? schedule_step(schedule_random(&state), span) : 0,
			   clock, clock == SCHEDULE_W ? 1 : hold});
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
