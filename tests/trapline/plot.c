/* Which tasks have lanes, and how many of them are drawn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/plot/plot.h"

#define FIRST_PID 100

static struct trace trace = {.file = "told", .cpus = 1, .in_ns = true};
static struct plot plot;

/* So many tasks, and the idle one; each ran longer than those before it, one after the other. */
static void begin(unsigned tasks)
{
	plot = (struct plot){.trace = &trace, .end = 1000000};
	plot.model.trace = &trace;
	plot.model.task = xmalloc((tasks + 1) * sizeof(*plot.model.task));
	plot.model.state = xmalloc(tasks * sizeof(*plot.model.state));
	for (unsigned i = 0; i < tasks; i++) {
		plot.model.task[i] = (struct task){.pid = FIRST_PID + i, .ran = i + 1};
		plot.model.state[i] = (struct state){
		    .pid = FIRST_PID + i, .begin = i * 1000, .end = i * 1000 + i + 1};
	}
	plot.model.tasks = tasks + 1;
	plot.model.states = tasks;
	plot_find_lanes(&plot);
}

static void over(void)
{
	free(plot.model.task);
	free(plot.model.state);
	free(plot.lane);
	map_clear(&plot.lane_at);
}

static void expect_lanes(unsigned tasks, unsigned lanes)
{
	begin(tasks);
	assert_int_equal(plot.lanes, lanes);
	assert_int_equal(plot.lanes_missing, tasks - lanes);
	for (unsigned i = 0; i < lanes;
	     i++) { /* those that ran longest, in the order in which they came */
		assert_int_equal(plot.lane[i].pid, FIRST_PID + tasks - lanes + i);
		assert_int_equal(plot.lane[i].rank, lanes - 1 - i);
		assert_int_equal(plot_lane_of(&plot, plot.lane[i].pid), i);
	}
	assert_int_equal(plot_lane_of(&plot, 0), LANE_NONE);
	if (tasks > lanes)
		assert_int_equal(plot_lane_of(&plot, FIRST_PID), LANE_NONE);
	over();
}

static void lanes(void **state)
{
	(void)state;
	expect_lanes(0, 0);
	expect_lanes(LANES_MOST - 1, LANES_MOST - 1);
	expect_lanes(LANES_MOST, LANES_MOST);
	expect_lanes(LANES_MOST + 1, LANES_MOST);
}

/* A task that marked something comes before those that ran longer. */
static void marks_first(void **state)
{
	struct mark mark = {.record = {.pid = FIRST_PID}};

	(void)state;
	begin(LANES_MOST + 5);
	plot.model.mark = &mark;
	plot.model.marks = 1;
	free(plot.lane);
	map_clear(&plot.lane_at);
	plot_find_lanes(&plot);
	assert_int_equal(plot.lane[0].pid, FIRST_PID);
	assert_int_equal(plot.lane[0].rank, 0);
	over();
}

static void expect_folded(unsigned tasks, unsigned drawn, const char *says)
{
	char *text;
	size_t size, lanes = 0;

	begin(tasks);
	plot.out = open_memstream(&text, &size);
	plot_tasks(&plot);
	fclose(plot.out);
	for (const char *at = text; (at = strstr(at, "<g>")); at++)
		lanes++;
	assert_int_equal(lanes, drawn);
	if (says)
		assert_non_null(strstr(text, says));
	else
		assert_null(strstr(text, "more task"));
	free(text);
	over();
}

static void folded(void **state)
{
	(void)state;
	expect_folded(LANES_SHOWN - 1, LANES_SHOWN - 1, NULL);
	expect_folded(LANES_SHOWN, LANES_SHOWN, NULL);
	expect_folded(LANES_SHOWN + 1, LANES_SHOWN, ">1 more task, which ran for 1 ns<");
	expect_folded(
	    LANES_MOST + 2, LANES_SHOWN, ">272 more tasks, which ran for 37.1 \xc2\xb5s together<");
}

#define DEEP_CALLERS 200
#define DEEP_CALLS   250

/* Calls as long as a number goes, as in a damaged trace: no limit leaves out enough of them. */
static void longest_calls(void **state)
{
	struct plot p = {.trace = &trace};
	struct calltree *t = &p.model.calls;
	char *text;
	size_t size;

	(void)state;
	calltree_begin(t);
	words_add(&p.model.pairing.call_words, "f", 1);
	for (uint32_t caller = 1; caller <= DEEP_CALLERS; caller++) {
		uint32_t node = calltree_caller(t, caller);
		for (unsigned i = 0; i < DEEP_CALLS; i++) {
			node = calltree_enter(t, node, 0);
			calltree_leave(t, node, 0, UINT64_MAX, UINT64_MAX);
		}
	}
	calltree_end(t);
	p.out = open_memstream(&text, &size);
	plot_calls_data(&p);
	fclose(p.out);
	assert_non_null(strstr(text, "\"least\":18446744073709551615"));
	free(text);
	calltree_free(t);
	words_free(&p.model.pairing.call_words);
}

#define MANY 100001

/*
 * Of more items than a page may have, short ones are put together with their neighbours; a long one
 * among them stays what it is.
 */
static void put_together(void **state)
{
	struct task task[] = {{.pid = FIRST_PID, .ran = 1}};
	struct state *ran = xmalloc(MANY * sizeof(*ran));
	char *text;
	size_t size;

	(void)state;
	ran[0] = (struct state){.pid = FIRST_PID, .begin = 0, .end = 1};
	ran[1] = (struct state){.pid = FIRST_PID, .begin = 1, .end = 1001};
	for (unsigned i = 2; i < MANY; i++)
		ran[i] =
		    (struct state){.pid = FIRST_PID, .begin = 1000 + i * 10, .end = 1001 + i * 10};
	plot = (struct plot){.trace = &trace, .end = 1000 + MANY * 10};
	model_begin(&plot.model, &trace);
	plot.model.task = task;
	plot.model.tasks = 1;
	plot.model.state = ran;
	plot.model.states = MANY;
	plot_find_lanes(&plot);
	plot.out = open_memstream(&text, &size);
	assert_in_range(plot_data(&plot), 2, 1000);
	fclose(plot.out);
	assert_non_null(strstr(text, "\"run\":[0,1,0,1,1,1000,0,1,"));
	assert_null(strstr(text, ",1,0,1,10,1,0,1,"));
	free(text);
	plot.model.task = NULL;
	plot.model.state = NULL;
	model_free(&plot.model);
	free(ran);
	free(plot.lane);
	map_clear(&plot.lane_at);
}

/* Of the ledger's rows for events a part of a trace has those of its own events. */
static void ledger_of_a_part(void **state)
{
	char stats[] = "CPU: 0\nLedger:\ncpu0: hits 5 = recorded 5\nmy:came: hits 3 = recorded "
		       "3\nmy:other: hits 2 = recorded 2\n";
	struct event event[] = {
	    {.system = "my", .name = "came"}, {.system = "my", .name = "other"}};
	struct trace t = {.stats = stats, .event = event, .events = 2};
	uint64_t count[] = {3, 0, 0};
	char *text;
	size_t size;

	(void)state;
	for (unsigned part = 0; part < 2; part++) {
		struct plot p = {.trace = &t, .part = part};
		p.model.count = count;
		p.out = open_memstream(&text, &size);
		plot_ledger_tables(&p);
		fclose(p.out);
		assert_non_null(strstr(text, "<td>cpu0</td><td>5</td>"));
		assert_non_null(strstr(text, "<td>my:came</td><td>3</td>"));
		assert_int_equal(!strstr(text, "my:other"), part);
		free(text);
	}
}

int plot_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lanes), cmocka_unit_test(marks_first),
	    cmocka_unit_test(folded), cmocka_unit_test(longest_calls),
	    cmocka_unit_test(put_together), cmocka_unit_test(ledger_of_a_part)};

	return unit_group("plot", tests, COUNT_OF(tests), NULL, NULL);
}
