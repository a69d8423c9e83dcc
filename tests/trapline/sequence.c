/*
 * Sequences compared: beside the plain way, which tries everything; and what is found must be true
 * in any case.
 */
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tests/unit/prng.h"
#include "tools/trapline/trace/sequence.h"

#define MOST 40

/* How much they have in common: the table of all beginnings. */
static size_t common(const struct sequence *a, const struct sequence *b)
{
	static size_t best[MOST + 1][MOST + 1];

	for (size_t i = 1; i <= a->count; i++)
		for (size_t k = 1; k <= b->count; k++) {
			size_t left = best[i - 1][k], up = best[i][k - 1];
			best[i][k] = left > up ? left : up;
			if (a->item[i - 1] == b->item[k - 1] && best[i][k] <= best[i - 1][k - 1])
				best[i][k] = best[i - 1][k - 1] + 1;
		}
	return a->count && b->count ? best[a->count][b->count] : 0;
}

/* Runs are the same in both, in order and apart; returns what is in them. */
static size_t check(const struct sequence *a, const struct sequence *b, const struct runs *runs)
{
	size_t at_a = 0, at_b = 0, sum = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->run[i];
		assert_true(run->length && run->a >= at_a && run->b >= at_b);
		assert_true(!i || run->a > at_a || run->b > at_b);
		assert_true(run->a + run->length <= a->count && run->b + run->length <= b->count);
		assert_true(
		    !memcmp(a->item + run->a, b->item + run->b, run->length * sizeof(uint32_t)));
		at_a = run->a + run->length;
		at_b = run->b + run->length;
		sum += run->length;
	}
	return sum;
}

static size_t compared(const uint32_t *a, size_t n, const uint32_t *b, size_t m, unsigned effort)
{
	struct sequence x = {a, n}, y = {b, m};
	struct runs runs;

	sequence_compare(&runs, &x, &y, effort);
	size_t sum = check(&x, &y, &runs);
	runs_free(&runs);
	return sum;
}

static void small_ones(void **state)
{
	static const uint32_t abc[] = {1, 2, 3}, other[] = {7, 8, 9}, more[] = {0, 1, 2, 5, 3, 4};

	(void)state;
	assert_int_equal(compared(NULL, 0, NULL, 0, 1), 0);
	assert_int_equal(compared(abc, 3, NULL, 0, 2), 0);
	assert_int_equal(compared(abc, 3, abc, 0, 1), 0);
	assert_int_equal(compared(abc, 0, abc, 3, 256), 0);
	assert_int_equal(compared(abc, 3, abc, 3, 1), 3);
	assert_int_equal(compared(abc, 3, other, 3, 256), 0);
	assert_int_equal(compared(abc, 3, other, 3, 1), 0);
	assert_int_equal(compared(abc, 3, more, 6, 3), 3);
	assert_int_equal(compared(more, 6, abc, 3, 256), 3);
}

static size_t fill(uint64_t *random, uint32_t *item, unsigned kinds)
{
	size_t n = prng_next(random) % (MOST + 1);

	for (size_t i = 0; i < n; i++)
		item[i] = prng_next(random) % kinds;
	return n;
}

/* With the effort that it takes: the most that can be found. With less: what is found is true. */
static void random_ones(void **state)
{
	uint64_t random = 20261121;
	uint32_t a[MOST], b[MOST];

	(void)state;
	print_message("seed %llu\n", (unsigned long long)random);
	for (int i = 0; i < 3000; i++) {
		unsigned kinds = 1 + prng_next(&random) % 6;
		struct sequence x = {a, fill(&random, a, kinds)}, y = {b, fill(&random, b, kinds)};
		size_t most = common(&x, &y), differences = x.count + y.count - 2 * most;

		assert_int_equal(compared(a, x.count, b, y.count, 2 * MOST), most);
		assert_int_equal(
		    compared(a, x.count, b, y.count, differences ? differences : 1), most);
		for (unsigned effort = 1; effort < 6; effort++)
			assert_true(compared(a, x.count, b, y.count, effort) <= most);
	}
}

/* Large ones that have nothing in common, and such with a few differences. */
static void large_ones(void **state)
{
	enum { N = 100000 };
	static uint32_t a[N], b[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		a[i] = i;
		b[i] = N + i;
	}
	assert_int_equal(compared(a, N, b, N, SEQUENCE_EFFORT), 0);
	memcpy(b, a, sizeof(b));
	for (uint32_t i = 500; i < N; i += 1000)
		b[i] = N;
	assert_int_equal(compared(a, N, b, N, SEQUENCE_EFFORT), N - N / 1000);
}

int sequence_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(small_ones),
	    cmocka_unit_test(random_ones), cmocka_unit_test(large_ones)};

	return unit_group("sequence", tests, COUNT_OF(tests), NULL, NULL);
}
