/*
 * The lines of trigger files: how accepted lines are listed, that refused ones change nothing,
 * limits, the boot parameter.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/trigger/tools.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/ring/ring.h"
#include "trace/trigger/trigger.h"

/* ---- lines ---- */

static const struct {
	const char *line;
	int err;
	const char *list; /* the trigger file after it; "": empty */
} rows[] = {
    {"traceoff", 0, "traceoff:unlimited\n"},
    {" traceoff \n", 0, "traceoff:unlimited\n"},
    {"traceoff:", 0, "traceoff:unlimited\n"},
    {"traceoff: \t", 0, "traceoff:unlimited\n"},
    {"traceoff:5", 0, "traceoff:count=5\n"},
    {"traceoff: 5", 0, "traceoff:count=5\n"},
    {"traceoff 5", 0, "traceoff:count=5\n"},
    {"traceoff\t5", 0, "traceoff:count=5\n"},
    {"traceoff:0", 0, "traceoff:count=0\n"},
    {"traceoff:0x10", 0, "traceoff:count=16\n"},
    {"traceoff:010", 0, "traceoff:count=8\n"},
    {"traceoff:5:7", 0, "traceoff:count=5\n"},
    {"traceoff:9223372036854775807", 0, "traceoff:count=9223372036854775807\n"},
    {"traceoff:18446744073709551614", 0, "traceoff:count=-2\n"},
    {"traceoff:18446744073709551615", 0, "traceoff:unlimited\n"},
    {"traceoff:18446744073709551616", -ERANGE, ""},
    {"traceoff:08", -EINVAL, ""},
    {"traceoff:0x", -EINVAL, ""},
    {"traceoff:5x", -EINVAL, ""},
    {"traceoff:-1", -EINVAL, ""},
    {"traceoff:+1", -EINVAL, ""},
    {"traceoff:abc", -EINVAL, ""},
    {"traceoff::5", -EINVAL, ""},
    {"traceoff foo", -EINVAL, ""},
    {"traceoff if", -EINVAL, ""},
    {"traceoff if ", -EINVAL, ""},
    {"traceoff if a", -EINVAL, ""},
    {"traceoff:3 a == 1", -EINVAL, ""},
    {"traceoff:3 iff a == 1", -EINVAL, ""},
    {"traceoff:3if a == 1", -EINVAL, ""},
    {"traceoff if nosuch == 1", -EINVAL, ""},
    {"traceoff if (a == 1", -ENOENT, ""},
    {"traceoff if a == 1)", -EPERM, ""},
    {"traceoff if a == 1 b == 2", -EPERM, ""},
    {"traceoff if (a == 1) b", -EPERM, ""},
    {"traceoff if a == 1 &&& b == 1", -EPERM, ""},
    {"traceoff if && a == 1", -EPERM, ""},
    {"traceoff if a == 1 && ()", -EPERM, ""},
    {"traceoff if ()", -EINVAL, ""},
    {"traceoff if a == 1 &&", -EINVAL, ""},
    {"traceoff if nosuch == 1 b == 2", -EINVAL, ""},
    {"traceoff if a == \"1", -ESRCH, ""},
    {"traceoff if a == 1", 0, "traceoff:unlimited if a == 1\n"},
    {"traceoff:if a == 1", 0, "traceoff:unlimited if a == 1\n"},
    {"traceoff\tif\ta == 1", 0, "traceoff:unlimited if a == 1\n"},
    {"traceoff:3 \t if a == 1 && b > 2", 0, "traceoff:count=3 if a == 1 && b > 2\n"},
    {"traceoff:3 if  a == 1", 0, "traceoff:count=3 if  a == 1\n"},
    {"traceon", 0, "traceon:unlimited\n"},
    {"stacktrace:5 if d >= 65536", 0, "stacktrace:count=5 if d >= 65536\n"},
    {"snapshot:1 if d > 1", 0, "snapshot:count=1 if d > 1\n"},
    {ENABLE_FLAGS, 0, ENABLE_FLAGS ":unlimited\n"},
    {ENABLE_FLAGS ":1", 0, ENABLE_FLAGS ":count=1\n"},
    {DISABLE_FLAGS ":0x3 if a == 1", 0, DISABLE_FLAGS ":count=3 if a == 1\n"},
    {ENABLE_FLAGS ":+1", 0, ENABLE_FLAGS ":count=1\n"},
    {"enable_event unit:unit_flags:1", 0, ENABLE_FLAGS ":count=1\n"},
    {ENABLE_FLAGS ":", -EINVAL, ""},
    {ENABLE_FLAGS ":x", -EINVAL, ""},
    {ENABLE_FLAGS " 1", -EINVAL, ""},
    {"enable_event", -EINVAL, ""},
    {"enable_event:", -EINVAL, ""},
    {"enable_event:unit", -EINVAL, ""},
    {"enable_event:unit:", -EINVAL, ""},
    {"enable_event::unit_flags", -EINVAL, ""},
    {"enable_event:unit:nosuch", -EINVAL, ""},
    {"enable_event:nosuch:unit_flags", -EINVAL, ""},
    {"enable_event:ftrace:print", -EINVAL, ""}, /* nothing to switch */
    {"enable_event:if a == 1", -EINVAL, ""},
    {"enable_event:unit:unit_numbers", 0, "enable_event:unit:unit_numbers:unlimited\n"},
    {"nosuch", -EINVAL, ""},
    {"", 0, ""}, /* no write at all */
    {"\n", -EINVAL, ""},
    {" ", -EINVAL, ""},
    {"!", -EINVAL, ""},
    {"!!traceoff", -EINVAL, ""},
    {"! traceoff", -EINVAL, ""},
    {"!nosuch", -EINVAL, ""},
    {"traceoffx", -EINVAL, ""},
    {"TRACEOFF", -EINVAL, ""},
    {"traceoff\nstacktrace", -EINVAL, ""},
    {"!traceoff", 0, ""}, /* what is not there is no error */
    {"!traceoff:x if nosuch == 7", 0, ""},
    {"!" ENABLE_FLAGS, 0, ""},
    {"!enable_event", -EINVAL, ""},
    {"!enable_event:unit:nosuch", -EINVAL, ""},
};

static void lines(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		trigger_fresh();
		int err = trace_put(TRIGGER, rows[i].line);
		if (err != rows[i].err || !trigger_is_listed(TRIGGER, rows[i].list))
			ktap_note("row %u: %s", i, rows[i].line);
		EXPECT_EQ(err, rows[i].err);
		EXPECT(trigger_is_listed(TRIGGER, rows[i].list));
		EXPECT_STR(trace_get("error_log", NULL), "");
	}
	trigger_fresh();
}

/*
 * After the first line, each of the second is refused as there already; each of the third takes it
 * away.
 */
static const struct {
	const char *first, *refused[4], *removes[4];
} pairs[] = {
    {"traceoff", {"traceoff", "traceoff:3 if a == 1", "traceon"}, {"!traceoff", "!traceon:5"}},
    {"traceon:2 if a == 1", {"traceoff"}, {"!traceoff if a == 2", "!traceon"}},
    {"stacktrace", {"stacktrace:5"}, {"!stacktrace:7 if b == 1", "!stacktrace"}},
    {"snapshot", {"snapshot:1"}, {"!snapshot", "!snapshot:1 if"}},
    {ENABLE_FLAGS, {ENABLE_FLAGS ":1", DISABLE_FLAGS}, {"!" ENABLE_FLAGS, "!" DISABLE_FLAGS ":5"}},
};

static void duplicates(void)
{
	char before[128];

	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++)
		for (unsigned k = 0; k < 4 && pairs[i].removes[k]; k++) {
			trigger_fresh();
			EXPECT_EQ(trace_put(TRIGGER, pairs[i].first), 0);
			strscpy(before, trace_get(TRIGGER, NULL), sizeof(before));
			for (unsigned r = 0; r < 4 && pairs[i].refused[r]; r++)
				EXPECT_EQ(trace_put(TRIGGER, pairs[i].refused[r]), -EEXIST);
			EXPECT_STR(trace_get(TRIGGER, NULL), before);
			EXPECT_EQ(trace_put(TRIGGER, pairs[i].removes[k]), 0);
			EXPECT(trigger_is_listed(TRIGGER, ""));
		}
	/* The newest is listed first; one target is not another; `>` does what `>>` does. */
	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, "traceoff"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "stacktrace"), 0);
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put(TRIGGER, "disable_event:unit:unit_text"), 0);
	EXPECT_STR(trace_get(TRIGGER, NULL),
	    "disable_event:unit:unit_text:unlimited\n" ENABLE_FLAGS
	    ":unlimited\nstacktrace:unlimited\ntraceoff:unlimited\n");
	EXPECT_EQ(trace_put(TRIGGER, "!stacktrace"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "!" ENABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TRIGGER, NULL),
	    "disable_event:unit:unit_text:unlimited\ntraceoff:unlimited\n");
	trigger_fresh();
}

/* ---- limits and refusals ---- */

/* A line of 4095 bytes, and one more; 64 kinds of target at once. */
static void limits(void)
{
	char *line = host_alloc(5000);

	for (unsigned n = 4094; n <= 4096; n++) {
		trigger_fresh();
		memset(line, ' ', n);
		memcpy(line, "traceoff:7", 10);
		line[n] = '\0';
		EXPECT_EQ(trace_put(TRIGGER, line), n < 4096 ? 0 : -EINVAL);
		EXPECT(trigger_is_listed(TRIGGER, n < 4096 ? "traceoff:count=7\n" : ""));
	}
	host_free(line);
	trigger_fresh();
}

static u32 many_targets(bool on)
{
	struct trace_event_file *file;
	char line[160];
	u32 n = 0;

	list_for_each_entry (file, &trace_global->files, node) {
		if (file->call->flags & TRACE_CALL_NO_ENABLE)
			continue;
		if (n == 64)
			break;
		fmt_snprintf(line, sizeof(line), "%senable_event:%s:%s:0", on ? "" : "!",
		    file->call->class->system, file->call->name);
		EXPECT_EQ(trace_put(TRIGGER, line), 0);
		n++;
	}
	return n;
}

static void many(void)
{
	u32 n, listed = 0;

	trigger_fresh();
	n = many_targets(true);
	for (const char *p = trace_get(TRIGGER, NULL); (p = strstr(p, ":count=0\n")); p++)
		listed++;
	EXPECT(n);
	EXPECT_EQ(listed, n);
	trigger_fire(1);
	EXPECT_EQ(many_targets(false), n);
	EXPECT(trigger_is_listed(TRIGGER, ""));
	EXPECT_STR(trace_get("set_event", NULL), "");
	trigger_fresh();
}

static void boot_parameter(void)
{
	trigger_fresh();
	host_lock();
	trace_triggers_boot(trace_global, (char[]){"unit_numbers.traceoff:3 if a == 1"});
	trace_triggers_boot(trace_global, (char[]){"unit_numbers." ENABLE_FLAGS});
	trace_triggers_boot(trace_global, (char[]){"unit_text"});
	trace_triggers_boot(trace_global, (char[]){"unit_numbers.nosuch"}); /* told in the log */
	trace_triggers_boot(trace_global, (char[]){"nosuch.traceoff"});
	trace_triggers_boot(trace_global, (char[]){"unit_number.stacktrace"});
	trace_triggers_boot(trace_global, (char[]){"unit_numbers_.stacktrace"});
	host_unlock();
	EXPECT(trigger_is_listed(TRIGGER, ENABLE_FLAGS ":unlimited\ntraceoff:count=3 if a == 1\n"));
	EXPECT(trigger_is_listed(TEXT, ""));
	trigger_fresh();
}

/* A file without triggers names those that there are, as Linux's does. */
static void available(void)
{
	trigger_fresh();
	EXPECT_STR(trace_get(TRIGGER, NULL),
	    "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event "
	    "disable_event enable_hist disable_hist hist\n");
}

static const struct ktap_case cases[] = {
    {"triggers.lines", lines},
    {"triggers.duplicates", duplicates},
    {"triggers.limits", limits},
    {"triggers.many", many},
    {"triggers.boot_parameter", boot_parameter},
    {"triggers.available", available},
    {NULL, NULL},
};
const struct ktap_suite suite_trigger_lines = {cases};
