/*
 * What is read of a trace.dat file, made part by part: its parts as they should be, each length and
 * number at its edge, and the file cut off after each byte.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/lib/util.h"
#include "tools/trapline/trace/trace.h"

static struct bytes file;
static struct trace trace;

/* A file as these fields say; each case changes some of `good`. */
struct how {
	const char *version;
	uint8_t endian, long_size;
	uint32_t page_size;
	bool no_clock;
	uint64_t comms_size; /* 0: that of the text */
	uint32_t cpus;
	uint64_t pages; /* of the second CPU, in bytes */
};

static const struct how good = {"6", 0, 8, PAGE_BYTES, false, 0, 2, 2 * PAGE_BYTES};

static void put(const void *data, size_t n)
{
	bytes_put(&file, data, n);
}

static void put_number(uint64_t n, size_t bytes)
{
	put(&n, bytes);
}

static void put_word(const char *word)
{
	put(word, strlen(word) + 1);
}

static void put_sized(const char *text, size_t bytes)
{
	put_number(strlen(text), bytes);
	put(text, strlen(text));
}

static void put_option(unsigned id, const char *data, size_t n)
{
	put_number(id, 2);
	put_number(n, 4);
	put(data, n);
}

#define CLOCK "local [tai]"

/* The names of its parts are those of man 5 trace-cmd.dat.v6. Where the table of CPUs begins. */
static size_t make(const struct how *how)
{
	static const char format[] =
	    "name: ev\nID: 77\nformat:\n"
	    "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
	size_t table, pages;

	bytes_free(&file);
	put("\x17\x08\x44tracing", 10);
	put_word(how->version);
	put_number(how->endian, 1);
	put_number(how->long_size, 1);
	put_number(how->page_size, 4);
	put_word("header_page");
	put_sized("page", 8);
	put_word("header_event");
	put_sized("event", 8);
	put_number(0, 4); /* formats of ftrace */
	put_number(1, 4); /* systems */
	put_word("my");
	put_number(1, 4);
	put_sized(format, 8);
	put_sized("ffff0000 t sym\n", 4);
	put_sized("0xff : \"text\"\n", 4);
	put_number(how->comms_size ? how->comms_size : strlen("1 one\n"), 8);
	put("1 one\n", 6);
	put_number(how->cpus, 4);
	put_word("options  ");
	put_option(2, "CPU: 0\n", 8); /* statistics, with a NUL */
	put_option(2, "CPU: 1", 6);
	put_option(5, "first", 6);
	put_option(5, "uname", 5);
	put_option(11, "\1\2\3\4\5\6\7\10", 8);
	put_option(11, "short", 5); /* no id */
	put_option(0x544c, "origin", 6);
	put_option(999, "unknown", 7);
	if (!how->no_clock)
		put_option(4, "", 0);
	put_number(0, 2);
	put_word("flyrecord");
	table = file.size;
	for (uint32_t i = 0; i < how->cpus; i++)
		put(&(uint64_t[2]){0}, 16);
	if (!how->no_clock)
		put_sized(CLOCK, 8);
	bytes_zeros(&file, -file.size % PAGE_BYTES);
	for (uint32_t i = 0; i < how->cpus; i++) {
		pages = i == 1 ? how->pages : PAGE_BYTES;
		memcpy(file.data + table + 16 * i, &(uint64_t[2]){file.size, pages}, 16);
		bytes_zeros(&file, pages);
	}
	return table;
}

/* Opens the first `size` bytes, which lie in memory of that size. */
static bool open_part(size_t size)
{
	uint8_t *copy = xmalloc(size);

	memcpy(copy, file.data, size);
	return trace_open_in(&trace, "made", (struct in){.data = copy, .size = size});
}

static bool opens(struct how how)
{
	make(&how);
	return open_part(file.size);
}

static void whole(void **state)
{
	(void)state;
	assert_true(opens(good));
	assert_false(trace.damaged);
	assert_int_equal(trace.events, 1);
	assert_string_equal(trace.by_id[77]->system, "my");
	assert_string_equal(trace.uname, "uname");
	assert_string_equal(trace.stats, "CPU: 0\n\nCPU: 1\n");
	assert_string_equal(trace.clock, "tai");
	assert_true(trace.in_ns);
	assert_int_equal(trace.id, 0x0807060504030201);
	assert_int_equal(trace.origin_size, 6);
	assert_memory_equal(trace.origin, "origin", 6);
	assert_string_equal(trace_comm(&trace, 1), "one");
	assert_string_equal(trace_function(&trace, 0xffff0000), "sym");
	assert_int_equal(trace.printks.count, 1);
	assert_int_equal(trace.cpus, 2);
	assert_int_equal(trace.cpu[0].bytes, PAGE_BYTES);
	assert_int_equal(trace.cpu[1].bytes, 2 * PAGE_BYTES);
	assert_int_equal(trace.pages_all, 3);
	trace_close(&trace);
}

/* Without the option there is no clock behind the table. */
static void no_clock(void **state)
{
	struct how how = good;

	(void)state;
	how.no_clock = true;
	assert_true(opens(how));
	assert_false(trace.damaged);
	assert_string_equal(trace.clock, "local");
	trace_close(&trace);
}

static void refused(void **state)
{
	struct how how[] = {good, good, good, good, good, good, good};

	(void)state;
	how[0].version = "7";
	how[1].version = "";
	how[2].version = "66";
	how[3].endian = 1;
	how[4].long_size = 4;
	how[5].page_size = 2 * PAGE_BYTES - 1;
	how[6].page_size = 2 * PAGE_MOST;
	for (size_t i = 0; i < COUNT_OF(how); i++)
		assert_false(opens(how[i]));
	make(&good);
	file.data[0]++;
	assert_false(open_part(file.size));
}

static void expect_damaged(unsigned cpus)
{
	assert_true(trace.damaged);
	assert_int_equal(trace.cpus, cpus);
	trace_close(&trace);
}

/* Lengths beyond the end, also where a sum with them would wrap; more CPUs than there may be. */
static void too_long(void **state)
{
	static const uint64_t sizes[] = {1 << 20, 1ULL << 63, UINT64_MAX, UINT64_MAX - 100};
	struct how how = good;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		how.comms_size = sizes[i];
		assert_true(opens(how));
		expect_damaged(0);
	}
	size_t table = make(&good);
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		memcpy(file.data + table + 8, &sizes[i], 8); /* pages of the first CPU */
		assert_true(open_part(file.size));
		assert_int_equal(trace.cpu[0].bytes, 3 * PAGE_BYTES); /* to the end of the file */
		expect_damaged(2);
		memcpy(file.data + table, &sizes[i], 8); /* and where they are */
		assert_true(open_part(file.size));
		assert_int_equal(trace.cpu[0].bytes, 0);
		expect_damaged(2);
		make(&good);
	}
	/* The clock's name comes behind the table: both CPUs are whole. */
	memcpy(file.data + table + 32, &sizes[1], 8);
	assert_true(open_part(file.size));
	assert_int_equal(trace.cpu[1].bytes, 2 * PAGE_BYTES);
	expect_damaged(2);
	how = good;
	how.cpus = CPUS_MOST;
	assert_true(opens(how));
	assert_false(trace.damaged);
	assert_int_equal(trace.cpus, CPUS_MOST);
	trace_close(&trace);
	how.cpus++;
	assert_true(opens(how));
	expect_damaged(0);
}

/* What is whole is there: CPUs whose row is, and pages. */
static void cut(void **state)
{
	size_t table = make(&good), first = file.size - 3 * PAGE_BYTES;

	(void)state;
	for (size_t size = 0; size < file.size; size += size < first ? 1 : 512) {
		bool is_dat = open_part(size);

		assert_int_equal(is_dat, size >= 18);
		if (!is_dat)
			continue;
		if (size >= first) {
			uint64_t there = (size - first) / PAGE_BYTES;

			assert_int_equal(trace.cpu[0].bytes, there ? PAGE_BYTES : 0);
			assert_int_equal(trace.cpu[1].bytes, there ? (there - 1) * PAGE_BYTES : 0);
			assert_int_equal(trace.pages_all, there);
		}
		expect_damaged(size < table + 16 ? 0 : size < table + 32 ? 1 : 2);
	}
}

static int quiet(void **state)
{
	(void)state;
	say_nothing = true;
	return 0;
}

static int over(void **state)
{
	(void)state;
	bytes_free(&file);
	return 0;
}

int dat_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(whole),
	    cmocka_unit_test(no_clock), cmocka_unit_test(refused), cmocka_unit_test(too_long),
	    cmocka_unit_test(cut)};

	return unit_group("dat", tests, COUNT_OF(tests), quiet, over);
}
