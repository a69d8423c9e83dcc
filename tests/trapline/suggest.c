/*
 * tools/trapline/lib/suggest.c and kernel_file.c: names that are like another; which commands a
 * kernel's file tells of.
 */
#include "tests/trapline/trapline_unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/machine/kernel_file.h"
#include "tools/trapline/lib/suggest.h"

static const char events[] =
    "sched:sched_switch\nsched:sched_wakeup\nirq:irq_handler_entry\nkmem:kfree";

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned want;
	} rows[] = {{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "abd", 1},
	    {"abc", "ab", 1}, {"abc", "xabc", 1}, {"abc", "acb", 1}, {"kitten", "sitting", 3},
	    {"ab", "ba", 1}, {"ab", "bc", 2}};
	char huge[200];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(suggest_distance(rows[i].a, rows[i].b), rows[i].want);
		assert_int_equal(suggest_distance(rows[i].b, rows[i].a), rows[i].want);
	}
	for (size_t n = 127; n <= 129; n++) {
		memset(huge, 'x', n);
		huge[n] = '\0';
		assert_int_equal(suggest_distance(huge, huge), n <= 128 ? 0 : 128);
		assert_int_equal(suggest_distance("x", huge), n <= 128 ? n - 1 : 128);
	}
}

static void expect_like(const char *word, const char *want)
{
	char *like = suggest(events, word);

	if (want)
		assert_string_equal(like, want);
	else
		assert_null(like);
	free(like);
}

static void likest(void **state)
{
	(void)state;
	char *like = suggest("a:foox\na:fooy\n", "fooz"); /* of two that are, the first */
	assert_string_equal(like, "foox");
	free(like);
	expect_like("sched_swich", "sched_switch");
	expect_like("!sched_swich", "sched_switch");
	expect_like("sched:sched_wakup", "sched:sched_wakeup");
	expect_like("shced", "sched");
	expect_like("kfre", "kfree");
	expect_like("zzzzzz", NULL);
	expect_like("sched_swi*", NULL);
	expect_like("", NULL);
	assert_true(suggest_has(events, "sched") && suggest_has(events, "kfree"));
	assert_true(suggest_has(events, "irq:irq_*") && suggest_has(events, "!kmem:"));
	assert_true(suggest_has(events, "all") && suggest_has(events, ":kfree"));
	assert_false(suggest_has(events, "irq:sched_switch") || suggest_has(events, ""));
	assert_false(suggest_has("", "sched"));
}

static void kernel_tells(void **state)
{
	struct bytes kernel = {.data = NULL};

	(void)state;
	assert_true(kernel_has_program((const uint8_t *)"ELF", 3, "nosuch")); /* it does not tell */
	archive_put(&kernel, "/bin/hello", S_IFREG | 0755, "x", 1);
	archive_put(&kernel, "/etc/motd", S_IFREG | 0644, "x", 1);
	assert_true(kernel_has_program(kernel.data, kernel.size, "hello"));
	assert_true(kernel_has_program(kernel.data, kernel.size, "/etc/motd"));
	assert_false(kernel_has_program(kernel.data, kernel.size, "ca"));
	assert_false(kernel_has_program(kernel.data, kernel.size, "motd"));
	assert_false(kernel_has_program(kernel.data, kernel.size, "/bin/hell"));
	assert_false(archive_has(kernel.data, kernel.size, "/hello"));
	for (size_t cut = 0; cut < kernel.size; cut++) /* whatever is missing */
		kernel_has_program(kernel.data, cut, "/etc/motd");
	bytes_free(&kernel);
}

int suggest_tests(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(distances), cmocka_unit_test(likest), cmocka_unit_test(kernel_tells)};

	return unit_group("suggest", tests, COUNT_OF(tests), NULL, NULL);
}
