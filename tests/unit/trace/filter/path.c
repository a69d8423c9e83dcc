/*
 * Filters where events are recorded: what comes through, what is counted, whichever way the event
 * takes.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/array.h"
#include "trace/event/file.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

#define NUMBERS "events/unit/unit_numbers/"
#define TEXT	"events/unit/unit_text/"
#define FLAGS	"events/unit/unit_flags/"

extern struct trace_event_call event_unit_numbers, event_unit_text;

static struct trace_event_count sum(const struct trace_event_call *call, struct trace_array *tr)
{
	const struct trace_event_file *file = trace_event_file_of(tr, call);
	struct trace_event_count all = {.hit = 0};

	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		all.hit += file->counts[cpu].hit;
		all.lost += file->counts[cpu].lost;
		all.filtered += file->counts[cpu].filtered;
		all.pid_filtered += file->counts[cpu].pid_filtered;
		all.too_deep += file->counts[cpu].too_deep;
	}
	return all;
}

static unsigned lines(void)
{
	unsigned n = 0;

	while (*trace_nth(n))
		n++;
	return n;
}

/* Ten events, d from 0 to 9; so many are recorded and the others are counted as filtered. */
static void ten(const char *filter, unsigned recorded)
{
	EXPECT_EQ(trace_put(NUMBERS "filter", filter), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	struct trace_event_count before = sum(&event_unit_numbers, trace_global), after;
	for (u64 i = 0; i < 10; i++)
		trace_unit_numbers(-1, 2, 3, i);
	after = sum(&event_unit_numbers, trace_global);
	if (lines() != recorded)
		ktap_note("filter: %s", filter);
	EXPECT_EQ(lines(), recorded);
	EXPECT_EQ(after.hit - before.hit, 10);
	EXPECT_EQ(after.filtered - before.filtered, 10 - recorded);
	EXPECT_EQ(after.lost, before.lost);
}

static void start(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(NUMBERS "enable", "1"), 0);
	EXPECT_EQ(trace_put(TEXT "enable", "1"), 0);
}

static void stop(void)
{
	EXPECT_EQ(trace_put("events/unit/filter", "0"), 0);
	trace_fresh();
}

static void numbers(void)
{
	struct host_context ctx;
	char filter[64];

	start();
	ten("d < 4", 4);
	EXPECT_STR(trace_nth_event(3), "unit_numbers: a=-1 b=2 c=3 d=3");
	ten("d & 1 && a < 0", 5);
	EXPECT_STR(trace_nth_event(4), "unit_numbers: a=-1 b=2 c=3 d=9");
	ten("a == 1 || b == 1", 0);
	ten("0", 10);
	host_enter(&ctx);
	host_preempt_enable();
	fmt_snprintf(filter, sizeof(filter), "d >= 7 && common_pid == %d", ctx.pid);
	ten(filter, 3);
	fmt_snprintf(filter, sizeof(filter), "d >= 7 && common_pid != %d", ctx.pid);
	ten(filter, 0);
	ten("comm != \"no such\" && d == 5", 1);
	stop();
}

/* The first field after the record's header is compared with its own sign, not as common_pid is. */
static void first_field(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(FLAGS "enable", "1"), 0);
	EXPECT_EQ(trace_put(FLAGS "filter", "flags >= 6"), 0);
	trace_unit_flags(5, 0, NULL);
	trace_unit_flags(0x80000000, 1, NULL);
	trace_unit_flags(-1, 2, NULL);
	EXPECT_EQ(lines(), 2);
	EXPECT(strstr(trace_nth_event(0), "flags=0x80000000") != NULL);
	stop();
}

/*
 * What follows a record, or comes before it, with a filter: stacks, another array, lists of pids.
 */
static void with_more(void)
{
	struct trace_array *tr;

	start();
	host_lock();
	trace_array_set_way(trace_global, TRACE_WAY_WAKE, true);
	host_unlock();
	ten("d < 4", 4);
	EXPECT_STR(trace_nth_event(3), "unit_numbers: a=-1 b=2 c=3 d=3");
	host_lock();
	trace_array_set_way(trace_global, TRACE_WAY_WAKE, false);
	EXPECT_EQ(trace_instance_create("path", &tr), 0);
	host_unlock();
	EXPECT_EQ(trace_put("instances/path/" NUMBERS "filter", "d == 1 || d == 7"), 0);
	EXPECT_EQ(trace_put("instances/path/" NUMBERS "enable", "1"), 0);
	ten("d < 4", 4);
	EXPECT_EQ(sum(&event_unit_numbers, tr).hit, 10);
	EXPECT_EQ(sum(&event_unit_numbers, tr).filtered, 8);
	host_lock();
	EXPECT_EQ(trace_array_destroy(tr), 0); /* with its filter */
	host_unlock();
	ten("d < 4", 4);
	EXPECT_EQ(trace_put("set_event_notrace_pid", "31999"), 0);
	ten("d < 4", 4);
	EXPECT_EQ(trace_put("set_event_notrace_pid", ""), 0);
	stop();
}

/* Strings: by the fields alone, and by what lies after them. */
static void strings(void)
{
	static const struct {
		const char *filter, *first;
		unsigned recorded;
	} rows[] = {
	    {"mark == 7", "unit_text: comm=one text=text mark=7 more=more", 2},
	    {"mark != 7", "", 0},
	    {"comm == \"two\"", "unit_text: comm=two text=next mark=7 more=", 1},
	    {"text ~ \"*xt\" && more == \"more\"", "unit_text: comm=one text=text mark=7 more=more",
		1},
	    {"more == \"\"", "unit_text: comm=two text=next mark=7 more=", 1},
	};

	start();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put(TEXT "filter", rows[i].filter), 0);
		EXPECT_EQ(trace_put("trace", ""), 0);
		struct trace_event_count before = sum(&event_unit_text, trace_global), after;
		trace_unit_text("one", "text", "more");
		trace_unit_text("two", "next", "");
		after = sum(&event_unit_text, trace_global);
		EXPECT_EQ(lines(), rows[i].recorded);
		EXPECT_STR(trace_nth_event(0), rows[i].first);
		EXPECT_EQ(after.hit - before.hit, 2);
		EXPECT_EQ(after.filtered - before.filtered, 2 - rows[i].recorded);
	}
	stop();
}

/* A ring without room refuses what passed, and that is counted as lost. */
static void full_ring(void)
{
	enum { EVENTS = 20000 };

	start();
	EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
	EXPECT_EQ(trace_put(NUMBERS "filter", "d & 1"), 0);
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	struct trace_event_count before = sum(&event_unit_numbers, trace_global), after;
	for (u64 i = 0; i < EVENTS; i++)
		trace_unit_numbers(-1, 2, 3, i);
	after = sum(&event_unit_numbers, trace_global);
	EXPECT_EQ(after.hit - before.hit, EVENTS);
	EXPECT_EQ(after.filtered - before.filtered, EVENTS / 2);
	EXPECT(after.lost > before.lost);
	EXPECT_EQ(after.lost - before.lost + lines(), EVENTS / 2);
	stop();
}

/* A refused filter lets all pass; one that is cleared, too. */
static void refused(void)
{
	start();
	ten("d < 4", 4);
	EXPECT(trace_put(NUMBERS "filter", "x < 4") < 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	trace_unit_numbers(1, 2, 3, 9);
	EXPECT_EQ(lines(), 1);
	ten("0", 10);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	stop();
}

static bool shows(const char *path, const char *text)
{
	return !strcmp(trace_get(path, NULL), text);
}

static unsigned errors_logged(void)
{
	unsigned n = 0;

	for (const char *at = trace_get("error_log", NULL); (at = strstr(at, "Command: ")); at++)
		n++;
	return n;
}

/*
 * A system's filter goes to each event that it fits; the others keep theirs and are counted in
 * error_log. Cleared, it is gone from all.
 */
static void of_system(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_put("events/unit/unit_flags/filter", "flags == 3"), 0);
	EXPECT_EQ(trace_put("events/unit/filter", "d < 4  \n"), 0);
	EXPECT(shows("events/unit/unit_numbers/filter", "d < 4\n"));
	EXPECT(shows("events/unit/unit_text/filter", "none\n"));
	EXPECT(shows("events/unit/unit_flags/filter", "flags == 3\n"));
	EXPECT_EQ(errors_logged(), 2);
	EXPECT_EQ(trace_put("events/unit/filter", " 0 "), 0);
	EXPECT(shows("events/unit/unit_numbers/filter", "none\n"));
	EXPECT(shows("events/unit/unit_flags/filter", "none\n"));
	EXPECT_EQ(trace_put("error_log", ""), 0);
	trace_fresh();
}

/* Is an event with this d recorded? */
static bool recorded(const char *instance, s64 d)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), "%strace", instance);
	EXPECT_EQ(trace_put(path, ""), 0);
	trace_unit_numbers(1, 2, 3, d);
	return strstr(trace_get(path, NULL), "unit_numbers: ");
}

/* A system's filter decides from then on, in its instance alone, and no more once it is cleared. */
static void system_decides(void)
{
	static const char other[] = "instances/i/";

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_EQ(trace_put("instances/i/events/unit/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/filter", "d < 4"), 0);
	EXPECT(recorded("", 3) && !recorded("", 4));
	EXPECT(recorded(other, 3) && recorded(other, 4));
	EXPECT_EQ(trace_put("events/unit/filter", "d >= 4"), 0);
	EXPECT(!recorded("", 3) && recorded("", 4));
	EXPECT_EQ(trace_put("events/unit/filter", "0"), 0);
	EXPECT(recorded("", 3) && recorded("", 4));
	EXPECT_EQ(trace_drop_instance("i"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	trace_fresh();
}

/*
 * A system's filter that fits no event is in error_log once, and is shown where it was refused,
 * until another one is set.
 */
static void refused_of_system(void)
{
	static const char other[] = "instances/i/events/unit/filter", own[] = "events/unit/filter";

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_put(own, "nosuch == 1"), -EINVAL);
	EXPECT_EQ(errors_logged(), 1);
	EXPECT(str_has_prefix(trace_get(own, NULL), "nosuch == 1\n"));
	EXPECT(str_has_prefix(trace_get(other, NULL), "### global filter ###\n"));
	EXPECT_EQ(trace_put(own, "d < 4"), 0);
	EXPECT(str_has_prefix(trace_get(own, NULL), "### global filter ###\n"));
	EXPECT_EQ(trace_put(own, "nosuch == 2"), -EINVAL);
	EXPECT_EQ(trace_put(own, "0"), 0);
	EXPECT(str_has_prefix(trace_get(own, NULL), "### global filter ###\n"));
	EXPECT_EQ(trace_put(own, "nosuch == 3"), -EINVAL);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_drop_instance("i"), 0); /* it was refused elsewhere */
	EXPECT(str_has_prefix(trace_get(own, NULL), "nosuch == 3\n"));
	EXPECT_EQ(trace_put(own, "0"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"filter_path.numbers", numbers},
    {"filter_path.first_field", first_field},
    {"filter_path.with_more", with_more},
    {"filter_path.strings", strings},
    {"filter_path.full_ring", full_ring},
    {"filter_path.refused", refused},
    {"filter_path.of_system", of_system},
    {"filter_path.system_decides", system_decides},
    {"filter_path.refused_of_system", refused_of_system},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_filter_path = {cases};
