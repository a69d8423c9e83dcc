/* The functions that `trapline diff` lists, and its command line: options, statuses, outputs. */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/sample.h"
#include "tests/trapline/trapline_unit.h"

#define CLOCK "[mono]"

static void diff(int status, const char *options, const char *a, const char *b)
{
	sample_run(cmd_diff, status, "%s %s %s", options, a, b);
}

/* main_loop calls read_it twice and write_it; in B one of each more, and end. Times differ too. */
static const char
    few[] = "1000 0 7 call 0x1000 0;1100 0 7 call 0x2000 1;1200 0 7 return 0x2000 1 1100 1200;"
	    "1210 0 7 call 0x2000 1;1220 0 7 return 0x2000 1 1210 1220;"
	    "1300 0 7 call 0x3000 1;1310 0 7 call 0x4000 2;1320 0 7 return 0x4000 2 1310 1320;"
	    "1330 0 7 return 0x3000 1 1300 1330;1400 0 7 return 0x1000 0 1000 1400",
    more[] = "1000 0 7 call 0x1000 0;1100 0 7 call 0x2000 1;1200 0 7 return 0x2000 1 1100 1200;"
	     "1300 0 7 call 0x3000 1;1310 0 7 call 0x4000 2;1320 0 7 return 0x4000 2 1310 1320;"
	     "1330 0 7 return 0x3000 1 1300 1330;"
	     "1340 0 7 call 0x3000 1;1350 0 7 call 0x4000 2;1380 0 7 return 0x4000 2 1350 1380;"
	     "1390 0 7 return 0x3000 1 1340 1390;1500 0 7 return 0x1000 0 1000 1500";

/* Calls and own times: the largest difference first, of equal ones the function that came first. */
static void functions(void **state)
{
	const char *a = sample_file("a", CLOCK, 1, few), *b = sample_file("b", CLOCK, 1, more);

	(void)state;
	diff(1, "", a, b);
	sample_expect_first("; calls of 3 functions; own times of 4 functions");
	sample_expect(
	    "function calls                                            A          B       B - A\n"
	    "  read_it                                                 2          1          -1\n"
	    "  write_it                                                1          2          +1\n"
	    "  end                                                     1          2          "
	    "+1\n\n");
	sample_expect("functions' own time                       A          B      B - A   "
		      "in all A   in all B\n"
		      "  main_loop                          260 ns     320 ns     +60 ns     "
		      "400 ns     500 ns\n"
		      "  end                                 10 ns      40 ns     +30 ns      "
		      "10 ns      40 ns\n"
		      "  write_it                            20 ns      40 ns     +20 ns      "
		      "30 ns      80 ns\n"
		      "  read_it                            110 ns     100 ns     -10 ns     "
		      "110 ns     100 ns\n");
	diff(1, "-t", a, b);
	sample_expect_not("functions' own time");
	sample_expect("function calls ");
}

/* Trees part where a call differs and its caller does not: calls below it are not listed. */
static void ways(void **state)
{
	const char *a = sample_file("a", CLOCK, 1, few), *b = sample_file("b", CLOCK, 1, more);

	(void)state;
	diff(1, "", a, b);
	sample_expect(
	    "where the calls part                                      A          B       B - A\n"
	    "  read_it                                                 2          1          -1\n"
	    "    seven > main_loop > read_it\n"
	    "  write_it                                                1          2          +1\n"
	    "    seven > main_loop > write_it\n\n");
	/* As often, but by another task: each way differs, though no function does. */
	diff(1, "",
	    sample_file("a", CLOCK, 1, "1000 0 7 call 0x4000 0;1100 0 7 return 0x4000 0 1000 1100"),
	    sample_file(
		"b", CLOCK, 1, "1000 0 0 call 0x4000 0;1100 0 0 return 0x4000 0 1000 1100"));
	sample_expect_not("function calls ");
	sample_expect("    seven > end\n");
	sample_expect("    <idle> > end\n");
	/* The largest difference comes first, though the other function was called before. */
	diff(1, "-t", sample_file("a", CLOCK, 1, ""),
	    sample_file("b", CLOCK, 1,
		"1000 0 7 call 0x4000 0;1100 0 7 return 0x4000 0 1000 1100;1110 0 7 call 0x2000 0;"
		"1120 0 7 return 0x2000 0 1110 1120;1130 0 7 call 0x2000 0;1140 0 7 return 0x2000 "
		"0 1130 1140"));
	sample_expect_first("; calls of 2 functions");
	sample_expect(
	    "  read_it                                                 0          2          +2\n"
	    "    seven > read_it\n"
	    "  end                                                     0          1          +1\n"
	    "    seven > end\n");
}

/* Each list ends after so many lines, and names how many are left. */
static void lines(void **state)
{
	const char *a = sample_file("a", CLOCK, 1, few), *b = sample_file("b", CLOCK, 1, more);

	(void)state;
	diff(1, "-n 2", a, b);
	sample_expect(
	    "  write_it                                                1          2          +1\n"
	    "  and 1 more (-n N shows N of them)\n");
	sample_expect("    seven > main_loop > write_it\n\n");
	assert_non_null(
	    strstr(sample_printed, "; calls of 3 functions; own times of 4 functions\n"));
	sample_expect("  end                                 10 ns      40 ns     +30 ns      "
		      "10 ns      40 ns\n"
		      "  and 2 more (-n N shows N of them)\n");
	diff(1, "-n 1", a, b);
	sample_expect("    seven > main_loop > read_it\n  and 1 more (-n N shows N of them)\n");
}

/* Times that the records of returns have are values, but for one who ignores times. */
static void times_in_values(void **state)
{
	const char *a = sample_file(
		       "a", CLOCK, 1, "1000 0 7 call 0x4000 0;1100 0 7 return 0x4000 0 1000 1100"),
		   *b = sample_file(
		       "b", CLOCK, 1, "1001 0 7 call 0x4000 0;1103 0 7 return 0x4000 0 1001 1103");

	(void)state;
	diff(0, "-t", a, b);
	diff(1, "", a, b);
	sample_expect_first(
	    " differ: values of 1 events; times of 2 events; own times of 1 functions");
	sample_expect("  ftrace:funcgraph_exit calltime                            1\n"
		      "  ftrace:funcgraph_exit rettime                             1\n");
}

/* A way that is too long for its line loses its beginning. */
static void long_way(void **state)
{
	char script[2][8192], want[512] = "    ... ";
	size_t n = 0;

	(void)state;
	for (unsigned i = 0; i < 24; i++)
		n += snprintf(script[0] + n, sizeof(script[0]) - n, "%s%u 0 7 call 0x2000 %u",
		    i ? ";" : "", 1000 + i, i);
	for (unsigned i = 24; i-- > 0;)
		n += snprintf(script[0] + n, sizeof(script[0]) - n,
		    ";%u 0 7 return 0x2000 %u %u %u", 2000 - i, i, 1000 + i, 2000 - i);
	snprintf(script[1], sizeof(script[1]), "%s", script[0]);
	char *deepest = strstr(script[1], ";1977 0 7 return");
	memmove(deepest + 64, deepest, strlen(deepest) + 1);
	n = snprintf(deepest, 64, ";1100 0 7 call 0x2000 24;1101 0 7 return 0x2000 24 1100 1101");
	memset(deepest + n, ' ', 64 - n);
	diff(1, "", sample_file("a", CLOCK, 1, script[0]), sample_file("b", CLOCK, 1, script[1]));
	for (unsigned i = 0; i < 18; i++)
		strcat(want, "read_it > ");
	sample_expect(strcat(want, "read_it\n"));
}

/* ---- the command line ---- */

/* Patterns choose events by name, or by system and name; the lists of several options add up. */
static void chosen(void **state)
{
	static const char script[] =
	    "1000 0 7 ev;1100 0 7 other;1200 0 7 waking 8;1300 0 7 unknown";
	static const struct {
		const char *options;
		unsigned events;
	} cases[] = {{"", 4}, {"-e ev", 1}, {"-e my:*", 2}, {"-e my:ev,sched_w*", 2},
	    {"-e sched:ev", 0}, {"-e *", 3}, {"-e ev -e other", 2}, {"-e e?,o?", 1},
	    {"--events=s*:*", 1}, {"-e v", 0}};
	const char *a = sample_file("a", CLOCK, 1, script);
	char want[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		diff(0, cases[i].options, a, a);
		snprintf(want, sizeof(want), ": %u events on 1 CPUs\n", cases[i].events);
		assert_non_null(strstr(sample_printed, want));
	}
}

/* Usage, missing and damaged files are status 2; what is whole of a damaged one is compared. */
static void statuses(void **state)
{
	static const char script[] = "1000 0 7 ev;1100 1 7 other";
	static const char *const wrong[] = {
	    "-n x", "-n 4294967296", "-n -1", "-e ,", "--what", "third", "-n"};
	const char *a = sample_file("a", CLOCK, 2, script), *b = sample_file("b", CLOCK, 2, script);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		diff(2, wrong[i], a, wrong[i][1] == 'n' && !wrong[i][2] ? "" : b);
		assert_string_equal(sample_printed, "");
	}
	diff(2, "", a, "");
	diff(2, "", a, "/nowhere/b");
	diff(2, "", "/nowhere/a", b);
	assert_string_equal(sample_printed, "");
	diff(2, a, a, a);
	diff(0, "-n 4294967295", a, b);
	sample_cut(b, 4096);
	for (unsigned i = 0; i < 2; i++) {
		diff(2, "", i ? a : b, i ? b : a);
		assert_non_null(strstr(sample_printed,
		    " differ: order of events on 1 of 2 CPUs; counts of 1 of 2 events "
		    "(damaged: as far as they are whole)\n"));
	}
	diff(2, "", b, b);
	sample_expect_first(
	    " are the same: 1 events on 2 CPUs (damaged: as far as they are whole)");
}

/* --brief prints the first line alone. */
static void brief(void **state)
{
	(void)state;
	diff(1, "-q", sample_file("a", CLOCK, 1, few), sample_file("b", CLOCK, 1, more));
	assert_ptr_equal(strchr(sample_printed, '\n'), sample_printed + strlen(sample_printed) - 1);
	diff(0, "--brief", sample_file("a", CLOCK, 1, few), sample_file("b", CLOCK, 1, few));
	assert_ptr_equal(strchr(sample_printed, '\n'), sample_printed + strlen(sample_printed) - 1);
}

int diff_calls_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(functions),
	    cmocka_unit_test(ways), cmocka_unit_test(lines), cmocka_unit_test(long_way),
	    cmocka_unit_test(times_in_values), cmocka_unit_test(chosen), cmocka_unit_test(statuses),
	    cmocka_unit_test(brief)};

	return unit_group("diff_calls", tests, COUNT_OF(tests), sample_begin, sample_over);
}
