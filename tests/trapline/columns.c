/*
 * Time as columns, and how many there were of something: what is put in comes out, wherever the
 * borders lie.
 */
#include "tests/trapline/trapline_unit.h"
#include "tests/unit/prng.h"
#include "tools/trapline/plot/columns.h"

static struct columns columns;

static uint64_t busy(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		sum += columns.column[i].busy;
	return sum;
}

/* Every time lies in the column whose edges are around it. */
static void edges(void **state)
{
	static const uint64_t ranges[] = {
	    0, 1, COLUMNS - 1, COLUMNS, COLUMNS + 1, 123456789, 1UL << 63};

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		columns_begin(&columns, 1000, 1000 + ranges[i]);
		assert_true(columns.end - columns.begin >= COLUMNS);
		assert_int_equal(columns_edge(&columns, 0), columns.begin);
		assert_int_equal(columns_edge(&columns, COLUMNS), columns.end);
		for (unsigned c = 0; c < COLUMNS; c++) {
			uint64_t from = columns_edge(&columns, c),
				 to = columns_edge(&columns, c + 1);
			assert_true(from < to);
			assert_int_equal(columns_of(&columns, from), c);
			assert_int_equal(columns_of(&columns, to - 1), c);
		}
	}
}

/* Nothing is counted twice, nothing is lost; what lies outside is. */
static void sums(void **state)
{
	uint64_t random = 7, want = 0, at = 500;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)random);
	columns_begin(&columns, 1000, 901000);
	while (at < 950000) {
		uint64_t from = at + prng_next(&random) % 300,
			 to = from + 1 + prng_next(&random) % 5000;
		columns_add(&columns, from, to, 1);
		uint64_t low = from < 1000 ? 1000 : from, high = to > 901000 ? 901000 : to;
		want += high > low ? high - low : 0;
		at = to;
	}
	assert_int_equal(busy(), want);
	columns_begin(&columns, 1000, 901000);
	columns_add(&columns, 5, 5, 1);
	columns_add(&columns, 2000, 2000, 1);
	columns_add(&columns, 901000, 901000, 1);
	assert_int_equal(busy(), 1);
}

/* A column is whose most of it is, also among more than can be told apart. */
static void who(void **state)
{
	uint64_t at = 0;

	(void)state;
	columns_begin(&columns, 0, 1000 * COLUMNS);
	columns_add(&columns, 0, 300, 1);
	columns_add(&columns, 300, 550, 2);
	columns_add(&columns, 550, 700, 1);
	columns_add(&columns, 700, 1900, 3);
	assert_int_equal(columns.column[0].who, 1);
	assert_int_equal(columns.column[0].most, 450);
	assert_int_equal(columns.column[1].who, 3);
	assert_int_equal(columns.column[1].most, 900);
	columns_begin(&columns, 0, 1000 * COLUMNS);
	for (uint32_t i = 0; i < 4 * PARTIES; i++, at += 12) {
		columns_add(&columns, at, at + 8, 99);
		columns_add(&columns, at + 8, at + 9, i);
	}
	assert_int_equal(columns.column[0].who, 99);
}

/* The bins grow, and keep what they have. */
static void rates(void **state)
{
	static struct rate r;
	uint64_t sum = 0;

	(void)state;
	rate_add(&r, 1UL << 40);
	rate_add(&r, (1UL << 40) + RATE_BINS - 1);
	assert_int_equal(r.shift, 0);
	rate_add(&r, (1UL << 40) + RATE_BINS);
	assert_int_equal(r.shift, 1);
	assert_int_equal(r.bin[RATE_BINS / 2 - 1], 1);
	assert_int_equal(r.bin[RATE_BINS / 2], 1);
	rate_add(&r, ~0UL);
	rate_add(&r, 0); /* before the first: no trace has it, but a broken one */
	for (unsigned i = 0; i < RATE_BINS; i++)
		sum += r.bin[i];
	assert_int_equal(sum, 5);
	assert_int_equal(r.bin[0], 4);
}

int columns_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(edges), cmocka_unit_test(sums),
	    cmocka_unit_test(who), cmocka_unit_test(rates)};

	return unit_group("columns", tests, COUNT_OF(tests), NULL, NULL);
}
