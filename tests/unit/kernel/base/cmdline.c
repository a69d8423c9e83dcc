/* The kernel command line: kernel/base/cmdline.c. Each case puts the real one back. */
#include "kernel/base/cmdline.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static char real[4096];

static void with(const char *line)
{
	if (!real[0])
		strscpy(real, cmdline(), sizeof real);
	cmdline_init(line);
}

static void done(void)
{
	cmdline_init(real);
	real[0] = '\0';
}

static void words(void)
{
	with("  quiet\ttrace_event=sched:*  a=b=c empty= last");
	EXPECT_STR(cmdline(), "  quiet\ttrace_event=sched:*  a=b=c empty= last");
	EXPECT_STR(cmdline_get("quiet"), "");
	EXPECT_STR(cmdline_get("trace_event"), "sched:*");
	EXPECT_STR(cmdline_get("a"), "b=c");
	EXPECT_STR(cmdline_get("empty"), "");
	EXPECT_STR(cmdline_get("last"), "");
	EXPECT(!cmdline_get("las"));
	EXPECT(!cmdline_get("lasts"));
	EXPECT(!cmdline_get("b"));
	EXPECT(!cmdline_get(""));
	done();
}

static void quotes(void)
{
	static const struct {
		const char *line, *name, *value;
	} rows[] = {
	    {"a=\"b c\" d", "a", "b c"},
	    {"\"a=b c\" d", "a", "b c"},
	    {"\"a b\" d", "a b", ""},
	    {"a=b\" \"c d", "a", "b\" \"c"},
	    {"a=\"b c\"d e", "a", "b c\"d"},
	    {"a=\"\" d", "a", ""},
	    {"a=\"b c", "a", "b c"},
	    {"a=x\"y z\"", "a", "x\"y z\""},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		with(rows[i].line);
		EXPECT_STR(cmdline_get(rows[i].name), rows[i].value);
		EXPECT(!cmdline_get("c"));
		done();
	}
}

static void repeated(void)
{
	with("x=1 y x=2 x=3");
	EXPECT_STR(cmdline_get("x"), "3");
	EXPECT_STR(cmdline_nth("x", 0), "1");
	EXPECT_STR(cmdline_nth("x", 1), "2");
	EXPECT_STR(cmdline_nth("x", 2), "3");
	EXPECT(!cmdline_nth("x", 3));
	EXPECT(!cmdline_nth("z", 0));
	done();
}

/* '-' and '_' are the same in names, and only there; "--" ends what is the kernel's. */
static void dashes(void)
{
	with("trace-event=a_b-c --x -- init_arg=1");
	EXPECT_STR(cmdline_get("trace_event"), "a_b-c");
	EXPECT_STR(cmdline_get("trace-event"), "a_b-c");
	EXPECT_STR(cmdline_get("--x"), "");
	EXPECT(!cmdline_get("init_arg"));
	done();
}

static void flags(void)
{
	with("a b=1 c=0 d=no f=off");
	EXPECT(cmdline_flag("a"));
	EXPECT(cmdline_flag("b"));
	EXPECT(!cmdline_flag("c"));
	EXPECT(cmdline_flag("d"));
	EXPECT(!cmdline_flag("e"));
	EXPECT(!cmdline_flag("f"));
	done();
}

static void numbers(void)
{
	with("a=10 b=0x10 c=4k d=2M e=1G f=10x g= h=-1 i=4kk");
	EXPECT_EQ(cmdline_u64("a", 7), 10);
	EXPECT_EQ(cmdline_u64("b", 7), 16);
	EXPECT_EQ(cmdline_u64("c", 7), 4096);
	EXPECT_EQ(cmdline_u64("d", 7), 2 << 20);
	EXPECT_EQ(cmdline_u64("e", 7), 1 << 30);
	EXPECT_EQ(cmdline_u64("f", 7), 7);
	EXPECT_EQ(cmdline_u64("g", 7), 7);
	EXPECT_EQ(cmdline_u64("h", 7), 7);
	EXPECT_EQ(cmdline_u64("i", 7), 7);
	EXPECT_EQ(cmdline_u64("none", 7), 7);
	done();
}

/* Longer than there is room for: cut, ended, and what fits is there. */
static void limits(void)
{
	static char line[6000];

	memset(line, 'x', sizeof line - 1);
	memcpy(line, "a=1 ", 4);
	with(line);
	EXPECT_STR(cmdline_get("a"), "1");
	EXPECT_EQ(strlen(cmdline()), 4095);
	done();
	for (unsigned i = 0; i < 1400; i++)
		memcpy(line + 2 * i, "w ", 2);
	memcpy(line + 2800, "end=1", 6);
	with(line);
	EXPECT(cmdline_get("w"));
	EXPECT(!cmdline_get("end")); /* one too many words */
	done();
}

static const struct ktap_case cases[] = {
    {"cmdline.words", words},
    {"cmdline.quotes", quotes},
    {"cmdline.repeated", repeated},
    {"cmdline.dashes", dashes},
    {"cmdline.flags", flags},
    {"cmdline.numbers", numbers},
    {"cmdline.limits", limits},
    {NULL, NULL},
};
const struct ktap_suite suite_cmdline = {cases};
