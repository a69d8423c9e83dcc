/*
 * The lines of `trapline diff` for two small traces, whose difference each case knows, and its exit
 * status.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/trapline/sample.h"
#include "tests/trapline/trapline_unit.h"

#define CLOCK "[mono]"

static void diff(int status, const char *options, const char *a, const char *b)
{
	sample_run(cmd_diff, status, "%s %s %s", options, a, b);
}

/* Compares two traces of two CPUs. The first line, after the files' names, is `first`. */
static void expect_diff(
    int status, const char *options, const char *a, const char *b, const char *first)
{
	const char *one = sample_file("a", CLOCK, 2, a), *two = sample_file("b", CLOCK, 2, b);
	char line[512];

	diff(status, options, one, two);
	snprintf(line, sizeof(line), "%s and %s %s\n", one, two, first);
	sample_expect(line);
}

/* Equal traces are the same, also where options leave something out. */
static void same(void **state)
{
	static const char script[] =
	    "5 1 0 lost 3;1000 0 7 ev 1 2;1500 1 9 other 3;2000 0 0 unknown";
	static const char *const options[] = {"-t", "-v", "-tv"};

	(void)state;
	expect_diff(0, "", script, script, "are the same: 3 events on 2 CPUs");
	sample_expect("  CPU 0   the same: 2 events\n  CPU 1   the same: 1 events\n");
	sample_expect_not("lost events");
	for (size_t i = 0; i < COUNT_OF(options); i++)
		expect_diff(0, options[i], script, script,
		    "are the same in what is compared: 3 events on 2 CPUs");
	expect_diff(
	    0, "-e ev", script, script, "are the same in what is compared: 1 events on 2 CPUs");
	expect_diff(0, "", "", "", "are the same: 0 events on 2 CPUs");
}

/* Each field that has another value is counted by itself; an event counts once. */
static void values(void **state)
{
	static const char
	    a[] = "1000 0 7 ev 1 2;1100 0 7 ev 3 4;1200 0 7 ev -1 5;1300 0 7 ev 9 9",
	    b[] = "1000 0 7 ev 1 3;1100 0 7 ev 4 5;1200 0 7 ev 4294967295 5;1300 0 7 ev "
		  "9 9";

	(void)state;
	expect_diff(1, "", a, b, "differ: values of 3 events");
	sample_expect("values: 3 events that are in both have others\n"
		      "  my:ev y                                                   2\n"
		      "  my:ev x                                                   2\n");
	expect_diff(
	    0, "--ignore-values", a, b, "are the same in what is compared: 4 events on 2 CPUs");
	/* Another task of the same name is the same task, with another number. */
	expect_diff(1, "", "1000 0 7 ev 1", "1000 0 17 ev 1", "differ: values of 1 events");
	sample_expect("  my:ev common_pid                                          1\n");
}

/* A text is another one if its letters are, or if it only begins with the other one. */
static void texts(void **state)
{
	static const char all[] = "1000 0 7 note 0x636261";
	static const char *const others[] = {"1000 0 7 note 0x646261", "1000 0 7 note 0x6261",
	    "1000 0 7 note 0x64636261", "1000 0 7 note 0"};

	(void)state;
	expect_diff(0, "", all, all, "are the same: 1 events on 2 CPUs");
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		expect_diff(1, "", all, others[i], "differ: values of 1 events");
		sample_expect("  my:note text                                              1\n");
	}
}

/* A field that only one of the formats has is another value, whichever of them it is. */
static void values_of_formats(void **state)
{
	(void)state;
	expect_diff(1, "", "1000 0 7 ev 1 2", "1000 0 7 ev2 1 3", "differ: values of 1 events");
	sample_expect("values: 1 events that are in both have others\n"
		      "  my:ev y                                                   1\n"
		      "  my:ev z                                                   1\n");
	sample_expect_not("  my:ev x ");
	sample_expect_not("  my:ev common_type ");
}

/* The least and the largest shift are found wherever they lie; equal times have none. */
static void times(void **state)
{
	static const char
	    a[] = "9000000000 0 7 ev;9000010000 0 7 ev;9000020000 0 7 ev;9000030000 0 7 "
		  "ev;9000040000 0 7 ev",
	    b[] = "9000000005 0 7 ev;9000010000 0 7 ev;9000018500 0 7 ev;9000032000 0 7 "
		  "ev;9000040006 0 7 ev";

	(void)state;
	expect_diff(1, "", a, b, "differ: times of 4 events");
	sample_expect(
	    "times: 4 events that are in both have others, in B by -1.50 us to +2.00 us\n");
	expect_diff(1, "", "1000 0 7 ev", "1100 0 7 ev", "differ: times of 1 events");
	sample_expect("times: 1 events that are in both have others, in B by +100 ns to +100 ns\n");
	expect_diff(0, "-t", a, b, "are the same in what is compared: 5 events on 2 CPUs");
	sample_expect_not("times:");
}

/* Another clock, or number of CPUs, is a difference; the clock only where times count. */
static void machines(void **state)
{
	static const char script[] = "1000 0 7 ev";
	const char *a = sample_file("a", CLOCK, 2, script),
		   *b = sample_file("b", "local [x86-tsc]", 2, script),
		   *c = sample_file("c", CLOCK, 3, script);

	(void)state;
	diff(1, "", a, b);
	sample_expect_first(" differ: the clock");
	diff(0, "-t", a, b);
	diff(1, "-t", a, c);
	sample_expect_first(" differ: 2 CPUs, 3");
	sample_expect("  CPU 2   the same: 0 events\n");
	/* The shift of a clock without a unit is a number, and A's clock counts. */
	a = sample_file("a", "local [x86-tsc]", 2, "1000 0 7 ev;2000 0 7 ev");
	b = sample_file("b", "local [x86-tsc]", 2, "1000 0 7 ev;9000 0 7 ev");
	diff(1, "", a, b);
	sample_expect("times: 1 events that are in both have others, in B by +7000 to +7000\n");
	assert_non_null(
	    strstr(sample_printed, ": 2 events on 2 CPUs in 1000, 0 lost, clock x86-tsc\n"));
	assert_non_null(
	    strstr(sample_printed, ": 2 events on 2 CPUs in 8000, 0 lost, clock x86-tsc\n"));
}

#define ONLY(side, time, event)                                                                    \
	"      " side "            seven-7       [000] .....     0.00000" time ": " event "\n"

/* Of each CPU so many lines are printed as there may be, from either side in their order. */
static void order(void **state)
{
	static const char a[] = "1000 0 7 other 1;1100 0 7 ev 1;1200 0 7 other 2;1300 0 7 other 3",
			  b[] = "1100 0 7 ev 1;1150 0 7 ev 2";
	static const struct {
		const char *options, *lines;
	} cases[] = {
	    {"-n 3", ONLY("-", "1000", "other: x=1") ONLY("-", "1200", "other: x=2") ONLY("-",
			 "1300", "other: x=3") "        and 1 more (-n N shows N of them)\n\n"},
	    {"-n 4", ONLY("-", "1000", "other: x=1") ONLY("-", "1200", "other: x=2") ONLY(
			 "-", "1300", "other: x=3") ONLY("+", "1150", "ev: x=2 y=0") "  CPU 1 "},
	    {"-n 7 -n 1",
		ONLY("-", "1000", "other: x=1") "        and 3 more (-n N shows N of them)\n"},
	    {"-n 0", "        and 4 more (-n N shows N of them)\n"},
	};
	char want[1024];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		expect_diff(1, cases[i].options, a, b,
		    "differ: order of events on 1 of 2 CPUs; counts of 2 of 2 events");
		snprintf(want, sizeof(want),
		    "  CPU 0   1 events the same, 3 only in A, 1 only in B\n%s", cases[i].lines);
		if (i == 0)
			want[strlen(want) - 1] = '\0';
		sample_expect(want);
	}
}

/* Ten lines of a CPU's differences are printed by default. */
static void order_by_default(void **state)
{
	char script[512] = "900 1 7 other";

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		snprintf(script + strlen(script), 32, ";%u 0 7 ev %u", 1000 + i, i);
	expect_diff(1, "", "900 1 7 other", script,
	    "differ: order of events on 1 of 2 CPUs; counts of 1 of 2 events");
	sample_expect(ONLY("+", "1009", "ev: x=9 y=0") "  CPU 1 ");
	strcat(script, ";1010 0 7 ev 10");
	expect_diff(1, "", "900 1 7 other", script,
	    "differ: order of events on 1 of 2 CPUs; counts of 1 of 2 events");
	sample_expect(
	    ONLY("+", "1009", "ev: x=9 y=0") "        and 1 more (-n N shows N of them)\n");
}

/* A CPU that only one trace has is compared with an empty one. */
static void order_of_more_cpus(void **state)
{
	const char *a = sample_file("a", CLOCK, 1, "1000 0 7 ev 1"),
		   *b = sample_file("b", CLOCK, 2, "1000 0 7 ev 1;1000 1 7 ev 1;1100 1 8 other");

	(void)state;
	diff(1, "", a, b);
	sample_expect_first(
	    " differ: 1 CPUs, 2; order of events on 1 of 2 CPUs; counts of 2 of 2 events");
	sample_expect("  CPU 1   0 events the same, 0 only in A, 2 only in B\n");
	diff(1, "", b, a);
	sample_expect_first(
	    " differ: 2 CPUs, 1; order of events on 1 of 2 CPUs; counts of 2 of 2 events");
	sample_expect("  CPU 1   0 events the same, 2 only in A, 0 only in B\n");
}

/* An event as often in both differs if other tasks made it; those of equal counts are left out. */
static void counts(void **state)
{
	(void)state;
	expect_diff(1, "-t", "1000 0 7 ev;1100 0 8 ev;1200 0 9 ev;1300 0 9 other;1400 1 9 other",
	    "1000 0 7 ev;1100 0 7 ev;1200 0 9 ev;1300 0 9 other;1400 1 9 other;1500 1 0 unknown",
	    "differ: order of events on 2 of 2 CPUs; counts of 2 of 3 events");
	sample_expect(
	    "counts                                                    A          B       B - A\n"
	    "  my:ev                                                   3          3          +0\n"
	    "    by seven                                              1          2          +1\n"
	    "    by eight                                              1          0          -1\n"
	    "  unknown event 999                                       0          1          +1\n"
	    "    by <idle>                                             0          1          +1\n");
}

/* Ten wakeups, each of as many times 10 ns as its letter tells from 'a' on. */
static const char *wakeups(const char *tens)
{
	static char script[2][1024];
	static unsigned which;
	char *to = script[which++ % 2];
	size_t n = 0;

	for (unsigned i = 0; tens[i]; i++) {
		unsigned at = 1000 + i * 1000;
		n += snprintf(to + n, sizeof(script[0]) - n,
		    "%s%u 0 7 waking 8;%u 0 7 switch 7 8 1;%u 0 8 switch 8 7 1", i ? ";" : "", at,
		    at + (tens[i] - 'a' + 1) * 10, at + 900);
	}
	return to;
}

/* Each figure alone makes latencies differ; those that lie between figures do not. */
static void latencies(void **state)
{
	static const char all[] = "abcdefghij";
	static const struct {
		const char *other, *want; /* NULL: the same */
	} cases[] = {
	    {"abcdffghij",
		"                                 B         10      60 ns      90 ns     100 ns\n"},
	    {"abcdefghjj",
		"                                 B         10      50 ns     100 ns     100 ns\n"},
	    {"abcdefghik",
		"                                 B         10      50 ns      90 ns     110 ns\n"},
	    {"aacdefhhij", NULL},
	    {"abcdefghi",
		"                                 B          9      50 ns      90 ns      90 ns\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *a = sample_file("a", CLOCK, 1, wakeups(all)),
			   *b = sample_file("b", CLOCK, 1, wakeups(cases[i].other));

		diff(1, "", a, b);
		if (!cases[i].want) {
			sample_expect_not("latencies");
			continue;
		}
		sample_expect_first("; 1 latencies");
		sample_expect("latencies                              number     median      "
			      " 90 %       most\n"
			      "  wakeup until it runs           A         10      50 ns      "
			      "90 ns     100 ns\n");
		sample_expect(cases[i].want);
		diff(i == 4, "-t", a, b);
		sample_expect_not("latencies");
	}
}

/* System calls and interrupts differ by their names, also those that only one of the traces has. */
static void latencies_by_name(void **state)
{
	(void)state;
	expect_diff(1, "",
	    "1000 0 7 in 0;1100 0 7 out 0;1200 0 7 in 1;1300 0 7 out 1;1400 0 7 irq 5;1450 0 7 "
	    "irqend 5",
	    "1000 0 7 in 0;1100 0 7 out 0;1200 0 7 in 2;1300 0 7 out 2;1400 0 7 irq 5;1470 0 7 "
	    "irqend 5",
	    "differ: values of 2 events; times of 1 events; 4 latencies");
	sample_expect(
	    "  write                          A          1     100 ns     100 ns     100 ns\n"
	    "                                 B          0\n"
	    "  open                           A          0\n"
	    "                                 B          1     100 ns     100 ns     100 ns\n");
	sample_expect(
	    "  interrupts                     A          1      50 ns      50 ns      50 ns\n"
	    "                                 B          1      70 ns      70 ns      70 ns\n");
	sample_expect_not("  read ");
	sample_expect_not("  system calls ");
}

/* The name of an event is as long as its format says; its tasks are those of the counts. */
static void long_name(void **state)
{
	(void)state;
	expect_diff(1, "", "1000 0 7 long 1;2000 0 8 long 1", "1000 0 7 long 2;2000 0 9 long 1",
	    "differ: order of events on 1 of 2 CPUs; values of 1 events; counts of 1 of 1 events");
	assert_non_null(strstr(sample_printed, "fghij x          1\n"));
	sample_expect("    by eight                                              1          0 ");
	sample_expect("    by nine                                               0          1 ");
	sample_expect_not("    by seven ");
}

/* Lost events differ by their number, and by whether there may be more; of each CPU by itself. */
static void lost(void **state)
{
	static const char first[] =
	    "lost events                                               A          B\n";

	(void)state;
	expect_diff(1, "", "5 0 7 lost 3;5 1 7 lost 7;1000 0 7 ev;1000 1 7 ev",
	    "5 0 7 lost 3;5 1 7 lost -1;1000 0 7 ev;1000 1 7 ev", "differ: lost events on 1 CPUs");
	sample_expect(first);
	sample_expect_not("  CPU 0                                                   3 ");
	sample_expect("  CPU 1                                                   7        0+?\n");
	assert_non_null(
	    strstr(sample_printed, ": 2 events on 2 CPUs in 0 ns, 10 lost, clock mono\n"));
	assert_non_null(
	    strstr(sample_printed, ": 2 events on 2 CPUs in 0 ns, 3 lost and more, clock mono\n"));
	/* One CPU that lost an unknown number of events makes them differ, whichever CPU it is. */
	expect_diff(1, "", "5 0 7 lost -1;1000 0 7 ev;1000 1 7 ev",
	    "5 0 7 lost -1;5 1 7 lost 2;1000 0 7 ev;1000 1 7 ev", "differ: lost events on 1 CPUs");
	assert_non_null(strstr(sample_printed, " in 0 ns, 0 lost and more, clock mono\n"));
	assert_non_null(strstr(sample_printed, " in 0 ns, 2 lost and more, clock mono\n"));
	expect_diff(1, "", "1000 0 7 ev;1000 1 7 ev",
	    "5 0 7 lost -1;5 1 7 lost 1;1000 0 7 ev;1000 1 7 ev", "differ: lost events on 2 CPUs");
	diff(1, "", sample_file("a", CLOCK, 1, "1000 0 7 ev"),
	    sample_file("b", CLOCK, 2, "5 1 7 lost 4;1000 0 7 ev;1000 1 7 ev"));
	sample_expect("  CPU 1                                                   0          4\n");
}

/* Losses are compared whichever events are. */
static void lost_beside_events(void **state)
{
	(void)state;
	expect_diff(1, "-e ev", "5 0 7 lost 3;1000 0 7 ev;2000 0 7 other",
	    "5 0 7 lost 4;1000 0 7 ev;2000 0 7 other 1", "differ: lost events on 1 CPUs");
	sample_expect("  CPU 0                                                   3          4\n");
}

int diff_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(same), cmocka_unit_test(values),
	    cmocka_unit_test(texts), cmocka_unit_test(values_of_formats), cmocka_unit_test(times),
	    cmocka_unit_test(machines), cmocka_unit_test(order), cmocka_unit_test(order_by_default),
	    cmocka_unit_test(order_of_more_cpus), cmocka_unit_test(counts),
	    cmocka_unit_test(latencies), cmocka_unit_test(latencies_by_name),
	    cmocka_unit_test(long_name), cmocka_unit_test(lost),
	    cmocka_unit_test(lost_beside_events)};

	return unit_group("diff", tests, COUNT_OF(tests), sample_begin, sample_over);
}
