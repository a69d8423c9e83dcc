/* inject: the syntax of a line, the record it makes, the lines that are refused. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_memory.h"
#include "trace/ring/ring.h"

#define NUMBERS "events/unit/unit_numbers/inject"
#define TEXT	"events/unit/unit_text/inject"
#define TAIL	"events/unit2/unit_tail/inject"

static const struct {
	const char *path, *line;
	int err;
	const char *event; /* NULL: none is recorded */
} rows[] = {
    {NUMBERS, "a=5", 0, "unit_numbers: a=5 b=0 c=0 d=0"},
    {NUMBERS, " a = -5   d=0x10\n", 0, "unit_numbers: a=-5 b=0 c=0 d=16"},
    {NUMBERS, "d=010 b=65535", 0, "unit_numbers: a=0 b=65535 c=0 d=8"},
    {NUMBERS, "a=1 a=2", 0, "unit_numbers: a=2 b=0 c=0 d=0"},
    {NUMBERS, "a=256 b=65536", 0, "unit_numbers: a=0 b=0 c=0 d=0"}, /* cut to the field */
    {NUMBERS, "\n", 0, "unit_numbers: a=0 b=0 c=0 d=0"},
    {NUMBERS, "d=18446744073709551615", 0, "unit_numbers: a=0 b=0 c=0 d=18446744073709551615"},
    {NUMBERS, "d=18446744073709551616", -ERANGE, NULL},
    {NUMBERS, "c=9223372036854775808", -ERANGE, NULL},
    {NUMBERS, "d=-1", -EINVAL, NULL},
    {NUMBERS, "nosuch=1", -ENOENT, NULL},
    {NUMBERS, "a", -EINVAL, NULL},
    {NUMBERS, "a=", -EINVAL, NULL},
    {NUMBERS, "=5", -EINVAL, NULL},
    {NUMBERS, "a=x", -EINVAL, NULL},
    {NUMBERS, "a=5x", -EINVAL, NULL},
    {NUMBERS, "a=1;b=2", -EINVAL, NULL},
    {NUMBERS, "a=1,b=2", -EINVAL, NULL},
    {NUMBERS, "a=\"x\"", -EINVAL, NULL},
    {NUMBERS, "a=5 common_type=7", -EINVAL, NULL}, /* a record's type is not to be chosen */
    {TEXT, "comm=\"sh\" text='x y' more=\"\"", 0, "unit_text: comm=sh text=x y mark=0 more="},
    {TEXT, "comm=\"exactly 15 chars!\"", 0, "unit_text: comm=exactly 15 char text= mark=0 more="},
    {TEXT, "text=\"a\\\"b\" mark=3", 0, "unit_text: comm= text=a\\\"b mark=3 more="},
    {TEXT, "text='a\"b' more=\"c'd\"", 0, "unit_text: comm= text=a\"b mark=0 more=c'd"},
    {TEXT, "text=5", -EINVAL, NULL},
    {TEXT, "text=\"open", -EINVAL, NULL},
    {TEXT, "text=\"open\\\"", -EINVAL, NULL},
    {TEXT, "text=word", -EINVAL, NULL},
};

static void padding(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(TAIL, "wide=5 tail=-1"), 0);
	EXPECT_STR(trace_nth_event(0), "unit_tail: wide=5 tail=-1");
	trace_fresh();
}

static void lines(void)
{
	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		int err = trace_put(rows[i].path, rows[i].line);
		if (err != rows[i].err)
			ktap_note("row %u: %s", i, rows[i].line);
		EXPECT_EQ(err, rows[i].err);
		EXPECT_STR(trace_nth_event(0), rows[i].event ? rows[i].event : "");
	}
	trace_fresh();
}

static void common_fields(void)
{
	trace_fresh();
	EXPECT_EQ(
	    trace_put(NUMBERS, "common_pid=31999 common_flags=8 common_preempt_count=3 a=1"), 0);
	EXPECT(strstr(trace_get("trace", NULL), " <...>-31999 "));
	EXPECT(strstr(trace_nth(0), "] ..h3. "));
	trace_fresh();
}

/* Text up to 255 bytes, and a line below a page. */
static void limits(void)
{
	char *line = host_alloc(5000);

	trace_fresh();
	for (unsigned n = 254; n <= 257; n++) {
		strscpy(line, "text=\"", 8);
		memset(line + 6, 't', n);
		strscpy(line + 6 + n, "\"", 2);
		EXPECT_EQ(trace_put(TEXT, line), n < 256 ? 0 : -EINVAL);
	}
	memset(line, ' ', 5000);
	line[4095] = '\0';
	EXPECT_EQ(trace_put(NUMBERS, line), 0);
	line[4095] = ' ';
	line[4096] = '\0';
	EXPECT_EQ(trace_put(NUMBERS, line), -EINVAL);
	/* More text than a record holds: the line is refused as a whole. */
	size_t at = 0;
	for (unsigned i = 0; i < 15; i++) {
		memset(line + at + 6, 't', 250);
		memcpy(line + at, "text=\"", 6);
		memcpy(line + at + 256, "\" ", 2);
		at += 258;
	}
	line[at] = '\0';
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put(TEXT, line), 0);
	EXPECT(strstr(trace_nth_event(0), "text=tttt"));
	int err;
	trace_get(NUMBERS, &err);
	EXPECT_EQ(err, -EPERM);
	host_free(line);
	trace_fresh();
}

/* A line of texts of 255 bytes, and one of `last`: what its injection says. */
static int inject_texts(char *line, size_t last)
{
	size_t at = 0, n;

	for (unsigned i = 0; i < 16; i++) {
		n = i < 15 ? 255 : last;
		memcpy(line + at, "a=\"", 3);
		memset(line + at + 3, 't', n);
		line[at + 3 + n] = '"';
		at += n + 4;
	}
	line[at] = '\0';
	EXPECT_EQ(trace_put("trace", ""), 0);
	return trace_put("events/synthetic/texts/inject", line);
}

/* Texts fill the room of a record to its last byte; one byte more is refused, and not written. */
static void room_for_texts(void)
{
	char *line = host_alloc(5000);
	size_t fixed = sizeof(struct trace_entry) + 8 + 10 * 8,
	       room = RB_MAX_DATA - fixed - 15 * 256;

	trace_fresh();
	EXPECT_EQ(
	    trace_put("synthetic_events", "texts char[] a; u64 b; u64 c; u64 d; u64 e; u64 f; "
					  "u64 g; u64 h; u64 i; u64 j; u64 k"),
	    0);
	EXPECT_EQ(inject_texts(line, room - 1), 0);
	EXPECT(str_has_prefix(trace_nth_event(0), "texts: a=ttt"));
	EXPECT_EQ(inject_texts(line, room), -E2BIG);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	host_free(line);
	trace_fresh();
}

/* Records of the tracer's own kinds made by hand: nothing in them is believed. */
static void inject_one(const char *name, const char *line, const char *event)
{
	char path[80];

	fmt_snprintf(path, sizeof(path), "events/ftrace/%s/inject", name);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put(path, line), 0);
	EXPECT_STR(trace_nth_event(0), event);
}

static void ftrace_records(void)
{
	trace_fresh();
	inject_one("print", "ip=0 buf=\"text\"", "0: "); /* the text has no room of its own */
	inject_one("bprint", "fmt=\"%s\"", "0: ");
	inject_one("bputs", "\n", "0: ");
	inject_one("kernel_stack", "size=1000000", "<stack trace>");
	inject_one("user_stack", "\n", "<user stack trace>");
	inject_one("function", "ip=0 parent_ip=0", "0");
	inject_one("context_switch", "prev_pid=1 prev_state=200",
	    "       1:  0:? ==> [000]       0:  0:R <idle>");
	inject_one("hwlat", "duration=5 seqnum=1",
	    "#1     inner/outer(us):    5/0     ts:0.000000000 count:0");
	EXPECT_EQ(trace_put("events/ftrace/bputs/inject", "str=12345"), -EINVAL);
	EXPECT_EQ(trace_put("events/ftrace/kernel_stack/inject", "caller=5"), -EINVAL);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"inject.lines", lines},
    {"inject.padding", padding},
    {"inject.common_fields", common_fields},
    {"inject.limits", limits},
    {"inject.room_for_texts", room_for_texts},
    {"inject.ftrace_records", ftrace_records},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_inject = {cases};
