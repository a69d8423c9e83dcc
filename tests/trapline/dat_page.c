/*
 * The number of lost events in a page that is full: kept room for, and read again by our reader of
 * such pages.
 */
#include <stdint.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/page.h"
#include "trace/export/dat_page.h"

static union {
	struct ring_buffer_page page;
	uint8_t bytes[PAGE_BYTES];
} of;
static uint8_t data[PAGE_ROOM];

/* Fills a page with records of a length; how many. */
static unsigned fill(uint32_t length, uint32_t keep, uint64_t lost)
{
	struct dat_page p;
	unsigned n = 0;

	dat_page_begin(&p, &of.page, PAGE_BYTES, keep);
	while (dat_page_put(&p, data, length, 1000))
		n++;
	dat_page_end(&p, 1000, lost);
	return n;
}

static unsigned walked(struct page_walk *w)
{
	unsigned n = 0;

	page_begin(w, RECORDS_LINUX, of.bytes, PAGE_BYTES);
	while (page_next(w))
		n++;
	assert_null(w->wrong);
	return n;
}

/* Of every length: the number is there, at the cost of a record or two. */
static void kept(void **state)
{
	struct page_walk w;

	(void)state;
	for (uint32_t length = 4; length < 2000; length += 4) {
		unsigned all = fill(length, 0, 0), some = fill(length, sizeof(uint64_t), 77);

		assert_true(some <= all && some + 2 >= all);
		assert_int_equal(walked(&w), some);
		assert_int_equal(w.lost, 77);
		assert_false(w.lost_unknown);
	}
}

/* A delta that needs a word more of its own, in front of each record. */
static void long_times(void **state)
{
	(void)state;
	for (uint32_t length = 4; length < 200; length += 4) {
		uint64_t time = 1000, number;
		struct page_walk w;
		struct dat_page p;
		unsigned n = 0;

		dat_page_begin(&p, &of.page, PAGE_BYTES, 0);
		while (dat_page_put(&p, data, length, time += 1UL << 30))
			n++;
		dat_page_end(&p, time, 0);
		page_begin(&w, RECORDS_LINUX, of.bytes, PAGE_BYTES);
		for (number = 1; page_next(&w); number++)
			assert_int_equal(w.time, 1000 + (number << 30));
		assert_null(w.wrong);
		assert_int_equal(number - 1, n);
	}
}

/* One that needs the whole page has it: that something is lost is told, how much is not. */
static void too_long(void **state)
{
	struct page_walk w;

	(void)state;
	assert_int_equal(fill(PAGE_ROOM - 8, sizeof(uint64_t), 77), 1);
	assert_int_equal(walked(&w), 1);
	assert_true(w.lost_unknown);
	assert_int_equal(fill(PAGE_ROOM - 16, sizeof(uint64_t), 77), 1);
	assert_int_equal(walked(&w), 1);
	assert_int_equal(w.lost, 77);
	assert_int_equal(fill(PAGE_ROOM - 4, sizeof(uint64_t), 77), 0);
}

int dat_page_tests(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kept), cmocka_unit_test(long_times), cmocka_unit_test(too_long)};

	return unit_group("dat_page", tests, COUNT_OF(tests), NULL, NULL);
}
