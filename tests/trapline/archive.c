/*
 * tools/trapline/machine/archive.c: the kernel's own reader reads its archives; the programs that
 * may come along.
 */
#include "tests/trapline/trapline_unit.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/fs/cpio.h"
#include "tools/trapline/machine/archive.h"
#include "tools/trapline/record/libraries.h"

static void expect(struct cpio *c, const char *name, uint32_t mode, const char *data, size_t size)
{
	struct cpio_entry e;

	assert_int_equal(cpio_next(c, &e), 1);
	assert_string_equal(e.name, name);
	assert_int_equal(e.mode, mode);
	assert_int_equal(e.size, size);
	assert_memory_equal(e.data, data, size);
}

/*
 * Names and data of every length modulo 4, an empty file, a directory; another archive after it.
 */
static void read_again(void **state)
{
	static const char *const names[] = {"a", "ab", "abc", "abcd", "d/abcde", "d/e/f"};
	struct bytes archive = {.data = NULL};
	struct cpio_entry e;
	struct cpio c;
	char path[16];

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "/%s", names[i]);
		archive_put(&archive, path, S_IFREG | 0755, "01234567", i);
	}
	archive_put(&archive, "//house", S_IFDIR | 0700, NULL, 0);
	archive_end(&archive);
	archive_put(&archive, "/more", S_IFREG | 0644, "more", 4);
	archive_end(&archive);
	cpio_init(&c, archive.data, archive.size);
	for (size_t i = 0; i < 6; i++)
		expect(&c, names[i], S_IFREG | 0755, "01234567", i);
	expect(&c, "house", S_IFDIR | 0700, "", 0);
	expect(&c, "more", S_IFREG | 0644, "more", 4);
	assert_int_equal(cpio_next(&c, &e), 0);
	bytes_free(&archive);
}

static void copies(void **state)
{
	struct bytes archive = {.data = NULL};
	char name[] = "/tmp/trapline-unit.XXXXXX";
	int fd = mkstemp(name);
	struct cpio c;

	(void)state;
	say_nothing = true;
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(fchmod(fd, 0751), 0);
	close(fd);
	assert_true(archive_copy(&archive, "/x/y", name));
	cpio_init(&c, archive.data, archive.size);
	expect(&c, "x/y", S_IFREG | 0751, "text", 4);
	unlink(name);
	size_t size = archive.size;
	assert_false(archive_copy(&archive, "/x/y", name));
	assert_false(archive_copy(&archive, "/x/y", "/"));
	assert_false(archive_copy(&archive, "/x/y", "/dev/null"));
	assert_int_equal(archive.size, size);
	bytes_free(&archive);
}

static void expect_path(const char *directory, const char *path, const char *want)
{
	char *got = path_absolute(directory, path);

	assert_string_equal(got, want);
	free(got);
}

static void paths(void **state)
{
	(void)state;
	expect_path("/house/me", "./x", "/house/me/x");
	expect_path("/house/me", "x/y", "/house/me/x/y");
	expect_path("/house/me", "../x", "/house/x");
	expect_path("/house/me", "../../../x", "/x");
	expect_path("/house/me", "/x//y/./z/", "/x/y/z");
	expect_path("/house/me", "a/../b/..", "/house/me");
	expect_path("/", "x", "/x");
	expect_path("/", "..", "/");
	expect_path("/house/me", "", "/house/me");
	expect_path("/", "...", "/...");
}

struct elf {
	Elf64_Ehdr head;
	Elf64_Phdr p[2];
};

static struct elf good_elf(void)
{
	struct elf e = {
	    .head = {.e_machine = EM_X86_64, .e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 2},
	    .p = {{.p_type = PT_LOAD}, {.p_type = PT_LOAD}}};

	memcpy(e.head.e_ident, ELFMAG, SELFMAG);
	e.head.e_ident[EI_CLASS] = ELFCLASS64;
	return e;
}

static const char *refusal(const struct elf *e)
{
	return program_refusal((const uint8_t *)e, sizeof(*e));
}

/* The path of an interpreter: only one that ends in the file, with its NUL. */
static void interpreters(void **state)
{
	struct {
		struct elf e;
		char path[8];
	} f = {good_elf(), "/lib/ld"};
	const uint8_t *data = (const uint8_t *)&f;

	(void)state;
	assert_null(libraries_interpreter(data, sizeof(f)));
	f.e.p[1] = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = sizeof(f.e), .p_filesz = 8};
	assert_string_equal(libraries_interpreter(data, sizeof(f)), "/lib/ld");
	for (size_t n = 0; n < sizeof(f); n++) {
		uint8_t *copy = xmalloc(n);
		memcpy(copy, &f, n);
		assert_null(libraries_interpreter(copy, n));
		free(copy);
	}
	f.e.p[1].p_filesz = 7;
	assert_null(libraries_interpreter(data, sizeof(f)));
	f.e.p[1].p_filesz = 0;
	assert_null(libraries_interpreter(data, sizeof(f)));
	f.e.p[1].p_filesz = 9;
	assert_null(libraries_interpreter(data, sizeof(f)));
}

static void elf_programs(void **state)
{
	struct elf e = good_elf();

	(void)state;
	assert_null(refusal(&e));
	e.head.e_machine = EM_AARCH64;
	assert_non_null(strstr(refusal(&e), "x86-64"));
	e = good_elf();
	e.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_non_null(strstr(refusal(&e), "x86-64"));
	e = good_elf();
	e.head.e_phnum = 3;
	assert_string_equal(refusal(&e), "breaks off");
	e.head.e_phoff = ~0ULL - 8;
	assert_string_equal(refusal(&e), "breaks off");
	for (size_t n = 0; n < sizeof(e.head); n++) {
		uint8_t *copy = xmalloc(n); /* exactly: a byte beyond is seen */
		memcpy(copy, &e, n);
		assert_non_null(program_refusal(copy, n));
		free(copy);
	}
}

static const char *refusal_of(const char *text)
{
	return program_refusal((const uint8_t *)text, strlen(text));
}

static void scripts(void **state)
{
	(void)state;
	assert_null(refusal_of("#!/bin/sh\nls\n"));
	assert_null(refusal_of("#! /usr/bin/env bash\n"));
	assert_non_null(refusal_of("#!/usr/bin/python3\n# sh\n"));
	assert_non_null(refusal_of("#!/bin/sh"));
	assert_non_null(refusal_of("#!\n"));
	assert_non_null(refusal_of("ls\n"));
}

int archive_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(read_again),
	    cmocka_unit_test(copies), cmocka_unit_test(paths), cmocka_unit_test(interpreters),
	    cmocka_unit_test(elf_programs), cmocka_unit_test(scripts)};

	return unit_group("archive", tests, COUNT_OF(tests), NULL, NULL);
}
