/*
 * Monitors at their limits, what is refused of definitions, and the steps of their units: where
 * they begin, whose they are, and what switching them off and on again leaves.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_cpus.h"
#include "trace/rv/rv.h"

#define DEFINE "rv/define"
#define EVENT  "unit:unit_numbers"
#define N31    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

static const struct {
	const char *text, *said; /* said NULL: it is taken */
	int err;
} lines[] = {
    {"monitor x global; state a; event e " EVENT "; edge a e a", NULL, 0},
    {"monitor " N31 " global; state a; event e " EVENT, NULL, 0},
    {"monitor " N31 "n global; state a; event e " EVENT, "A name has at most 31", -EINVAL},
    {"monitor x cpu; state a initial; state b initial; event e " EVENT, "Another state is initial",
	-EINVAL},
    {"monitor x cpu; state a; state a; event e " EVENT, "There is such a state", -EINVAL},
    {"monitor x cpu; state a; event e rv:event_wip", "Monitors cannot follow monitors", -EINVAL},
    {"monitor x cpu; state a; event e ftrace:function", "There is no such event", -ENOENT},
    {"monitor x cpu; state a; event e " EVENT " of a", "Only a monitor of tasks", -EINVAL},
    {"monitor x task; state a; event e unit:unit_text of text", "no such field with a number",
	-EINVAL},
    {"monitor x task; state a; event e " EVENT " of d", NULL, 0},
    {"monitor x cpu; state a; event e " EVENT "; edge a e a; edge a e a",
	"The state has an edge for this event already", -EINVAL},
    {"monitor x cpu; state a; event e unit:unit_text if comm == \"a;#b\"; edge a e a", NULL, 0},
    {"monitor x cpu; state a; event e unit:unit_text if comm == \"it's;#b\"; edge a e a", NULL, 0},
    {"monitor x cpu; state a; event e " EVENT " if a ==", "", -EINVAL},
    {"monitor x cpu; state a", "The monitor has no event", -EINVAL},
    {"!wwnr", "", -ENOENT},
};

static void none_left(void)
{
	EXPECT_EQ(trace_put(DEFINE, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static void definitions(void)
{
	trace_fresh();
	none_left();
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		bool built_in = *lines[i].text == '!' &&
				strstr(trace_get("rv/available_monitors", NULL), "wwnr");
		int err = trace_append(DEFINE, lines[i].text);

		if (err != (built_in ? -EINVAL : lines[i].err))
			ktap_fail(__FILE__, __LINE__, "%s: %d", lines[i].text, err);
		if (lines[i].said)
			EXPECT(strstr(trace_get("error_log", NULL), lines[i].said));
		if (!lines[i].said) { /* what is listed makes the same monitor */
			static char listed[1000];
			strscpy(listed, trace_get(DEFINE, NULL), sizeof(listed));
			none_left();
			EXPECT_EQ(trace_append(DEFINE, listed), 0);
			EXPECT_STR(trace_get(DEFINE, NULL), listed);
		}
		none_left();
		EXPECT_STR(trace_get(DEFINE, NULL), "");
	}
}

/* 32 states and 32 events, and none more. */
static void numbers(void)
{
	static char text[4000];

	trace_fresh();
	for (unsigned states = 32; states <= 33; states++)
		for (unsigned events = 32; events <= 33; events++) {
			size_t n = fmt_snprintf(text, sizeof(text), "monitor x global\n");

			for (unsigned i = 0; i < states; i++)
				n += fmt_snprintf(text + n, sizeof(text) - n, "state s%u\n", i);
			for (unsigned i = 0; i < events; i++)
				n += fmt_snprintf(
				    text + n, sizeof(text) - n, "event e%u " EVENT "\n", i);
			EXPECT_EQ(
			    trace_append(DEFINE, text), states > 32 || events > 32 ? -EINVAL : 0);
			none_left();
		}
}

/* As many monitors as there may be, each with an initial state of its own, and none more. */
static void many(void)
{
	char text[120];
	unsigned n = 0, before = 0;
	int err = 0;

	trace_fresh();
	for (const char *c = trace_get("rv/available_monitors", NULL); *c; c++)
		before += *c == '\n';
	EXPECT_EQ(
	    trace_append(DEFINE, "monitor a1 cpu; state a; state b initial; event e " EVENT
				 "; monitor a2 cpu; state c; state d initial; event e " EVENT),
	    0);
	for (; !err && n < 100; n++) {
		fmt_snprintf(text, sizeof(text), "monitor m%u cpu; state a; event e " EVENT, n);
		err = trace_append(DEFINE, text);
	}
	EXPECT_EQ(err, -ENOSPC);
	EXPECT_EQ(before + 2 + n - 1, RV_MONITORS_MAX);
	none_left();
}

/* An event stays as long as a monitor follows it, and no longer. */
static void holds_its_event(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events", "src int a"), 0);
	EXPECT_EQ(trace_append(DEFINE, "monitor x cpu; state a; event e synthetic:src"), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), -EBUSY);
	none_left();
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
}

/* Clearing the list takes all monitors away, or none if one of them is enabled. */
static void all_or_none(void)
{
	static const char wanted[] = "monitor free cpu\nstate a initial\n";

	trace_fresh();
	EXPECT_EQ(trace_append(DEFINE, "monitor free cpu; state a; event e " EVENT
				       "; monitor x cpu; state a; event e " EVENT),
	    0);
	EXPECT_EQ(trace_put("rv/enabled_monitors", "x"), 0);
	EXPECT_EQ(trace_put(DEFINE, ""), -EBUSY);
	EXPECT(str_has_prefix(trace_get(DEFINE, NULL), wanted));
	EXPECT_EQ(trace_put("rv/enabled_monitors", ""), 0);
	none_left();
	EXPECT_STR(trace_get(DEFINE, NULL), "");
}

/* ---- steps ---- */

static void hit(int a, u16 b, u64 d)
{
	trace_unit_numbers(a, b, 0, d);
}

static void enable(const char *text)
{
	trace_fresh();
	EXPECT_EQ(trace_append(DEFINE, text), 0);
	EXPECT_EQ(trace_put("rv/enabled_monitors", "x"), 0);
	EXPECT_EQ(trace_put("events/rv/enable", "1"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("rv/enabled_monitors", ""), 0);
	EXPECT_EQ(trace_put("events/rv/enable", "0"), 0);
	none_left();
	trace_fresh();
}

/* Counts the events and errors that the monitor has recorded. */
static void expect(u64 events, u64 errors)
{
	EXPECT_EQ(trace_counts("rv", "event_x").hit, events);
	EXPECT_EQ(trace_counts("rv", "error_x").hit, errors);
}

/* A unit begins with `start`, which tells nothing; what comes before that is no error. */
static void beginning(void)
{
	enable("monitor x global; state off initial; state on; event go " EVENT
	       " start if a == 1; event switch " EVENT " if a == 2; edge off switch on; "
	       "edge on switch off; edge on go on");
	hit(2, 0, 0);
	expect(0, 0);
	hit(1, 0, 0);
	expect(0, 0);
	hit(2, 0, 0);
	expect(1, 0);
	hit(1, 0, 0); /* from where it is */
	expect(2, 0);
	hit(2, 0, 0);
	hit(1, 0, 0); /* not from there: idle again */
	expect(3, 1);
	hit(2, 0, 0);
	expect(3, 1);
	EXPECT_EQ(trace_put("rv/monitoring_on", "0"), 0);
	hit(1, 0, 0);
	hit(2, 0, 0);
	expect(3, 1);
	EXPECT_EQ(trace_put("rv/monitoring_on", "1"), 0);
	hit(1, 0, 0);
	hit(2, 0, 0);
	expect(4, 1);
	EXPECT_EQ(trace_put("rv/monitoring_on", "0"), 0);
	EXPECT_EQ(trace_put("rv/monitoring_on", "1"), 0);
	hit(2, 0, 0); /* what was meanwhile is unknown */
	expect(4, 1);
	end();
}

/* The error's caret is below the word that is wrong, in the line that has it. */
static void where_it_is_wrong(void)
{
	static const struct {
		const char *before, *wrong, *said;
	} rows[] = {
	    {"monitor x cpu; state a; state ", "a", "There is such a state"},
	    {"monitor x ", "every", "A monitor is global, cpu or task"},
	    {"monitor x cpu; state a ", "first", "A state is initial or final, or both"},
	    {"monitor x cpu; state a; event e ", "nosuch:event", "There is no such event"},
	    {"monitor x cpu; state a; event e " EVENT "; edge a e ", "b", "There is no such state"},
	    {"!", "nosuch", "There is no such monitor"},
	};
	char line[160];

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		none_left();
		fmt_snprintf(line, sizeof(line), "%s%s", rows[i].before, rows[i].wrong);
		EXPECT(trace_append(DEFINE, line) < 0);
		fmt_snprintf(line, sizeof(line), "rv: error: %s\n", rows[i].said);
		EXPECT(strstr(trace_get("error_log", NULL), line));
		fmt_snprintf(line, sizeof(line), "\n%*s^\n", 11 + (int)strlen(rows[i].before), "");
		if (!strstr(trace_get("error_log", NULL), line))
			ktap_fail(__FILE__, __LINE__, "%s", rows[i].said);
	}
	none_left();
}

/* Monitoring and reacting take the words for yes and no that Linux takes, and no others. */
static void words_of_a_switch(void)
{
	static const char *const files[] = {"rv/monitoring_on", "rv/reacting_on"};
	static const struct {
		const char *word, *then; /* NULL: it is refused */
	} words[] = {{"0", "0\n"}, {"on", "1\n"}, {"off", "0\n"}, {"y", "1\n"}, {"No", "0\n"},
	    {"true", "1\n"}, {"f", "0\n"}, {"o", NULL}, {"x", NULL}, {"2", NULL}, {"ox", NULL},
	    {"1", "1\n"}};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(words); k++) {
			EXPECT_EQ(trace_put(files[i], words[k].word), words[k].then ? 0 : -EINVAL);
			EXPECT_STR(
			    trace_get(files[i], NULL), words[k].then ? words[k].then : "0\n");
		}
}

/* Units begin anew when monitoring is switched on, and stay where they are if it was on. */
static void monitored_throughout(void)
{
	enable("monitor x global; state a; state b; event e " EVENT "; edge a e b");
	hit(0, 0, 0);
	EXPECT_EQ(trace_put("rv/monitoring_on", "1"), 0);
	hit(0, 0, 0);
	expect(1, 1); /* b does not expect it */
	EXPECT_EQ(trace_put("rv/monitoring_on", "0"), 0);
	EXPECT_EQ(trace_put("rv/monitoring_on", "1"), 0);
	hit(0, 0, 0);
	expect(2, 1);
	end();
}

/* Each task has a unit; a number that no task has is nobody's. */
static void units_of_tasks(void)
{
	enable("monitor x task; state a; state b; event e " EVENT " of d; edge a e b; edge b e a");
	hit(0, 0, 5);
	hit(0, 0, 6);
	EXPECT(strstr(trace_get("trace", NULL), "event_x: 6: a x e -> b"));
	hit(0, 0, 5);
	EXPECT(strstr(trace_get("trace", NULL), "event_x: 5: b x e -> a"));
	expect(3, 0);
	hit(0, 0, 32768);
	hit(0, 0, 1UL << 40);
	expect(3, 0);
	EXPECT_EQ(trace_put("events/rv/event_x/enable", "0"), 0);
	EXPECT_EQ(trace_put("rv/enabled_monitors", "!x"), 0);
	EXPECT_EQ(trace_append(DEFINE, "!x"), -EBUSY); /* its other event is on */
	EXPECT_EQ(trace_put("events/rv/error_x/enable", "0"), 0);
	EXPECT_EQ(trace_append(DEFINE, "!x"), 0);
	none_left();
	trace_fresh();
}

static void hit_here(void *arg __maybe_unused)
{
	hit(0, 0, 0);
}

/* The idle task has a number for all CPUs, and a unit on each. */
static void idle_tasks(void)
{
	enable("monitor x task; state a; state b; event e " EVENT " of d; edge a e b");
	hit(0, 0, 0);
	host_on_cpu(1, hit_here, NULL);
	expect(2, 0);
	hit(0, 0, 0);
	expect(2, 1);
	end();
}

/* Each CPU has a unit. Enabled anew, all are as at the first time. */
static void units_of_cpus(void)
{
	enable("monitor x cpu; state a; state b; event e " EVENT "; edge a e b");
	hit(0, 0, 0);
	host_on_cpu(1, hit_here, NULL);
	expect(2, 0);
	EXPECT_EQ(trace_put("rv/enabled_monitors", "!x"), 0);
	EXPECT_EQ(trace_put("rv/enabled_monitors", "x"), 0);
	hit(0, 0, 0);
	expect(3, 0);
	hit(0, 0, 0);
	expect(3, 1);
	EXPECT_EQ(trace_put(DEFINE, ""), -EBUSY);
	end();
}

/* A reaction says what was not expected, if reacting is on. */
static void reactions(void)
{
	enable("monitor x global; state a; state b; event e " EVENT "; edge a e b");
	EXPECT_EQ(trace_put("rv/monitors/x/reactors", "nosuch"), -EINVAL);
	EXPECT_EQ(trace_put("rv/monitors/x/reactors", "printk"), 0);
	EXPECT(strstr(trace_get("rv/monitors/x/reactors", NULL), "[printk]"));
	EXPECT_EQ(trace_put("rv/monitors/x/enable", "off"), 0);
	EXPECT_STR(trace_get("rv/monitors/x/enable", NULL), "0\n");
	EXPECT_EQ(trace_put("rv/enabled_monitors", "nosuch"), -EINVAL);
	EXPECT_EQ(trace_put("rv/enabled_monitors", " "), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"monitors.definitions", definitions},
    {"monitors.where_it_is_wrong", where_it_is_wrong},
    {"monitors.words_of_a_switch", words_of_a_switch},
    {"monitors.numbers", numbers},
    {"monitors.many", many},
    {"monitors.holds_its_event", holds_its_event},
    {"monitors.beginning", beginning},
    {"monitors.all_or_none", all_or_none},
    {"monitors.monitored_throughout", monitored_throughout},
    {"monitors.units_of_tasks", units_of_tasks},
    {"monitors.idle_tasks", idle_tasks},
    {"monitors.units_of_cpus", units_of_cpus},
    {"monitors.reactions", reactions},
    {NULL, NULL},
};
const struct ktap_suite suite_host_monitors = {cases};
