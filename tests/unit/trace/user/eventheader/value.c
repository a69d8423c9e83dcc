/* How values of EventHeader fields look, in each encoding with each format. */
#include "kernel/lib/string.h"
#include "tests/unit/json_check.h"
#include "tests/unit/trace/user/eventheader/tools.h"

static struct eh_maker m;

struct sample {
	u32 encoding, format;
	const char *bytes; /* of the payload */
	u32 n;
	const char *text, *json; /* NULL: the same */
};

/* After "name=" of the text, between "name": and ,"meta" of the JSON. */
static void check(const struct sample *sample)
{
	const char *text, *json;
	size_t n;

	eh_make_event(&m, "E");
	eh_make_field(&m, "v", sample->encoding, sample->format);
	eh_make_payload(&m);
	eh_make_bytes(&m, sample->bytes, sample->n);
	text = strstr(eh_text(&m), "] v=");
	EXPECT_STR(text ? text + 4 : NULL, sample->text);
	json = strstr(eh_json(&m), "\"v\":");
	EXPECT(json_check(eh_json(&m), strlen(eh_json(&m))));
	json = json ? json + 4 : "";
	const char *want = sample->json ? sample->json : sample->text;
	n = strlen(want);
	if (strncmp(json, want, n) || !str_has_prefix(json + n, ",\"meta\":"))
		ktap_fail(__FILE__, __LINE__, "%s instead of %s", json, want);
}

static void check_all(const struct sample *samples, u32 n)
{
	for (u32 i = 0; i < n; i++)
		check(&samples[i]);
}

static void numbers(void)
{
	static const struct sample all[] = {
	    {EH_VALUE8, 0, "\xc8", 1, "200", NULL},
	    {EH_VALUE8, EH_UNSIGNED, "\xff", 1, "255", NULL},
	    {EH_VALUE8, EH_SIGNED, "\x80", 1, "-128", NULL},
	    {EH_VALUE8, EH_HEX, "\xc8", 1, "0xc8", "\"0xc8\""},
	    {EH_VALUE8, EH_BOOLEAN, "\0", 1, "false", NULL},
	    {EH_VALUE8, EH_BOOLEAN, "\1", 1, "true", NULL},
	    {EH_VALUE8, EH_BOOLEAN, "\xff", 1, "255", NULL},
	    {EH_VALUE8, EH_BYTES, "\1", 1, "01", "\"01\""},
	    {EH_VALUE8, EH_ERRNO, "\2", 1, "2", NULL}, /* does not go with it */
	    {EH_VALUE8, 127, "\2", 1, "2", NULL},      /* not known */
	    {EH_VALUE16, 0, "\x60\xea", 2, "60000", NULL},
	    {EH_VALUE16, EH_SIGNED, "\0\x80", 2, "-32768", NULL},
	    {EH_VALUE16, EH_HEX, "\0\x80", 2, "0x8000", "\"0x8000\""},
	    {EH_VALUE16, EH_BOOLEAN, "\1\0", 2, "true", NULL},
	    {EH_VALUE16, EH_PORT, "\0\x50", 2, "80", NULL},
	    {EH_VALUE32, 0, "\0\x28\x6b\xee", 4, "4000000000", NULL},
	    {EH_VALUE32, EH_SIGNED, "\0\0\0\x80", 4, "-2147483648", NULL},
	    {EH_VALUE32, EH_PID, "\xff\xff\xff\xff", 4, "-1", NULL},
	    {EH_VALUE32, EH_HEX, "\0\0\0\0", 4, "0x0", "\"0x0\""},
	    {EH_VALUE32, EH_BOOLEAN, "\1\0\0\0", 4, "true", NULL},
	    {EH_VALUE32, EH_BOOLEAN, "\0\0\0\x80", 4, "-2147483648",
		NULL}, /* only this one is signed */
	    {EH_VALUE16, EH_BOOLEAN, "\0\x80", 2, "32768", NULL},
	    {EH_VALUE32, EH_BYTES, "\1\2\3\xff", 4, "01:02:03:ff", "\"01 02 03 ff\""},
	    {EH_VALUE32, EH_UUID, "\1\0\0\0", 4, "1", NULL},
	    {EH_VALUE64, 0, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "18446744073709551615", NULL},
	    {EH_VALUE64, EH_SIGNED, "\0\0\0\0\0\0\0\x80", 8, "-9223372036854775808", NULL},
	    {EH_VALUE64, EH_HEX, "\0\0\0\0\0\0\0\x80", 8, "0x8000000000000000",
		"\"0x8000000000000000\""},
	    {EH_VALUE64, EH_BOOLEAN, "\1\0\0\0\0\0\0\0", 8, "1", NULL},
	    {EH_VALUE128, 0, "\1\2\3\4\5\6\7\x8\1\2\3\4\5\6\7\x8", 16,
		"01:02:03:04:05:06:07:08:01:02:03:04:05:06:07:08",
		"\"01 02 03 04 05 06 07 08 01 02 03 04 05 06 07 08\""},
	};

	check_all(all, ARRAY_SIZE(all));
}

static void errnos(void)
{
	static const struct sample all[] = {
	    {EH_VALUE32, EH_ERRNO, "\1\0\0\0", 4, "EPERM(1)", "\"EPERM(1)\""},
	    {EH_VALUE32, EH_ERRNO, "\x83\0\0\0", 4, "ENOTRECOVERABLE(131)",
		"\"ENOTRECOVERABLE(131)\""},
	    {EH_VALUE32, EH_ERRNO, "\0\0\0\0", 4, "ERRNO(0)", "\"ERRNO(0)\""},
	    {EH_VALUE32, EH_ERRNO, "\x86\0\0\0", 4, "ERRNO(134)", "\"ERRNO(134)\""},
	    {EH_VALUE32, EH_ERRNO, "\xfe\xff\xff\xff", 4, "ERRNO(-2)", "\"ERRNO(-2)\""},
	};

	check_all(all, ARRAY_SIZE(all));
}

static void check_time(s64 t, const char *want)
{
	char quoted[64];

	fmt_snprintf(quoted, sizeof(quoted), "\"%s\"", want);
	struct sample sample = {EH_VALUE64, EH_TIME, (const char *)&t, 8, want, quoted};
	check(&sample);
	if (t == (s32)t) {
		sample.encoding = EH_VALUE32;
		sample.n = 4;
		check(&sample);
	}
}

static void times(void)
{
	check_time(0, "1970-01-01T00:00:00Z");
	check_time(2000000000, "2033-05-18T03:33:20Z");
	check_time(-2147483648, "1901-12-13T20:45:52Z");
	check_time(2147483647, "2038-01-19T03:14:07Z");
	check_time(951782399, "2000-02-28T23:59:59Z");
	check_time(951782400, "2000-02-29T00:00:00Z");
	check_time(951868800, "2000-03-01T00:00:00Z");
	check_time(-2203891200, "1900-03-01T00:00:00Z"); /* no leap year */
	check_time(-2203891201, "1900-02-28T23:59:59Z");
	check_time(-11644473601, "1600-12-31T23:59:59Z");
	check_time(-62167219200, "0000-01-01T00:00:00Z");
	check_time(-62167219201, "-0001-12-31T23:59:59Z");
	check_time(253402300799, "9999-12-31T23:59:59Z");
	check_time(253402300800, "10000-01-01T00:00:00Z");
	check_time(910692730086, "30828-09-14T02:48:06Z");
	check_time(-67768040609740801, "TIME(-67768040609740801)");
	check_time(-67768040609740800, "-2147481748-01-01T00:00:00Z");
	check_time(67768036191676799, "2147485547-12-31T23:59:59Z");
	check_time(67768036191676800, "TIME(67768036191676800)");
	check_time(INT64_MAX, "TIME(9223372036854775807)");
	check_time(INT64_MIN, "TIME(-9223372036854775808)");
}

static void check_double(u64 bits, const char *want, const char *json)
{
	struct sample sample = {EH_VALUE64, EH_FLOAT, (const char *)&bits, 8, want, json};

	check(&sample);
}

static void check_single(u32 bits, const char *want, const char *json)
{
	struct sample sample = {EH_VALUE32, EH_FLOAT, (const char *)&bits, 4, want, json};

	check(&sample);
}

/*
 * The shortest decimal that means the same: the edges of range and precision, and numbers known to
 * be hard.
 */
static void floats(void)
{
	check_double(0x0000000000000000, "0", NULL);
	check_double(0x8000000000000000, "-0", NULL);
	check_double(0x3ff0000000000000, "1", NULL);
	check_double(0xc0091eb851eb851f, "-3.14", NULL);
	check_double(0x3fd5555555555555, "0.3333333333333333", NULL);
	check_double(0x3fb999999999999a, "0.1", NULL);
	check_double(0x3fd3333333333334, "0.30000000000000004", NULL);
	check_double(0x4340000000000001, "9007199254740994", NULL);
	check_double(0x4480f0cf064dd592, "1e+22", NULL);
	check_double(
	    0x44b52d02c7e14af6, "1e+23", NULL); /* it lies just below half way to the next */
	check_double(0x44b52d02c7e14af7, "1.0000000000000001e+23", NULL);
	check_double(0x3f1a36e2eb1c432d, "0.0001", NULL);
	check_double(0x3ee4f8b588e368f1, "1e-05", NULL);
	check_double(0x4341c37937e08000, "10000000000000000", NULL);
	check_double(0x43abc16d674ec800, "1e+18", NULL);
	check_double(0x0000000000000001, "5e-324", NULL);
	check_double(0x000fffffffffffff, "2.225073858507201e-308", NULL);
	check_double(0x0010000000000000, "2.2250738585072014e-308", NULL);
	check_double(0x7fefffffffffffff, "1.7976931348623157e+308", NULL);
	check_double(
	    0x0040000000000000, "1.7800590868057611e-307", NULL); /* the one below is nearer */
	check_double(0x3e60000000000000, "2.9802322387695312e-08", NULL); /* two are as near */
	check_double(0x42b4000000000510, "21990232555525.062", NULL);
	check_double(0x7ff0000000000000, "inf", "\"inf\"");
	check_double(0xfff0000000000000, "-inf", "\"-inf\"");
	check_double(0x7ff8000000000000, "nan", "\"nan\"");
	check_double(0xfff0000000000001, "-nan", "\"-nan\"");
	check_single(0x4048f5c3, "3.14", NULL);
	check_single(0x3eaaaaab, "0.33333334", NULL);
	check_single(0x00000001, "1e-45", NULL);
	check_single(0x7f7fffff, "3.4028235e+38", NULL);
	check_single(0xff800000, "-inf", "\"-inf\"");
	check_single(0x7fc00000, "nan", "\"nan\"");
	check_single(0xffc00000, "-nan", "\"-nan\"");
	check_single(0x4b800000, "16777216", NULL);
}

#define IP6(bytes, text)                                                                           \
	{                                                                                          \
		EH_VALUE128, EH_IP_ADDRESS, bytes, 16, text, "\"" text "\""                        \
	}

static void addresses(void)
{
	static const struct sample all[] = {
	    {EH_VALUE32, EH_IP_ADDRESS, "\x7f\0\0\1", 4, "127.0.0.1", "\"127.0.0.1\""},
	    {EH_VALUE128, EH_UUID, "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10", 16,
		"01020304-0506-0708-090a-0b0c0d0e0f10", "\"01020304-0506-0708-090a-0b0c0d0e0f10\""},
	    IP6("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "::"),
	    IP6("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", "::1"),
	    IP6("\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "1::"),
	    IP6("\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10", "102:304:506:708:90a:b0c:d0e:f10"),
	    /* The longer of two runs; one word is no run; the first of two runs. */
	    IP6("\0\1\0\0\0\0\0\2\0\0\0\0\0\0\0\3", "1:0:0:2::3"),
	    IP6("\0\1\0\0\0\2\0\3\0\4\0\5\0\6\0\7", "1:0:2:3:4:5:6:7"),
	    IP6("\0\1\0\0\0\0\0\2\0\3\0\0\0\0\0\4", "1::2:3:0:0:4"),
	    IP6("\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\1", "::ffff:192.0.2.1"),
	    /* Of IPv4 only if nothing is before those words. */
	    IP6("\0\1\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\1", "1::ffff:c000:201"),
	    IP6("\0\1\0\2\0\3\0\4\0\5\xff\xff\xc0\0\2\1", "1:2:3:4:5:ffff:c000:201"),
	};

	check_all(all, ARRAY_SIZE(all));
}

static void characters(void)
{
	static const struct sample all[] = {
	    {EH_VALUE8, EH_STRING_LATIN, "A", 1, "'A'", "\"A\""},
	    {EH_VALUE8, EH_STRING_LATIN, "\xfe", 1, "'\xc3\xbe'", "\"\xc3\xbe\""},
	    {EH_VALUE16, EH_STRING_UTF, "\xac\x20", 2, "'\xe2\x82\xac'", "\"\xe2\x82\xac\""},
	    {EH_VALUE16, EH_STRING_UTF, "\0\xd8", 2, "'\xef\xbf\xbd'", "\"\xef\xbf\xbd\""},
	    {EH_VALUE32, EH_STRING_UTF, "\0\xf6\1\0", 4, "'\xf0\x9f\x98\x80'",
		"\"\xf0\x9f\x98\x80\""},
	    {EH_VALUE32, EH_STRING_UTF, "\0\0\x11\0", 4, "'\xef\xbf\xbd'", "\"\xef\xbf\xbd\""},
	    {EH_VALUE8, EH_STRING_LATIN, "\n", 1, "'\\n'", "\"\\n\""},
	};

	check_all(all, ARRAY_SIZE(all));
}

static void strings(void)
{
	static const struct sample all[] = {
	    {EH_ZSTRING8, 0, "hjkl", 5, "\"hjkl\"", NULL},
	    {EH_ZSTRING16, 0, "h\0j\0\0", 6, "\"hj\"", NULL},
	    {EH_ZSTRING32, 0, "h\0\0\0j\0\0\0\0\0\0", 12, "\"hj\"", NULL},
	    {EH_STRING8, 0, "\2\0hj", 4, "\"hj\"", NULL},
	    {EH_STRING16, 0, "\2\0h\0j", 6, "\"hj\"", NULL},
	    {EH_STRING32, 0, "\1\0h\0\0", 6, "\"h\"", NULL},
	    {EH_STRING8, 0, "\0", 2, "\"\"", NULL},
	    {EH_STRING8, 0, "\3\0a\0b", 5, "\"a\\u0000b\"", NULL},
	    {EH_STRING8, EH_BYTES, "\2\0hj", 4, "68:6a", "\"68 6a\""},
	    {EH_STRING8, EH_BYTES, "\0", 2, "", "\"\""},
	    {EH_ZSTRING16, EH_BYTES, "h\0j\0\0", 6, "68:00:6a:00", "\"68 00 6a 00\""},
	    {EH_STRING8, EH_STRING_LATIN, "\1\0\xfe", 3, "\"\xc3\xbe\"", NULL},
	    {EH_STRING16, EH_SIGNED, "\1\0x", 4, "\"x\"", NULL},
	    {EH_STRING16, EH_STRING_UTF, "\2\0\x3d\xd8\0\xde", 6, "\"\xf0\x9f\x98\x80\"", NULL},
	    {EH_STRING16, 0, "\2\0\0\xde\x3d\xd8", 6, "\"\xef\xbf\xbd\xef\xbf\xbd\"", NULL},
	    {EH_ZSTRING8, 0, "\xe2\x80\xa9\xe2\x80\xaa", 7, "\"\\u2029\xe2\x80\xaa\"", NULL},
	    {EH_STRING8, 0, "\xe\0\"\\\b\f\n\r\t\x1b\x7f\xc2\x85\xe2\x80\xa8", 16,
		"\"\\\"\\\\\\b\\f\\n\\r\\t\\u001b\\u007f\\u0085\\u2028\"", NULL},
	};

	check_all(all, ARRAY_SIZE(all));
}

/*
 * What is not UTF-8: shortened forms, halves of pairs, beyond the last code, cut. A byte that
 * begins no character is one of Latin-1.
 */
static void not_utf8(void)
{
	static const struct sample all[] = {
	    {EH_ZSTRING8, 0, "a\x80z", 4, "\"a\\u0080z\"", NULL},
	    {EH_ZSTRING8, 0, "\xc0\xbf", 3, "\"\xc3\x80\xc2\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xe0\x80\xbf", 4, "\"\xc3\xa0\\u0080\xc2\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xed\xa0\xa1", 4, "\"\xc3\xad\xc2\xa0\xc2\xa1\"", NULL},
	    {EH_ZSTRING8, 0, "\xf4\x90\xbf\xbf", 5, "\"\xc3\xb4\\u0090\xc2\xbf\xc2\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xf4\x8f\xbf\xbf", 5, "\"\xf4\x8f\xbf\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xf8\xa0\xa0\xa0", 5, "\"\xc3\xb8\xc2\xa0\xc2\xa0\xc2\xa0\"", NULL},
	    {EH_ZSTRING8, 0, "\xf8z", 3, "\"\xc3\xb8z\"", NULL},
	    {EH_ZSTRING8, 0, "\xe2\xa2", 3, "\"\xc3\xa2\xc2\xa2\"", NULL},
	    {EH_STRING32, 0, "\1\0\0\xd8\0", 6, "\"\xef\xbf\xbd\"", NULL},
	};

	check_all(all, ARRAY_SIZE(all));
}

/* The first code that needs so many bytes, and the last that needs one less. */
static void shortest_utf8(void)
{
	static const struct sample all[] = {
	    {EH_ZSTRING8, 0, "\xc1\xbf", 3, "\"\xc3\x81\xc2\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xc2\x80", 3, "\"\\u0080\"", NULL},
	    {EH_ZSTRING8, 0, "\xe0\x9f\xbf", 4, "\"\xc3\xa0\\u009f\xc2\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xe0\xa0\x80", 4, "\"\xe0\xa0\x80\"", NULL},
	    {EH_ZSTRING8, 0, "\xf0\x8f\xbf\xbf", 5, "\"\xc3\xb0\\u008f\xc2\xbf\xc2\xbf\"", NULL},
	    {EH_ZSTRING8, 0, "\xf0\x90\x80\x80", 5, "\"\xf0\x90\x80\x80\"", NULL},
	};

	check_all(all, ARRAY_SIZE(all));
}

static void marks(void)
{
	static const struct sample all[] = {
	    {EH_STRING8, EH_STRING_BOM, "\3\0\xef\xbb\xbf", 5, "\"\"", NULL},
	    {EH_STRING16, EH_STRING_BOM, "\1\0\xff\xfe", 4, "\"\"", NULL},
	    {EH_ZSTRING8, EH_STRING_BOM, "hj", 3, "\"hj\"", NULL},
	    {EH_ZSTRING8, EH_STRING_BOM, "\xef\xbb\xbfhj", 6, "\"hj\"", NULL},
	    {EH_ZSTRING8, EH_STRING_UTF, "\xef\xbb\xbfh", 5, "\"\xef\xbb\xbfh\"", NULL},
	    {EH_STRING16, EH_STRING_XML, "\2\0\xff\xfeh", 6, "\"h\"", NULL},
	    {EH_STRING16, EH_STRING_JSON, "\2\0\xfe\xff\0h", 6, "\"h\"", NULL},
	    {EH_STRING32, EH_STRING_BOM, "\2\0\xff\xfe\0\0h\0\0", 10, "\"h\"", NULL},
	    {EH_STRING32, EH_STRING_BOM, "\2\0\0\0\xfe\xff\0\0\0h", 10, "\"h\"", NULL},
	    {EH_STRING8, EH_STRING_BOM, "\5\0\xfe\xff\0h\0", 7, "\"h\xef\xbf\xbd\"",
		NULL}, /* half a unit */
	};

	check_all(all, ARRAY_SIZE(all));
}

static const struct ktap_case cases[] = {
    {"eventheader_value.numbers", numbers},
    {"eventheader_value.errnos", errnos},
    {"eventheader_value.times", times},
    {"eventheader_value.floats", floats},
    {"eventheader_value.addresses", addresses},
    {"eventheader_value.characters", characters},
    {"eventheader_value.strings", strings},
    {"eventheader_value.not_utf8", not_utf8},
    {"eventheader_value.shortest_utf8", shortest_utf8},
    {"eventheader_value.marks", marks},
    {NULL, NULL},
};
const struct ktap_suite suite_eventheader_value = {cases};
