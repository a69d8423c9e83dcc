/*
 * What variables, handlers and actions of histograms do, and what goes when they go. On events that
 * are injected.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/hist/tools.h"
#include "trace/dynevent/synth.h"
#include "trace/event/trigger.h"
#include "trace/hist/hist.h"
#include "trace/host_context.h"
#include "trace/tracefs/marker.h"

static void references(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:vals=bb"), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!hist:keys=aa:t0=bb"), -EBUSY);
	hist_hit_other("aa=1 bb=100");
	hist_hit("aa=2 bb=1"); /* no value under this key: not counted */
	hist_hit("aa=1 bb=150");
	hist_hit("aa=1 bb=160"); /* it was used up */
	EXPECT_STR(hist_entries(), "{ aa:          1 } hitcount:          1  bb:        150\n");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!hist:keys=aa:t0=bb"), 0);
	hist_end();
}

/* Variables beside sums, of an event that is off: its record is never built. */
static void variables_without_record(void)
{
	static const char numbers[] = "events/unit/unit_numbers",
			  other[] = "events/unit2/unit_tail";
	char path[64], text[256];

	trace_fresh();
	fmt_snprintf(path, sizeof(path), "%s/trigger", numbers);
	EXPECT_EQ(trace_put(path, "hist:keys=d:vals=c,b:xx=b,tt=common_timestamp,nn=a"), 0);
	fmt_snprintf(path, sizeof(path), "%s/trigger", other);
	EXPECT_EQ(trace_put(path, "hist:keys=wide:yy=$xx,zz=$nn,dt=common_timestamp-$tt:"
				  "onchange($yy).save(tail):onmax($dt).snapshot()"),
	    0);
	trace_unit_numbers(-3, 500, 7, 42);
	trace_unit_numbers(-3, 501, 8, 42);
	trace_unit_tail(42, 5);
	trace_unit_tail(43, 6); /* no variables under this key */
	fmt_snprintf(path, sizeof(path), "%s/hist", numbers);
	EXPECT_STR(hist_entries_of(path),
	    "{ d:         42 } hitcount:          2  c:         15  b:       1001\n");
	fmt_snprintf(path, sizeof(path), "%s/hist", other);
	fmt_snprintf(text, sizeof(text), "%s", hist_entries_of(path));
	EXPECT(str_has_prefix(text,
	    "{ wide:         42 } hitcount:          1\n\tchanged:        501  tail:          5"));
	EXPECT(!strstr(text, "{ wide:         43"));
	fmt_snprintf(path, sizeof(path), "%s/trigger", other);
	EXPECT_EQ(trace_put(path, ""), 0);
	fmt_snprintf(path, sizeof(path), "%s/trigger", numbers);
	EXPECT_EQ(trace_put(path, ""), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

static void matches(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:onmatch(synthetic.oth).trace(lat,$dd,aa)"),
	    0);
	EXPECT_EQ(trace_append("synthetic_events", "!lat"), -EBUSY);
	EXPECT_EQ(trace_put("events/synthetic/lat/enable", "1"), 0);
	hist_hit_other("aa=1 bb=100");
	hist_hit("aa=1 bb=150");
	hist_hit("aa=1 bb=170");
	hist_hit_other("aa=2 bb=7");
	hist_hit("aa=2 bb=5");
	EXPECT_STR(trace_nth_event(0), "lat: delta=50 id=1");
	EXPECT_STR(trace_nth_event(1), "lat: delta=18446744073709551614 id=2");
	EXPECT_STR(trace_nth_event(2), "");
	EXPECT_EQ(trace_put("events/synthetic/lat/enable", "0"), 0);
	hist_end();
}

/*
 * A field of the matched event becomes a variable there, in a histogram of its own, which goes with
 * the one that needs it.
 */
static void matched_fields(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "pair u64 here; u64 there"), 0);
	EXPECT_EQ(trace_put(TRIGGER,
		      "hist:keys=aa:onmatch(synthetic.oth).trace(pair,bb,synthetic.oth.bb)"),
	    0);
	EXPECT(strstr(trace_get(OTHER_TRIGGER, NULL),
	    "hist:keys=aa:vals=hitcount:synthetic_bb=bb:sort=hitcount:size=2048 [active]\n"));
	EXPECT_EQ(trace_put("events/synthetic/pair/enable", "1"), 0);
	hist_hit_other("aa=1 bb=100");
	hist_hit("aa=1 bb=150");
	EXPECT_STR(trace_nth_event(0), "pair: here=150 there=100");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT(!strstr(trace_get(OTHER_TRIGGER, NULL), "synthetic_bb"));
	EXPECT_EQ(trace_put("events/synthetic/pair/enable", "0"), 0);
	hist_end();
}

/*
 * Of the matched event no variable is used, so nothing keeps it from going. Then the hist does not
 * go by its words, only with all others.
 */
static void matched_event_gone(void)
{
	static const char line[] = "!hist:keys=aa:onmatch(synthetic.brief).trace(pair,bb,bb)";

	hist_begin();
	EXPECT_EQ(trace_append("synthetic_events", "brief u64 aa"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "pair u64 here; u64 there"), 0);
	EXPECT_EQ(trace_put(TRIGGER, line + 1), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!brief"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=bb:onmatch(synthetic.brief).trace(pair,bb,bb)"),
	    -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, line), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL), "Invalid subsystem or event name"));
	EXPECT(strstr(trace_get(TRIGGER, NULL), "hist:keys"));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "hist:keys"));
	EXPECT_EQ(trace_append("synthetic_events", "!pair"), 0);
	hist_end();
}

static void tracks(void)
{
	hist_begin();
	EXPECT_EQ(
	    trace_put(TRIGGER,
		"hist:keys=aa:xx=bb:onmax($xx).save(cc,str):onchange($xx).trace(names,str,dyn)"),
	    0);
	EXPECT_EQ(trace_put("events/synthetic/names/enable", "1"), 0);
	hist_hit("aa=1 bb=10 cc=1 str=\"one\" dyn=\"first\"");
	hist_hit("aa=1 bb=30 cc=2 str=\"two\" dyn=\"second\"");
	hist_hit("aa=1 bb=20 cc=3 str=\"three\" dyn=\"third\"");
	hist_hit("aa=1 bb=20 cc=4 str=\"four\" dyn=\"fourth\"");
	EXPECT_STR(hist_entries(),
	    "{ aa:          1 } hitcount:          4\n"
	    "\tmax:         30  cc:          2  str: two                             \n"
	    "\tchanged:         20  cc:          2  str: two                             \n");
	EXPECT_STR(trace_nth_event(0), "names: s=one d=first");
	EXPECT_STR(trace_nth_event(1), "names: s=two d=second");
	EXPECT_STR(trace_nth_event(2), "names: s=three d=third");
	EXPECT_STR(trace_nth_event(3), "");
	EXPECT_EQ(trace_put("events/synthetic/names/enable", "0"), 0);
	hist_end();
}

static const struct {
	const char *expr;
	const char *wanted;
} sums[] = {
    {"aa+bb", "r=10"},
    {"aa-bb-cc", "r=2"},
    {"aa*bb+cc", "r=23"},
    {"aa+bb*cc", "r=13"},
    {"aa/bb", "r=2"},
    {"aa/2", "r=3"},
    {"aa/3*2", "r=4"},
    {"-(aa)", "r=-7"},
    {"-(aa+bb)", "r=-10"},
    {"aa/ip", "r=-1"}, /* ip is 0 */
    {"aa*2*3*1", "r=42"},
};

static void expressions(void)
{
	char line[100], wanted[40];

	hist_begin();
	EXPECT_EQ(trace_put("events/synthetic/out/enable", "1"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(sums); i++) {
		fmt_snprintf(line, sizeof(line), "hist:keys=aa:xx=%s:onchange($xx).trace(out,$xx)",
		    sums[i].expr);
		EXPECT_EQ(trace_put(TRIGGER, line), 0);
		EXPECT_EQ(trace_put("trace", ""), 0);
		hist_hit("aa=7 bb=3 cc=2");
		fmt_snprintf(wanted, sizeof(wanted), "out: %s", sums[i].wanted);
		EXPECT_STR(trace_nth_event(0), wanted);
	}
	EXPECT_EQ(trace_put("events/synthetic/out/enable", "0"), 0);
	hist_end();
}

/* snapshot() of what was recorded when a maximum over all entries came. */
static void snapshots(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).snapshot()"), 0);
	EXPECT_EQ(trace_put(EV "/enable", "1"), 0);
	EXPECT(!strstr(trace_get(EV "/hist", NULL), "Snapshot taken"));
	hist_hit("aa=1 bb=10");
	hist_hit("aa=2 bb=5");
	EXPECT(strstr(trace_get(EV "/hist", NULL),
	    "\nSnapshot taken (see tracing/snapshot).  Details:\n"
	    "\ttriggering value { onmax($xx) }:         10\ttriggered by event with key: { aa:     "
	    "     1 }\n"));
	hist_hit("aa=2 bb=50");
	EXPECT(strstr(trace_get(EV "/hist", NULL),
	    "         50\ttriggered by event with key: { aa:          2 }\n"));
	EXPECT(strstr(trace_get("snapshot", NULL), "aa=2 bb=5 "));
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=cc:yy=bb:onmax($yy).snapshot()"), -EBUSY);
	/* Nobody else takes, frees or clears the instance's snapshot. */
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(trace_put("snapshot", (const char *const[]){"0", "1", "2"}[i]), -EBUSY);
	EXPECT_EQ(trace_put(EV "/enable", "0"), 0);
	hist_end();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/*
 * Two hits of a CPU, the second in the middle of the first: each is a new maximum and wants a
 * snapshot after its record. The second takes that of both, and none is taken after it.
 */
static void one_snapshot_of_two(void)
{
	u64 rec[64] = {[1] = 1}; /* aa and bb after the common fields */
	struct host_context ctx;
	u32 after[2] = {0, 0};

	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).snapshot()"), 0);
	struct hist *h = list_first_entry(&hists, struct hist, node);
	host_enter(&ctx);
	for (unsigned i = 0; i < 2; i++) {
		rec[2] = 10 * (i + 1);
		hist_update(h, &ctx, rec, sizeof(rec), &after[i]);
		EXPECT(after[i] & TRACE_TRIGGER_HIST);
	}
	tracing_mark_write(trace_global, "of both", 7);
	hist_take_snapshots(h, &ctx);
	tracing_mark_write(trace_global, "later", 5);
	hist_take_snapshots(h, &ctx);
	host_preempt_enable();
	EXPECT(strstr(trace_get("snapshot", NULL), ": of both\n"));
	EXPECT(strstr(trace_get("trace", NULL), ": later\n"));
	hist_end();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/* A hist whose action makes its own event fire comes to an end. */
static void feeds_itself(void)
{
	hist_begin();
	EXPECT_EQ(trace_put("synthetic_events", "ev int aa"), -EBUSY * 0);
	EXPECT_EQ(trace_append("synthetic_events", "loop int aa"), 0);
	EXPECT_EQ(trace_put("events/synthetic/loop/trigger",
		      "hist:keys=common_cpu:xx=aa:yy=aa:onmatch(synthetic.loop).trace(loop,aa)"),
	    0);
	EXPECT_EQ(trace_put("events/synthetic/loop/inject", "aa=1"), 0);
	hist_expect_totals(
	    "events/synthetic/loop/hist", 5, 1, 0); /* four rounds behind the first */
	EXPECT_EQ(trace_counts("synthetic", "loop").trigger_missed, 1);
	EXPECT_EQ(trace_put("events/synthetic/loop/trigger", ""), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!loop"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "oth int aa"), 0);
	hist_end();
}

static const struct ktap_case cases[] = {
    {"hist.references", references},
    {"hist.variables_without_record", variables_without_record},
    {"hist.matches", matches},
    {"hist.matched_fields", matched_fields},
    {"hist.matched_event_gone", matched_event_gone},
    {"hist.tracks", tracks},
    {"hist.expressions", expressions},
    {"hist.snapshots", snapshots},
    {"hist.one_snapshot_of_two", one_snapshot_of_two},
    {"hist.feeds_itself", feeds_itself},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_actions = {cases};
