/* The formatter, by tables of what the C standard says it prints; and seq, which prints with it. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"

/* Formats made at run time are the subject here. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static void integers(void)
{
	static const struct {
		const char *fmt;
		long long v;
		const char *want;
	} t[] = {
	    {"%lld", 0, "0"},
	    {"%lld", INT64_MIN, "-9223372036854775808"},
	    {"%lld", INT64_MAX, "9223372036854775807"},
	    {"%llu", -1, "18446744073709551615"},
	    {"%llx", -1, "ffffffffffffffff"},
	    {"%llX", 0xbeef, "BEEF"},
	    {"%llo", -1, "1777777777777777777777"},
	    {"%d", INT_MIN, "-2147483648"},
	    {"%u", -1, "4294967295"},
	    {"%hd", 0x18000, "-32768"},
	    {"%hhd", 0x180, "-128"},
	    {"%hhu", 0x1ff, "255"},
	    {"%hx", 0x12345, "2345"},
	    {"%5lld|", 42, "   42|"},
	    {"%-5lld|", 42, "42   |"},
	    {"%05lld|", -42, "-0042|"},
	    {"%-05lld|", 42, "42   |"},
	    {"%+lld", 7, "+7"},
	    {"% lld", 7, " 7"},
	    {"%+ lld", 7, "+7"},
	    {"%.3lld", 7, "007"},
	    {"%6.3lld|", -7, "  -007|"},
	    {"%06.3lld|", -7, "  -007|"}, /* a precision switches 0 off */
	    {"%.0lld|", 0, "|"},
	    {"%+.0lld|", 0, "+|"},
	    {"%#llx", 0, "0"},
	    {"%#llx", 255, "0xff"},
	    {"%#llX", 255, "0XFF"},
	    {"%#08llx", 255, "0x0000ff"},
	    {"%#llo", 8, "010"},
	    {"%#llo", 0, "0"},
	    {"%#.0llo", 0, "0"},
	    {"%#.4llo", 8, "0010"},
	    {"%40lld|", 1, "                                       1|"},
	    {"%.30lld", 1, "000000000000000000000000000001"},
	};
	char buf[64];

	for (unsigned i = 0; i < ARRAY_SIZE(t); i++) {
		int n = fmt_snprintf(buf, sizeof(buf), t[i].fmt, t[i].v);
		EXPECT_STR(buf, t[i].want);
		EXPECT_EQ(n, strlen(t[i].want));
	}
}

static void lengths(void)
{
	char buf[64];

	fmt_snprintf(buf, sizeof(buf), "%zu %jd %td %ld %lu", (size_t)1, (intmax_t)-2,
	    (ptrdiff_t)-3, -4L, 5UL);
	EXPECT_STR(buf, "1 -2 -3 -4 5");
	fmt_snprintf(buf, sizeof(buf), "%*d|%-*d|%.*d", 4, 1, 4, 2, 3, 3);
	EXPECT_STR(buf, "   1|2   |003");
	fmt_snprintf(buf, sizeof(buf), "%*d|%.*d", -4, 1, -1, 3);
	EXPECT_STR(buf, "1   |3");
}

static void strings(void)
{
	static const char *volatile fmt_unknown = "%y %", *volatile fmt_null = "%s";
	char buf[64];

	fmt_snprintf(buf, sizeof(buf), "%s|%5s|%-5s|%.2s|%5.1s|", "ab", "ab", "ab", "abc", "abc");
	EXPECT_STR(buf, "ab|   ab|ab   |ab|    a|");
	fmt_snprintf(buf, sizeof(buf), fmt_null, (char *)NULL);
	EXPECT_STR(buf, "(null)");
	fmt_snprintf(buf, sizeof(buf), "%c%3c%-3c|%%", 'x', 'y', 'z');
	EXPECT_STR(buf, "x  yz  |%");
	fmt_snprintf(buf, sizeof(buf), fmt_unknown); /* no argument is taken for what is unknown */
	EXPECT_STR(buf, "%y %");
	/* a precision keeps the formatter from looking further */
	char open[2] = {'a', 'b'};
	fmt_snprintf(buf, sizeof(buf), "%.2s", open);
	EXPECT_STR(buf, "ab");
}

static int hook(char *buf, size_t size, char letter, const void *p)
{
	if (letter != 'S')
		return -1;
	return fmt_snprintf(buf, size, "sym+%#lx", (unsigned long)p);
}

static void pointers(void)
{
	static const char *volatile fmt_other = "%pK|";
	char buf[64];

	fmt_snprintf(buf, sizeof(buf), "%p", (void *)0x1234);
	EXPECT_STR(buf, "0000000000001234");
	fmt_snprintf(buf, sizeof(buf), "%18p|%-18p|", (void *)1, (void *)2);
	EXPECT_STR(buf, "  0000000000000001|0000000000000002  |");
	fmt_pointer_hook before = fmt_set_pointer_hook(hook);
	fmt_snprintf(buf, sizeof(buf), "%pS|%10pS|", (void *)16, (void *)17);
	EXPECT_STR(buf, "sym+0x10|  sym+0x11|");
	fmt_snprintf(buf, sizeof(buf), fmt_other, (void *)16);
	EXPECT_STR(buf, "0000000000000010|");
	fmt_set_pointer_hook(before);
}

static void sizes(void)
{
	char buf[8];

	for (size_t size = 0; size <= sizeof(buf); size++) {
		memset(buf, 'x', sizeof(buf));
		EXPECT_EQ(fmt_snprintf(buf, size, "%s-%d", "abc", 1234), 8);
		for (size_t i = size; i < sizeof(buf); i++)
			EXPECT_EQ(buf[i], 'x');
		if (size) {
			EXPECT_EQ(strlen(buf), size - 1);
			EXPECT(memcmp(buf, "abc-1234", size - 1) == 0);
		}
	}
	EXPECT_EQ(scnprintf(buf, sizeof(buf), "%s", "0123456789"), 7);
	EXPECT_EQ(scnprintf(buf, sizeof(buf), "%s", "012"), 3);
	EXPECT_EQ(scnprintf(buf, 0, "%s", "012"), 0);
}

static void seq_keeps_what_fits(void)
{
	char buf[10];
	struct seq s;

	seq_init(&s, buf, 8);
	buf[8] = '!';
	seq_puts(&s, "abc");
	seq_putc(&s, 'd');
	EXPECT_EQ(s.len, 4);
	EXPECT(!s.overflow);
	seq_printf(&s, "%04d", 12);
	EXPECT_EQ(s.len, 8);
	EXPECT(!s.overflow);
	seq_putc(&s, 'x');
	EXPECT(s.overflow);
	EXPECT_EQ(s.len, 8);
	EXPECT(memcmp(buf, "abcd0012!", 9) == 0);
	seq_init(&s, buf, 3);
	seq_printf(&s, "%d-%d", 10, 20);
	EXPECT(s.overflow);
	EXPECT(memcmp(buf, "10-", 3) == 0);
}

static void seq_numbers(void)
{
	static const u64 v[] = {0, 1, 7, 8, 9, 10, 15, 16, 63, 64, 99, 100, 101, 999, 1000, 9999,
	    10000, 12345, 65535, 65536, 99999, 100000, 999999, 1000000, 9999999999UL, 10000000000UL,
	    9999999999999999999UL, 10000000000000000000UL, UINT64_MAX};
	char buf[80], want[80];
	struct seq s;

	for (unsigned i = 0; i < ARRAY_SIZE(v); i++) {
		seq_init(&s, buf, sizeof(buf));
		seq_dec(&s, v[i], 0, ' ');
		seq_putc(&s, ' ');
		seq_dec(&s, v[i], 7, '0');
		seq_putc(&s, ' ');
		seq_hex(&s, v[i], 4);
		seq_putc(&s, '\0');
		fmt_snprintf(want, sizeof(want), "%llu %07llu %04llx", (unsigned long long)v[i],
		    (unsigned long long)v[i], (unsigned long long)v[i]);
		EXPECT_STR(buf, want);
	}
	seq_init(&s, buf, 4);
	seq_dec(&s, 1, 9, '.');
	EXPECT(s.overflow);
	EXPECT(memcmp(buf, "....", 4) == 0);
	seq_init(&s, buf, 4);
	seq_dec(&s, 123456, 0, ' ');
	EXPECT(s.overflow && s.len == 4 && memcmp(buf, "1234", 4) == 0);
	seq_init(&s, buf, 4);
	seq_hex(&s, 0xabc, 6);
	EXPECT(s.overflow && s.len == 4 && memcmp(buf, "000a", 4) == 0);
}

static const struct ktap_case cases[] = {
    {"fmt.integers", integers},
    {"fmt.lengths", lengths},
    {"fmt.strings", strings},
    {"fmt.pointers", pointers},
    {"fmt.sizes", sizes},
    {"seq.keeps_what_fits", seq_keeps_what_fits},
    {"seq.numbers", seq_numbers},
    {NULL, NULL},
};
const struct ktap_suite suite_lib_fmt = {cases};
