/* Chosen schedules as texts, there and back; what is no schedule; the points of seeds. */
#include "kernel/lib/schedule.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

/* The schedule as a text again. */
static const char *text_of(const struct schedule *s)
{
	static char text[SCHEDULE_POINTS * SCHEDULE_POINT_MAX];
	unsigned n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < s->count; i++) {
		if (i)
			text[n++] = ',';
		n += schedule_print(text + n, &s->point[i]);
	}
	return text;
}

/* Points are in the order of their clocks, then times. */
static void schedule_texts(void)
{
	static const struct {
		const char *text, *want;
	} t[] = {
	    {"", ""},
	    {"u12+7~20", "u12+7~20"},
	    {"l7~20,w3~1,k20~9,c14~16,u1+0~12", "u1+0~12,k20~9,c14~16,w3~1,l7~20"},
	    {"c9~1,c10~2,c8~3", "c8~3,c9~1,c10~2"},
	    {"u5+9~1,u5+2~40", "u5+2~40,u5+9~1"},
	    {"k9999999999999999999~0", "k9999999999999999999~0"},
	};
	struct schedule s;

	for (unsigned i = 0; i < ARRAY_SIZE(t); i++) {
		EXPECT_EQ(schedule_parse(&s, t[i].text), 0);
		EXPECT_STR(text_of(&s), t[i].want);
	}
}

static void schedule_refused(void)
{
	static const char *const wrong[] = {"x1~1", "u1~1", "u1+1", "c1", "c1~", "c~1", "c1~41",
	    "c1~1,", ",c1~1", "c1~1 ", "c1+1~1", "u1+16777216~1", "c99999999999999999999~1", "u",
	    "c1~1,,c2~1"};
	static const char *const no_span[] = {"", "1", "1,2,3,4,5", "1,2,,4,5,6", "1,2,3,4,5,6 ",
	    "a,2,3,4,5,6", "1,2,3,4,5,6,", "1,2,3,4,5,6,7,", "1,2,3,4,5,6,7 8",
	    "1,2,3,4,5,6,16777216"};
	struct schedule s;
	struct schedule_span span;
	char many[SCHEDULE_POINTS * 6 + 8] = "";
	char longest[SCHEDULE_SPAN_MAX + 2] = "1,2,3,4,5,6";

	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++)
		EXPECT_EQ(schedule_parse(&s, wrong[i]), -EINVAL);
	for (unsigned i = 0; i < ARRAY_SIZE(no_span); i++)
		EXPECT_EQ(schedule_parse_span(&span, no_span[i]), -EINVAL);
	EXPECT_EQ(schedule_parse_span(&span, "1,2,3,4,5,6"), 0);
	EXPECT(span.clock[SCHEDULE_U] == 1 && span.clock[SCHEDULE_L] == 5 && span.steps == 6);
	EXPECT_EQ(span.lengths, 0);
	EXPECT_EQ(schedule_parse_span(&span, "1,2,3,4,5,6,16777215,0"), 0);
	EXPECT(span.lengths == 2 && span.length[0] == 16777215 && !span.length[1]);
	for (unsigned i = 0; i < SCHEDULE_STRETCHES; i++)
		memcpy(longest + 11 + 2 * i, ",9", 3);
	EXPECT_EQ(schedule_parse_span(&span, longest), 0);
	EXPECT(span.lengths == SCHEDULE_STRETCHES && span.length[SCHEDULE_STRETCHES - 1] == 9);
	memcpy(longest + 11 + 2 * SCHEDULE_STRETCHES, ",9", 3);
	EXPECT_EQ(schedule_parse_span(&span, longest), -EINVAL);
	for (unsigned i = 0; i < SCHEDULE_POINTS; i++)
		memcpy(many + 5 * i, "c1~1,", 5);
	many[5 * SCHEDULE_POINTS - 1] = '\0';
	EXPECT_EQ(schedule_parse(&s, many), 0);
	memcpy(many + 5 * SCHEDULE_POINTS - 1, ",c1~1", 6);
	EXPECT_EQ(schedule_parse(&s, many), -EINVAL);
}

/* The only point that is more than a turn; NULL: there are several, or none. */
static const struct schedule_point *the_long_point(const struct schedule *s)
{
	const struct schedule_point *found = NULL;

	for (unsigned i = 0; i < s->count; i++) {
		if (!s->point[i].amount)
			continue;
		if (found)
			return NULL;
		found = &s->point[i];
	}
	return found;
}

/*
 * A seed is always the same schedule, which lies within the span and can be written down; others
 * are others.
 */
static void schedule_seeds(void)
{
	static const struct schedule_span span = {{50, 20000, 40, 5, 80}, 3000, {0}, 0}, none;
	unsigned clocks[SCHEDULE_CLOCKS] = {0}, few = 0, same = 0;
	struct schedule s, again, before = {.count = 0};

	schedule_of_seed(&s, 0, &span);
	EXPECT_EQ(s.count, 0);
	schedule_of_seed(&s, 7, &none);
	EXPECT_EQ(s.count, 0);
	for (u64 seed = 1; seed <= 1000; seed++) {
		schedule_of_seed(&s, seed, &span);
		schedule_of_seed(&again, seed, &span);
		EXPECT_STR(text_of(&s), text_of(&again));
		EXPECT_EQ(schedule_parse(&again, text_of(&s)), 0);
		EXPECT(again.count == s.count && s.count);
		for (unsigned i = 0; i < s.count; i++) {
			const struct schedule_point *p = &s.point[i];

			clocks[p->clock]++;
			EXPECT(p->at >= 1 && p->at <= span.clock[p->clock]);
			EXPECT(p->step < (p->clock == SCHEDULE_U ? 4096 : 1));
		}
		few += the_long_point(&s) != NULL;
		same += s.count == before.count &&
			!memcmp(s.point, before.point, s.count * sizeof(s.point[0]));
		before = s;
	}
	for (unsigned i = 0; i < SCHEDULE_CLOCKS; i++)
		EXPECT(clocks[i] > 50);
	EXPECT(few > 700);
	EXPECT(same < 10);
}

/*
 * Seeds with one long point leave no place of its clock out: 2,200 seeds try each of the first 16
 * instructions of twenty stretches, each point at a lock and at a system call. The tasks take turns
 * in half of those that have it in ring 3.
 */
static void schedule_alone(void)
{
	static const struct schedule_span span = {{20, 20000, 30, 5, 60}, 600, {0}, 0};
	static bool user[20][16], lock[60], call[30];
	static const u64 from[] = {1, 777, 123456789};
	struct schedule s;

	for (unsigned f = 0; f < ARRAY_SIZE(from); f++) {
		memset(user, 0, sizeof(user));
		memset(lock, 0, sizeof(lock));
		memset(call, 0, sizeof(call));
		unsigned in_turns = 0, in_user = 0;
		for (u64 seed = from[f]; seed < from[f] + 2200; seed++) {
			schedule_of_seed(&s, seed, &span);
			const struct schedule_point *p = the_long_point(&s);
			if (!p)
				continue;
			in_user += p->clock == SCHEDULE_U;
			in_turns += p->clock == SCHEDULE_U && s.count > 1;
			if (p->clock == SCHEDULE_U && p->step < 16)
				user[p->at - 1][p->step] = true;
			if (p->clock == SCHEDULE_L)
				lock[p->at - 1] = true;
			if (p->clock == SCHEDULE_C)
				call[p->at - 1] = true;
		}
		for (unsigned i = 0; i < 20 * 16; i++)
			EXPECT(user[i / 16][i % 16]);
		EXPECT(in_turns > in_user / 3 && in_turns < in_user * 2 / 3);
		for (unsigned i = 0; i < ARRAY_SIZE(lock); i++)
			EXPECT(lock[i]);
		for (unsigned i = 0; i < ARRAY_SIZE(call); i++)
			EXPECT(call[i]);
	}
}

/*
 * Where a stretch's length is known, no seed looks far behind its end. Where tasks take turns, it
 * may be as long as its neighbours. 3,000 seeds try each of the first 16 instructions without
 * turns, and one of each two up to the 32nd both ways.
 */
static void schedule_lengths(void)
{
	static const struct schedule_span span = {
	    {8, 0, 0, 0, 0}, 600, {1, 5, 32, 33, 64, 65, 0}, 7};
	static const unsigned reach[8] = {1, 5, 32, 64, 64, 128, 1, 1024};
	static bool tried[8][32][2];
	struct schedule s;

	memset(tried, 0, sizeof(tried));
	for (u64 seed = 1; seed <= 3000; seed++) {
		schedule_of_seed(&s, seed, &span);
		const struct schedule_point *p = the_long_point(&s);
		if (!p)
			continue;
		EXPECT(p->step < reach[s.count > 1 ? 7 : p->at - 1]);
		if (p->step < 32)
			tried[p->at - 1][p->step][s.count > 1] = true;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(reach); i++)
		for (unsigned step = 0; step < MIN(reach[i], 32u); step++)
			for (unsigned turns = 0; turns < 2; turns++)
				EXPECT(tried[i][step][turns] ||
				       (tried[i][step ^ 1][turns] && (turns || step >= 16)));
}

/* The shortest stretch becomes one instruction; one that is not measured stays the shortest. */
static void schedule_trims(void)
{
	struct schedule_span span = {{4}, 718, {171, 0, 151, 718}, 4}, none = {{0}, 7, {0}, 2};

	schedule_trim_span(&span);
	EXPECT(span.length[0] == 21 && span.length[1] == 1 && span.length[2] == 1);
	EXPECT(span.length[3] == 568 && span.steps == 568 && span.lengths == 4);
	schedule_trim_span(&none);
	EXPECT(!none.length[0] && none.steps == 7);
}

static const struct ktap_case cases[] = {
    {"schedule.texts", schedule_texts},
    {"schedule.refused", schedule_refused},
    {"schedule.seeds", schedule_seeds},
    {"schedule.alone", schedule_alone},
    {"schedule.lengths", schedule_lengths},
    {"schedule.trims", schedule_trims},
    {NULL, NULL},
};
const struct ktap_suite suite_lib_schedule = {cases};
