/*
 * Records of sub-buffers, made word by word in both formats: Linux's, and the kernel's own as it
 * lies in a machine's memory. Times, lengths and what was lost at their edges, and what is refused.
 */
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/page.h"

#define TYPE(type, delta) ((uint32_t)(delta) << 5 | (type))
#define MISSED		  (1ULL << 31)
#define STORED		  (1ULL << 30)
#define UNKNOWN		  (1ULL << 29)

static struct {
	uint64_t time, commit;
	uint32_t word[PAGE_ROOM / 4];
} page;

/* A page with these words, and bits of the header beside the length. */
static void begin(struct page_walk *w, enum records records, uint64_t time, uint64_t bits,
    const uint32_t *word, size_t words)
{
	memset(&page, 0xee, sizeof(page));
	page.time = time;
	page.commit = bits | words * 4;
	memcpy(page.word, word, words * 4);
	page_begin(w, records, (const uint8_t *)&page, sizeof(page));
}

#define BEGIN(w, records, time, bits, ...)                                                         \
	begin(w, records, time, bits, (const uint32_t[]){__VA_ARGS__},                             \
	    sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void expect_record(struct page_walk *w, uint64_t time, uint32_t at, uint32_t length)
{
	assert_true(page_next(w));
	assert_int_equal(w->time, time);
	assert_ptr_equal(w->record, &page.word[at]);
	assert_int_equal(w->length, length);
}

static void expect_end(struct page_walk *w, const char *wrong)
{
	assert_false(page_next(w));
	if (wrong)
		assert_string_equal(w->wrong, wrong);
	else
		assert_null(w->wrong);
	assert_false(page_next(w));
}

static void linux_records(void **state)
{
	struct page_walk w;

	(void)state;
	BEGIN(&w, RECORDS_LINUX, 1000, 0, TYPE(1, 5), 7, TYPE(0, 6), 8, 7, TYPE(28, 1));
	expect_record(&w, 1005, 1, 4);
	expect_record(&w, 1011, 4, 4); /* the length counts itself; padded to a word */
	expect_end(&w, "a record is longer than what is left");
	/* Padding with a length, whose time counts; without one it is the rest. */
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(29, 3), 8, 0, TYPE(1, 1), 7, TYPE(29, 0), 1, 2);
	expect_record(&w, 4, 4, 4);
	expect_end(&w, NULL);
	/* An extension adds to the time; a stamp replaces all but its highest bits. */
	BEGIN(&w, RECORDS_LINUX, 3ULL << 60 | 9, 0, TYPE(30, 1), 2, TYPE(1, 0), 7, TYPE(31, 5), 1,
	    TYPE(1, 0), 7);
	expect_record(&w, (3ULL << 60 | 9) + (2 << 27 | 1), 3, 4);
	expect_record(&w, 3ULL << 60 | 1 << 27 | 5, 7, 4);
	expect_end(&w, NULL);
}

static void linux_refused(void **state)
{
	struct page_walk w;

	(void)state;
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(0, 0), 3, 0);
	expect_end(&w, "a record without a length");
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(0, 0), 9, 0);
	expect_end(&w, "a record is longer than what is left");
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(29, 1), 3, 0);
	expect_end(&w, "padding without a length");
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(29, 1), 9, 0);
	expect_end(&w, "padding is longer than what is left");
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(30, 1));
	expect_end(&w, "it breaks off within a record");
	BEGIN(&w, RECORDS_LINUX, 0, 0, TYPE(1, 1), 1);
	page.commit = PAGE_ROOM + 1;
	page_begin(&w, RECORDS_LINUX, (const uint8_t *)&page, sizeof(page));
	expect_end(&w, "it says that it holds more than a page");
}

/* The kernel's own: data by words or by a length, extents of 32 bits, whole stamps. */
static void own_records(void **state)
{
	struct page_walk w;

	(void)state;
	BEGIN(&w, RECORDS_OWN, 1000, 0, TYPE(3 | 1 << 2, 5), 7, TYPE(3, 6), 5, 8, 8, TYPE(1, 1), 2,
	    TYPE(3 | 1 << 2, 0), 7, TYPE(2, 0), 0x89abcdef, 0x01234567, TYPE(3 | 1 << 2, 1), 7);
	expect_record(&w, 1005, 1, 4);
	expect_record(&w, 1011, 4, 8);
	expect_record(&w, 1011 + (2ULL << 27 | 1), 9, 4);
	expect_record(&w, 0x0123456789abcdf0, 14, 4);
	expect_end(&w, NULL);
	BEGIN(&w, RECORDS_OWN, 0, 0, TYPE(0, 3), 8, 0, TYPE(3 | 1 << 2, 1), 7, TYPE(0, 0), 1);
	expect_record(&w, 4, 4, 4);
	expect_end(&w, NULL);
	BEGIN(&w, RECORDS_OWN, 0, 0, TYPE(0, 1), 3, 0);
	expect_end(&w, "padding without a length");
	BEGIN(&w, RECORDS_OWN, 0, 0, TYPE(2, 0), 1);
	expect_end(&w, "it breaks off within a record");
	BEGIN(&w, RECORDS_OWN, 0, 0, TYPE(3 | 2 << 2, 0), 1);
	expect_end(&w, "a record is longer than what is left");
}

static void expect_lost(enum records records, uint64_t bits, uint64_t lost, bool unknown)
{
	struct page_walk w;

	BEGIN(&w, records, 0, bits, TYPE(3 | 1 << 2, 0), 77);
	assert_int_equal(w.lost, lost);
	assert_int_equal(w.lost_unknown, unknown);
}

static void lost(void **state)
{
	static uint64_t large[PAGE_MOST / 8];
	struct page_walk w;
	uint64_t value = 78;

	(void)state;
	expect_lost(RECORDS_OWN, 0, 0, false);
	expect_lost(RECORDS_OWN, MISSED, 0, true);
	expect_lost(RECORDS_OWN, MISSED | 1ULL << 32, 0, false);
	expect_lost(RECORDS_OWN, MISSED | 8ULL << 32, 7, false);
	expect_lost(RECORDS_OWN, MISSED | UNKNOWN | 8ULL << 32, 7, true);
	expect_lost(RECORDS_OWN, MISSED | 0xffffffffULL << 32, 0, true);
	expect_lost(RECORDS_OWN, 8ULL << 32, 0, false);
	expect_lost(RECORDS_LINUX, MISSED, 0, true);
	expect_lost(RECORDS_LINUX, MISSED | STORED, 0xeeeeeeeeeeeeeeee, false);
	/* The number needs eight bytes behind the data: the last ones of the page will do. */
	for (size_t room = 4; room <= 12; room += 4) {
		memcpy(page.word + PAGE_ROOM / 4 - 2, &value, 8);
		page.commit = MISSED | STORED | (PAGE_ROOM - room);
		page_begin(&w, RECORDS_LINUX, (const uint8_t *)&page, sizeof(page));
		assert_int_equal(w.lost_unknown, room < 8);
		if (room == 8)
			assert_int_equal(w.lost, 78);
	}
	/* What page_lost() stores is read again, up to what there is room for. */
	static const uint64_t numbers[][2] = {{0, 0}, {7, 7}, {0xfffffffc, 0xfffffffc},
	    {0xfffffffd, 0xfffffffd}, {0xfffffffe, 0xfffffffd}, {~0ULL, 0xfffffffd}};
	for (size_t i = 0; i < COUNT_OF(numbers) * 2; i++) {
		large[1] = 40;
		page_lost((uint8_t *)large, numbers[i / 2][0], i & 1);
		page_begin(&w, RECORDS_OWN, (const uint8_t *)large, PAGE_MOST);
		assert_int_equal(w.lost, numbers[i / 2][1]);
		assert_int_equal(w.lost_unknown, i & 1);
		assert_int_equal(w.end, 40);
	}
}

static void sizes(void **state)
{
	(void)state;
	for (uint64_t size = 1; size; size *= 2) {
		assert_int_equal(page_size_ok(size), size >= PAGE_BYTES && size <= PAGE_MOST);
		assert_int_equal(page_size_ok(size + 1), false);
		assert_int_equal(page_size_ok(3 * size), false);
	}
}

int page_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(linux_records),
	    cmocka_unit_test(linux_refused), cmocka_unit_test(own_records), cmocka_unit_test(lost),
	    cmocka_unit_test(sizes)};

	return unit_group("page", tests, COUNT_OF(tests), NULL, NULL);
}
