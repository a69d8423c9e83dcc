/* The meaning of texts of marks. */
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/model/mark.h"

static void expect(const char *text, enum mark_phase phase, const char *name)
{
	struct mark_parts m;

	mark_parse(&m, text, strlen(text));
	assert_int_equal(m.phase, phase);
	assert_int_equal(m.length, strlen(name));
	assert_memory_equal(m.name, name, m.length);
	assert_false(m.innermost);
}

static void words(void **state)
{
	(void)state;
	expect("begin frame 7", MARK_BEGIN, "frame 7");
	expect("end frame 7\n", MARK_END, "frame 7");
	expect("frame 7: start", MARK_BEGIN, "frame 7");
	expect("frame 7: stop\n", MARK_END, "frame 7");
	expect("Begin: x", MARK_BEGIN, "x");
	expect("frame_begin", MARK_BEGIN, "frame");
	expect("frame.END", MARK_END, "frame");
	expect("start", MARK_BEGIN, "");
	expect("end", MARK_END, "");
}

static void camel_case(void **state)
{
	(void)state;
	expect("WorkStart", MARK_BEGIN, "Work");
	expect("WorkStop", MARK_END, "Work");
	expect("Provider:WorkEnd", MARK_END, "Provider:Work");
}

/* Words that only have the letters. */
static void instants(void **state)
{
	static const char *const texts[] = {"hello", "restart", "bend", "beginner", "started well",
	    "the weekend", "WORKSTART", "beginx y", "", "B|12", "Bold", "Ends well"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], MARK_INSTANT, texts[i]);
}

static void systrace(void **state)
{
	struct mark_parts m;

	(void)state;
	expect("B|12|draw it\n", MARK_BEGIN, "draw it");
	expect("B||", MARK_BEGIN, "");
	mark_parse(&m, "E|12\n", 5);
	assert_int_equal(m.phase, MARK_END);
	assert_true(m.innermost);
	mark_parse(&m, "E", 1);
	assert_true(m.innermost);
}

int mark_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(camel_case),
	    cmocka_unit_test(instants), cmocka_unit_test(systrace)};

	return unit_group("mark", tests, COUNT_OF(tests), NULL, NULL);
}
