/* Symbols and sections of ELF files made by hand: which symbol an address has; damaged files. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/stopped.h"
#include "tests/trapline/trapline_unit.h"

static struct elf elf;

static void expect_at(uint64_t address, const char *name)
{
	const struct elf_symbol *s = elf_at(&elf, address);

	if (!name) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_string_equal(s->name, name);
}

static void open_symbols(const struct stopped_symbol *symbol, size_t n)
{
	struct bytes file = stopped_elf(symbol, n, "", 1);

	assert_true(elf_open_in(&elf, "made", file.data, file.size));
	bytes_free(&file);
}

/* A symbol has its first byte and its last; what has no size reaches to the next, or 4096 bytes. */
static void edges(void **state)
{
	static const struct stopped_symbol symbols[] = {{"next", 0x3000, 0x10, STT_FUNC, 1},
	    {"bare", 0x1000, 0, STT_NOTYPE, 1}, {"nearer", 0x1700, 0, STT_NOTYPE, 1},
	    {"sized", 0x1800, 0x20, STT_OBJECT, 1}, {"", 0x1900, 0, STT_NOTYPE, 1},
	    {"last", ~0xfULL, 0x10, STT_FUNC, 1}};

	(void)state;
	open_symbols(symbols, COUNT_OF(symbols));
	expect_at(0xfff, NULL);
	expect_at(0x1000, "bare");
	expect_at(0x16ff, "bare");
	expect_at(0x17ff, "nearer");
	expect_at(0x1800, "sized");
	expect_at(0x181f, "sized");
	expect_at(0x1820, "nearer");
	expect_at(0x1900, "nearer");
	expect_at(0x26ff, "nearer");
	expect_at(0x2700, NULL);
	expect_at(0x3000, "next");
	expect_at(0x300f, "next");
	expect_at(0x3010, NULL);
	expect_at(~0ULL, "last");
	elf_close(&elf);
	elf_close(&elf);
}

/* Of two at one address the function is meant; an inner symbol hides the one around it. */
static void same_address(void **state)
{
	static const struct stopped_symbol symbols[] = {{"function", 0x1000, 0x100, STT_FUNC, 1},
	    {"object", 0x1000, 0x100, STT_OBJECT, 1}, {"inner", 0x1010, 0x10, STT_OBJECT, 1}};

	(void)state;
	open_symbols(symbols, COUNT_OF(symbols));
	expect_at(0x1000, "function");
	expect_at(0x101f, "inner");
	expect_at(0x1020, "function");
	elf_close(&elf);
}

/* Symbols without a place, or of other kinds, are none. */
static void not_taken(void **state)
{
	static const struct stopped_symbol symbols[] = {{"undefined", 0x1000, 8, STT_FUNC, 0},
	    {"absolute", 0x1000, 8, STT_NOTYPE, SHN_ABS}, {"file", 0x1000, 8, STT_FILE, 1},
	    {"section", 0x1000, 8, STT_SECTION, 1}, {"object", 0x2000, 8, STT_OBJECT, 1}};

	(void)state;
	open_symbols(symbols, COUNT_OF(symbols));
	assert_int_equal(elf.symbols, 1);
	expect_at(0x1000, NULL);
	assert_false(elf_named(&elf, "object")->is_function);
	assert_null(elf_named(&elf, "file"));
	assert_null(elf_named(&elf, "obj"));
	elf_close(&elf);
}

static Elf64_Shdr *header(struct bytes *file, unsigned i)
{
	return (Elf64_Shdr *)(file->data + sizeof(Elf64_Ehdr)) + i;
}

static const uint8_t *types_of(struct bytes *file, size_t *size)
{
	const uint8_t *data = NULL;

	if (elf_open_in(&elf, "made", file->data, file->size))
		data = elf_section(&elf, ".types", size);
	return data;
}

static void sections(void **state)
{
	struct bytes file = stopped_elf(stopped_symbols, 2, "types", 6);
	Elf64_Ehdr *h = (Elf64_Ehdr *)file.data;
	size_t size;

	(void)state;
	assert_string_equal(types_of(&file, &size), "types");
	assert_int_equal(size, 6);
	assert_null(elf_section(&elf, ".typ", &size));
	elf_close(&elf);
	header(&file, 4)->sh_size++; /* one byte past the file's end */
	assert_null(types_of(&file, &size));
	elf_close(&elf);
	header(&file, 4)->sh_size--;
	header(&file, 4)->sh_type = SHT_NOBITS; /* it has no bytes */
	assert_null(types_of(&file, &size));
	elf_close(&elf);
	header(&file, 4)->sh_type = SHT_PROGBITS;
	h->e_shnum = 4;
	assert_null(types_of(&file, &size));
	elf_close(&elf);
	h->e_shnum = 5;
	h->e_shstrndx = 5;
	assert_null(types_of(&file, &size));
	elf_close(&elf);
	bytes_free(&file);
}

/* A table of texts without an end, a text outside it, no table: symbols without a name. */
static void broken_texts(void **state)
{
	struct bytes file = stopped_elf(stopped_symbols, 2, "", 1);

	(void)state;
	header(&file, 3)->sh_size = 1 + strlen("start") + 1 + strlen("middle");
	assert_true(elf_open_in(&elf, "made", file.data, file.size));
	expect_at(KERNEL_TEXT, "start");
	expect_at(KERNEL_TEXT + 0x40, "");
	elf_close(&elf);
	header(&file, 3)->sh_size = 1;
	assert_true(elf_open_in(&elf, "made", file.data, file.size));
	expect_at(KERNEL_TEXT, "");
	expect_at(KERNEL_TEXT + 0x40, "");
	elf_close(&elf);
	header(&file, 3)->sh_type = SHT_PROGBITS;
	assert_true(elf_open_in(&elf, "made", file.data, file.size));
	assert_int_equal(elf.symbols, 0);
	expect_at(KERNEL_TEXT, NULL);
	elf_close(&elf);
	bytes_free(&file);
}

/* Another kind of file is refused; one that breaks off anywhere is read as far as it goes. */
static void damaged(void **state)
{
	struct bytes types = stopped_types(),
		     file = stopped_elf(stopped_symbols, 7, types.data, types.size);
	struct ktypes k;

	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		bool fine = elf_open_in(&elf, "made", file.data, size);
		assert_int_equal(fine, size >= sizeof(Elf64_Ehdr));
		if (!fine)
			continue;
		ktypes_open(&k, &elf);
		assert_null(k.data);
		expect_at(0x1000, NULL);
		elf_close(&elf);
	}
	file.data[EI_CLASS] = ELFCLASS32;
	assert_false(elf_open_in(&elf, "made", file.data, file.size));
	file.data[EI_CLASS] = ELFCLASS64;
	file.data[3] = 'G';
	assert_false(elf_open_in(&elf, "made", file.data, file.size));
	assert_false(elf_open(&elf, "/nonexistent"));
	bytes_free(&types);
	bytes_free(&file);
}

/* Dynamic symbols are those of a file that was stripped, and of no other. */
static void dynamic(void **state)
{
	struct bytes file = stopped_elf(stopped_symbols, 2, "", 1);

	(void)state;
	header(&file, 2)->sh_type = SHT_DYNSYM;
	assert_true(elf_open_in(&elf, "made", file.data, file.size));
	assert_int_equal(elf.symbols, 2);
	elf_close(&elf);
	*header(&file, 4) = *header(&file, 2); /* the same once more, as the whole table */
	header(&file, 4)->sh_type = SHT_SYMTAB;
	assert_true(elf_open_in(&elf, "made", file.data, file.size));
	assert_int_equal(elf.symbols, 2);
	elf_close(&elf);
	bytes_free(&file);
}

int elf_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(edges),
	    cmocka_unit_test(same_address), cmocka_unit_test(not_taken), cmocka_unit_test(sections),
	    cmocka_unit_test(broken_texts), cmocka_unit_test(damaged), cmocka_unit_test(dynamic)};

	return unit_group("elf", tests, COUNT_OF(tests), NULL, NULL);
}
