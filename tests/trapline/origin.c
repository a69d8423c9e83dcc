/* tools/trapline/lib/sha256.c, and archive_next(): entries of an archive of ours. */
#include "tests/trapline/trapline_unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/lib/sha256.h"

/* Examples of FIPS 180-4, and lengths around a block, as sha256sum has them. */
static void sums(void **state)
{
	static const struct {
		size_t length; /* of 'a's; 0: `text` */
		const char *text, *sum;
	} cases[] = {
	    {0, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	    {0, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	    {55, NULL, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
	    {56, NULL, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
	    {64, NULL, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
	    {1000000, NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	char *data = malloc(1000000), text[SHA256_TEXT];

	(void)state;
	memset(data, 'a', 1000000);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		if (cases[i].text)
			sha256_text(cases[i].text, strlen(cases[i].text), text);
		else
			sha256_text(data, cases[i].length, text);
		assert_string_equal(text, cases[i].sum);
	}
	free(data);
}

/* Names and data of every length modulo 4; an archive that breaks off anywhere. */
static void entries(void **state)
{
	static const char *const names[] = {"a", "ab", "abc", "abcd"};
	struct bytes archive = {.data = NULL};
	struct archive_entry e;
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		archive_put(&archive, names[i], S_IFREG | 0640, "01234", i + 1);
	archive_end(&archive);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		assert_true(archive_next(archive.data, archive.size, &at, &e));
		assert_string_equal(e.path, names[i]);
		assert_int_equal(e.mode, S_IFREG | 0640);
		assert_int_equal(e.size, i + 1);
		assert_memory_equal(e.data, "01234", i + 1);
	}
	assert_false(archive_next(archive.data, archive.size, &at, &e));
	for (size_t size = 0; size < archive.size; size++) {
		uint8_t *cut = malloc(size ? size : 1); /* for the sanitizer to see its end */
		memcpy(cut, archive.data, size);
		for (at = 0; archive_next(cut, size, &at, &e);)
			assert_true(at <= size + 3);
		free(cut);
	}
	bytes_free(&archive);
}

int origin_tests(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums), cmocka_unit_test(entries)};

	return unit_group("origin", tests, COUNT_OF(tests), NULL, NULL);
}
