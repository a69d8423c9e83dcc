/*
 * Records of synthetic events that come from elsewhere: those that end early, texts without an end,
 * stacks that are not in them; and "print fmt".
 */
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/synth.h"

static const struct trace_event_call *begin(const char *definition)
{
	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events", definition), 0);
	return trace_event_find("synthetic", "ev");
}

static void end(void)
{
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
}

static const char *printed(const struct trace_event_call *call, const void *bytes, u32 n)
{
	return trace_printed(call, synth_print, bytes, n);
}

/* A field of which the record has not all bytes is not shown, nor is any after it. */
static void ends_early(void)
{
	static const u64 bytes[] = {1, 2, 3};
	const struct trace_event_call *call = begin("ev u32 a; u64 b; u8 c");

	for (u32 n = 0; n <= sizeof(bytes); n++)
		EXPECT_STR(printed(call, bytes, n), n < 4     ? ""
						    : n < 16  ? "a=1"
						    : n == 16 ? "a=1 b=2"
							      : "a=1 b=2 c=3");
	end();
}

/* A fixed string that fills its room has no NUL: it ends there all the same. */
static void full_string(void)
{
	char bytes[2 * SYNTH_STRING_MAX];

	memset(bytes, 'x', sizeof(bytes));
	EXPECT_STR(printed(begin("ev char[4] a"), bytes, SYNTH_STRING_MAX), "a=xxxx");
	bytes[2] = '\0';
	EXPECT_STR(printed(begin("ev char[4] a"), bytes, SYNTH_STRING_MAX), "a=xx");
	EXPECT_STR(printed(begin("ev char[4] a"), bytes, 4), "a=xx");
	EXPECT_STR(printed(begin("ev char[4] a"), bytes, 3), "");
	end();
}

static unsigned frames_shown(const struct trace_event_call *call, u16 at, u16 size, u32 n)
{
	u64 bytes[5] = {at | (u32)size << 16, 3, 0x1000, 0x1100, 0x1200};
	unsigned frames = 0;

	for (const char *text = printed(call, bytes, n); (text = strstr(text, "=> ")); text++)
		frames++;
	return frames;
}

/* Of a stack the frames are shown that are in the record as a whole. */
static void stacks_outside(void)
{
	const struct trace_event_call *call = begin("ev unsigned long[] s");

	EXPECT_EQ(frames_shown(call, 16, 32, 40), 3);
	EXPECT_EQ(frames_shown(call, 16, 31, 40), 2);
	EXPECT_EQ(frames_shown(call, 16, 0xffff, 40), 3);
	EXPECT_EQ(frames_shown(call, 16, 32, 39), 2);
	EXPECT_EQ(frames_shown(call, 16, 32, 16), 0);
	EXPECT_EQ(frames_shown(call, 16, 8, 40), 0);
	EXPECT_EQ(frames_shown(call, 16, 0, 40), 0);
	EXPECT_EQ(frames_shown(call, 0xfff0, 32, 40), 0);
	end();
}

/* "print fmt" names what each kind of field is read with. */
static void print_format(void)
{
	begin("ev u32 a; s64 b; char[8] c; char[] d; unsigned long[] e; gfp_t f");
	EXPECT(strstr(trace_get("events/synthetic/ev/format", NULL),
	    "print fmt: \"a=%u, b=%lld, c=%s, d=%s, e=%s, f=%x\", REC->a, REC->b, REC->c, "
	    "__get_str(d), __get_stacktrace(e), REC->f\n"));
	end();
}

static const struct ktap_case cases[] = {
    {"synth_print.ends_early", ends_early},
    {"synth_print.full_string", full_string},
    {"synth_print.stacks_outside", stacks_outside},
    {"synth_print.print_format", print_format},
    {NULL, NULL},
};
const struct ktap_suite suite_synth_print = {cases};
