/*
 * The lines of `trapline explain` for one small trace and for two, its JSON, and what it refuses.
 */
#include <string.h>

#include "tests/trapline/sample.h"
#include "tests/trapline/trapline_unit.h"

#define CLOCK "[mono]"

/* One CPU, for 10 us: task 7 runs, reads until 8 wakes it, and runs again. */
static const char usual[] =
    "1000 0 7 ev;2000 0 7 in 0;3000 0 7 switch 7 8 1;6000 0 8 waking 7;7000 0 8 switch 8 7 1;8000 "
    "0 7 out 0;11000 0 7 ev";
/* The same, but 8 takes 3 us longer and 7 itself less. */
static const char longer[] =
    "1000 0 7 ev;2000 0 7 in 0;3000 0 7 switch 7 8 1;9000 0 8 waking 7;9500 0 8 switch 8 7 1;10000 "
    "0 7 out 0;11500 0 7 ev";

static void explain(int status, const char *options, const char *script)
{
	sample_run(cmd_explain, status, "%s %s", options, sample_file("a", CLOCK, 2, script));
}

/* The parts of a span, the largest first, add up to it; so do their kinds. */
static void parts(void **state)
{
	(void)state;
	explain(0, "-t seven", usual);
	sample_expect_first(": of 10.0 us of seven-7, from 0.000001000 to 0.000011000, 4.00 us (40 "
			    "%): seven-7 ran in its own code");
	sample_expect(
	    "       0.009000 ms   90.0 %      5  running\n"
	    "       0.001000 ms   10.0 %      1  runnable without a CPU\n\n"
	    "       0.004000 ms   40.0 %      2  seven-7 ran in its own code\n"
	    "       0.003000 ms   30.0 %      1  eight-8 ran in its own code while seven-7 "
	    "waited for it in read\n"
	    "       0.002000 ms   20.0 %      2  seven-7 ran in read\n"
	    "       0.001000 ms   10.0 %      1  seven-7 could run, but eight-8 had the CPU\n"
	    "       0.010000 ms  100.0 %         the span\n");
}

/* A span cuts the parts at its ends, each of which may be left out. */
static void spans(void **state)
{
	(void)state;
	explain(0, "-t 7 -s 0.000004..0.000006500", usual);
	sample_expect("       0.002000 ms   80.0 %      1  eight-8 ran in its own code while ");
	sample_expect("       0.000500 ms   20.0 %      1  seven-7 could run, but eight-8 had ");
	explain(0, "-t 7 -s 0.000010..", usual);
	sample_expect("       0.001000 ms  100.0 %         the span\n");
	explain(0, "-t 7 -s ..0.000002", usual);
	sample_expect("       0.001000 ms  100.0 %         the span\n");
	explain(2, "-t 7 -s 0.000011..", usual);
	explain(2, "-t 7 -s 0.000000999..0.000002", usual);
	explain(2, "-t 7 -s 0.000002..0.000011001", usual);
	explain(2, "-t 7 -s ..", usual);
}

/* The JSON has every part with the task that waits for it, and what each did. */
static void json(void **state)
{
	(void)state;
	explain(0, "-j -t 7", usual);
	sample_expect_first("\"from\":1000,\"to\":11000,\"span\":10000,\"task\":{\"pid\":7,"
			    "\"comm\":\"seven\"},\"parts\":[");
	sample_expect("{\"time\":3000,\"count\":1,\"longest\":3000,\"at\":3000,\"state\":"
		      "\"running\",\"task\":{\"pid\":8,\"comm\":\"eight\"},\"waiter\":{\"pid\":7,"
		      "\"comm\":\"seven\"},\"waiter_call\":\"read\"},\n"
		      "{\"time\":2000,\"count\":2,\"longest\":1000,\"at\":2000,\"state\":"
		      "\"running\",\"task\":{\"pid\":7,\"comm\":\"seven\"},\"call\":\"read\"},\n"
		      "{\"time\":1000,\"count\":1,\"longest\":1000,\"at\":6000,\"state\":"
		      "\"runnable\",\"task\":{\"pid\":7,\"comm\":\"seven\"},\"other\":{\"pid\":8,"
		      "\"comm\":\"eight\"}}]}\n");
}

/*
 * What is lost within the span is refused, on whichever CPU; a loss that ends where the span begins
 * is not of it.
 */
static void losses(void **state)
{
	static const char lost[] = "5 1 0 lost 3;1000 0 7 ev;1500 0 7 waking 8;2000 0 7 switch 7 8 "
				   "1;4000 1 9 ev;5000 0 8 ev";

	(void)state;
	explain(1, "-t 7", lost);
	explain(1, "-t 7 -s 0.000001..0.000002", lost);
	explain(1, "-t 7 -s 0.000003999..0.000005", lost);
	explain(0, "-t 7 -s 0.000004..0.000005", lost);
}

/* A trace without the events that it needs, without the task, or cut off, is refused. */
static void refused(void **state)
{
	const char *path = sample_file("a", CLOCK, 2, usual);

	(void)state;
	explain(1, "-t 7", "1000 0 7 ev;1500 0 7 waking 8;3000 0 7 ev");
	explain(1, "-t 7", "1000 0 7 ev;2000 0 7 switch 7 8 1;3000 0 8 ev");
	explain(1, "-t 77", usual);
	explain(1, "-t sev", usual);
	sample_cut(path, 4096);
	sample_run(cmd_explain, 1, "-t 7 %s", path);
	sample_run(cmd_explain, 2, "-t 7");
	sample_run(cmd_explain, 2, "-t 7 -s 1..2 %s %s", path, path);
	sample_run(cmd_explain, 3, "-t 7 /nowhere/a");
}

static void compare(const char *a, const char *b, const char *first)
{
	const char *one = sample_file("a", CLOCK, 1, a), *two = sample_file("b", CLOCK, 1, b);

	sample_run(cmd_explain, 0, "-t 7 %s %s", one, two);
	sample_expect_first(first);
}

/* Parts that differ are listed, the largest difference first, with where they are in the second. */
static void difference(void **state)
{
	(void)state;
	compare(usual, longer,
	    " (10.5 us, 10.0 us): +3.00 us eight ran in its own code while seven waited for it in "
	    "read");
	assert_non_null(strstr(sample_printed, "/b takes 500 ns more than "));
	sample_expect(
	    "        +0.003000 ms  eight ran in its own code while seven waited for it in read (at "
	    "0.000003000)\n"
	    "        -0.001500 ms  seven ran in its own code (at 0.000010000)\n"
	    "        -0.000500 ms  seven ran in read (at 0.000002000)\n"
	    "        -0.000500 ms  seven could run, but eight had the CPU (at 0.000009000)\n"
	    "        +0.000500 ms  the whole\n");
	compare(usual, usual, " (10.0 us, 10.0 us): +0 ns seven ran in its own code");
	sample_expect("        +0.000000 ms  the whole\n");
}

/* The first line names the largest change that goes the way of the whole, be it a smaller one. */
static void main_change(void **state)
{
	static const char
	    a[] = "1000 0 7 ev;2000 0 7 in 0;4000 0 7 out 0;5000 0 7 in 1;6000 0 7 out 1;7000 0 7 "
		  "in 2;8000 0 7 out 2;8100 0 7 waking 8;8200 0 7 switch 7 8 1",
	    b[] = "1000 0 7 ev;2000 0 7 in 0;7000 0 7 out 0;7500 0 7 in 1;7600 0 7 out 1;7700 0 7 "
		  "in 2;7800 0 7 out 2;7900 0 7 waking 8;8000 0 7 switch 7 8 1";

	(void)state;
	compare(a, b, " (7.00 us, 7.20 us): -1.40 us seven ran in its own code");
	assert_non_null(strstr(sample_printed, "/b takes 200 ns less than "));
	sample_expect("        +0.003000 ms  seven ran in read (at 0.000002000)\n");
	compare(b, a, " (7.20 us, 7.00 us): +1.40 us seven ran in its own code");
}

int explain_command_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(spans),
	    cmocka_unit_test(json), cmocka_unit_test(losses), cmocka_unit_test(refused),
	    cmocka_unit_test(difference), cmocka_unit_test(main_change)};

	return unit_group("explain_command", tests, COUNT_OF(tests), sample_begin, sample_over);
}
