/* Triggers: what lines are taken, what each command does to the state, what is refused and leaves no trace. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace_tools.h"
#include "trace/ring_buffer.h"
#include "trace/trigger.h"

#define TRIGGER	      "events/unit/unit_numbers/trigger"
#define TEXT	      "events/unit/unit_text/trigger"
#define TARGET	      "events/unit/unit_flags/enable"
#define ENABLE_FLAGS  "enable_event:unit:unit_flags"
#define DISABLE_FLAGS "disable_event:unit:unit_flags"

static struct trace_event_file *file_of(const char *name)
{
	return trace_event_file_of(trace_global, trace_event_find("unit", name));
}

static u64 missed(void)
{
	struct trace_event_file *file = file_of("unit_numbers");
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		sum += file->counts[cpu].trigger_missed;
	return sum;
}

static void fire(int a)
{
	trace_unit_numbers(a, 0, 0, 0);
}

/* No trigger anywhere, as at start. */
static void fresh(void)
{
	trace_fresh();
	host_lock();
	trace_triggers_clear(trace_global);
	host_unlock();
}

static bool is_listed(const char *path, const char *list)
{
	const char *text = trace_get(path, NULL);

	return *list ? !strcmp(text, list)
		     : str_has_prefix(text, "# Available triggers:\n# traceon ");
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static const struct {
	const char *line;
	int err;
	const char *list; /* the trigger file behind it; "": empty */
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
		fresh();
		int err = trace_put(TRIGGER, rows[i].line);
		if (err != rows[i].err || !is_listed(TRIGGER, rows[i].list))
			ktap_note("row %u: %s", i, rows[i].line);
		EXPECT_EQ(err, rows[i].err);
		EXPECT(is_listed(TRIGGER, rows[i].list));
		EXPECT_STR(trace_get("error_log", NULL), "");
	}
	fresh();
}

/* Behind the first line, each of the second is refused as there already; each of the third takes it away. */
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
			fresh();
			EXPECT_EQ(trace_put(TRIGGER, pairs[i].first), 0);
			strscpy(before, trace_get(TRIGGER, NULL), sizeof(before));
			for (unsigned r = 0; r < 4 && pairs[i].refused[r]; r++)
				EXPECT_EQ(trace_put(TRIGGER, pairs[i].refused[r]), -EEXIST);
			EXPECT_STR(trace_get(TRIGGER, NULL), before);
			EXPECT_EQ(trace_put(TRIGGER, pairs[i].removes[k]), 0);
			EXPECT(is_listed(TRIGGER, ""));
		}
	/* The newest is listed first; one target is not another; `>` does what `>>` does. */
	fresh();
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
	fresh();
}

/* ---- each command: state before, event, state after ---------------------------------------------------------- */

static void traceoff(void)
{
	fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "traceoff:2"), 0);
	for (int left = 1; left >= 0; left--) {
		EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
		fire(2 - left); /* this one is recorded, the next is not */
		EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
		EXPECT(is_listed(TRIGGER, left ? "traceoff:count=1\n" : "traceoff:count=0\n"));
		fire(99); /* off already: no count is lost */
		EXPECT(is_listed(TRIGGER, left ? "traceoff:count=1\n" : "traceoff:count=0\n"));
		EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	}
	fire(3);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=1 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=2 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(2), "unit_numbers: a=3 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(3), "");
	EXPECT_EQ(trace_put(TRIGGER, "!traceoff"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "traceoff if a == 5"), 0);
	fire(4);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	fire(5);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_STR(trace_nth_event(4), "unit_numbers: a=5 b=0 c=0 d=0");
	fresh();
}

/* The event that switches recording on is recorded itself. */
static void traceon(void)
{
	static const char *const lines_[] = {"traceon", "traceon:1", "traceon if a > 1"};

	for (unsigned i = 0; i < ARRAY_SIZE(lines_); i++) {
		fresh();
		EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
		EXPECT_EQ(trace_put(TRIGGER, lines_[i]), 0);
		fire(2); /* on already */
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		fire(3);
		EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
		EXPECT_STR(trace_nth_event(1), "unit_numbers: a=3 b=0 c=0 d=0");
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		fire(i == 2 ? 1 : 4);
		EXPECT_STR(trace_get("tracing_on", NULL), i == 0 ? "1\n" : "0\n");
		EXPECT(is_listed(TRIGGER, i == 0   ? "traceon:unlimited\n"
					  : i == 1 ? "traceon:count=0\n"
						   : "traceon:unlimited if a > 1\n"));
	}
	fresh();
}

static void target(const char *enable, const char *list)
{
	EXPECT_STR(trace_get(TARGET, NULL), enable);
	EXPECT_STR(trace_get(TRIGGER, NULL), list);
}

static void enable_event(void)
{
	fresh();
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS ":2 if a > 0"), 0);
	target("0*\n", ENABLE_FLAGS ":count=2 if a > 0\n");
	trace_unit_flags(1, 1, NULL);
	fire(0);
	target("0*\n", ENABLE_FLAGS ":count=2 if a > 0\n");
	fire(1);
	target("1*\n", ENABLE_FLAGS ":count=1 if a > 0\n");
	fire(2); /* on already */
	target("1*\n", ENABLE_FLAGS ":count=1 if a > 0\n");
	trace_unit_flags(2, 2, NULL);
	EXPECT_EQ(trace_put(TARGET, "0"), 0);
	target("0*\n", ENABLE_FLAGS ":count=1 if a > 0\n");
	fire(3);
	target("1*\n", ENABLE_FLAGS ":count=0 if a > 0\n");
	EXPECT_EQ(trace_put(TARGET, "0"), 0);
	fire(4);
	target("0*\n", ENABLE_FLAGS ":count=0 if a > 0\n");
	EXPECT(str_has_prefix(trace_nth_event(0), "unit_flags: flags=TWO"));
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put(TRIGGER, "!" ENABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	fresh();
}

static void disable_event(void)
{
	fresh();
	EXPECT_EQ(trace_put(TARGET, "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, DISABLE_FLAGS ":1"), 0);
	target("1*\n", DISABLE_FLAGS ":count=1\n");
	fire(1);
	target("0*\n", DISABLE_FLAGS ":count=0\n");
	trace_unit_flags(1, 1, NULL);
	EXPECT_EQ(trace_put(TARGET, "1"), 0);
	fire(1);
	target("1*\n", DISABLE_FLAGS ":count=0\n");
	trace_unit_flags(4, 1, NULL);
	EXPECT(str_has_prefix(trace_nth_event(0), "unit_flags: flags=FOUR"));
	EXPECT_STR(trace_nth_event(1), "");
	/* The state that a trigger leaves behind is the event's from then on. */
	EXPECT_EQ(trace_put(TRIGGER, "!" DISABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1\n");
	EXPECT_EQ(trace_put(TRIGGER, DISABLE_FLAGS), 0);
	fire(1);
	EXPECT_EQ(trace_put(TRIGGER, "!" DISABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	EXPECT_EQ(key_unit_flags.enabled, 0);
	fresh();
}

/* One event keeps another live for two reasons, and itself. */
static void users(void)
{
	fresh();
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put(TEXT, DISABLE_FLAGS), 0);
	fire(1);
	EXPECT_EQ(trace_put(TRIGGER, "!" ENABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1*\n");
	trace_unit_text("", "", "");
	EXPECT_STR(trace_get(TARGET, NULL), "0*\n");
	EXPECT_EQ(trace_put(TEXT, "!" DISABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	EXPECT_EQ(trace_put(TRIGGER, "enable_event:unit:unit_numbers"), 0);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0*\n");
	fire(5); /* what it is at its beginning decides about it */
	fire(6);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "1*\n");
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=6 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put(TRIGGER, "!enable_event:unit:unit_numbers"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "1\n");
	fresh();
	EXPECT_EQ(key_unit_numbers.enabled, 0);
}

/* The frames are the machine's affair (tests/kernel); here only where the trace stands and how often. */
static void stacktrace(void)
{
	fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "stacktrace:2 if a != 1"), 0);
	fire(1);
	fire(2);
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=1 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=2 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(2), "<stack trace>");
	EXPECT(is_listed(TRIGGER, "stacktrace:count=1 if a != 1\n"));
	/* What could not be recorded costs no count, and is counted as missed. */
	u64 before = missed();
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	fire(3);
	EXPECT_EQ(missed(), before + 1);
	EXPECT(is_listed(TRIGGER, "stacktrace:count=1 if a != 1\n"));
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	/* The event may be off. */
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	fire(4);
	fire(5);
	EXPECT_STR(trace_nth_event(0), "<stack trace>");
	EXPECT(!strstr(trace_get("trace", NULL), "unit_numbers"));
	EXPECT(is_listed(TRIGGER, "stacktrace:count=0 if a != 1\n"));
	EXPECT_EQ(missed(), before + 1);
	fresh();
}

static const char *nth_of_snapshot(const char *what)
{
	return strstr(trace_get("snapshot", NULL), what);
}

static void snapshot(void)
{
	fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT(nth_of_snapshot("* Snapshot is freed *"));
	EXPECT_EQ(trace_put(TRIGGER, "snapshot:1 if a == 2"), 0);
	EXPECT(nth_of_snapshot("* Snapshot is allocated *"));
	fire(1);
	EXPECT(nth_of_snapshot("* Snapshot is allocated *"));
	fire(2); /* is in it, for it was looked at */
	fire(3);
	EXPECT(nth_of_snapshot("unit_numbers: a=1 ") && nth_of_snapshot("unit_numbers: a=2 "));
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=3 b=0 c=0 d=0");
	fire(2);
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=2 b=0 c=0 d=0");
	EXPECT(is_listed(TRIGGER, "snapshot:count=0 if a == 2\n"));
	EXPECT_EQ(trace_put(TRIGGER, "!snapshot"), 0);
	/* One that looks at nothing is taken before the event. */
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put(TRIGGER, "snapshot"), 0);
	fire(7); /* what the snapshot held comes back before it */
	EXPECT(!nth_of_snapshot("a=7"));
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=1 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(2), "unit_numbers: a=7 b=0 c=0 d=0");
	EXPECT_EQ(trace_put(TRIGGER, "!snapshot"), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	fresh();
}

/* ---- what an event is that has triggers ---------------------------------------------------------------------- */

static void off_event(void)
{
	struct trace_event_file *file = file_of("unit_numbers");
	u64 entries = ring_buffer_entries(trace_global->buffer);

	fresh();
	EXPECT_EQ(trace_put(TRIGGER, "traceoff"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0*\n");
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	fire(1);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), entries);
	EXPECT_EQ(trace_put(TRIGGER, "!traceoff"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0\n");
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	EXPECT_EQ(file->way & TRACE_WAY_TRIGGER, 0);
	EXPECT_EQ(file->soft_users, 0);
	fresh();
}

static u64 count_of(const struct trace_event_file *file, bool soft_off)
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		sum += soft_off ? file->counts[cpu].soft_off : file->counts[cpu].hit;
	return sum;
}

/* What an off event with these triggers does at a = 5 and not at others; whatever way it takes, each hit is counted once. */
static const struct {
	const char *add[2];
	bool off_at_5, off_always;
	u8 record;
} off_rows[] = {
    {{"traceon"}, false, false, TRACE_TRIGGERS_BLIND},
    {{"traceoff"}, true, true, TRACE_TRIGGERS_BLIND},
    {{"stacktrace", "traceoff"}, true, true, TRACE_TRIGGERS_BLIND},
    {{"traceoff if a == 5"}, true, false, TRACE_TRIGGERS_JUDGED},
    {{"stacktrace if a == 7", "traceoff if a == 5 && b == 0"}, true, false, TRACE_TRIGGERS_JUDGED},
    {{"traceoff if a == 5 && common_pid >= 0"}, true, false, TRACE_TRIGGERS_LOOK},
    {{"snapshot", "traceoff if a == 5"}, true, false, TRACE_TRIGGERS_LOOK},
    {{"traceoff if a == 5", ENABLE_FLAGS}, true, false, TRACE_TRIGGERS_LOOK},
};

static void off_ways(void)
{
	struct trace_event_file *file = file_of("unit_numbers");

	for (unsigned i = 0; i < ARRAY_SIZE(off_rows); i++) {
		fresh();
		for (unsigned k = 0; k < 2 && off_rows[i].add[k]; k++)
			EXPECT_EQ(trace_put(TRIGGER, off_rows[i].add[k]), 0);
		EXPECT_EQ(file->trigger_record, off_rows[i].record);
		u64 hits = count_of(file, false), off = count_of(file, true);
		fire(4);
		EXPECT_STR(trace_get("tracing_on", NULL), off_rows[i].off_always ? "0\n" : "1\n");
		fire(5);
		EXPECT_STR(trace_get("tracing_on", NULL), off_rows[i].off_at_5 ? "0\n" : "1\n");
		EXPECT_EQ(count_of(file, false), hits + 2);
		EXPECT_EQ(count_of(file, true), off + 2);
	}
	fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/* The event's own filter keeps it from being recorded, not its triggers from running; a string is looked at where it lies. */
static void with_filter(void)
{
	fresh();
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_text/filter", "text == \"no\""), 0);
	EXPECT_EQ(trace_put(TEXT, "traceoff if more == \"stop\" && text ~ \"y*\""), 0);
	trace_unit_text("", "no", "stop");
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	trace_unit_text("", "yes", "stop");
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_STR(trace_nth_event(0), "unit_text: comm= text=no mark=7 more=stop");
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put("events/unit/unit_text/filter", "0"), 0);
	fresh();
}

/* inject is as good as the event, also for triggers that look at nothing. */
static void inject(void)
{
	fresh();
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/inject", "a=1"), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1*\n");
	EXPECT_EQ(trace_put(TRIGGER, "traceoff if a == 2"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/inject", "a=2"), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_STR(trace_nth_event(0), "");
	fresh();
}

/* trace_marker pulls the triggers of ftrace:print, which is never off. */
static void print_marker(void)
{
	static const char print[] = "events/ftrace/print/trigger";

	fresh();
	EXPECT(is_listed(print, ""));
	EXPECT_EQ(trace_put(print, ENABLE_FLAGS ":1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1*\n");
	EXPECT_EQ(trace_put(print, "!" ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put(print, "traceoff"), 0);
	EXPECT_EQ(trace_put("trace_marker", "two"), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_EQ(trace_put("trace_marker", "three"), -EBADF);
	EXPECT_EQ(trace_put(print, "!traceoff"), 0);
	EXPECT(is_listed(print, ""));
	EXPECT_EQ(trace_put(print, "traceon"), 0); /* no record, no trigger, as on Linux */
	EXPECT_EQ(trace_put("trace_marker", "four"), -EBADF);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "five"), 0);
	EXPECT(strstr(trace_nth_event(0), ": one"));
	EXPECT(strstr(trace_nth_event(1), ": two"));
	EXPECT(strstr(trace_nth_event(2), ": five"));
	EXPECT_EQ(trace_walk("events/ftrace/function/trigger", &(struct tfs_node){}), -ENOENT);
	fresh();
}

/* In an instance a trigger sees and does what is the instance's. */
static void instances(void)
{
	fresh();
	host_lock();
	struct trace_array *tr = trace_array_create("triggers", 8 * RB_PAGE_DATA);
	struct trace_event_file *file = trace_event_file_of(tr, file_of("unit_numbers")->call);
	struct trace_event_file *flags = trace_event_file_of(tr, file_of("unit_flags")->call);
	EXPECT_EQ(trace_trigger_store(file, (char[]){"traceoff"}), 0);
	EXPECT_EQ(trace_trigger_store(file, (char[]){ENABLE_FLAGS}), 0);
	EXPECT_EQ(trace_trigger_store(file, (char[]){"stacktrace if a == 1"}), 0);
	host_unlock();
	EXPECT(is_listed(TRIGGER, ""));
	fire(1);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	EXPECT(!trace_array_is_on(tr));
	EXPECT(trace_file_is_on(flags));
	host_lock();
	EXPECT_EQ(trace_array_destroy(tr), 0); /* with all its triggers */
	host_unlock();
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	EXPECT_EQ(key_unit_flags.enabled, 0);
	fire(1);
	fresh();
}

/* ---- limits and refusals ------------------------------------------------------------------------------------- */

/* A line of 4095 bytes, and one more; 64 kinds of target at once. */
static void limits(void)
{
	char *line = host_alloc(5000);

	for (unsigned n = 4094; n <= 4096; n++) {
		fresh();
		memset(line, ' ', n);
		memcpy(line, "traceoff:7", 10);
		line[n] = '\0';
		EXPECT_EQ(trace_put(TRIGGER, line), n < 4096 ? 0 : -EINVAL);
		EXPECT(is_listed(TRIGGER, n < 4096 ? "traceoff:count=7\n" : ""));
	}
	host_free(line);
	fresh();
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
		snprintf(line, sizeof(line), "%senable_event:%s:%s:0", on ? "" : "!",
		    file->call->class->system, file->call->name);
		EXPECT_EQ(trace_put(TRIGGER, line), 0);
		n++;
	}
	return n;
}

static void many(void)
{
	u32 n, listed = 0;

	fresh();
	n = many_targets(true);
	for (const char *p = trace_get(TRIGGER, NULL); (p = strstr(p, ":count=0\n")); p++)
		listed++;
	EXPECT(n);
	EXPECT_EQ(listed, n);
	fire(1);
	EXPECT_EQ(many_targets(false), n);
	EXPECT(is_listed(TRIGGER, ""));
	EXPECT_STR(trace_get("set_event", NULL), "");
	fresh();
}

static void boot_parameter(void)
{
	fresh();
	host_lock();
	trace_triggers_boot(trace_global, (char[]){"unit_numbers.traceoff:3 if a == 1"});
	trace_triggers_boot(trace_global, (char[]){"unit_numbers." ENABLE_FLAGS});
	trace_triggers_boot(trace_global, (char[]){"unit_text"});
	trace_triggers_boot(trace_global, (char[]){"unit_numbers.nosuch"}); /* told in the log */
	trace_triggers_boot(trace_global, (char[]){"nosuch.traceoff"});
	host_unlock();
	EXPECT(is_listed(TRIGGER, ENABLE_FLAGS ":unlimited\ntraceoff:count=3 if a == 1\n"));
	EXPECT(is_listed(TEXT, ""));
	fresh();
}

static const struct ktap_case cases[] = {
    {"triggers.lines", lines},
    {"triggers.duplicates", duplicates},
    {"triggers.traceoff", traceoff},
    {"triggers.traceon", traceon},
    {"triggers.enable_event", enable_event},
    {"triggers.disable_event", disable_event},
    {"triggers.users", users},
    {"triggers.stacktrace", stacktrace},
    {"triggers.snapshot", snapshot},
    {"triggers.off_event", off_event},
    {"triggers.off_ways", off_ways},
    {"triggers.with_filter", with_filter},
    {"triggers.inject", inject},
    {"triggers.print_marker", print_marker},
    {"triggers.instances", instances},
    {"triggers.limits", limits},
    {"triggers.many", many},
    {"triggers.boot_parameter", boot_parameter},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_triggers = {cases};
