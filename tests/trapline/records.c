/*
 * In which order records of several CPUs come, what is lost before pages without records, and what
 * a copy of a trace tells of losses.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/dat_write.h"
#include "trace/export/dat_page.h"

#define CPUS  3
#define PAGES 3
#define TYPE  300

static union {
	struct ring_buffer_page page;
	uint8_t bytes[PAGE_BYTES];
} pages[CPUS][PAGES];
static struct cpu cpus[CPUS];
static struct trace trace;

/* Makes the next page of a CPU: so many records of a time, after a loss. */
static void put_page(unsigned cpu, unsigned records, uint64_t time, uint64_t lost)
{
	unsigned at = cpus[cpu].bytes / PAGE_BYTES;
	int32_t data[2] = {TYPE, (int32_t)cpu};
	struct dat_page p;

	assert_in_range(at, 0, PAGES - 1);
	dat_page_begin(&p, &pages[cpu][at].page, PAGE_BYTES, 0);
	for (unsigned i = 0; i < records; i++)
		assert_true(dat_page_put(&p, data, sizeof(data), time));
	dat_page_end(&p, time, lost);
	cpus[cpu].pages = pages[cpu][0].bytes;
	cpus[cpu].bytes += PAGE_BYTES;
}

static int begin(void **state)
{
	(void)state;
	memset(cpus, 0, sizeof(cpus));
	trace = (struct trace){
	    .file = "made", .records = RECORDS_LINUX, .page_size = PAGE_BYTES, .cpus = CPUS};
	trace.cpu = cpus;
	trace.by_id = xmalloc(65536 * sizeof(*trace.by_id));
	trace.uname = xstrndup("", 0);
	trace_set_clock(&trace, "", 0);
	return 0;
}

static int over(void **state)
{
	(void)state;
	trace.cpu = NULL;
	trace_close(&trace);
	return 0;
}

static void expect_record(unsigned cpu, uint64_t time)
{
	struct record r;

	assert_true(trace_next(&trace, &r));
	assert_false(r.is_gap);
	assert_int_equal(r.cpu, cpu);
	assert_int_equal(r.time, time);
}

static void expect_gap(struct trace *t, unsigned cpu, uint64_t time, uint64_t lost, bool unknown)
{
	struct record r;

	assert_true(trace_next(t, &r));
	assert_true(r.is_gap);
	assert_int_equal(r.cpu, cpu);
	assert_int_equal(r.time, time);
	assert_int_equal(r.lost, lost);
	assert_int_equal(r.lost_unknown, unknown);
}

static void expect_end(void)
{
	struct record r;

	assert_false(trace_next(&trace, &r));
	assert_false(trace.damaged);
}

/* The record of the least time is the next one; of equal times that of the lowest CPU. */
static void same_time(void **state)
{
	(void)state;
	put_page(2, 1, 100, 0);
	put_page(1, 2, 200, 0);
	put_page(0, 1, 200, 0);
	put_page(0, 1, 300, 0);
	put_page(2, 1, 200, 0);
	expect_record(2, 100);
	expect_record(0, 200);
	expect_record(1, 200);
	expect_record(1, 200);
	expect_record(2, 200);
	expect_record(0, 300);
	expect_end();
}

/* What is lost before pages without records adds up; a part of unknown number makes the sum so. */
static void before_empty_pages(void **state)
{
	(void)state;
	put_page(0, 0, 100, 2);
	put_page(0, 1, 200, 3);
	put_page(1, 0, 110, RB_LOST_UNKNOWN);
	put_page(1, 1, 210, 4);
	put_page(2, 0, 120, 5);
	put_page(2, 0, 130, RB_LOST_UNKNOWN);
	put_page(2, 1, 220, 0);
	expect_gap(&trace, 0, 200, 5, false);
	expect_record(0, 200);
	expect_gap(&trace, 1, 210, 4, true);
	expect_record(1, 210);
	expect_gap(&trace, 2, 220, 5, true);
	expect_record(2, 220);
	expect_end();
}

/* What is lost after a CPU's last record is told at its end. */
static void at_the_end(void **state)
{
	(void)state;
	put_page(0, 1, 100, 0);
	put_page(0, 0, 150, 7);
	put_page(1, 1, 200, 0);
	expect_record(0, 100);
	expect_gap(&trace, 0, 150, 7, false);
	expect_record(1, 200);
	expect_end();
}

/* Copies the trace; the copy's text stays until it is freed. */
static size_t copy(uint8_t **text)
{
	uint64_t none[CPUS] = {0};
	struct dat_about about = {.trace = &trace, .seen = none, .lost = none};
	struct dat_writer w;
	size_t size;
	FILE *out = open_memstream((char **)text, &size);

	assert_non_null(out);
	dat_begin(&w, CPUS);
	dat_take_trace(&w, &trace);
	dat_finish_trace(&w, &about, out);
	fclose(out);
	return size;
}

/* A copy has the number lost if that is known, and else tells that some are lost. */
static void copied_losses(void **state)
{
	struct trace second;
	struct record r;
	uint8_t *text;

	(void)state;
	put_page(0, 1, 100, 7);
	put_page(1, 0, 150, 3);
	put_page(1, 1, 200, RB_LOST_UNKNOWN);
	put_page(2, 1, 300, RB_LOST_UNKNOWN);
	size_t size = copy(&text);
	assert_true(trace_open_in(&second, "copy", (struct in){.data = text, .size = size}));
	expect_gap(&second, 0, 100, 7, false);
	assert_true(trace_next(&second, &r) && !r.is_gap);
	expect_gap(&second, 1, 200, 0, true);
	assert_true(trace_next(&second, &r) && !r.is_gap);
	expect_gap(&second, 2, 300, 0, true);
	trace_close(&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)

int records_tests(void)
{
	static const struct CMUnitTest tests[] = {
	    TEST(same_time), TEST(before_empty_pages), TEST(at_the_end), TEST(copied_losses)};

	return unit_group("records", tests, COUNT_OF(tests), NULL, NULL);
}
