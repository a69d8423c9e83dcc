/* The monitor's line editor: kernel/monitor/line.h. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/line.h"
#include "tests/unit/prng.h"

#define UP    "\033[A"
#define DOWN  "\033[B"
#define RIGHT "\033[C"
#define LEFT  "\033OD"

static struct line l;

/* Types the bytes; the last event. */
static enum line_event type(const char *s)
{
	enum line_event e = LINE_NOTHING;

	for (; *s; s++)
		e = line_key(&l, *s);
	return e;
}

/* The line with a | at the cursor, after the bytes. */
static const char *edited(const char *s)
{
	static char text[LINE_SIZE + 2];

	type(s);
	fmt_snprintf(text, sizeof(text), "%.*s|%s", (int)l.cursor, l.text, l.text + l.cursor);
	return text;
}

static void begin(void)
{
	memset(&l, 0, sizeof(l));
	line_begin(&l);
}

static void enter(const char *s)
{
	type(s);
	EXPECT_EQ(type("\r"), LINE_ENTERED);
	line_remember(&l);
	line_begin(&l);
}

static void inserts(void)
{
	begin();
	EXPECT_STR(edited("abc"), "abc|");
	EXPECT_STR(edited(LEFT LEFT "x"), "ax|bc");
	EXPECT_STR(edited("\001y"), "y|axbc");
	EXPECT_STR(edited("\005z"), "yaxbcz|");
	EXPECT_STR(edited("\002\002\002\002\002\002\002\002\006"), "y|axbcz");
	EXPECT_STR(edited(RIGHT RIGHT RIGHT RIGHT RIGHT RIGHT RIGHT), "yaxbcz|");
	EXPECT_STR(edited("\033[H"), "|yaxbcz");
	EXPECT_STR(edited("\033[F"), "yaxbcz|");
}

static void erases(void)
{
	begin();
	EXPECT_STR(edited("abcd\010"), "abc|");
	EXPECT_STR(edited(LEFT "\177"), "a|c");
	EXPECT_STR(edited("\010\010\010"), "|c");
	EXPECT_STR(edited("\005 one  two  \027"), "c one  |");
	EXPECT_STR(edited("\027\027\027"), "|");
	EXPECT_STR(edited("one two" LEFT LEFT "\013"), "one t|");
	EXPECT_STR(edited(LEFT "\025"), "|t");
}

static void events(void)
{
	begin();
	EXPECT_EQ(type("a"), LINE_APPENDED);
	EXPECT_EQ(type("\001b"), LINE_EDITED);
	EXPECT_EQ(type("\005"), LINE_EDITED);
	EXPECT_EQ(type("\004"), LINE_NOTHING);
	EXPECT_EQ(type("\t"), LINE_TAB);
	EXPECT_EQ(type("\003"), LINE_DROPPED);
	EXPECT_EQ(type("\n"), LINE_ENTERED);
	EXPECT_EQ(type("\025\004"), LINE_ENDED);
	EXPECT_EQ(type("\033[5~"), LINE_NOTHING);
	EXPECT_EQ(type("\033[1;5C"), LINE_EDITED);
	EXPECT_EQ(type("\033xb"), LINE_APPENDED);
	EXPECT_STR(l.text, "b");
}

static void history(void)
{
	begin();
	EXPECT_STR(edited(UP), "|");
	enter("one");
	enter("");
	enter("two");
	enter("two");
	EXPECT_STR(edited(UP), "two|");
	EXPECT_STR(edited(UP), "one|");
	EXPECT_STR(edited(UP), "one|");
	EXPECT_STR(edited(DOWN), "two|");
	EXPECT_STR(edited(DOWN), "|");
	EXPECT_STR(edited(DOWN "new"), "new|");
}

static void history_is_a_ring(void)
{
	char number[8];

	begin();
	for (unsigned i = 0; i < LINE_HISTORY + 5; i++) {
		fmt_snprintf(number, sizeof(number), "%u", i);
		enter(number);
	}
	for (unsigned i = 0; i < 2 * LINE_HISTORY; i++)
		type(UP);
	EXPECT_STR(l.text, "5");
}

static void limit(void)
{
	begin();
	for (unsigned i = 0; i < LINE_SIZE - 1; i++)
		EXPECT_EQ(line_key(&l, 'a'), LINE_APPENDED);
	EXPECT_EQ(line_key(&l, 'b'), LINE_NOTHING);
	EXPECT(!line_insert(&l, "cd", 2));
	EXPECT_EQ(strlen(l.text), LINE_SIZE - 1);
	EXPECT_EQ(type("\010c"), LINE_APPENDED);
}

static const char *drawn(void)
{
	static char row[4 * LINE_COLUMNS];

	row[line_draw(&l, "> ", row, sizeof(row) - 1)] = '\0';
	return row;
}

static void draws(void)
{
	char want[128];

	begin();
	EXPECT_STR(drawn(), "\r> \033[K");
	type("abc");
	EXPECT_STR(drawn(), "\r> abc\033[K");
	type(LEFT LEFT);
	EXPECT_STR(drawn(), "\r> abc\033[K\033[2D");
	begin();
	for (unsigned i = 0; i < 100; i++)
		line_key(&l, '0' + i % 10);
	/* 77 columns, the last for the cursor: from the 24th on */
	fmt_snprintf(want, sizeof(want),
	    "\r> "
	    "4567890123456789012345678901234567890123456789012345678901234567890123456789\033[K");
	EXPECT_STR(drawn(), want);
}

/* A plain model of the text beside it; keys at random. */
static void random_keys(void)
{
	static const char keys[] = "abc \001\002\005\006\010\013\025\027";
	u64 r = 0x6d6f6e69746f72;

	ktap_note("seed %llu", (unsigned long long)r);
	begin();
	for (unsigned i = 0; i < 100000; i++) {
		unsigned length = l.length, cursor = l.cursor;
		u8 c = keys[prng_next(&r) % (sizeof(keys) - 1)];

		line_key(&l, c);
		if (c >= ' ' && length < LINE_SIZE - 1 &&
		    (l.length != length + 1 || l.cursor != cursor + 1 || l.text[cursor] != (char)c))
			ktap_fail(__FILE__, __LINE__, "key %u: '%c' was not put in", i, c);
		if (l.cursor > l.length || strlen(l.text) != l.length)
			ktap_fail(__FILE__, __LINE__, "key %u: cursor %u, length %u", i, l.cursor,
			    l.length);
	}
}

static const struct ktap_case cases[] = {
    {"monitor_line.inserts", inserts},
    {"monitor_line.erases", erases},
    {"monitor_line.events", events},
    {"monitor_line.history", history},
    {"monitor_line.history_is_a_ring", history_is_a_ring},
    {"monitor_line.limit", limit},
    {"monitor_line.draws", draws},
    {"monitor_line.random_keys", random_keys},
    {NULL, NULL},
};
extern const struct ktap_suite suite_monitor_line;
const struct ktap_suite suite_monitor_line = {cases};
