/* Chosen schedules as texts: parsing and printing. Pure; see the header. */
#include "kernel/lib/schedule.h"
#include "kernel/lib/digits.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

const char schedule_letters[SCHEDULE_CLOCKS + 1] = "ukcwl";

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

	while (clock < SCHEDULE_CLOCKS && schedule_letters[clock] != **text)
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

static char *schedule_digits(char *to, u64 number)
{
	char digits[DIGITS_MAX], *end = digits + sizeof(digits), *p = digits_dec(end, number);

	memcpy(to, p, (size_t)(end - p));
	return to + (end - p);
}

unsigned schedule_print(char text[SCHEDULE_POINT_MAX], const struct schedule_point *p)
{
	char *end = text;

	*end++ = schedule_letters[p->clock];
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
