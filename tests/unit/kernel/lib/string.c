/*
 * Memory, strings and numbers. Lengths and overlaps are tried out around every size at which the
 * code changes its way.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

#define N 160

static u8 pattern(unsigned i)
{
	return i * 7 + 1;
}

/* Every length and distance, against a byte loop over a copy. */
static void moves(void)
{
	static u8 got[2 * N], want[2 * N];

	for (int distance = -40; distance <= 40; distance++) {
		for (unsigned n = 0; n < 100; n++) {
			for (unsigned i = 0; i < 2 * N; i++)
				got[i] = want[i] = pattern(i);
			for (unsigned i = 0; i < n; i++)
				want[N / 2 + distance + i] = pattern(N / 2 + i);
			EXPECT(memmove(got + N / 2 + distance, got + N / 2, n) ==
			       got + N / 2 + distance);
			if (memcmp(got, want, 2 * N) != 0)
				ktap_fail(__FILE__, __LINE__, "memmove of %u by %d", n, distance);
		}
	}
}

static void copies_and_fills(void)
{
	static u8 from[N], to[N];

	for (unsigned i = 0; i < N; i++)
		from[i] = pattern(i);
	for (unsigned n = 0; n < N - 16; n++) {
		for (unsigned i = 0; i < N; i++)
			to[i] = 0xee;
		EXPECT(memcpy(to + 8, from + 3, n) == to + 8);
		bool ok = to[7] == 0xee && to[8 + n] == 0xee;
		for (unsigned i = 0; i < n; i++)
			ok = ok && to[8 + i] == from[3 + i];
		EXPECT(memset(to + 8, 0x1a5, n) == to + 8);
		for (unsigned i = 0; i < n; i++)
			ok = ok && to[8 + i] == 0xa5;
		ok = ok && to[7] == 0xee && to[8 + n] == 0xee;
		if (!ok)
			ktap_fail(__FILE__, __LINE__, "memcpy or memset of %u", n);
	}
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void compares(void)
{
	u8 a[40], b[40];

	for (unsigned n = 0; n < 40; n++) {
		memset(a, 7, sizeof(a));
		memset(b, 7, sizeof(b));
		EXPECT_EQ(memcmp(a, b, n), 0);
		for (unsigned at = 0; at < n; at++) {
			b[at] = 0x80; /* above 7 only as an unsigned byte */
			EXPECT_EQ(sign(memcmp(a, b, n)), -1);
			EXPECT_EQ(sign(memcmp(b, a, n)), 1);
			EXPECT_EQ(memcmp(a, b, at), 0);
			b[at] = 7;
		}
	}
	EXPECT(strcmp("abc", "abd") < 0 && strcmp("abc", "ab") > 0 && strcmp("", "") == 0);
	EXPECT(strcmp("a\x80", "a\x7f") > 0);
	EXPECT(strncmp("abcx", "abcy", 3) == 0 && strncmp("ab", "abc", 3) < 0 &&
	       strncmp("a", "b", 0) == 0);
	EXPECT(str_has_prefix("events/x", "events") && !str_has_prefix("ev", "events"));
}

/* Strings that begin and end anywhere near the end of a page, and differ anywhere. */
static void compares_strings(void)
{
	static char room[2][2 * 4096 + 64] __attribute__((aligned(4096)));
	char *a = room[0] + 4096 - 20, *b = room[1] + 4096 - 20;

	for (unsigned at = 0; at < 24 * 8; at++) {
		const char *x = a + at / 8, *y = b + at % 8 * 3;
		for (unsigned n = 0; n < 20; n++) {
			memset(room, 'z', sizeof(room)); /* what follows must not count */
			memset((char *)x, 'a', n);
			memset((char *)y, 'a', n);
			((char *)x)[n] = ((char *)y)[n] = '\0';
			((char *)x)[n + 1] = 'b';
			EXPECT_EQ(strcmp(x, y), 0);
			if (!n)
				continue;
			((char *)y)[n - 1] = '\x81';
			EXPECT(strcmp(x, y) < 0 && strcmp(y, x) > 0);
			((char *)y)[n - 1] = '\0';
			EXPECT(strcmp(x, y) > 0 && strcmp(y, x) < 0);
		}
	}
}

/* Every start in a word and every length, with what must not be looked at after the end. */
static void lengths(void)
{
	char s[48];

	for (unsigned at = 0; at < 8; at++) {
		for (unsigned n = 0; n < 32; n++) {
			memset(s, 0, sizeof(s));
			memset(s + at, n % 2 ? 'x' : 0x81, n);
			EXPECT_EQ(strlen(s + at), n);
			for (unsigned max = 0; max < 40; max++)
				EXPECT_EQ(strnlen(s + at, max), MIN(n, max));
			memset(s, 0x80, sizeof(s));
			s[at + n] = 0;
			EXPECT_EQ(strlen(s + at), n);
			s[at + n] = 1; /* below 0 by a borrow only */
			s[at + n + 1] = 0;
			EXPECT_EQ(strlen(s + at), n + 1);
		}
	}
	EXPECT_EQ(strnlen("ab", SIZE_MAX), 2);
}

static void searches(void)
{
	static const char s[] = "key:val:x";

	EXPECT(strchr(s, ':') == s + 3 && strrchr(s, ':') == s + 7 && !strchr(s, 'q'));
	EXPECT(strchr(s, '\0') == s + 9 && strrchr(s, '\0') == s + 9);
	EXPECT(strstr(s, "val") == s + 4 && strstr(s, "") == s && !strstr(s, "valx"));
	EXPECT(strstr("aab", "ab") && !strstr("", "a"));
	EXPECT(memchr(s, 'v', 4) == NULL && memchr(s, 'v', 5) == s + 4);
	EXPECT_EQ(strspn("0012x", "012"), 4);
	EXPECT_EQ(strcspn(s, ":v"), 3);
	EXPECT_EQ(strcspn("abc", ""), 3);
	EXPECT_EQ(strnlen("abcdef", 3), 3);
	EXPECT_EQ(strnlen("ab", 3), 2);
}

static void cuts(void)
{
	char buf[8], line[] = " \t a b\n ", list[] = "a,,b;c", *at = list;

	EXPECT_EQ(strscpy(buf, "1234567", sizeof(buf)), 7);
	EXPECT_EQ(strscpy(buf, "12345678", sizeof(buf)), -E2BIG);
	EXPECT_STR(buf, "1234567");
	EXPECT_EQ(strscpy(buf, "x", 0), -E2BIG);
	EXPECT_EQ(strscpy(buf, "", 1), 0);
	EXPECT_STR(strstrip(line), "a b");
	EXPECT_STR(strsep(&at, ",;"), "a");
	EXPECT_STR(strsep(&at, ",;"), "");
	EXPECT_STR(strsep(&at, ",;"), "b");
	EXPECT_STR(strsep(&at, ",;"), "c");
	EXPECT(strsep(&at, ",;") == NULL);
}

static void unsigned_numbers(void)
{
	static const struct {
		const char *s;
		unsigned base;
		int err;
		u64 v;
	} t[] = {
	    {"0", 0, 0, 0},
	    {"0\n", 0, 0, 0},
	    {"0\n\n", 0, -EINVAL, 0},
	    {"+7", 0, 0, 7},
	    {"-7", 0, -EINVAL, 0},
	    {"++7", 0, -EINVAL, 0},
	    {"", 0, -EINVAL, 0},
	    {"\n", 0, -EINVAL, 0},
	    {" 1", 0, -EINVAL, 0},
	    {"1 ", 0, -EINVAL, 0},
	    {"0x", 0, -EINVAL, 0}, /* octal 0, and an x */
	    {"0xg", 0, -EINVAL, 0},
	    {"0xFf", 0, 0, 255},
	    {"0XfF", 16, 0, 255},
	    {"ff", 16, 0, 255},
	    {"ff", 0, -EINVAL, 0},
	    {"0x10", 10, -EINVAL, 0},
	    {"010", 0, 0, 8},
	    {"010", 10, 0, 10},
	    {"08", 0, -EINVAL, 0},
	    {"101", 2, 0, 5},
	    {"18446744073709551615", 10, 0, UINT64_MAX},
	    {"18446744073709551616", 10, -ERANGE, 0},
	    {"18446744073709551616x", 10, -ERANGE, 0}, /* as Linux: the size is looked at first */
	    {"0xffffffffffffffff", 0, 0, UINT64_MAX},
	    {"0x10000000000000000", 0, -ERANGE, 0},
	    {"99999999999999999999999999", 10, -ERANGE, 0},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(t); i++) {
		u64 v = 4711;
		EXPECT_EQ(parse_u64(t[i].s, t[i].base, &v), t[i].err);
		EXPECT_EQ(v, t[i].err ? 4711 : t[i].v);
	}
}

static void limits(void)
{
	s64 l = 1;
	s32 i = 1;
	u32 u = 1;

	EXPECT(parse_s64("-9223372036854775808", 10, &l) == 0 && l == INT64_MIN);
	EXPECT(parse_s64("9223372036854775807", 10, &l) == 0 && l == INT64_MAX);
	EXPECT_EQ(parse_s64("-9223372036854775809", 10, &l), -ERANGE);
	EXPECT_EQ(parse_s64("9223372036854775808", 10, &l), -ERANGE);
	EXPECT_EQ(parse_s64("--1", 10, &l), -EINVAL);
	EXPECT_EQ(parse_s64("-+1", 10, &l), -EINVAL);
	EXPECT(parse_s64("-0x10\n", 0, &l) == 0 && l == -16);
	EXPECT(parse_s64("-0", 0, &l) == 0 && l == 0);
	EXPECT(parse_s32("-2147483648", 10, &i) == 0 && i == INT32_MIN);
	EXPECT(parse_s32("+2147483647", 10, &i) == 0 && i == INT32_MAX);
	EXPECT_EQ(parse_s32("2147483648", 10, &i), -ERANGE);
	EXPECT_EQ(parse_s32("-2147483649", 10, &i), -ERANGE);
	EXPECT(parse_u32("4294967295", 10, &u) == 0 && u == UINT32_MAX);
	EXPECT_EQ(parse_u32("4294967296", 10, &u), -ERANGE);
	EXPECT(i == INT32_MAX && u == UINT32_MAX);
}

static void prefixes(void)
{
	const char *s = "0x1fzz", *end;

	EXPECT_EQ(parse_digits(s, &end, 0), 0x1f);
	EXPECT(end == s + 4);
	s = "12,";
	EXPECT_EQ(parse_digits(s, &end, 0), 12);
	EXPECT(end == s + 2);
	EXPECT_EQ(parse_digits(s = "x", &end, 0), 0);
	EXPECT(end == s);
	EXPECT_EQ(parse_digits("18446744073709551617", NULL, 10), 1); /* wraps */
}

static void error_texts(void)
{
	EXPECT_STR(errno_text(EINVAL), "Invalid argument");
	EXPECT_STR(errno_name(ENODEV), "ENODEV");
	EXPECT_STR(errno_text(9999), "Unknown error");
	EXPECT(errno_name(0) == NULL);
}

static const struct ktap_case cases[] = {
    {"string.moves", moves},
    {"string.copies_and_fills", copies_and_fills},
    {"string.compares", compares},
    {"string.compares_strings", compares_strings},
    {"string.lengths", lengths},
    {"string.searches", searches},
    {"string.cuts", cuts},
    {"number.unsigned", unsigned_numbers},
    {"number.limits", limits},
    {"number.prefixes", prefixes},
    {"errno.texts", error_texts},
    {NULL, NULL},
};
const struct ktap_suite suite_lib_string = {cases};
