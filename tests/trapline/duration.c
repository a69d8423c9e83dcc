/* Lengths of time as text, ticks of an axis, bars of a histogram: at every border. */
#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/lib/duration.h"

static void texts(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} want[] = {{0, "0 ns"}, {1, "1 ns"}, {999, "999 ns"}, {1000, "1.00 us"}, {1234, "1.23 us"},
	    {9994, "9.99 us"}, {9996, "10.0 us"}, {99940, "99.9 us"}, {99960, "100 us"},
	    {999499, "999 us"}, {999500, "1.00 ms"}, {50000000, "50.0 ms"}, {999499999, "999 ms"},
	    {1000000000, "1.00 s"}, {123456000000000, "123456 s"}, {~0UL, "18446744074 s"}};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_string_equal(duration_text(buf, want[i].ns, "u"), want[i].text);
}

/* 1, 2, 5, times ten: the least that is not too many. */
static void steps(void **state)
{
	(void)state;
	assert_int_equal(tick_step(0, 10), 1);
	assert_int_equal(tick_step(10, 10), 1);
	assert_int_equal(tick_step(11, 10), 2);
	assert_int_equal(tick_step(20, 10), 2);
	assert_int_equal(tick_step(21, 10), 5);
	assert_int_equal(tick_step(50, 10), 5);
	assert_int_equal(tick_step(51, 10), 10);
	assert_int_equal(tick_step(53400000, 10), 10000000);
	assert_int_equal(tick_step(~0UL, 2), 10000000000000000000UL);
	assert_int_equal(tick_step(~0UL, 10), 2000000000000000000UL);
}

/* Every bar begins where the last one ends, and has its first and its last number. */
static void bars(void **state)
{
	(void)state;
	assert_int_equal(bar_of(0), 0);
	assert_int_equal(bar_of(1), 1);
	assert_int_equal(bar_of(~0UL), BARS - 1);
	for (unsigned i = 0; i < BARS; i++) {
		assert_int_equal(bar_of(bar_begin(i)), i);
		assert_true(!i || bar_begin(i) > bar_begin(i - 1));
		if (i)
			assert_int_equal(bar_of(bar_begin(i) - 1), i - 1);
	}
	assert_int_equal(bar_begin(16), 1000);
	assert_int_equal(bar_begin(17), 1580);
}

int duration_tests(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts), cmocka_unit_test(steps), cmocka_unit_test(bars)};

	return unit_group("duration", tests, COUNT_OF(tests), NULL, NULL);
}
