/*
 * User events as they are shown: what each type of a field makes of a record's bytes, records that
 * end early, data that lies elsewhere in the record; "print fmt", signs and kinds of fields.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_lock.h"
#include "trace/host_user.h"
#include "trace/user/user.h"

static struct user_events_file *file;

static struct user_event *begin(const char *definition)
{
	struct user_event *ev = NULL;

	trace_fresh();
	file = user_events_open(NULL);
	EXPECT(file && !user_events_register(file, definition, 0, &ev));
	return ev;
}

static void end(void)
{
	host_lock();
	user_events_release(file);
	host_unlock();
	user_events_settle();
}

static const char *printed(const struct user_event *ev, const void *bytes, u32 n)
{
	return trace_printed(&ev->call, user_event_print, bytes, n);
}

struct row {
	const char *definition, *bytes;
	u32 n;
	const char *text;
};

static void expect_printed(const struct row *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		EXPECT_STR(
		    printed(begin(rows[i].definition), rows[i].bytes, rows[i].n), rows[i].text);
		end();
	}
}

/* Numbers have the sign of their type, whatever their size. */
static void numbers(void)
{
	static const char ff[16] =
	    "\xfe\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff\xff\xff\xff\xff";
	static const struct row rows[] = {{"p s8 a; u8 b", "\x80\x80", 2, "a=-128 b=128"},
	    {"p char a; unsigned char b", "\xfe\xfe", 2, "a=-2 b=254"},
	    {"p s16 a; u16 b", "\0\x80\0\x80", 4, "a=-32768 b=32768"},
	    {"p short a; unsigned short b", "\xfe\xff\xfe\xff", 4, "a=-2 b=65534"},
	    {"p s32 a; u32 b", "\0\0\0\x80\0\0\0\x80", 8, "a=-2147483648 b=2147483648"},
	    {"p int a; unsigned int b", "\1\0\0\x80\1\0\0\x80", 8, "a=-2147483647 b=2147483649"},
	    {"p s64 a; u64 b", ff, 16, "a=-2 b=18446744073709551614"},
	    {"p s64 a; s32 b; s16 c", "\1\2\0\0\0\0\0\0\3\4\0\0\5\6", 14, "a=513 b=1027 c=1541"}};

	expect_printed(rows, ARRAY_SIZE(rows));
}

/* Text ends at its NUL or where it has no more room; bytes are shown one by one. */
static void texts_and_bytes(void)
{
	static const struct row rows[] = {{"p char[4] a; u8 b", "ab\0c\7", 5, "a=ab b=7"},
	    {"p char[4] a; u8 b", "abcd\7", 5, "a=abcd b=7"},
	    {"p unsigned char[4] a; u8 b", " \n\x7f\xc3\7", 5, "a= ... b=7"},
	    {"p struct s a 3; u8 b", "\1\xff\0\7", 4, "a={0x1,0xff,0x0} b=7"},
	    {"p struct s a 4; u8 b", "\0\0\0\x10\7", 5, "a={0x0,0x0,0x0,0x10} b=7"}};

	expect_printed(rows, ARRAY_SIZE(rows));
}

/* A record may be of a program that wrote less than it declared: no field is shown by half. */
static void ends_early(void)
{
	static const char bytes[] = "\1\0\0\0\2\0\3";
	static const char *const texts[] = {"", "", "", "", "a=1", "a=1", "a=1 b=2", "a=1 b=2 c=3"};
	static const struct row large[] = {{"p u32 a; struct s b 100000", bytes, 4, "a=1"},
	    {"p struct s a 2147483647", bytes, 7, ""}};

	for (u32 n = 0; n < ARRAY_SIZE(texts); n++) {
		EXPECT_STR(printed(begin("p u32 a; u16 b; u8 c"), bytes, n), texts[n]);
		end();
	}
	expect_printed(large, ARRAY_SIZE(large));
}

/* Where the data of a located field lies, and how long it is: it may end with the record. */
static void located(void)
{
	static const struct {
		const char *type;
		u16 from, n;
		const char *text;
	} rows[] = {{"__data_loc u8[]", 12, 0, "a={}"}, {"__data_loc u8[]", 12, 2, "a={0x41,0x42}"},
	    {"__data_loc u8[]", 13, 1, "a={0x42}"}, {"__data_loc u8[]", 14, 0, "a={}"},
	    {"__data_loc u8[]", 12, 3, "a=<OVERFLOW>"}, {"__data_loc u8[]", 13, 2, "a=<OVERFLOW>"},
	    {"__data_loc u8[]", 15, 0, "a=<OVERFLOW>"},
	    {"__data_loc u8[]", 0xffff, 0xffff, "a=<OVERFLOW>"}, {"__rel_loc u8[]", 0, 0, "a={}"},
	    {"__rel_loc u8[]", 0, 2, "a={0x41,0x42}"}, {"__rel_loc u8[]", 1, 1, "a={0x42}"},
	    {"__rel_loc u8[]", 1, 2, "a=<OVERFLOW>"}, {"__rel_loc u8[]", 3, 0, "a=<OVERFLOW>"},
	    {"__data_loc char[]", 12, 2, "a=AB"}, {"__rel_loc char[]", 1, 1, "a=B"},
	    {"__rel_loc unsigned char[]", 0, 2, "a=AB"}};
	char definition[48];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct {
			u16 from, n;
			char text[2];
		} bytes = {rows[i].from, rows[i].n, {'A', 'B'}};
		fmt_snprintf(definition, sizeof(definition), "p %s a", rows[i].type);
		EXPECT_STR(printed(begin(definition), &bytes, 6), rows[i].text);
		end();
	}
}

/* "print fmt" names what each type is shown with, as Linux has it. */
static void print_formats(void)
{
	static const char *const rows[][2] = {{"p", "\"\""},
	    {"p s8 a; u16 b; s64 c; u64 d",
		"\"a=%d b=%u c=%lld d=%llu\", REC->a, REC->b, REC->c, REC->d"},
	    {"p char[4] a; struct s b 12", "\"a=%s b=%llu\", REC->a, REC->b"},
	    {"p __data_loc char[] a; __rel_loc char[] b",
		"\"a=%s b=%s\", __get_str(a), __get_rel_str(b)"},
	    {"p __data_loc u8[] a; __rel_loc u8[] b; __rel_loc unsigned char[] c",
		"\"a=%llu b=%llu c=%s\", REC->a, REC->b, __get_rel_str(c)"}};
	char want[128];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(rows[i][0]);
		fmt_snprintf(want, sizeof(want), "\nprint fmt: %s\n", rows[i][1]);
		const char *text = trace_get("events/user_events/p/format", NULL);
		EXPECT_STR(
		    strstr(text, "\nprint fmt:") ? strstr(text, "\nprint fmt:") : text, want);
		end();
	}
}

/* Only what begins with a 'u' is unsigned in `format`, as on Linux. */
static void signs(void)
{
	static const struct {
		const char *type, *field;
		u32 size;
		bool is_signed;
	} rows[] = {{"int", "int a", 4, true}, {"short", "short a", 2, true},
	    {"char", "char a", 1, true}, {"s8", "s8 a", 1, true}, {"char[8]", "char a[8]", 8, true},
	    {"unsigned int", "unsigned int a", 4, false}, {"u16", "u16 a", 2, false},
	    {"unsigned char[8]", "unsigned char a[8]", 8, false},
	    {"__data_loc char[]", "__data_loc char[] a", 4, true},
	    {"__rel_loc char[]", "__rel_loc char a[]", 4, true}};
	char definition[48], want[96];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		fmt_snprintf(definition, sizeof(definition), "p %s a", rows[i].type);
		begin(definition);
		fmt_snprintf(want, sizeof(want), "\tfield:%s;\toffset:8;\tsize:%u;\tsigned:%d;\n",
		    rows[i].field, rows[i].size, rows[i].is_signed);
		EXPECT(strstr(trace_get("events/user_events/p/format", NULL), want));
		end();
	}
}

/* A filter compares what has the size of a number; no other size is one. */
static void filters(void)
{
	char definition[32];

	for (u32 size = 1; size <= 16; size++) {
		fmt_snprintf(definition, sizeof(definition), "p struct s a %u", size);
		begin(definition);
		EXPECT_EQ(trace_put("events/user_events/p/filter", "a == 1"),
		    size == 1 || size == 2 || size == 4 || size == 8 ? 0 : -EINVAL);
		end();
	}
}

static const struct ktap_case cases[] = {
    {"user_print.numbers", numbers},
    {"user_print.texts_and_bytes", texts_and_bytes},
    {"user_print.ends_early", ends_early},
    {"user_print.located", located},
    {"user_print.print_formats", print_formats},
    {"user_print.signs", signs},
    {"user_print.filters", filters},
    {NULL, NULL},
};
const struct ktap_suite suite_user_print = {cases};
