/* A machine's memory as a file: a core's segments, the hole below 4 GiB, and what is cut off. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/memory.h"

#define SEGMENTS    3
#define SEGMENT	    0x100
#define FIRST	    (sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr))
#define CORE	    (FIRST + 2 * SEGMENT)
#define PHYSICAL(i) (0x1000 + (i)*0x1000)

static uint8_t file[CORE];
static struct memory memory;

/* A core with a note and two segments, each of one letter, one after the other. */
static void make_core(void)
{
	Elf64_Ehdr head = {.e_type = ET_CORE, .e_phoff = sizeof(head), .e_phnum = SEGMENTS};
	Elf64_Phdr p[SEGMENTS] = {{.p_type = PT_NOTE, .p_offset = FIRST, .p_filesz = SEGMENT}};

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	for (unsigned i = 0; i < 2; i++) {
		p[1 + i] = (Elf64_Phdr){.p_type = PT_LOAD,
		    .p_paddr = PHYSICAL(i),
		    .p_offset = FIRST + i * SEGMENT,
		    .p_filesz = SEGMENT};
		memset(file + FIRST + i * SEGMENT, 'a' + i, SEGMENT);
	}
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), p, sizeof(p));
}

static void expect_bytes(uint64_t physical, uint64_t n, int letter)
{
	const uint8_t *at = memory_at(&memory, physical, n);

	assert_int_equal(at != NULL, letter != 0);
	assert_true(!at || (at[0] == letter && at[n - 1] == letter));
}

/* Bytes of a core's segment are there up to its last one, and no others. */
static void core(void **state)
{
	(void)state;
	make_core();
	memory_open_in(&memory, file, sizeof(file));
	assert_true(memory_is_core(&memory));
	assert_int_equal(memory.segments, 2);
	assert_int_equal(memory.missing, 0);
	for (unsigned i = 0; i < 2; i++) {
		expect_bytes(PHYSICAL(i), SEGMENT, 'a' + i);
		expect_bytes(PHYSICAL(i) + SEGMENT - 8, 8, 'a' + i);
		expect_bytes(PHYSICAL(i) + SEGMENT - 8, 9, 0);
		expect_bytes(PHYSICAL(i) + SEGMENT, 1, 0);
		expect_bytes(PHYSICAL(i) - 1, 1, 0);
		expect_bytes(PHYSICAL(i) + 1, UINT64_MAX, 0);
	}
	memory_close(&memory);
}

/* Of a core that is cut off as many bytes are missing as its segments lack. */
static void cut_core(void **state)
{
	static const struct {
		size_t size;
		uint64_t missing;
		unsigned segments;
	} cuts[] = {{CORE, 0, 2}, {CORE - 1, 1, 2}, {CORE - SEGMENT + 1, SEGMENT - 1, 2},
	    {CORE - SEGMENT, SEGMENT, 1}, {FIRST + 8, 2 * SEGMENT - 8, 1}, {FIRST, 2 * SEGMENT, 0},
	    {FIRST - 1, SEGMENT + sizeof(Elf64_Phdr), 0}};

	(void)state;
	make_core();
	for (size_t i = 0; i < COUNT_OF(cuts); i++) {
		uint8_t *copy = xmalloc(cuts[i].size);

		memcpy(copy, file, cuts[i].size);
		memory_open_in(&memory, copy, cuts[i].size);
		assert_int_equal(memory.missing, cuts[i].missing);
		assert_int_equal(memory.segments, cuts[i].segments);
		memory_close(&memory);
		free(copy);
	}
}

/* Bytes of a plain file are physical memory from 0 on; those above go to 4 GiB when it is split. */
static void split(void **state)
{
	const uint64_t high = 4ULL << 30;

	(void)state;
	memset(file, 'x', sizeof(file));
	memset(file + sizeof(file) - 16, 'y', 16);
	memory_open_in(&memory, file, sizeof(file));
	assert_false(memory_is_core(&memory));
	expect_bytes(0, sizeof(file) - 16, 'x');
	expect_bytes(sizeof(file) - 16, 16, 'y');
	memory_split(&memory, 16);
	expect_bytes(0, sizeof(file) - 16, 'x');
	expect_bytes(sizeof(file) - 16, 1, 0);
	expect_bytes(high, 16, 'y');
	expect_bytes(high, 17, 0);
	memory_split(&memory, sizeof(file)); /* nothing would be left below */
	expect_bytes(high, 16, 'y');
	memory_close(&memory);
}

int memory_tests(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(core), cmocka_unit_test(cut_core), cmocka_unit_test(split)};

	return unit_group("memory", tests, COUNT_OF(tests), NULL, NULL);
}
