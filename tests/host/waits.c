/*
 * What writers may still hold is freed, or looked at, only after they have left: whoever takes it
 * away waits by host_synchronize(). Nothing shows when one of these waits is missing, but once in
 * a long while; so each is asked for.
 */
#include <sanitizer/asan_interface.h>

#include "kernel/lib/ktap.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/event/pid_filter.h"
#include "trace/ring/ring.h"

#define EVENT "events/unit/unit_numbers/"

/* What is written first, and what is written then and has to wait. NULL: nothing is. */
static const struct {
	const char *path, *first, *then;
} writes[] = {
    {EVENT "filter", "a == 1", "a == 2"},
    {EVENT "filter", "a == 1", "0"},
    {"events/unit/filter", "common_pid == 5", "common_pid == 6"},
    {"events/unit/filter", "common_pid == 5", "0"},
    {EVENT "trigger", "traceoff", "!traceoff"},
    {EVENT "trigger", "hist:keys=a", "!hist:keys=a"},
    {"snapshot", "1", "0"},
    {"buffer_size_kb", "20", "12"},
    {"trace", NULL, ""},
    {"trace_clock", "global", "local"},
    {"set_event_pid", "31000", ""},
    {"synthetic_events", "waits u64 a", ""},
    {"set_graph_function", "first_function", ""},
    {"set_ftrace_filter", "first_function:traceoff", "!first_function:traceoff"},
    {"set_ftrace_filter", "first_function:traceoff", "first_function:stacktrace"},
};

static void files(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(writes); i++) {
		u64 before;

		trace_fresh();
		if (writes[i].first)
			EXPECT_EQ(trace_put(writes[i].path, writes[i].first), 0);
		before = machine_waits();
		EXPECT_EQ(trace_put(writes[i].path, writes[i].then), 0);
		if (machine_waits() == before)
			ktap_note("%s: \"%s\" did not wait", writes[i].path, writes[i].then);
		EXPECT(machine_waits() > before);
	}
	EXPECT_EQ(trace_put("set_ftrace_filter", "!first_function:stacktrace"), 0);
	EXPECT_EQ(trace_put("set_ftrace_filter", "!first_function:traceoff"), 0);
	trace_fresh();
}

/* Opening `trigger` to write over it would take the histogram away. */
static void clearing(void)
{
	u64 before;

	trace_fresh();
	EXPECT_EQ(trace_append(EVENT "trigger", "hist:keys=a"), 0);
	before = machine_waits();
	EXPECT_EQ(trace_append(EVENT "trigger", "hist:keys=a:clear"), 0);
	EXPECT(machine_waits() > before);
	EXPECT_EQ(trace_append(EVENT "trigger", "!hist:keys=a"), 0);
	trace_fresh();
}

/* A list of pids that grows; opening it to write over it would clear it. */
static void growing(void)
{
	u64 before;

	trace_fresh();
	EXPECT_EQ(trace_put("set_event_pid", "100000"), 0);
	before = machine_waits();
	EXPECT_EQ(trace_append("set_event_pid", "100001"), 0);
	EXPECT(machine_waits() > before);
	EXPECT_EQ(trace_put("set_event_pid", ""), 0);
	trace_fresh();
}

/* An event that another instance has on was on here, too, and is off: the waits up to now. */
static u64 one_off_but_in_an_instance(const char *enable)
{
	char there[80];

	trace_fresh();
	fmt_snprintf(there, sizeof(there), "instances/again/%s", enable);
	EXPECT_EQ(trace_make_instance("again"), 0);
	EXPECT_EQ(trace_put(there, "1"), 0);
	EXPECT_EQ(trace_put(enable, "1"), 0);
	EXPECT_EQ(trace_put(enable, "0"), 0);
	return machine_waits();
}

static u64 off_but_in_an_instance(void)
{
	return one_off_but_in_an_instance(EVENT "enable");
}

/* An event goes back into the list of those who have it on: nobody may still stand on it. */
static void switched_on_again(void)
{
	u64 before = off_but_in_an_instance();

	EXPECT_EQ(trace_put(EVENT "enable", "1"), 0);
	EXPECT(machine_waits() > before);
	EXPECT_EQ(trace_put(EVENT "enable", "0"), 0);
	EXPECT_EQ(trace_drop_instance("again"), 0);
	trace_fresh();
}

/* So it is for each event of a system that is switched on, be it the first or the last of them. */
static void switched_on_with_others(void)
{
	static const char *const events[] = {EVENT "enable", "events/unit/unit_text/enable"};

	for (unsigned i = 0; i < ARRAY_SIZE(events); i++) {
		u64 before = one_off_but_in_an_instance(events[i]);

		EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
		EXPECT(machine_waits() > before);
		EXPECT_EQ(trace_put("events/unit/enable", "0"), 0);
		EXPECT_EQ(trace_drop_instance("again"), 0);
	}
	trace_fresh();
}

/* So it is if a trigger of another event brings it back. */
static void brought_back_by_a_trigger(void)
{
	static const char back[] = "enable_event:unit:unit_numbers";
	u64 before = off_but_in_an_instance();

	EXPECT_EQ(trace_append("events/unit/unit_text/trigger", back), 0);
	EXPECT(machine_waits() > before);
	EXPECT_EQ(
	    trace_append("events/unit/unit_text/trigger", "!enable_event:unit:unit_numbers"), 0);
	EXPECT_EQ(trace_drop_instance("again"), 0);
	trace_fresh();
}

/* ---- the order: out of sight, then the wait, then away ---- */

static const struct trace_event_file *numbers(void)
{
	return trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));
}

/* The one that a writer would find if it came now; NULL: none. */
static const void *filter_seen(void)
{
	return numbers()->way & TRACE_WAY_FILTER ? numbers()->filter : NULL;
}

static const void *trigger_seen(void)
{
	return numbers()->triggers;
}

static const void *snapshot_seen(void)
{
	return trace_global->snapshot;
}

static const void *pids_seen(void)
{
	return ((void **)trace_global->pids[TRACE_PIDS_EVENTS])[0];
}

static const void *instance_seen(void)
{
	return trace_array_find("waits");
}

static const void *(*seen)(void), *goes, *part;
static bool unseen, early;

static void look_after_wait(void)
{
	early |= !unseen && (__asan_address_is_poisoned(goes) || __asan_address_is_poisoned(part));
	unseen |= seen() != goes;
}

/* Of what goes, a part that is freed before the rest; or itself. */
static void expect_order_of(
    const void *(*what)(void), const void *part_of_it, int (*take_away)(void))
{
	seen = what;
	goes = what();
	part = part_of_it;
	unseen = early = false;
	EXPECT(goes);
	machine_after_wait(look_after_wait);
	EXPECT_EQ(take_away(), 0);
	machine_after_wait(NULL);
	EXPECT(unseen);
	EXPECT(!early);
	EXPECT(what() != goes);
}

static void expect_order(const void *(*what)(void), int (*take_away)(void))
{
	expect_order_of(what, what(), take_away);
}

static int replace_filter(void)
{
	return trace_put(EVENT "filter", "a == 2");
}

static int clear_filter(void)
{
	return trace_put(EVENT "filter", "0");
}

static int drop_trigger(void)
{
	return trace_append(EVENT "trigger", "!traceoff");
}

static int free_snapshot(void)
{
	return trace_put("snapshot", "0");
}

static int clear_pids(void)
{
	return trace_put("set_event_pid", "");
}

static int drop_instance(void)
{
	return trace_drop_instance("waits");
}

/* Each of these is out of the writers' sight before the wait, and its memory is freed after it. */
static void out_of_sight_first(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(EVENT "filter", "a == 1"), 0);
	expect_order(filter_seen, replace_filter);
	expect_order(filter_seen, clear_filter);
	EXPECT_EQ(trace_append(EVENT "trigger", "traceoff"), 0);
	expect_order(trigger_seen, drop_trigger);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	expect_order(snapshot_seen, free_snapshot);
	EXPECT_EQ(trace_put("set_event_pid", "31000"), 0);
	expect_order(pids_seen, clear_pids);
	EXPECT_EQ(trace_make_instance("waits"), 0);
	expect_order_of(instance_seen, trace_array_find("waits")->static_files, drop_instance);
	trace_fresh();
}

/* What an event probe was fed by may still be at it. */
static void probe_of_an_event(void)
{
	u64 before;

	trace_fresh();
	EXPECT_EQ(trace_append("dynamic_events", "e:fed unit.unit_numbers aa=$a"), 0);
	EXPECT_EQ(trace_put("events/eprobes/fed/enable", "1"), 0);
	before = machine_waits();
	EXPECT_EQ(trace_put("events/eprobes/fed/enable", "0"), 0);
	EXPECT(machine_waits() > before);
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	trace_fresh();
}

static void instances(void)
{
	u64 before;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("waits"), 0);
	before = machine_waits();
	EXPECT_EQ(trace_drop_instance("waits"), 0);
	EXPECT(machine_waits() > before);
}

static void rings(void)
{
	struct ring_buffer *rb = ring_buffer_alloc(4 * RB_PAGE_DATA, 0, NULL);
	struct ring_buffer_iter *it;
	u64 before = machine_waits();

	it = ring_buffer_read_start(rb, 0);
	EXPECT(machine_waits() > before);
	ring_buffer_read_finish(it);
	before = machine_waits();
	ring_buffer_reset_cpu(rb, 0);
	EXPECT(machine_waits() > before);
	before = machine_waits();
	EXPECT_EQ(ring_buffer_resize(rb, 8 * RB_PAGE_DATA, 0), 0);
	EXPECT(machine_waits() > before);
	before = machine_waits();
	ring_buffer_free_page(ring_buffer_alloc_page());
	EXPECT(machine_waits() > before);
	before = machine_waits();
	ring_buffer_free(rb);
	EXPECT(machine_waits() > before);
}

static const struct ktap_case cases[] = {
    {"waits.files", files},
    {"waits.clearing", clearing},
    {"waits.growing", growing},
    {"waits.switched_on_again", switched_on_again},
    {"waits.switched_on_with_others", switched_on_with_others},
    {"waits.brought_back_by_a_trigger", brought_back_by_a_trigger},
    {"waits.out_of_sight_first", out_of_sight_first},
    {"waits.probe_of_an_event", probe_of_an_event},
    {"waits.instances", instances},
    {"waits.rings", rings},
    {NULL, NULL},
};
const struct ktap_suite suite_waits = {cases};
