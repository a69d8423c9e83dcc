/* The schedules that explore tries: a seed's with its longest point moved, parts, single points. */
#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/explore/points.h"

#include <string.h>

#define SPAN "20,30000,40,5,60,600"

static const char *text_of(const struct schedule *s)
{
	static char text[SCHEDULE_TEXT];

	points_text(text, s);
	return text + strlen("sched_points=");
}

/* An unmoved seed stays a seed. Ways take turns: earlier, later, each pair twice as far. */
static void moved(void **state)
{
	struct schedule at, to;
	char text[SCHEDULE_TEXT];

	(void)state;
	candidate_text(text, &(struct candidate){12, 0}, SPAN);
	assert_string_equal(text, "sched_seed=12 sched_span=" SPAN);
	for (uint64_t seed = 1; seed <= 64; seed++) {
		candidate_points(&at, &(struct candidate){seed, 0}, SPAN);
		if (at.count != 1 || at.point[0].clock != SCHEDULE_K)
			continue;
		for (unsigned way = 1; way <= MOVED_WAYS; way++) {
			uint64_t by = 1 << (way - 1) / 2, was = at.point[0].at;
			uint64_t want = way % 2 ? was - (by < was ? by : was) : was + by;

			candidate_points(&to, &(struct candidate){seed, way}, SPAN);
			assert_int_equal(to.count, 1);
			assert_int_equal(to.point[0].at, want);
			assert_int_equal(to.point[0].amount, at.point[0].amount);
			candidate_text(text, &(struct candidate){seed, way}, SPAN);
			assert_string_equal(text + strlen("sched_points="), text_of(&to));
		}
		return;
	}
	fail();
}

/* The seed's points, the first of the longest moved: by instructions in ring 3, else by ticks. */
static void expect_moved(uint64_t seed, unsigned way, bool *ring3)
{
	struct schedule from, want = {.count = 0}, to;
	int64_t by = (way % 2 ? -1 : 1) * (1 << (way - 1) / 2), at;
	unsigned longest = 0;

	candidate_points(&from, &(struct candidate){seed, 0}, SPAN);
	for (unsigned i = 0; i < from.count; i++)
		if (from.point[i].amount > from.point[longest].amount)
			longest = i;
	for (unsigned i = 0; i < from.count; i++) {
		struct schedule_point p = from.point[i];
		bool in_ring3 = p.clock == SCHEDULE_U;
		at = (in_ring3 ? (int64_t)p.step : (int64_t)p.at) + by;
		at = at < 0 ? 0 : at;
		if (i == longest && in_ring3)
			p.step = at;
		else if (i == longest)
			p.at = at;
		*ring3 |= i == longest && in_ring3;
		assert_true(schedule_add(&want, p));
	}
	candidate_points(&to, &(struct candidate){seed, way}, SPAN);
	char text[SCHEDULE_TEXT];
	strcpy(text, text_of(&want));
	assert_string_equal(text_of(&to), text);
}

/* Of many points one is moved, and all are in their order again. */
static void many_moved(void **state)
{
	bool ring3 = false;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++)
		for (unsigned way = 1; way <= MOVED_WAYS; way++)
			expect_moved(seed, way, &ring3);
	assert_true(ring3);
}

static void parts(void **state)
{
	static const char *const pairs[] = {
	    "c3~1,c4~1,c5~1", "c1~1,c2~1,c5~1", "c1~1,c2~1,c3~1,c4~1"};
	struct schedule all, to;

	(void)state;
	assert_int_equal(schedule_parse(&all, "c1~1,c2~1,c3~1,c4~1,c5~1"), 0);
	for (unsigned n = 0; n < COUNT_OF(pairs); n++) {
		assert_true(points_leave_out(&to, &all, n, 2));
		assert_string_equal(text_of(&to), pairs[n]);
	}
	assert_false(points_leave_out(&to, &all, COUNT_OF(pairs), 2));
}

/* Each point where it is, the longest first; then all one tick earlier, one later, and so on. */
static void single(void **state)
{
	static const char *const want[] = {"k9~30", "l5~20", "c1~1", "k8~30", "l4~20", "c0~1",
	    "k10~30", "l6~20", "c2~1", "k7~30", "l3~20", "c0~1", "k11~30", "l7~20", "c3~1"};
	struct schedule all, to;

	(void)state;
	assert_int_equal(schedule_parse(&all, "c1~1,k9~30,l5~20"), 0);
	for (unsigned n = 0; n < COUNT_OF(want); n++) {
		assert_true(points_move_one(&to, &all, n, 2));
		assert_string_equal(text_of(&to), want[n]);
	}
	assert_false(points_move_one(&to, &all, COUNT_OF(want), 2));
}

int points_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(moved), cmocka_unit_test(many_moved),
	    cmocka_unit_test(parts), cmocka_unit_test(single)};

	return unit_group("points", tests, COUNT_OF(tests), NULL, NULL);
}
