/*
 * Names that a trace brings along: symbols, texts of the kernel and names of tasks, line by line;
 * which fields of a format hold a symbol.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/trace.h"

static struct trace trace;

static int begin(void **state)
{
	(void)state;
	trace = (struct trace){.file = "made"};
	return 0;
}

static int over(void **state)
{
	(void)state;
	trace_close(&trace);
	return 0;
}

/* A text of the kernel counts only with both its quotes: one that is cut off is none. */
static void texts(void **state)
{
	static const char lines[] = "0x10 : \"plain\"\n0x20 : \"a \\\"b\\\" \\\\ \\n\\t\"\n0x30 : "
				    "\"\"\n0x40 : \"cut off\n0x50 : \"cut of";

	(void)state;
	trace_parse_printk(&trace, lines, sizeof(lines) - 1);
	assert_int_equal(trace.printks.count, 3);
	assert_string_equal(trace.printks.name[0].text, "plain");
	assert_string_equal(trace.printks.name[1].text, "a \"b\" \\ \n\t");
	assert_string_equal(trace.printks.name[2].text, "");
}

/* An address has the name of the last symbol before it, which is at most 1 MiB away. */
static void symbols(void **state)
{
	static const char lines[] = "2000 T second\t[module]\n1000 t first\n2000x bad\nzz t bad\n";
	char text[64];

	(void)state;
	trace_parse_symbols(&trace, lines, sizeof(lines) - 1);
	assert_int_equal(trace.symbols.count, 2);
	assert_null(trace_function(&trace, 0xfff));
	assert_string_equal(trace_function(&trace, 0x1000), "first");
	assert_string_equal(trace_function(&trace, 0x1fff), "first");
	assert_string_equal(trace_function(&trace, 0x2000), "second");
	assert_string_equal(trace_function(&trace, 0x102000), "second");
	assert_null(trace_function(&trace, 0x102001));
	assert_true(trace_symbol(&trace, 0x2010, text, sizeof(text)));
	assert_string_equal(text, "second+0x10");
}

/* A task's name may have blanks; the idle task's is always the same; others are unknown. */
static void tasks(void **state)
{
	static const char lines[] = "7 a b \n9 nine\n0 swapper\n-1 last\n12\n";

	(void)state;
	trace_parse_comms(&trace, lines, sizeof(lines) - 1);
	assert_string_equal(trace_comm(&trace, 7), "a b ");
	assert_string_equal(trace_comm(&trace, 9), "nine");
	assert_string_equal(trace_comm(&trace, 8), "<...>");
	assert_string_equal(trace_comm(&trace, 12), "<...>");
	assert_string_equal(trace_comm(&trace, 0), "<idle>");
}

#define FIELD(name, at, size)                                                                      \
	"\tfield:unsigned long " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"

/*
 * A field holds a symbol if the format prints it as one. Its name ends where the argument does:
 * another field's may begin with it.
 */
static void symbol_fields(void **state)
{
	static const struct {
		const char *print;
		bool is[3]; /* of ip, ip_more, half */
	} cases[] = {
	    {"\"%ps\", (void *)REC->ip", {true, false, false}},
	    {"\"%ps %d\", (void *)REC->ip, REC->half", {true, false, false}},
	    {"\"%ps\", (void *)REC->ip_more", {false, true, false}},
	    {"\"%pS\", ((void *)REC->ip_more)", {false, true, false}},
	    {"\"%lx\", (void *)REC->ip", {false, false, false}},
	    {"\"%ps\", (void *)REC->half", {false, false, false}},
	    {"\"%ps\", REC->ip", {false, false, false}},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct event ev;
		int n = snprintf(text, sizeof(text),
		    "name: ev\nID: 7\nformat:\n" FIELD("ip", "8", "8") FIELD("ip_more", "16", "8")
			FIELD("half", "24", "4") "\nprint fmt: %s\n",
		    cases[i].print);

		assert_true(format_parse(&ev, "my", text, n));
		assert_int_equal(ev.fields, 3);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(ev.field[k].is_symbol, cases[i].is[k]);
		format_free(&ev);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)

int names_tests(void)
{
	static const struct CMUnitTest tests[] = {
	    TEST(texts), TEST(symbols), TEST(tasks), TEST(symbol_fields)};

	return unit_group("names", tests, COUNT_OF(tests), NULL, NULL);
}
