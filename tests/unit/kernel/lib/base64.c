/* What files become on a serial line: CRC-32 and base64, at every length around theirs, and what is none. */
#include "kernel/lib/base64.h"
#include "kernel/lib/crc32.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static void crc_known(void)
{
	EXPECT_EQ(crc32_add(0, "", 0), 0);
	EXPECT_EQ(
	    crc32_add(0, "123456789", 9), 0xcbf43926); /* every description of it has this one */
	EXPECT_EQ(crc32_add(crc32_add(0, "1234", 4), "56789", 5), 0xcbf43926);
	EXPECT_EQ(crc32_add(0, "\0\0\0\0", 4), 0x2144df1c);
}

static void base64_known(void)
{
	/* RFC 4648, section 10 */
	static const char *const rows[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="},
	    {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
	    {"\xfb\xff\xbf", "+/+/"}};
	char text[16], data[16];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = strlen(rows[i][0]), size = strlen(rows[i][1]);
		EXPECT_EQ(BASE64_SIZE(n), size);
		base64_encode(text, rows[i][0], n);
		EXPECT(!memcmp(text, rows[i][1], size));
		EXPECT_EQ(base64_decode(data, rows[i][1], size), n);
		EXPECT(!memcmp(data, rows[i][0], n));
	}
}

static void base64_refused(void)
{
	static const char *const rows[] = {"Zg", "Zg=", "Z===", "====", "Zm=v",
	    "Zm9v=", "Zm9vYh==", "Zm9vYmF=", "Zm 9", "Zm9-", "=m9v", "Zg==Zg=="};
	char data[16];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(base64_decode(data, rows[i], strlen(rows[i])), -EINVAL);
}

/* Each byte alone and at each place. */
static void base64_there_and_back(void)
{
	u8 data[6], back[6];
	char text[8];

	for (unsigned byte = 0; byte < 256; byte++)
		for (unsigned n = 1; n <= sizeof(data); n++) {
			memset(data, ~byte, sizeof(data));
			data[n - 1] = byte;
			base64_encode(text, data, n);
			EXPECT_EQ(base64_decode(back, text, BASE64_SIZE(n)), n);
			EXPECT(!memcmp(data, back, n));
		}
}

static const struct ktap_case cases[] = {
    {"frames.crc_known", crc_known},
    {"frames.base64_known", base64_known},
    {"frames.base64_refused", base64_refused},
    {"frames.base64_there_and_back", base64_there_and_back},
    {NULL, NULL},
};
const struct ktap_suite suite_lib_frames = {cases};
