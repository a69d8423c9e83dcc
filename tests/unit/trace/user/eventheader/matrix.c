/*
 * Each encoding of an EventHeader field with each format, as a field, as a constant and as a
 * variable array, in text and in JSON; values of variable length, null ones and those of odd
 * lengths; and the same records cut and damaged at each byte.
 */
#include "kernel/lib/string.h"
#include "tests/unit/json_check.h"
#include "tests/unit/trace/user/eventheader/tools.h"

static struct eh_maker m;

#define FORMATS (EH_IP_ADDRESS_OBSOLETE + 2) /* and one that is not known */

static const u32 shapes[] = {0, EH_FIXED_ARRAY, EH_COUNTED_ARRAY};

/* A field of each encoding, as it is in the payload. */
#define V8   "\xc8"
#define V16  "\x50\xff"
#define V32  "\x7f\0\0\xff"
#define V64  "\0\0\0\0\xfe\xff\xff\xff"
#define V128 "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\1\0\2"
static const struct {
	const char *bytes;
	u32 n;
} fields[EH_ENCODING_MAX] = {
    [EH_VALUE8] = {V8, 1},
    [EH_VALUE16] = {V16, 2},
    [EH_VALUE32] = {V32, 4},
    [EH_VALUE64] = {V64, 8},
    [EH_VALUE128] = {V128, 16},
    [EH_ZSTRING8] = {"\xef\xbb\xbfhi", 6},
    [EH_ZSTRING16] = {"\xff\xfeh\0\0", 6},
    [EH_ZSTRING32] = {"\xff\xfe\0\0h\0\0\0\0\0\0", 12},
    [EH_STRING8] = {"\5\0\xef\xbb\xbfhi", 7},
    [EH_STRING16] = {"\2\0\xff\xfeh", 6},
    [EH_STRING32] = {"\2\0\xff\xfe\0\0h\0\0", 10},
    [EH_BINARY8] = {"\5\0\xef\xbb\xbfhi", 7},
};

/* How they look. Any other format looks as EH_DEFAULT. */
#define MARK	    "\xef\xbb\xbf"
#define SAME(text)  text, text
#define QUOTE(text) text, "\"" text "\""
static const struct look {
	u32 encoding, format;
	const char *text, *json;
} looks[] = {
    {EH_VALUE8, EH_DEFAULT, SAME("200")},
    {EH_VALUE8, EH_SIGNED, SAME("-56")},
    {EH_VALUE8, EH_HEX, QUOTE("0xc8")},
    {EH_VALUE8, EH_BOOLEAN, SAME("200")},
    {EH_VALUE8, EH_BYTES, QUOTE("c8")},
    {EH_VALUE8, EH_STRING_LATIN, "'\xc3\x88'", "\"\xc3\x88\""},
    {EH_VALUE16, EH_DEFAULT, SAME("65360")},
    {EH_VALUE16, EH_SIGNED, SAME("-176")},
    {EH_VALUE16, EH_HEX, QUOTE("0xff50")},
    {EH_VALUE16, EH_BOOLEAN, SAME("65360")},
    {EH_VALUE16, EH_BYTES, "50:ff", "\"50 ff\""},
    {EH_VALUE16, EH_STRING_UTF, "'\xef\xbd\x90'", "\"\xef\xbd\x90\""},
    {EH_VALUE16, EH_PORT, SAME("20735")},
    {EH_VALUE32, EH_DEFAULT, SAME("4278190207")},
    {EH_VALUE32, EH_SIGNED, SAME("-16777089")},
    {EH_VALUE32, EH_HEX, QUOTE("0xff00007f")},
    {EH_VALUE32, EH_ERRNO, QUOTE("ERRNO(-16777089)")},
    {EH_VALUE32, EH_PID, SAME("-16777089")},
    {EH_VALUE32, EH_TIME, QUOTE("1969-06-20T19:41:51Z")},
    {EH_VALUE32, EH_BOOLEAN, SAME("-16777089")},
    {EH_VALUE32, EH_FLOAT, SAME("-1.7014376e+38")},
    {EH_VALUE32, EH_BYTES, "7f:00:00:ff", "\"7f 00 00 ff\""},
    {EH_VALUE32, EH_STRING_UTF, "'\xef\xbf\xbd'", "\"\xef\xbf\xbd\""},
    {EH_VALUE32, EH_IP_ADDRESS, QUOTE("127.0.0.255")},
    {EH_VALUE32, EH_IP_ADDRESS_OBSOLETE, QUOTE("127.0.0.255")},
    {EH_VALUE64, EH_DEFAULT, SAME("18446744065119617024")},
    {EH_VALUE64, EH_SIGNED, SAME("-8589934592")},
    {EH_VALUE64, EH_HEX, QUOTE("0xfffffffe00000000")},
    {EH_VALUE64, EH_TIME, QUOTE("1697-10-17T11:03:28Z")},
    {EH_VALUE64, EH_FLOAT, QUOTE("-nan")},
    {EH_VALUE64, EH_BYTES, "00:00:00:00:fe:ff:ff:ff", "\"00 00 00 00 fe ff ff ff\""},
    {EH_VALUE128, EH_DEFAULT, "20:01:0d:b8:00:00:00:00:00:00:00:00:00:01:00:02",
	"\"20 01 0d b8 00 00 00 00 00 00 00 00 00 01 00 02\""},
    {EH_VALUE128, EH_UUID, QUOTE("20010db8-0000-0000-0000-000000010002")},
    {EH_VALUE128, EH_IP_ADDRESS, QUOTE("2001:db8::1:2")},
    {EH_VALUE128, EH_IP_ADDRESS_OBSOLETE, QUOTE("2001:db8::1:2")},
    {EH_ZSTRING8, EH_DEFAULT, SAME("\"" MARK "hi\"")},
    {EH_ZSTRING8, EH_BYTES, "ef:bb:bf:68:69", "\"ef bb bf 68 69\""},
    {EH_ZSTRING8, EH_STRING_LATIN, SAME("\"\xc3\xaf\xc2\xbb\xc2\xbfhi\"")},
    {EH_ZSTRING8, EH_STRING_BOM, SAME("\"hi\"")},
    {EH_ZSTRING8, EH_STRING_XML, SAME("\"hi\"")},
    {EH_ZSTRING8, EH_STRING_JSON, SAME("\"hi\"")},
    {EH_ZSTRING16, EH_DEFAULT, SAME("\"" MARK "h\"")},
    {EH_ZSTRING16, EH_BYTES, "ff:fe:68:00", "\"ff fe 68 00\""},
    {EH_ZSTRING16, EH_STRING_BOM, SAME("\"h\"")},
    {EH_ZSTRING16, EH_STRING_XML, SAME("\"h\"")},
    {EH_ZSTRING16, EH_STRING_JSON, SAME("\"h\"")},
    {EH_ZSTRING32, EH_DEFAULT, SAME("\"" MARK "h\"")},
    {EH_ZSTRING32, EH_BYTES, "ff:fe:00:00:68:00:00:00", "\"ff fe 00 00 68 00 00 00\""},
    {EH_ZSTRING32, EH_STRING_BOM, SAME("\"h\"")},
    {EH_ZSTRING32, EH_STRING_XML, SAME("\"h\"")},
    {EH_ZSTRING32, EH_STRING_JSON, SAME("\"h\"")},
    {EH_STRING8, EH_DEFAULT, SAME("\"" MARK "hi\"")},
    {EH_STRING8, EH_BYTES, "ef:bb:bf:68:69", "\"ef bb bf 68 69\""},
    {EH_STRING8, EH_STRING_LATIN, SAME("\"\xc3\xaf\xc2\xbb\xc2\xbfhi\"")},
    {EH_STRING8, EH_STRING_BOM, SAME("\"hi\"")},
    {EH_STRING8, EH_STRING_XML, SAME("\"hi\"")},
    {EH_STRING8, EH_STRING_JSON, SAME("\"hi\"")},
    {EH_STRING16, EH_DEFAULT, SAME("\"" MARK "h\"")},
    {EH_STRING16, EH_BYTES, "ff:fe:68:00", "\"ff fe 68 00\""},
    {EH_STRING16, EH_STRING_BOM, SAME("\"h\"")},
    {EH_STRING16, EH_STRING_XML, SAME("\"h\"")},
    {EH_STRING16, EH_STRING_JSON, SAME("\"h\"")},
    {EH_STRING32, EH_DEFAULT, SAME("\"" MARK "h\"")},
    {EH_STRING32, EH_BYTES, "ff:fe:00:00:68:00:00:00", "\"ff fe 00 00 68 00 00 00\""},
    {EH_STRING32, EH_STRING_BOM, SAME("\"h\"")},
    {EH_STRING32, EH_STRING_XML, SAME("\"h\"")},
    {EH_STRING32, EH_STRING_JSON, SAME("\"h\"")},
    {EH_BINARY8, EH_DEFAULT, "ef:bb:bf:68:69", "\"ef bb bf 68 69\""},
    {EH_BINARY8, EH_STRING_LATIN, SAME("\"\xc3\xaf\xc2\xbb\xc2\xbfhi\"")},
    {EH_BINARY8, EH_STRING_UTF, SAME("\"" MARK "hi\"")},
    {EH_BINARY8, EH_STRING_BOM, SAME("\"hi\"")},
    {EH_BINARY8, EH_STRING_XML, SAME("\"hi\"")},
    {EH_BINARY8, EH_STRING_JSON, SAME("\"hi\"")},
};

static const struct look *find_look(u32 encoding, u32 format)
{
	for (u32 i = 0; i < ARRAY_SIZE(looks); i++)
		if (looks[i].encoding == encoding && looks[i].format == format)
			return &looks[i];
	return NULL;
}

/*
 * A record with these bytes once, or as both elements of an array. The format byte is there even if
 * it is 0.
 */
static void make_record(u32 encoding, u32 format, u32 shape, const char *bytes, u32 n)
{
	eh_make_event(&m, "E");
	eh_make_name(&m, "v");
	eh_make8(&m, encoding | shape | EH_ENCODING_CHAIN);
	eh_make8(&m, format);
	if (shape == EH_FIXED_ARRAY)
		eh_make16(&m, 2);
	eh_make_payload(&m);
	if (shape == EH_COUNTED_ARRAY)
		eh_make16(&m, 2);
	eh_make_bytes(&m, bytes, n);
	if (shape)
		eh_make_bytes(&m, bytes, n);
}

static void expect_look(const struct look *look, u32 shape)
{
	char want[512];

	fmt_snprintf(want, sizeof(want),
	    shape ? "Unit:E [level=4 keyword=0x1] v={%s,%s}" : "Unit:E [level=4 keyword=0x1] v=%s",
	    look->text, look->text);
	EXPECT_STR(eh_text(&m), want);
	fmt_snprintf(want, sizeof(want),
	    shape ? "{\"n\":\"Unit:E\",\"v\":[%s,%s],\"meta\":{\"level\":4,\"keyword\":\"0x1\"}}"
		  : "{\"n\":\"Unit:E\",\"v\":%s,\"meta\":{\"level\":4,\"keyword\":\"0x1\"}}",
	    look->json, look->json);
	EXPECT_STR(eh_json(&m), want);
}

static void each(void)
{
	for (u32 encoding = EH_VALUE8; encoding < EH_ENCODING_MAX; encoding++) {
		for (u32 format = 0; format < FORMATS; format++) {
			const struct look *look = find_look(encoding, format);

			for (u32 i = 0; i < ARRAY_SIZE(shapes); i++) {
				make_record(encoding, format, shapes[i], fields[encoding].bytes,
				    fields[encoding].n);
				expect_look(
				    look ? look : find_look(encoding, EH_DEFAULT), shapes[i]);
			}
		}
	}
}

/* ---- bytes that hold a value ---- */

static bool is_text_format(u32 format)
{
	return format == EH_BYTES || (format >= EH_STRING_LATIN && format <= EH_STRING_JSON);
}

/* The value's bytes; of lengths that no value has, the first n of them. */
static const char *bytes_of_length(u32 n)
{
	for (u32 encoding = EH_VALUE8; encoding <= EH_VALUE128; encoding++)
		if (fields[encoding].n == n)
			return fields[encoding].bytes;
	return V128 V128;
}

static const struct look *find_value_look(u32 n, u32 format)
{
	for (u32 encoding = EH_VALUE8; encoding <= EH_VALUE128; encoding++)
		if (fields[encoding].n == n)
			return format == EH_UNSIGNED && encoding != EH_VALUE128
				   ? find_look(encoding, EH_DEFAULT)
				   : find_look(encoding, format);
	return NULL;
}

/* What EH_DEFAULT makes of these bytes, of which none needs a backslash. */
static const struct look *make_default_look(u32 encoding, const char *bytes, u32 n)
{
	static char text[256], json[256];
	static struct look look = {.text = text, .json = json};
	const char *at;

	make_record(encoding, EH_DEFAULT, 0, bytes, n);
	strscpy(text, strstr(eh_text(&m), " v=") + 3, sizeof(text));
	at = strstr(eh_json(&m), "\"v\":") + 4;
	strscpy(json, at, sizeof(json));
	*strstr(json, ",\"meta\"") = '\0';
	return &look;
}

/* Each format that only values have, with each length up to one more than the longest value. */
static void values_in_bytes(void)
{
	static const struct look null = {.text = "null", .json = "null"};
	static const u32 encodings[] = {EH_STRING8, EH_BINARY8};
	char bytes[2 + 17] = "";

	for (u32 n = 0; n <= 17; n++) {
		bytes[0] = n;
		memcpy(bytes + 2, bytes_of_length(n), n);
		for (u32 format = 1; format < FORMATS - 1; format++) {
			for (u32 i = 0; i < 2 * ARRAY_SIZE(shapes); i++) {
				u32 encoding = encodings[i % 2], shape = shapes[i / 2];
				const struct look *look = n ? find_value_look(n, format) : &null;

				if (is_text_format(format))
					continue;
				if (!look)
					look = make_default_look(encoding, bytes, 2 + n);
				make_record(encoding, format, shape, bytes, 2 + n);
				expect_look(look, shape);
			}
		}
	}
}

/* Formats that strings have, too: an empty one is empty and not null, and four bytes are text. */
static void text_in_bytes(void)
{
	static const struct look empty = {.text = "\"\"", .json = "\"\""},
				 no_bytes = {.text = "", .json = "\"\""},
				 four = {.text = "\"abcd\"", .json = "\"abcd\""};

	for (u32 encoding = EH_STRING8; encoding <= EH_BINARY8;
	     encoding += EH_BINARY8 - EH_STRING8) {
		for (u32 format = EH_STRING_LATIN; format <= EH_STRING_JSON; format++) {
			make_record(encoding, format, 0, "\0", 2);
			expect_look(&empty, 0);
			make_record(encoding, format, 0, "\4\0abcd", 6);
			expect_look(&four, 0);
		}
		make_record(encoding, EH_BYTES, 0, "\0", 2);
		expect_look(&no_bytes, 0);
	}
	make_record(EH_STRING8, EH_DEFAULT, 0, "\0", 2);
	expect_look(&empty, 0);
	make_record(EH_BINARY8, EH_DEFAULT, 0, "\0", 2);
	expect_look(&no_bytes, 0);
}

/* In the record's byte order. */
static void big_endian_values(void)
{
	eh_make_header(&m, EVENTHEADER_EXTENSION, 4);
	m.meta = m.len;
	eh_make16(&m, 0);
	eh_make16(&m, EVENTHEADER_KIND_METADATA);
	eh_make_name(&m, "E");
	eh_make_field(&m, "x", EH_BINARY8, EH_HEX);
	eh_make_field(&m, "t", EH_STRING8, EH_TIME);
	eh_make_field(&m, "p", EH_BINARY8, EH_PORT);
	eh_make_payload(&m);
	eh_make16(&m, 4);
	eh_make32(&m, 0x12345678);
	eh_make16(&m, 8);
	eh_make64(&m, 2000000000);
	eh_make16(&m, 2);
	eh_make16(&m, 80);
	EXPECT_STR(eh_text(&m),
	    "Unit:E [level=4 keyword=0x1 flags=0x4] x=0x12345678 t=2033-05-18T03:33:20Z p=80");
}

/* ---- damage ---- */

static void expect_json(void)
{
	const char *json = eh_json(&m);

	if (!json_check(json, strlen(json)))
		ktap_fail(__FILE__, __LINE__, "%s", json);
}

/*
 * Each record cut at each byte is damaged, and shown up to there. A value that is cut is none: 8
 * bytes of which 4 are left are no number.
 */
static void cut(void)
{
	for (u32 encoding = EH_VALUE8; encoding < EH_ENCODING_MAX; encoding++) {
		for (u32 i = 0; i < FORMATS * ARRAY_SIZE(shapes); i++) {
			make_record(encoding, i / ARRAY_SIZE(shapes),
			    shapes[i % ARRAY_SIZE(shapes)], fields[encoding].bytes,
			    fields[encoding].n);
			for (u32 len = m.len; len-- > 0;) {
				m.len = len;
				EXPECT(strstr(eh_text(&m), "<damaged: "));
				expect_json();
			}
		}
	}
	make_record(EH_BINARY8, EH_HEX, 0, "\x8\0\1\2\3\4", 6);
	EXPECT(strstr(eh_text(&m), " v=01:02:03:04 <damaged: string reaches beyond the record"));
	make_record(EH_STRING8, EH_PID, 0, "\4\0", 2);
	EXPECT(strstr(eh_text(&m), " v=\"\" <damaged: string reaches beyond the record"));
}

/*
 * Each byte of each record replaced: the decoder stays within the record, which the host's
 * sanitizer checks, and writes JSON.
 */
static void replaced(void)
{
	for (u32 encoding = EH_VALUE8; encoding < EH_ENCODING_MAX; encoding++) {
		for (u32 i = 0; i < ARRAY_SIZE(shapes); i++) {
			make_record(encoding, EH_HEX, shapes[i], fields[encoding].bytes,
			    fields[encoding].n);
			for (u32 at = 0; at < m.len; at++) {
				u8 was = m.data[at],
				   other[] = {0, 0xff, was ^ 0x80, was ^ 0x20, was + 1};

				for (u32 k = 0; k < ARRAY_SIZE(other); k++) {
					m.data[at] = other[k];
					eh_text(&m);
					expect_json();
				}
				m.data[at] = was;
			}
		}
	}
}

static const struct ktap_case cases[] = {
    {"eventheader_matrix.each", each},
    {"eventheader_matrix.values_in_bytes", values_in_bytes},
    {"eventheader_matrix.text_in_bytes", text_in_bytes},
    {"eventheader_matrix.big_endian_values", big_endian_values},
    {"eventheader_matrix.cut", cut},
    {"eventheader_matrix.replaced", replaced},
    {NULL, NULL},
};
const struct ktap_suite suite_eventheader_matrix = {cases};
