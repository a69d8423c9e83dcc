/*
 * The tables and the data of a page of `trapline plot`, for small traces; spans of them, and the
 * file of a picture that cannot be drawn.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/trapline/sample.h"
#include "tests/trapline/trapline_unit.h"

#define CLOCK "[mono]"

/* Draws a trace of two CPUs as a page. */
static void plot(const char *options, const char *script)
{
	const char *path = sample_file("a", CLOCK, 2, script);
	char page[64];

	snprintf(page, sizeof(page), "%.*sc", (int)strlen(path) - 1, path);
	sample_run(cmd_plot, 0, "%s -o %s %s", options, page, path);
	sample_read(page);
}

/* Two CPUs from 1 ms to 9 ms: tasks run, wait and call; an interrupt, and events without a task. */
static const char script[] =
    "5 1 0 lost 3;1000000 0 0 switch 0 7 0;2000000 0 7 waking 8;2500000 0 7 irq 5;2600000 0 7 "
    "irqend 5;3000000 0 7 switch 7 8 1;4000000 0 8 in 1;5000000 0 8 out 1;7000000 0 8 switch 8 0 "
    "1;1500000 1 9 ev 3;8000000 1 9 other 1;8500000 1 9 ev 4;9000000 1 9 unknown";

/* Each number of a track: begins after the one before, durations, lanes or CPUs, one of each. */
static void data(void **state)
{
	(void)state;
	plot("", script);
	sample_expect("{\"cpu\":0,\"busy\":\"75 "
		      "%\",\"run\":[0,2000000,1,1,2000000,4000000,2,1],\"gaps\":[],\"irq\":[["
		      "1500000,100000,0,1]]},\n"
		      "{\"cpu\":1,\"busy\":\"93.8 "
		      "%\",\"run\":[500000,7500000,0,1],\"gaps\":[0,500000,0,1],\"irq\":[]}],\n");
	sample_expect("{\"pid\":9,\"rank\":0,\"colour\":0,\"comm\":\"nine\",\"run\":[500000,"
		      "7500000,1,1],\"wait\":[],\"call\":[],\"marks\":[],\"bars\":[]},\n"
		      "{\"pid\":7,\"rank\":2,\"colour\":2,\"comm\":\"seven\",\"run\":[0,2000000,0,"
		      "1],\"wait\":[],\"call\":[],\"marks\":[],\"bars\":[]},\n"
		      "{\"pid\":8,\"rank\":1,\"colour\":1,\"comm\":\"eight\",\"run\":[2000000,"
		      "4000000,0,1],\"wait\":[1000000,1000000,0,1],\"call\":[3000000,1000000,1,1],"
		      "\"marks\":[],\"bars\":[]}],\n\"more\":0,\n");
	sample_expect("\"lost\":[\"3\"],\n");
	assert_non_null(strstr(sample_printed,
	    "{\"base\":\"1000000\",\"range\":8000000,\"ns\":true,\"resolution\":0,\n"));
}

#define ROW(...)  "<tr><td>" __VA_ARGS__ "</td></tr>\n"
#define CALL(...) "<tr><td class='in'>" __VA_ARGS__ "</td></tr>\n"
#define C	  "</td><td>"

/* Each item of a track begins after the one before; a CPU without events has no tracks. */
static void later_items(void **state)
{
	(void)state;
	plot("", "1000000 0 7 irq 5;1100000 0 7 irqend 5;3000000 0 7 irq 6;3200000 0 7 irqend "
		 "6;6000000 0 7 irq 5;6300000 0 7 irqend 5;9000000 0 7 ev");
	sample_expect("{\"cpu\":0,\"busy\":\"100 %\",\"run\":[0,8000000,0,1],\"gaps\":[],\"irq\":[["
		      "0,100000,0,1,2000000,200000,1,1,3000000,300000,0,1]]}],\n");
	sample_expect_not("{\"cpu\":1");
}

#define POINTS 400

/* At the first and at the last moment of the span, and in all of it. */
static void expect_rate(unsigned long first, unsigned long last, unsigned long all)
{
	char *at = strstr(sample_printed, "\"rate\":[");
	unsigned long point[POINTS], sum = 0;

	assert_non_null(at);
	at += strlen("\"rate\":");
	for (size_t i = 0; i < POINTS; i++)
		sum += point[i] = strtoul(at + 1, &at, 10);
	assert_int_equal(*at, ']');
	assert_int_equal(point[0], first);
	assert_int_equal(point[POINTS - 1], last);
	assert_int_equal(sum, all);
}

/* How many events there are in each part of the span, those at its ends among them. */
static void rate(void **state)
{
	static const char events[] = "1000000 0 7 ev;1000000 0 7 ev;5000000 0 7 ev;9000000 0 7 "
				     "ev;9000000 0 7 ev;9000000 0 7 ev";

	(void)state;
	plot("", events);
	expect_rate(2, 3, 6);
	plot("-b 0.001 -e 0.005", events);
	expect_rate(2, 1, 3);
	plot("-b 0.005", events);
	expect_rate(1, 3, 4);
}

/* Rows of a table: the largest number first, of equal ones the one that came first. */
static void tables(void **state)
{
	(void)state;
	plot("", script);
	sample_expect(ROW("wakeup until it runs" C "1" C "1.00 ms" C "1.00 ms" C "1.00 ms")
		ROW("interrupts" C "1" C "100 \xc2\xb5s" C "100 \xc2\xb5s" C
		    "100 \xc2\xb5s") "<tr><td class='in'>");
	sample_expect(ROW("1" C "3" C "the first" C "0.001500000") "</table></section>\n");
	sample_expect(ROW("nine-9" C "7.50 ms" C "4") ROW("eight-8" C "4.00 ms" C "3")
		ROW("&#60;idle&#62;-0" C "2.00 ms" C "1") ROW("seven-7" C "2.00 ms" C "4"));
	sample_expect(ROW("sched:sched_switch" C "3") ROW("my:ev" C "2")
		ROW("sched:sched_waking" C "1") ROW("irq:irq_handler_entry" C "1"));
	sample_expect(ROW("my:other" C "1") ROW("without a format" C "1") "</table></section>\n");
	sample_expect_not("<p>and ");
}

/* Of many durations a row has the middle one, the one that a tenth is above, and the longest. */
static void percentiles(void **state)
{
	char made[4000] = "";
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		n += snprintf(made + n, sizeof(made) - n, "%s%d 0 7 in %d;%d 0 7 out %d",
		    i ? ";" : "", 1000 * (i + 1), i % 2, 1000 * (i + 1) + 10 * (i * 7 % 20 + 1),
		    i % 2);
	plot("", made);
	sample_expect(ROW("system calls" C "20" C "100 ns" C "180 ns" C "200 ns")
		CALL("read" C "10" C "90 ns" C "170 ns" C "190 ns")
		    CALL("write" C "10" C "100 ns" C "180 ns" C "200 ns") "</table></section>\n");
}

/* The scale of a histogram has powers of ten: of seconds those that are larger, too. */
static void scales(void **state)
{
	static const struct {
		const char *took, *least, *most;
	} cases[] = {{"5", ">1 ns</text>", ">10 ns</text>"},
	    {"50000000", ">10 ms</text>", ">100 ms</text>"},
	    {"20000000000", ">10 s</text>", ">100 s</text>"},
	    {"5000000000000", ">1000 s</text>", ">10000 s</text>"}};
	char made[128];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		snprintf(made, sizeof(made), "1000 0 7 in 0;%llu 0 7 out 0",
		    1000 + strtoull(cases[i].took, NULL, 10));
		plot("", made);
		assert_non_null(strstr(sample_printed, cases[i].least));
		assert_non_null(strstr(sample_printed, cases[i].most));
	}
}

/* Functions are listed by their own time, and each has its calls and its time in all, too. */
static void functions(void **state)
{
	(void)state;
	plot("", "1000 0 7 call 0x1000 0;1100 0 7 call 0x2000 1;1400 0 7 return 0x2000 1 1100 "
		 "1400;1500 0 7 call 0x2000 1;1600 0 7 return 0x2000 1 1500 1600;1650 0 7 return "
		 "0x1000 0 1000 1650");
	sample_expect(ROW("read_it" C "2" C "400 ns" C "400 ns")
		ROW("main_loop" C "1" C "250 ns" C "650 ns") "</table></section>\n");
}

/* How many events were lost: a number, at least one, or some; and after which time. */
static void losses(void **state)
{
	static const char *const numbers[][2] = {{"5 1 0 lost 1", "1"}, {"5 1 0 lost -1", "some"},
	    {"5 1 0 lost 4294967296", "4294967296"}};
	char made[128], want[128];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		snprintf(made, sizeof(made), "%s;1000 0 7 ev;5000000000 1 7 ev", numbers[i][0]);
		snprintf(want, sizeof(want), ROW("1" C "%s" C "the first" C "5.000000000"),
		    numbers[i][1]);
		plot("", made);
		sample_expect(want);
	}
}

/* A span is drawn from its first to its last moment; states are cut at its ends. */
static void spans(void **state)
{
	(void)state;
	plot("-b 0.0025 -e 0.004", script);
	assert_non_null(strstr(sample_printed, "{\"base\":\"2500000\",\"range\":1500000,"));
	sample_expect("{\"cpu\":0,\"busy\":\"100 "
		      "%\",\"run\":[0,500000,0,1,500000,1000000,1,1],\"gaps\":[],\"irq\":[[0,"
		      "100000,0,1]]},\n");
	sample_expect(ROW("sched:sched_switch" C "1") ROW("irq:irq_handler_entry" C "1")
		ROW("irq:irq_handler_exit" C "1") ROW("raw_syscalls:sys_enter" C "1") "</table>");
	/* Its ends may be the trace's own, and lie beyond them. */
	plot("-b 0.009", script);
	sample_expect(ROW("without a format" C "1") "</table>");
	plot("-e 0.001", script);
	sample_expect(ROW("sched:sched_switch" C "1") "</table>");
	plot("-b 0 -e 20", script);
	assert_non_null(strstr(sample_printed, "{\"base\":\"0\",\"range\":20000000000,"));
}

/* A picture that is not drawn leaves no file; a damaged trace is drawn as far as it is whole. */
static void statuses(void **state)
{
	static const char *const wrong[] = {"-b 0.009000001", "-e 0.000999999", "-b 0.002 -e 0.002",
	    "-b 0.003 -e 0.002", "-b x", "-e -1", "-e 1 -e x", "--what", "other"};
	const char *path = sample_file("a", CLOCK, 2, script);
	char page[64];

	(void)state;
	snprintf(page, sizeof(page), "%.*sc", (int)strlen(path) - 1, path);
	unlink(page);
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		sample_run(cmd_plot, 2, "%s -o %s %s", wrong[i], page, path);
		assert_int_equal(access(page, F_OK), -1);
	}
	sample_run(cmd_plot, 2, "-o %s", page);
	sample_run(cmd_plot, 3, "-o %s /nowhere/a", page);
	sample_run(cmd_plot, 3, "-o /nowhere/c %s", path);
	assert_int_equal(access(page, F_OK), -1);
	sample_cut(path, 4096);
	sample_run(cmd_plot, 1, "-o %s %s", page, path);
	sample_read(page);
	sample_expect("</html>\n");
	sample_expect_not(ROW("my:other" C "1"));
}

int plot_page_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(data),
	    cmocka_unit_test(later_items), cmocka_unit_test(rate), cmocka_unit_test(percentiles),
	    cmocka_unit_test(tables), cmocka_unit_test(functions), cmocka_unit_test(scales),
	    cmocka_unit_test(losses), cmocka_unit_test(spans), cmocka_unit_test(statuses)};

	return unit_group("plot_page", tests, COUNT_OF(tests), sample_begin, sample_over);
}
