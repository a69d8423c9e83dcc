/* The output of the guest's `send`: CRC-32 and base64, and text that is neither. */
#include <errno.h>
#include <string.h>

#include "kernel/abi/crc32.h"
#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/lib/base64.h"

static void crc_known(void **state)
{
	(void)state;
	assert_int_equal(abi_crc32(0, "", 0), 0);
	assert_int_equal(abi_crc32(0, "123456789", 9), 0xcbf43926); /* the check value of CRC-32 */
	assert_int_equal(abi_crc32(abi_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	assert_int_equal(abi_crc32(0, "\0\0\0\0", 4), 0x2144df1c);
}

static void known(void **state)
{
	/* RFC 4648, section 10 */
	static const char *const rows[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="},
	    {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
	    {"\xfb\xff\xbf", "+/+/"}};
	char data[16];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t n = strlen(rows[i][0]);
		assert_int_equal(base64_decode(data, rows[i][1], strlen(rows[i][1])), n);
		assert_memory_equal(data, rows[i][0], n);
	}
}

static void refused(void **state)
{
	static const char *const rows[] = {"Zg", "Zg=", "Z===", "====", "Zm=v",
	    "Zm9v=", "Zm9vYh==", "Zm9vYmF=", "Zm 9", "Zm9-", "=m9v", "Zg==Zg=="};
	char data[16];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(base64_decode(data, rows[i], strlen(rows[i])), -EINVAL);
	assert_int_equal(base64_decode(data, "Zm9vZm9v", 6), -EINVAL); /* whatever follows */
}

int base64_tests(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(crc_known), cmocka_unit_test(known), cmocka_unit_test(refused)};

	return unit_group("base64", tests, COUNT_OF(tests), NULL, NULL);
}
