/* Triggers: the effect of each command on the state, and events that have triggers. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/trigger/tools.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/event/snapshot.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/ring/ring.h"
#include "trace/trigger/trigger.h"

static struct trace_event_file *file_of(const char *name)
{
	return trace_event_file_of(trace_global, trace_event_find("unit", name));
}

static u64 missed(void)
{
	return trace_counts("unit", "unit_numbers").trigger_missed;
}

/* ---- each command: state before, event, state after ---- */

static void traceoff(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "traceoff:2"), 0);
	for (int left = 1; left >= 0; left--) {
		EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
		trigger_fire(2 - left); /* this one is recorded, the next is not */
		EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
		EXPECT(
		    trigger_is_listed(TRIGGER, left ? "traceoff:count=1\n" : "traceoff:count=0\n"));
		trigger_fire(99); /* off already: no count is lost */
		EXPECT(
		    trigger_is_listed(TRIGGER, left ? "traceoff:count=1\n" : "traceoff:count=0\n"));
		EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	}
	trigger_fire(3);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=1 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=2 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(2), "unit_numbers: a=3 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(3), "");
	EXPECT_EQ(trace_put(TRIGGER, "!traceoff"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "traceoff if a == 5"), 0);
	trigger_fire(4);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	trigger_fire(5);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_STR(trace_nth_event(4), "unit_numbers: a=5 b=0 c=0 d=0");
	trigger_fresh();
}

/*
 * The event that switches recording on is recorded itself, unless the trigger waits for its record.
 */
static void traceon(void)
{
	static const char *const lines_[] = {"traceon", "traceon:1", "traceon if a > 1"};

	for (unsigned i = 0; i < ARRAY_SIZE(lines_); i++) {
		trigger_fresh();
		EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
		EXPECT_EQ(trace_put(TRIGGER, lines_[i]), 0);
		trigger_fire(2); /* on already */
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		trigger_fire(3);
		EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
		EXPECT_STR(trace_nth_event(1), i == 2 ? "" : "unit_numbers: a=3 b=0 c=0 d=0");
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		trigger_fire(i == 2 ? 1 : 4);
		EXPECT_STR(trace_get("tracing_on", NULL), i == 0 ? "1\n" : "0\n");
		EXPECT(trigger_is_listed(TRIGGER, i == 0   ? "traceon:unlimited\n"
						  : i == 1 ? "traceon:count=0\n"
							   : "traceon:unlimited if a > 1\n"));
	}
	trigger_fresh();
}

static u64 lost(void)
{
	struct trace_event_file *file = file_of("unit_numbers");
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < host_cpu_limit(); cpu++)
		sum += file->counts[cpu].lost;
	return sum;
}

/*
 * Beside a trigger that needs the record, traceon comes too late for its event, which is counted as
 * one that the ring refused; not if the event's filter makes the ring wait for the triggers.
 */
static void traceon_late(void)
{
	static const struct {
		const char *beside, *filter;
		bool recorded;
	} rows[] = {
	    {"stacktrace:0", "0", false},
	    {"hist:keys=a", "0", false},
	    {"snapshot", "0", true},
	    {ENABLE_FLAGS, "0", true},
	    {"stacktrace:0", "a == 3", true},
	    {"stacktrace:0", "a != 3", false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		trigger_fresh();
		EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
		EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", rows[i].filter), 0);
		EXPECT_EQ(trace_put(TRIGGER, "traceon"), 0);
		EXPECT_EQ(trace_put(TRIGGER, rows[i].beside), 0);
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		u64 before = lost();
		trigger_fire(3);
		EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
		EXPECT_STR(
		    trace_nth_event(0), rows[i].recorded ? "unit_numbers: a=3 b=0 c=0 d=0" : "");
		EXPECT_EQ(lost(), before + (i < 2));
		EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	}
	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "0"), 0);
	trigger_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

static void target(const char *enable, const char *list)
{
	EXPECT_STR(trace_get(TARGET, NULL), enable);
	EXPECT_STR(trace_get(TRIGGER, NULL), list);
}

static void enable_event(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS ":2 if a > 0"), 0);
	target("0*\n", ENABLE_FLAGS ":count=2 if a > 0\n");
	trace_unit_flags(1, 1, NULL);
	trigger_fire(0);
	target("0*\n", ENABLE_FLAGS ":count=2 if a > 0\n");
	trigger_fire(1);
	target("1*\n", ENABLE_FLAGS ":count=1 if a > 0\n");
	trigger_fire(2); /* on already */
	target("1*\n", ENABLE_FLAGS ":count=1 if a > 0\n");
	trace_unit_flags(2, 2, NULL);
	EXPECT_EQ(trace_put(TARGET, "0"), 0);
	target("0*\n", ENABLE_FLAGS ":count=1 if a > 0\n");
	trigger_fire(3);
	target("1*\n", ENABLE_FLAGS ":count=0 if a > 0\n");
	EXPECT_EQ(trace_put(TARGET, "0"), 0);
	trigger_fire(4);
	target("0*\n", ENABLE_FLAGS ":count=0 if a > 0\n");
	EXPECT(str_has_prefix(trace_nth_event(0), "unit_flags: flags=TWO"));
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put(TRIGGER, "!" ENABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	trigger_fresh();
}

static void disable_event(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put(TARGET, "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, DISABLE_FLAGS ":1"), 0);
	target("1*\n", DISABLE_FLAGS ":count=1\n");
	trigger_fire(1);
	target("0*\n", DISABLE_FLAGS ":count=0\n");
	trace_unit_flags(1, 1, NULL);
	EXPECT_EQ(trace_put(TARGET, "1"), 0);
	trigger_fire(1);
	target("1*\n", DISABLE_FLAGS ":count=0\n");
	trace_unit_flags(4, 1, NULL);
	EXPECT(str_has_prefix(trace_nth_event(0), "unit_flags: flags=FOUR"));
	EXPECT_STR(trace_nth_event(1), "");
	/* The state that a trigger leaves behind is the event's from then on. */
	EXPECT_EQ(trace_put(TRIGGER, "!" DISABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1\n");
	EXPECT_EQ(trace_put(TRIGGER, DISABLE_FLAGS), 0);
	trigger_fire(1);
	EXPECT_EQ(trace_put(TRIGGER, "!" DISABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	EXPECT_EQ(key_unit_flags.enabled, 0);
	trigger_fresh();
}

/* One event keeps another live for two reasons, and itself. */
static void users(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put(TEXT, DISABLE_FLAGS), 0);
	trigger_fire(1);
	EXPECT_EQ(trace_put(TRIGGER, "!" ENABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1*\n");
	trace_unit_text("", "", "");
	EXPECT_STR(trace_get(TARGET, NULL), "0*\n");
	EXPECT_EQ(trace_put(TEXT, "!" DISABLE_FLAGS), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	EXPECT_EQ(trace_put(TRIGGER, "enable_event:unit:unit_numbers"), 0);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0*\n");
	trigger_fire(5); /* what it is at its beginning decides about it */
	trigger_fire(6);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "1*\n");
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=6 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put(TRIGGER, "!enable_event:unit:unit_numbers"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "1\n");
	trigger_fresh();
	EXPECT_EQ(key_unit_numbers.enabled, 0);
}

/*
 * The frames are the machine's affair (tests/kernel); here only where the trace stands and how
 * often.
 */
static void stacktrace(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "stacktrace:2 if a != 1"), 0);
	trigger_fire(1);
	trigger_fire(2);
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=1 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=2 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(2), "<stack trace>");
	EXPECT(trigger_is_listed(TRIGGER, "stacktrace:count=1 if a != 1\n"));
	/* What could not be recorded costs no count, and is counted as missed. */
	u64 before = missed();
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	trigger_fire(3);
	EXPECT_EQ(missed(), before + 1);
	EXPECT(trigger_is_listed(TRIGGER, "stacktrace:count=1 if a != 1\n"));
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	/* The event may be off. */
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	trigger_fire(4);
	trigger_fire(5);
	EXPECT_STR(trace_nth_event(0), "<stack trace>");
	EXPECT(!strstr(trace_get("trace", NULL), "unit_numbers"));
	EXPECT(trigger_is_listed(TRIGGER, "stacktrace:count=0 if a != 1\n"));
	EXPECT_EQ(missed(), before + 1);
	trigger_fresh();
}

/* Without a count, what could not be done ends nothing. */
static void missed_of_unlimited(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, "stacktrace"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	u64 before = missed();
	trigger_fire(1);
	EXPECT_EQ(missed(), before + 1);
	EXPECT(trigger_is_listed(TRIGGER, "stacktrace:unlimited\n"));
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	trigger_fire(2);
	EXPECT_STR(trace_nth_event(0), "<stack trace>");
	trigger_fresh();
}

/* Records are made for triggers as long as one looks at them, whatever other ones there are. */
static void nobody_looks(void)
{
	static const char *const lines[][2] = {
	    {"stacktrace if a == 1", "traceon"}, {"traceon", "stacktrace if a == 1"}};
	trigger_fresh();
	const struct trace_event_file *file = file_of("unit_numbers");
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		EXPECT_EQ(trace_append(TRIGGER, lines[i][0]), 0);
		EXPECT_EQ(trace_append(TRIGGER, lines[i][1]), 0);
		EXPECT(file->way & TRACE_WAY_LOOKS);
		EXPECT_EQ(trace_append(TRIGGER, "!stacktrace if a == 1"), 0);
		EXPECT_EQ(file->way & (TRACE_WAY_LOOKS | TRACE_WAY_TRIGGER), TRACE_WAY_TRIGGER);
		EXPECT_EQ(trace_append(TRIGGER, "!traceon"), 0);
		EXPECT(!(file->way & TRACE_WAY_TRIGGER));
	}
	trigger_fresh();
}

static const char *nth_of_snapshot(const char *what)
{
	return strstr(trace_get("snapshot", NULL), what);
}

/* A snapshot that another one is in the way of uses no count, and is counted as missed. */
static void missed_snapshot(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, "snapshot:1"), 0);
	u64 before = missed();
	trace_snapshot_hold(trace_global);
	trigger_fire(1);
	trace_snapshot_release(trace_global);
	EXPECT_EQ(missed(), before + 1);
	EXPECT(trigger_is_listed(TRIGGER, "snapshot:count=1\n"));
	trigger_fire(2);
	EXPECT_EQ(missed(), before + 1);
	EXPECT(trigger_is_listed(TRIGGER, "snapshot:count=0\n"));
	EXPECT_EQ(trace_put(TRIGGER, "!snapshot"), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trigger_fresh();
}

static void snapshot(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT(nth_of_snapshot("* Snapshot is freed *"));
	EXPECT_EQ(trace_put(TRIGGER, "snapshot:1 if a == 2"), 0);
	EXPECT(nth_of_snapshot("* Snapshot is allocated *"));
	trigger_fire(1);
	EXPECT(nth_of_snapshot("* Snapshot is allocated *"));
	trigger_fire(2); /* is in it, for it was looked at */
	trigger_fire(3);
	EXPECT(nth_of_snapshot("unit_numbers: a=1 ") && nth_of_snapshot("unit_numbers: a=2 "));
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=3 b=0 c=0 d=0");
	trigger_fire(2);
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=2 b=0 c=0 d=0");
	EXPECT(trigger_is_listed(TRIGGER, "snapshot:count=0 if a == 2\n"));
	EXPECT_EQ(trace_put(TRIGGER, "!snapshot"), 0);
	/* One that looks at nothing is taken before the event. */
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put(TRIGGER, "snapshot"), 0);
	trigger_fire(7); /* what the snapshot held comes back before it, and is hidden */
	EXPECT(!nth_of_snapshot("a=7"));
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=7 b=0 c=0 d=0");
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put(TRIGGER, "!snapshot"), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trigger_fresh();
}

/*
 * A snapshot beside a stack, in either order: the swap comes first, so the stack is alone in the
 * trace.
 */
static void snapshot_and_stack(void)
{
	static const char *const lines_[][2] = {
	    {"snapshot", "stacktrace"},
	    {"stacktrace if a == 2", "snapshot if a == 2"},
	    {"snapshot if a == 2", "stacktrace if a == 2"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(lines_); i++) {
		trigger_fresh();
		EXPECT_EQ(trace_put("snapshot", "0"), 0);
		EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
		EXPECT_EQ(trace_put(TRIGGER, lines_[i][0]), 0);
		EXPECT_EQ(trace_put(TRIGGER, lines_[i][1]), 0);
		trigger_fire(2);
		EXPECT(nth_of_snapshot("unit_numbers: a=2 "));
		EXPECT(!nth_of_snapshot("<stack trace>"));
		EXPECT_STR(trace_nth_event(0), "<stack trace>");
		EXPECT(!strstr(trace_get("trace", NULL), "unit_numbers"));
	}
	trigger_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/* ---- what an event is that has triggers ---- */

static void off_event(void)
{
	struct trace_event_file *file = file_of("unit_numbers");
	u64 entries = ring_buffer_entries(trace_global->buffer);

	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, "traceoff"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0*\n");
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	trigger_fire(1);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), entries);
	EXPECT_EQ(trace_put(TRIGGER, "!traceoff"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0\n");
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	EXPECT_EQ(file->way & (TRACE_WAY_TRIGGER | TRACE_WAY_LOOKS), 0);
	EXPECT_EQ(file->soft_users, 0);
	trigger_fresh();
}

static u64 count_of(const struct trace_event_file *file, bool soft_off)
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < host_cpu_limit(); cpu++)
		sum += soft_off ? file->counts[cpu].soft_off : file->counts[cpu].hit;
	return sum;
}

/*
 * What an off event with these triggers does at a = 5 and not at others; whatever way it takes,
 * each hit is counted once.
 */
static const struct {
	const char *add[2];
	bool off_at_5, off_always;
	bool looks;
} off_rows[] = {
    {{"traceon"}, false, false, false},
    {{"traceoff"}, true, true, true},
    {{"stacktrace", "traceoff"}, true, true, true},
    {{"traceoff if a == 5"}, true, false, true},
    {{"stacktrace if a == 7", "traceoff if a == 5 && b == 0"}, true, false, true},
    {{"traceoff if a == 5 && common_pid >= 0"}, true, false, true},
    {{"snapshot", "traceoff if a == 5"}, true, false, true},
    {{"traceoff if a == 5", ENABLE_FLAGS}, true, false, true},
};

static void off_ways(void)
{
	struct trace_event_file *file = file_of("unit_numbers");

	for (unsigned i = 0; i < ARRAY_SIZE(off_rows); i++) {
		trigger_fresh();
		for (unsigned k = 0; k < 2 && off_rows[i].add[k]; k++)
			EXPECT_EQ(trace_put(TRIGGER, off_rows[i].add[k]), 0);
		EXPECT_EQ(!!(file->way & TRACE_WAY_LOOKS), off_rows[i].looks);
		u64 hits = count_of(file, false), off = count_of(file, true);
		trigger_fire(4);
		EXPECT_STR(trace_get("tracing_on", NULL), off_rows[i].off_always ? "0\n" : "1\n");
		trigger_fire(5);
		EXPECT_STR(trace_get("tracing_on", NULL), off_rows[i].off_at_5 ? "0\n" : "1\n");
		EXPECT_EQ(count_of(file, false), hits + 2);
		EXPECT_EQ(count_of(file, true), off + 2);
	}
	trigger_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/*
 * The event's own filter keeps it from being recorded, not its triggers from running; a string is
 * looked at where it lies.
 */
static void with_filter(void)
{
	trigger_fresh();
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
	trigger_fresh();
}

/* inject is as good as the event, also for triggers that look at nothing. */
static void inject(void)
{
	trigger_fresh();
	EXPECT_EQ(trace_put(TRIGGER, ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/inject", "a=1"), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1*\n");
	EXPECT_EQ(trace_put(TRIGGER, "traceoff if a == 2"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/inject", "a=2"), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_STR(trace_nth_event(0), "");
	trigger_fresh();
}

/* trace_marker pulls the triggers of ftrace:print, which is never off. */
static void print_marker(void)
{
	static const char print[] = "events/ftrace/print/trigger";

	trigger_fresh();
	EXPECT(trigger_is_listed(print, ""));
	EXPECT_EQ(trace_put(print, ENABLE_FLAGS ":1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT_STR(trace_get(TARGET, NULL), "1*\n");
	EXPECT_EQ(trace_put(print, "!" ENABLE_FLAGS), 0);
	EXPECT_EQ(trace_put(print, "traceoff"), 0);
	EXPECT_EQ(trace_put("trace_marker", "two"), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_EQ(trace_put("trace_marker", "three"), -EBADF);
	EXPECT_EQ(trace_put(print, "!traceoff"), 0);
	EXPECT(trigger_is_listed(print, ""));
	EXPECT_EQ(trace_put(print, "traceon"), 0); /* no record, no trigger, as on Linux */
	EXPECT_EQ(trace_put("trace_marker", "four"), -EBADF);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "five"), 0);
	EXPECT(strstr(trace_nth_event(0), ": one"));
	EXPECT(strstr(trace_nth_event(1), ": two"));
	EXPECT(strstr(trace_nth_event(2), ": five"));
	EXPECT_EQ(trace_walk("events/ftrace/function/trigger", &(struct tracefs_node){}), -ENOENT);
	trigger_fresh();
}

/* In an instance a trigger sees and does what is the instance's. */
static void instances(void)
{
	trigger_fresh();
	host_lock();
	struct trace_array *tr = trace_array_create("triggers", 8 * RB_PAGE_DATA);
	struct trace_event_file *file = trace_event_file_of(tr, file_of("unit_numbers")->call);
	struct trace_event_file *flags = trace_event_file_of(tr, file_of("unit_flags")->call);
	EXPECT_EQ(trace_trigger_store(file, (char[]){"traceoff"}), 0);
	EXPECT_EQ(trace_trigger_store(file, (char[]){ENABLE_FLAGS}), 0);
	EXPECT_EQ(trace_trigger_store(file, (char[]){"stacktrace if a == 1"}), 0);
	host_unlock();
	EXPECT(trigger_is_listed(TRIGGER, ""));
	trigger_fire(1);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_STR(trace_get(TARGET, NULL), "0\n");
	EXPECT(!trace_array_is_on(tr));
	EXPECT(trace_file_is_on(flags));
	host_lock();
	EXPECT_EQ(trace_array_destroy(tr), 0); /* with all its triggers */
	host_unlock();
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	EXPECT_EQ(key_unit_flags.enabled, 0);
	trigger_fire(1);
	trigger_fresh();
}

static const struct ktap_case cases[] = {
    {"triggers.traceoff", traceoff},
    {"triggers.traceon", traceon},
    {"triggers.traceon_late", traceon_late},
    {"triggers.enable_event", enable_event},
    {"triggers.disable_event", disable_event},
    {"triggers.users", users},
    {"triggers.stacktrace", stacktrace},
    {"triggers.missed_of_unlimited", missed_of_unlimited},
    {"triggers.nobody_looks", nobody_looks},
    {"triggers.missed_snapshot", missed_snapshot},
    {"triggers.snapshot", snapshot},
    {"triggers.snapshot_and_stack", snapshot_and_stack},
    {"triggers.off_event", off_event},
    {"triggers.off_ways", off_ways},
    {"triggers.with_filter", with_filter},
    {"triggers.inject", inject},
    {"triggers.print_marker", print_marker},
    {"triggers.instances", instances},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_triggers = {cases};
