/*
 * Pages of trace.dat: the number of lost events in one that is full, kept room for, and read again
 * by our reader of such pages; times and lengths at their edges; what is behind the data. And
 * lengths in what stands before the pages.
 */
#include <stdint.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/page.h"
#include "trace/export/dat_head.h"
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

/* A delta is in the record's own word as far as that goes, and else takes eight bytes more. */
static void edges_of_times(void **state)
{
	const uint64_t largest = (1UL << 27) - 1;

	(void)state;
	for (uint64_t delta = largest - 1; delta <= largest + 1; delta++)
		for (uint32_t room = 0; room < 40; room += 4) {
			struct dat_page p;

			dat_page_begin(&p, &of.page, PAGE_BYTES, 0);
			assert_true(dat_page_put(&p, data, 8, 1000));
			p.end = p.at + room;
			assert_int_equal(dat_page_put(&p, data, 8, 1000 + delta),
			    room >= (delta > largest ? 20 : 12));
			assert_true(p.at <= p.end);
		}
}

/* Nothing of what was there before; an empty page has a time. */
static void behind_the_data(void **state)
{
	struct page_walk w;
	struct dat_page p;

	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		memset(of.bytes, 0xee, sizeof(of.bytes));
		dat_page_begin(&p, &of.page, PAGE_BYTES, 0);
		for (unsigned i = 0; i < n; i++)
			assert_true(dat_page_put(&p, data, 12, 777));
		uint8_t *end = p.at;
		dat_page_end(&p, 777, 0);
		assert_int_equal(of.page.time_stamp, 777);
		assert_int_equal(of.page.commit, 16 * n);
		while (end < of.bytes + PAGE_BYTES)
			assert_int_equal(*end++, 0);
	}
	dat_page_begin(&p, &of.page, PAGE_BYTES, 0);
	assert_true(dat_page_put(&p, data, 0, 777) && dat_page_put(&p, data, 8, 778));
	dat_page_end(&p, 778, 0);
	assert_int_equal(walked(&w), 2); /* one without data has a length, too */
}

static uint8_t file[100000];

static void put_bytes(struct dat_sink *to, const void *from, size_t n)
{
	memcpy(file + to->len, from, n);
	to->len += n;
}

static void patch_bytes(struct dat_sink *to, u64 at, const void *from, size_t n)
{
	assert_true(at + n <= to->len);
	memcpy(file + at, from, n);
}

static void put_zeros(struct dat_sink *to, const void *n)
{
	dat_put_zeros(to, *(const u32 *)n);
}

/* The length of a part is as wide as it is said to be. */
static void long_parts(void **state)
{
	static const u32 lengths[] = {0, 63, 64, 65, 65535, 65536, 90000};

	(void)state;
	for (size_t bytes = 4; bytes <= 8; bytes += 4)
		for (size_t i = 0; i < COUNT_OF(lengths); i++) {
			struct dat_sink to = {.put = put_bytes, .patch = patch_bytes};
			uint64_t length = 0;

			memset(file, 0xee, sizeof(file));
			dat_put_sized(&to, bytes, (struct dat_part){put_zeros, &lengths[i]});
			memcpy(&length, file, bytes);
			assert_int_equal(length, lengths[i]);
			assert_int_equal(to.len, bytes + lengths[i]);
			assert_int_equal(file[to.len], 0xee);
		}
}

int dat_page_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(long_times),
	    cmocka_unit_test(too_long), cmocka_unit_test(edges_of_times),
	    cmocka_unit_test(behind_the_data), cmocka_unit_test(long_parts)};

	return unit_group("dat_page", tests, COUNT_OF(tests), NULL, NULL);
}
