/* Texts with numbers, numbers for numbers: as they grow. */
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/lib/words.h"

static void numbers(void **state)
{
	struct words w = {.count = 0};
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < 1000; i++)
			assert_int_equal(
			    words_add(&w, text, snprintf(text, sizeof(text), "word %u", i)), i);
	assert_int_equal(w.count, 1000);
	assert_string_equal(w.word[999], "word 999");
	words_free(&w);
}

/* A length is a limit; the empty text is one, too. */
static void lengths(void **state)
{
	struct words w = {.count = 0};

	(void)state;
	assert_int_equal(words_add(&w, "abc", 0), 0);
	assert_int_equal(words_add(&w, "abc", 2), 1);
	assert_int_equal(words_add(&w, "ab\0c", 4), 1);
	assert_int_equal(words_add(&w, "abc", 3), 2);
	assert_string_equal(w.word[0], "");
	assert_string_equal(w.word[1], "ab");
	words_free(&w);
}

static void map_values(void **state)
{
	struct map m = {.slots = 0};

	(void)state;
	assert_int_equal(*map_at(&m, 0), 0);
	for (uint64_t i = 0; i < 1000; i++)
		*map_at(&m, i << 32) = i + 1;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(*map_at(&m, i << 32), i + 1);
	assert_int_equal(*map_at(&m, ~0UL), 0);
	map_clear(&m);
	assert_int_equal(*map_at(&m, 1UL << 32), 0);
	map_clear(&m);
}

int words_tests(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers), cmocka_unit_test(lengths), cmocka_unit_test(map_values)};

	return unit_group("words", tests, COUNT_OF(tests), NULL, NULL);
}
