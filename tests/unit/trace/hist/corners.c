/*
 * Corners of histograms: numbers of more than 32 bits, orders, what tells two histograms apart,
 * where variables are looked for and may not be found, what actions refuse, what keeps what.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/hist/tools.h"
#include "trace/event/file.h"
#include "trace/event/snapshot.h"
#include "trace/hist/hist.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/tracefs/inject.h"

#define WIDE "events/synthetic/wide/trigger"

/* ---- numbers ---- */

/* Groups of wide numbers, and those that a power of two ends. */
static void wide_groups(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb.log2,ip.buckets=10:sort=bb"), 0);
	hist_hit("bb=4 ip=4294967311");
	hist_hit("bb=5 ip=4294967311");
	hist_hit("bb=8 ip=4294967311");
	hist_hit("bb=1099511627776 ip=4294967311");
	EXPECT_STR(hist_entries(),
	    "{ bb: ~ 2^2 , ip: ~ 4294967310-4294967319 } hitcount:          1\n"
	    "{ bb: ~ 2^3 , ip: ~ 4294967310-4294967319 } hitcount:          2\n"
	    "{ bb: ~ 2^40, ip: ~ 4294967310-4294967319 } hitcount:          1\n");
	hist_end();
}

/* A divisor whose lower half is 0. */
static void wide_divisor(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb/ip:onmax($xx).save(cc)"), 0);
	hist_hit("aa=1 bb=12884901888 ip=4294967296 cc=1");
	EXPECT(strstr(hist_entries(), "max:          3  cc:          1\n"));
	hist_end();
}

/* Microseconds are of clocks that count nanoseconds; others are taken as they are. */
static void usecs_of_a_counter(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER,
		      "hist:keys=aa:tt=common_timestamp.usecs:clock=counter:onmax($tt).save(cc)"),
	    0);
	hist_hit("aa=1 cc=5");
	EXPECT(strstr(hist_entries(), "  cc:          5\n"));
	EXPECT(!strstr(hist_entries(), "max:          0 "));
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	hist_end();
}

/* The number after `delta=` of the n-th event. */
static u64 delta_of(unsigned n)
{
	const char *at = strstr(trace_nth_event(n), "delta=");
	u64 v = 0;

	for (at = at ? at + strlen("delta=") : ""; is_digit(*at); at++)
		v = 10 * v + *at - '0';
	return v;
}

/* One timestamp in microseconds makes all of the histogram's so, whichever is named last. */
static void usecs_of_several(void)
{
	hist_begin();
	EXPECT_EQ(trace_put("events/synthetic/lat/enable", "1"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:t0=common_timestamp.usecs:t1=common_timestamp:"
				     "onmax($t1).trace(lat,$t0,aa)"),
	    0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER,
		      "hist:keys=aa:t2=common_timestamp:onmax($t2).trace(lat,$t2,aa)"),
	    0);
	hist_hit("aa=1");
	hist_hit_other("aa=1");
	EXPECT(delta_of(0) && delta_of(1));
	EXPECT(delta_of(0) <= delta_of(1) / 1000);
	hist_end();
}

/* A time is that of the instance's own clock. */
static void time_of_the_instance(void)
{
	static const char line[] =
	    "hist:keys=aa:tt=common_timestamp:clock=counter:onmax($tt).save(cc)";

	hist_begin();
	EXPECT_EQ(trace_make_instance("own"), 0);
	EXPECT_EQ(trace_put("instances/own/" TRIGGER, line), 0);
	EXPECT_EQ(trace_put("instances/own/" EV "/inject", "aa=1 cc=5"), 0);
	const char *max = strstr(trace_get("instances/own/" EV "/hist", NULL), "max:"), *end;
	EXPECT(max && parse_digits(max + 4 + strspn(max + 4, " "), &end, 10) < 1000000);
	EXPECT_EQ(trace_put("instances/own/" TRIGGER, ""), 0);
	EXPECT_EQ(trace_drop_instance("own"), 0);
	hist_end();
}

/* The unit of a time is that of each reference to it, also inside of an expression. */
static void unit_of_references(void)
{
	static const struct {
		const char *line;
		int err;
	} rows[] = {
	    {"hist:keys=aa:dd=$t1-$t0-common_timestamp.usecs", 0},
	    {"hist:keys=aa:dd=$t1-$t0-common_timestamp", -EINVAL},
	    {"hist:keys=aa:dd=$t1-$t0-bb", -EINVAL},
	};

	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER,
		      "hist:keys=aa:t0=common_timestamp.usecs:t1=common_timestamp.usecs"),
	    0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_append(TRIGGER, rows[i].line), rows[i].err);
		EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	}
	EXPECT_EQ(trace_put("error_log", ""), 0);
	hist_end();
}

/* Where a hundred percent times the part has more than 64 bits. */
static void wide_shares(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:vals=bb.percent,ip.graph:sort=aa"), 0);
	hist_hit("aa=1 bb=4611686018427387904 ip=9223372036854775808");
	hist_hit("aa=2 bb=4611686018427387904 ip=4611686018427387904");
	hist_hit("aa=3 bb=4611686018427387904 ip=4611686018427387904");
	EXPECT_STR(hist_entries(),
	    "{ aa:          1 } hitcount:          1  bb (%):  33.33  ip: ####################\n"
	    "{ aa:          2 } hitcount:          1  bb (%):  33.33  ip: ##########          \n"
	    "{ aa:          3 } hitcount:          1  bb (%):  33.33  ip: ##########          \n");
	hist_end();
}

static void texts_descending(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=str:sort=str.descending"), 0);
	hist_hit("str=\"b\"");
	hist_hit("str=\"a\"");
	hist_hit("str=\"c\"");
	const char *text = hist_entries(), *a = strstr(text, "str: a "),
		   *b = strstr(text, "str: b ");
	EXPECT(str_has_prefix(text, "{ str: c "));
	EXPECT(a && b && b < a);
	hist_end();
}

static void signs_descending(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=cc:sort=cc.descending"), 0);
	hist_hit("cc=3");
	hist_hit("cc=-5");
	hist_hit("cc=4");
	EXPECT_STR(hist_entries(), "{ cc:          4 } hitcount:          1\n"
				   "{ cc:          3 } hitcount:          1\n"
				   "{ cc: 18446744073709551611 } hitcount:          1\n");
	hist_end();
}

/* Sums are ordered as numbers without a sign, whatever the field they are of. */
static void sums_without_sign(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:vals=cc:sort=cc"), 0);
	hist_hit("aa=1 cc=-1");
	hist_hit("aa=2 cc=1");
	EXPECT_STR(hist_entries(),
	    "{ aa:          2 } hitcount:          1  cc:          1\n"
	    "{ aa:          1 } hitcount:          1  cc: 18446744073709551615\n");
	hist_end();
}

#define KEPT "events/kept/ev"

struct kept_record {
	struct trace_entry ent;
	char ss[HIST_STRING + 44];
	u64 nn;
	u32 kk;
} __attribute__((packed));

static const struct trace_event_field kept_fields[] = {
    {"char[300]", "ss", offsetof(struct kept_record, ss), HIST_STRING + 44, false,
	TRACE_FIELD_STRING},
    {"u64", "nn", offsetof(struct kept_record, nn), 8, false, TRACE_FIELD_NUMBER},
    {"u32", "kk", offsetof(struct kept_record, kk), 4, false, TRACE_FIELD_NUMBER},
    {.name = NULL},
};

static const struct trace_event_field *kept_table(
    const struct trace_event_call *call __maybe_unused)
{
	return kept_fields;
}

static void hit_kept(struct trace_event_call *call, u32 kk, u64 nn, char c, u32 n)
{
	struct kept_record *rec = host_alloc(sizeof(*rec));

	memset(rec->ss, c, n);
	rec->nn = nn;
	rec->kk = kk;
	host_lock();
	EXPECT_EQ(tracefs_inject(trace_event_file_of(trace_global, call), rec, sizeof(*rec)), 0);
	host_unlock();
	host_free(rec);
}

/* A text longer than its place does not reach the entry behind it; a shorter one has its end. */
static void kept_texts(void)
{
	static const struct trace_event_class class = {.system = "kept", .fields = kept_table};
	struct trace_event_call call = {.class = &class, .name = "ev"};
	const char *shown, *at;

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_event_register(&call), 0);
	host_unlock();
	EXPECT_EQ(trace_put(KEPT "/trigger", "hist:keys=kk:xx=nn:onmax($xx).save(ss):sort=kk"), 0);
	hit_kept(&call, 1, 1, 'l', 4);
	hit_kept(&call, 2, 1, 'o', 3);
	hit_kept(&call, 1, 2, 'a', 1);
	EXPECT(strstr(hist_entries_of(KEPT "/hist"), "  ss: a     "));
	hit_kept(&call, 1, 3, 'x', HIST_STRING + 44);
	shown = hist_entries_of(KEPT "/hist");
	at = strstr(shown, "  ss: x");
	EXPECT(at && strspn(at + 6, "x") == HIST_STRING - 1);
	EXPECT(
	    strstr(shown, "{ kk:          2 } hitcount:          1\n\tmax:          1  ss: ooo "));
	hist_expect_totals(KEPT "/hist", 4, 2, 0);
	EXPECT_EQ(trace_put(KEPT "/trigger", ""), 0);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&call), 0);
	host_unlock();
	trace_fresh();
}

struct lying_record {
	struct trace_entry ent;
	u32 dd; /* where the text lies, and how long it is */
	char text[4];
};

static const struct trace_event_field lying_fields[] = {
    {"__data_loc char[]", "dd", offsetof(struct lying_record, dd), 4, true, TRACE_FIELD_DYN_STRING},
    {.name = NULL},
};

static const struct trace_event_field *lying_table(
    const struct trace_event_call *call __maybe_unused)
{
	return lying_fields;
}

/* A text that says it is longer than its record, or lies after it, is an empty one. */
static void texts_beyond_the_record(void)
{
	static const struct trace_event_class class = {.system = "lying", .fields = lying_table};
	static const u32 lies[] = {5 << 16 | 12, 255 << 16 | 15, 4 << 16 | 13, 1 << 16 | 16};
	struct trace_event_call call = {.class = &class, .name = "ev"};
	struct lying_record *rec = host_alloc(sizeof(*rec));

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_event_register(&call), 0);
	host_unlock();
	EXPECT_EQ(trace_put("events/lying/ev/trigger", "hist:keys=dd"), 0);
	memcpy(rec->text, "abcd", 4);
	host_lock();
	for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
		rec->dd = lies[i];
		EXPECT_EQ(
		    tracefs_inject(trace_event_file_of(trace_global, &call), rec, sizeof(*rec)), 0);
	}
	host_unlock();
	host_free(rec);
	EXPECT(str_has_prefix(hist_entries_of("events/lying/ev/hist"), "{ dd:         "));
	hist_expect_totals("events/lying/ev/hist", 4, 1, 0);
	EXPECT_EQ(trace_put("events/lying/ev/trigger", ""), 0);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&call), 0);
	host_unlock();
	trace_fresh();
}

/* ---- the same, or another ---- */

/* A command that names fewer parameters than a histogram has does not take it away. */
static void fewer_parameters(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).save(cc,ip)"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa:xx=bb:onmax($xx).save(cc)"), 0);
	EXPECT(strstr(trace_get(TRIGGER, NULL), ".save(cc,ip) [active]\n"));
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa:xx=bb:onmax($xx).save(cc,ip)"), 0);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), ".save("));
	hist_end();
}

/* Each is another histogram than the ones before it; the first comes once. */
static void tells_apart(void)
{
	static const char *const lines[] = {
	    "hist:keys=aa",
	    "hist:keys=aa:sort=aa",
	    "hist:keys=aa:sort=aa.descending",
	    "hist:keys=bb.buckets=10",
	    "hist:keys=bb.buckets=20",
	    "hist:keys=aa:onmatch(synthetic.oth).trace(lat,bb,aa)",
	    "hist:keys=aa:onmatch(synthetic.oth).trace(lat,ip,aa)",
	    "hist:keys=aa:onmatch(synthetic.oth).trace(la2,bb,aa)",
	    "hist:keys=aa:onmatch(synthetic.names).trace(lat,bb,aa)",
	};

	hist_begin();
	EXPECT_EQ(trace_append("synthetic_events", "la2 u64 delta; int id"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		EXPECT_EQ(trace_append(TRIGGER, lines[i]), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		EXPECT_EQ(trace_append(TRIGGER, lines[i]), -EEXIST);
	hist_end();
}

/* The filter may come after a tab, and the word before it, too. */
static void filter_behind_tab(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa\tif bb > 5"), 0);
	hist_hit("aa=1 bb=5");
	hist_hit("aa=1 bb=6");
	hist_expect_totals(EV "/hist", 1, 1, 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa if\tbb > 6"), 0);
	hist_hit("aa=1 bb=6");
	hist_hit("aa=1 bb=7");
	hist_expect_totals(EV "/hist", 1, 1, 0);
	hist_end();
}

/* ---- where variables are found ---- */

/* An owner with fewer keys is asked for the first of ours; one with more has no such entry. */
static void keys_of_the_owner(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa,cc:dd=bb-$t0:vals=bb"), 0);
	hist_hit_other("aa=1 bb=100");
	hist_hit("aa=1 cc=2 bb=150");
	hist_expect_totals(EV "/hist", 1, 1, 0);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa,bb:t1=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t1:vals=bb"), 0);
	hist_hit_other("aa=1 bb=100");
	hist_hit("aa=1 bb=150");
	hist_expect_totals(EV "/hist", 0, 0, 0);
	hist_end();
}

/* Not in another instance, nor when two events have one of that name, unless the event is told. */
static void whose_variable(void)
{
	hist_begin();
	EXPECT_EQ(trace_make_instance("vars"), 0);
	EXPECT_EQ(trace_put("instances/vars/" OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0"), -EINVAL);
	EXPECT_EQ(trace_put("instances/vars/" OTHER_TRIGGER, ""), 0);
	EXPECT_EQ(trace_drop_instance("vars"), 0);

	EXPECT_EQ(trace_append("synthetic_events", "wide int aa; u64 bb"), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(WIDE, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0"), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL), "Variable name not unique"));
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-synthetic.oth.$t0"), 0);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:onmatch(synthetic.oth).trace(lat,$dd,aa)"),
	    0);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:onmatch(synthetic.oth).trace(lat,$dd,aa):"
			       "onmatch(synthetic.wide).trace(lat,$dd,aa)"),
	    -EINVAL);
	EXPECT_EQ(trace_put(WIDE, ""), 0);
	hist_end();
}

/* A histogram's own variables may have their event's name before them. */
static void own_by_its_whole_name(void)
{
	hist_begin();
	EXPECT_EQ(trace_put("events/synthetic/lat/enable", "1"), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:t1=bb:dd=synthetic.ev.$t1-ip:"
				     "onmatch(synthetic.oth).trace(lat,synthetic.ev.$dd,aa)"),
	    0);
	hist_hit_other("aa=1 bb=5");
	hist_hit("aa=1 bb=9 ip=2");
	EXPECT_STR(trace_nth_event(0), "lat: delta=7 id=1");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	hist_end();
}

/* What another histogram needs stays, however it is to go. */
static void needed_stay(void)
{
	static const char line[] = "hist:keys=aa:vals=hitcount:t0=bb:";

	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:vals=bb"), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!hist:keys=aa:t0=bb"), -EBUSY);
	trace_put(OTHER_TRIGGER, "");
	EXPECT(strstr(trace_get(OTHER_TRIGGER, NULL), line));
	hist_hit_other("aa=1 bb=100");
	hist_hit("aa=1 bb=150");
	hist_expect_totals(EV "/hist", 1, 1, 0);
	hist_end();
}

/* ---- names ---- */

/* Each of those who share one pauses for itself, from its beginning on if it says so. */
static void shared_pause(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:name=both:keys=aa:vals=bb:pause"), 0);
	EXPECT(strstr(trace_get(OTHER_TRIGGER, NULL), " [paused]\n"));
	hist_hit("aa=1 bb=10");
	hist_hit_other("aa=1 bb=5");
	EXPECT_STR(hist_entries(), "{ aa:          1 } hitcount:          1  bb:         10\n");
	hist_end();
}

/* An event's triggers of a shared histogram pause and go on with those that have no name. */
static void pause_of_all(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa"), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "disable_hist:synthetic:ev:1"), 0);
	hist_hit_other("aa=1");
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "[active]"));
	hist_hit("aa=1 bb=10");
	EXPECT_STR(hist_entries(), "");
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!disable_hist:synthetic:ev:1"), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "enable_hist:synthetic:ev"), 0);
	hist_hit_other("aa=1");
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "[paused]"));
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!enable_hist:synthetic:ev"), 0);
	hist_end();
}

/* The event that it came with is gone, and its time is asked for again. */
static void handed_over(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:name=both:keys=aa:tt=common_timestamp"), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:name=both:keys=aa:tt=common_timestamp"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=both:keys=aa:tt=common_timestamp"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!ev"), 0);
	hist_hit_other("aa=1 bb=5");
	EXPECT_STR(hist_entries_of("events/synthetic/oth/hist"),
	    "{ aa:          1 } hitcount:          1\n");
	EXPECT_EQ(trace_append("synthetic_events", "ev int aa"), 0);
	hist_end();
}

/* ---- actions ---- */

/* A parameter of the size of its field, but of another sign; a text of another size. */
static void parameters_that_do_not_fit(void)
{
	hist_begin();
	EXPECT_EQ(trace_append("synthetic_events", "wide int aa; s64 sig; char str[16]"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "sig s64 v"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "fixed char s[8]"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).trace(sig,bb)"), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL), "Param type doesn't match"));
	EXPECT_EQ(trace_put(WIDE, "hist:keys=aa:xx=sig:onmax($xx).trace(sig,sig)"), 0);
	EXPECT_EQ(trace_put(WIDE, ""), 0);
	EXPECT_EQ(trace_put(WIDE, "hist:keys=aa:xx=sig:onmax($xx).trace(fixed,str)"), -EINVAL);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).trace(fixed,str)"), 0);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_append("synthetic_events", "roomy char s[16]"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).trace(roomy,str)"), -EINVAL);
	hist_end();
}

/* error_log has a line for each step that failed because an action names something unknown. */
static void errors_of_actions(void)
{
	static const char *const rows[][2] = {
	    {"hist:keys=aa:xx=bb:onmax($xx).save(nosuch)", "Couldn't parse field variable"},
	    {"hist:keys=aa:xx=bb:onmax($xx).save(nosuch)", "Couldn't create field variable"},
	    {"hist:keys=aa:xx=bb:onmax($xx).save(cc):onchange($xx).save(ip)",
		"Can't have more than one save() action per hist"},
	    {"hist:keys=aa:xx=bb:onmax(xx).save(cc)", "x must be a variable"},
	    {"hist:keys=aa:xx=bb:onmax($yy).save(cc)", "Couldn't find onmax or onchange variable"},
	    {"hist:keys=aa:xx=bb:onmax($xx).trace(nosuch,aa)", "Couldn't find synthetic event"},
	    {"hist:keys=aa:xx=bb:onmax($xx).trace(out,$yy)", "Couldn't find param"},
	    {"hist:keys=aa:xx=bb:onmax($xx).trace(lat,bb)", "Param count doesn't match"},
	    {"hist:keys=aa:xx=bb:onmax($xx).", "No action found"},
	};

	hist_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("error_log", ""), 0);
		EXPECT(trace_put(TRIGGER, rows[i][0]) < 0);
		if (!strstr(trace_get("error_log", NULL), rows[i][1]))
			ktap_fail(__FILE__, __LINE__, "%s", rows[i][0]);
	}
	hist_end();
}

/* The clock that a histogram's times ask for is the instance's from then on. */
static void clock_of_times(void)
{
	hist_begin();
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:clock=mono"), 0); /* it has no times */
	EXPECT(strstr(trace_get("trace_clock", NULL), "[local]"));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:tt=common_timestamp:clock=mono"), 0);
	EXPECT(strstr(trace_get("trace_clock", NULL), "[mono]"));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	hist_end();
}

static void saved_once(void)
{
	hist_begin();
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).save(cc):onchange($xx).save(ip)"),
	    -EEXIST);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "hist:"));
	hist_end();
}

/* Variables of the command, of save() and of onmax() have one limit. */
static void variables_of_actions(void)
{
	char line[400];
	struct seq s;

	hist_begin();
	for (unsigned n = HIST_VARS_MAX - 3; n < HIST_VARS_MAX; n++) {
		seq_init(&s, line, sizeof(line) - 1);
		seq_puts(&s, "hist:keys=aa");
		for (unsigned i = 0; i < n; i++)
			seq_printf(&s, ":v%u=bb", i);
		seq_puts(&s, ":onmax($v0).save(cc,ip)");
		line[s.len] = '\0';
		EXPECT_EQ(trace_put(TRIGGER, line), n <= HIST_VARS_MAX - 3 ? 0 : -EINVAL);
		hist_hit("aa=1 bb=2 cc=3 ip=4");
		EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	}
	hist_end();
}

/* One snapshot() in an instance, and one in another; after a clear a lower value is the highest. */
static void snapshots_of_instances(void)
{
	static const char line[] = "hist:keys=aa:xx=bb:onmax($xx).snapshot()";

	hist_begin();
	EXPECT_EQ(trace_make_instance("shots"), 0);
	EXPECT_EQ(trace_put("instances/shots/" TRIGGER, line), 0);
	EXPECT_EQ(trace_put(TRIGGER, line), 0);
	hist_hit("aa=1 bb=50");
	EXPECT(strstr(trace_get(EV "/hist", NULL), "         50\ttriggered by"));
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).snapshot():clear"), 0);
	EXPECT(!strstr(trace_get(EV "/hist", NULL), "Snapshot taken"));
	hist_hit("aa=2 bb=20");
	EXPECT(strstr(trace_get(EV "/hist", NULL), "         20\ttriggered by"));
	EXPECT_EQ(trace_put("instances/shots/" TRIGGER, ""), 0);
	EXPECT_EQ(trace_drop_instance("shots"), 0);
	hist_end();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/* A second one in the instance is refused, whether or not there is one at the top. */
static void snapshots_beside_the_top(void)
{
	static const char line[] = "hist:keys=aa:xx=bb:onmax($xx).snapshot()",
			  second[] = "hist:keys=bb:yy=aa:onmax($yy).snapshot()";

	hist_begin();
	EXPECT_EQ(trace_make_instance("shots"), 0);
	for (unsigned top = 0; top < 2; top++) {
		EXPECT_EQ(trace_put(TRIGGER, top ? line : ""), 0);
		EXPECT_EQ(trace_put("instances/shots/" TRIGGER, line), 0);
		EXPECT_EQ(trace_append("instances/shots/" TRIGGER, second), -EBUSY);
		EXPECT_EQ(trace_put("instances/shots/" TRIGGER, ""), 0);
	}
	EXPECT_EQ(trace_drop_instance("shots"), 0);
	hist_end();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

#define WIDEST "18446744073709551615"

/* A maximum is that of numbers without a sign, of an entry and of a snapshot. */
static void widest_maximum(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).save(cc)"), 0);
	hist_hit("aa=1 bb=5 cc=1");
	hist_hit("aa=1 bb=" WIDEST " cc=2");
	EXPECT(strstr(hist_entries(), "max: " WIDEST "  cc:          2"));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).snapshot()"), 0);
	hist_hit("aa=1 bb=5");
	hist_hit("aa=1 bb=" WIDEST);
	EXPECT(strstr(trace_get(EV "/hist", NULL), "onmax($xx) }: " WIDEST "\ttriggered by"));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	hist_end();
}

/* `hist` tells nothing of a snapshot that could not be taken, and of the next one that could. */
static void refused_snapshot(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).snapshot()"), 0);
	trace_snapshot_hold(trace_global);
	hist_hit("aa=1 bb=5");
	trace_snapshot_release(trace_global);
	EXPECT(!strstr(trace_get(EV "/hist", NULL), "Snapshot taken"));
	hist_hit("aa=1 bb=6");
	EXPECT(strstr(trace_get(EV "/hist", NULL), "         6\ttriggered by"));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	hist_end();
}

/* "clear" beside "pause" or "cont" clears nothing, as on Linux. */
static void clear_and_pause(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa"), 0);
	hist_hit("aa=1");
	hist_hit("aa=1");
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:clear:pause"), 0);
	hist_hit("aa=1");
	hist_expect_totals(EV "/hist", 2, 1, 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:cont:clear"), 0);
	hist_hit("aa=1");
	hist_expect_totals(EV "/hist", 3, 1, 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:clear"), 0);
	hist_expect_totals(EV "/hist", 0, 0, 0);
	hist_end();
}

/* An instance stays as long as a histogram of it names variables, be it by an action alone. */
static void instance_stays(void)
{
	static const char *const lines[] = {
	    "hist:keys=aa:t0=bb", "hist:keys=aa:onmatch(synthetic.oth).trace(lat,bb,aa)"};

	hist_begin();
	EXPECT_EQ(trace_make_instance("stays"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		EXPECT_EQ(trace_put("instances/stays/" TRIGGER, lines[i]), 0);
		EXPECT_EQ(trace_drop_instance("stays"), -EBUSY);
		EXPECT_EQ(trace_put("instances/stays/" TRIGGER, ""), 0);
	}
	EXPECT_EQ(trace_drop_instance("stays"), 0);
	hist_end();
}

static const struct ktap_case cases[] = {
    {"hist_corners.wide_groups", wide_groups},
    {"hist_corners.wide_divisor", wide_divisor},
    {"hist_corners.usecs_of_a_counter", usecs_of_a_counter},
    {"hist_corners.usecs_of_several", usecs_of_several},
    {"hist_corners.time_of_the_instance", time_of_the_instance},
    {"hist_corners.unit_of_references", unit_of_references},
    {"hist_corners.wide_shares", wide_shares},
    {"hist_corners.texts_descending", texts_descending},
    {"hist_corners.signs_descending", signs_descending},
    {"hist_corners.sums_without_sign", sums_without_sign},
    {"hist_corners.kept_texts", kept_texts},
    {"hist_corners.texts_beyond_the_record", texts_beyond_the_record},
    {"hist_corners.fewer_parameters", fewer_parameters},
    {"hist_corners.tells_apart", tells_apart},
    {"hist_corners.filter_behind_tab", filter_behind_tab},
    {"hist_corners.keys_of_the_owner", keys_of_the_owner},
    {"hist_corners.whose_variable", whose_variable},
    {"hist_corners.own_by_its_whole_name", own_by_its_whole_name},
    {"hist_corners.needed_stay", needed_stay},
    {"hist_corners.shared_pause", shared_pause},
    {"hist_corners.pause_of_all", pause_of_all},
    {"hist_corners.handed_over", handed_over},
    {"hist_corners.parameters_that_do_not_fit", parameters_that_do_not_fit},
    {"hist_corners.errors_of_actions", errors_of_actions},
    {"hist_corners.clock_of_times", clock_of_times},
    {"hist_corners.saved_once", saved_once},
    {"hist_corners.variables_of_actions", variables_of_actions},
    {"hist_corners.snapshots_of_instances", snapshots_of_instances},
    {"hist_corners.snapshots_beside_the_top", snapshots_beside_the_top},
    {"hist_corners.widest_maximum", widest_maximum},
    {"hist_corners.refused_snapshot", refused_snapshot},
    {"hist_corners.clear_and_pause", clear_and_pause},
    {"hist_corners.instance_stays", instance_stays},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_corners = {cases};
