/* The schedules that explore tries: see points.h. */
#include <stdio.h>

#include "tools/trapline/explore/points.h"

void points_text(char text[SCHEDULE_TEXT], const struct schedule *s)
{
	int n = sprintf(text, "sched_points=");

	for (unsigned i = 0; i < s->count; i++) {
		if (i)
			text[n++] = ',';
		n += schedule_print(text + n, &s->point[i]);
	}
}

static void seed_text(char text[SCHEDULE_TEXT], uint64_t seed, const char *span)
{
	snprintf(
	    text, SCHEDULE_TEXT, "sched_seed=%llu sched_span=%s", (unsigned long long)seed, span);
}

/* Without `size` points from the first on. */
static void without(struct schedule *to, const struct schedule *from, unsigned first, unsigned size)
{
	to->count = 0;
	for (unsigned i = 0; i < from->count; i++)
		if (i < first || i >= first + size)
			schedule_add(to, from->point[i]);
}

static void move_longest(struct schedule *s, unsigned way)
{
	struct schedule_point *p = s->point;
	uint32_t by = 1u << (way - 1) / 2;

	for (unsigned i = 1; i < s->count; i++)
		if (s->point[i].amount > p->amount)
			p = &s->point[i];
	if (p->clock == SCHEDULE_U)
		p->step = way % 2 ? p->step - (by < p->step ? by : p->step)
				  : (p->step + by) % (SCHEDULE_STEPS + 1);
	else
		p->at = way % 2 ? p->at - (by < p->at ? by : p->at) : p->at + by;
}

void candidate_points(struct schedule *s, const struct candidate *c, const char *span_text)
{
	struct schedule_span span;
	struct schedule as_it_is;

	schedule_parse_span(&span, span_text);
	schedule_of_seed(&as_it_is, c->seed, &span);
	if (c->moved && as_it_is.count)
		move_longest(&as_it_is, c->moved);
	without(s, &as_it_is, 0, 0); /* in order again */
}

void candidate_text(char text[SCHEDULE_TEXT], const struct candidate *c, const char *span)
{
	struct schedule s;

	if (!c->moved) {
		seed_text(text, c->seed, span);
		return;
	}
	candidate_points(&s, c, span);
	points_text(text, &s);
}

bool points_leave_out(struct schedule *to, const struct schedule *from, unsigned n, unsigned size)
{
	if (n * size >= from->count)
		return false;
	without(to, from, n * size, size);
	return true;
}

bool points_move_one(struct schedule *to, const struct schedule *from, unsigned n, unsigned most)
{
	unsigned which = n % from->count, by = n / from->count;
	bool used[SCHEDULE_POINTS] = {false};
	unsigned longest = 0;

	if (by > 2 * most)
		return false;
	for (unsigned i = 0; i <= which; i++) {
		longest = 0;
		while (used[longest])
			longest++;
		for (unsigned j = longest; j < from->count; j++)
			if (!used[j] && from->point[j].amount > from->point[longest].amount)
				longest = j;
		used[longest] = true;
	}
	struct schedule_point p = from->point[longest];
	int64_t at = (int64_t)p.at + (by & 1 ? -1 : 1) * (int64_t)((by + 1) / 2);
	to->count = 0;
	p.at = at > 0 ? (uint64_t)at : 0;
	schedule_add(to, p);
	return true;
}
