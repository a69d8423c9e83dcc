/*
 * What histograms count: keys, values, shares, sorting, what a full table drops, pauses, names; and
 * how many of each there may be.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/hist/tools.h"
#include "trace/dynevent/synth.h"
#include "trace/event/file.h"
#include "trace/hist/hist.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/tracefs/inject.h"

/* ---- counting ---- */

static void counts(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:vals=bb,cc:sort=aa"), 0);
	hist_hit("aa=-5 bb=10 cc=-1");
	hist_hit("aa=7 bb=18446744073709551615 cc=1");
	hist_hit("aa=7 bb=3 cc=2");
	EXPECT_STR(hist_entries(),
	    "{ aa: 18446744073709551611 } hitcount:          1  bb:         10  cc: "
	    "18446744073709551615\n"
	    "{ aa:          7 } hitcount:          2  bb:          2  cc:          3\n");
	hist_expect_totals(EV "/hist", 3, 2, 0);
	hist_end();
}

static void compound_keys(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa,str,cc:sort=aa,cc.descending"), 0);
	hist_hit("aa=1 str=\"x\" cc=1");
	hist_hit("aa=1 str=\"x\" cc=2");
	hist_hit("aa=0 str=\"y\" cc=-3");
	hist_hit("aa=1 str=\"x\" cc=1");
	EXPECT_STR(hist_entries(),
	    "{ aa:          0, str: y                                            "
	    "     , cc: 18446744073709551613 } hitcount:          1\n"
	    "{ aa:          1, str: x                                            "
	    "     , cc:          2 } hitcount:          1\n"
	    "{ aa:          1, str: x                                            "
	    "     , cc:          1 } hitcount:          2\n");
	hist_end();
}

/* Strings of every length, and order among them. */
static void string_keys(void)
{
	char line[320], text[256];

	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=dyn:sort=dyn"), 0);
	for (unsigned n = 0; n < 256; n += 85) {
		memset(text, 'a' + n / 85, n);
		text[n] = '\0';
		fmt_snprintf(line, sizeof(line), "dyn=\"%s\"", text);
		hist_hit(line);
		hist_hit(line);
	}
	hist_expect_totals(EV "/hist", 8, 4, 0);
	EXPECT(str_has_prefix(hist_entries(),
	    "{ dyn:                                                   "
	    " } hitcount:          2\n{ dyn: bbb"));
	EXPECT(strstr(hist_entries(), "ddd } hitcount:          2\n"));
	hist_end();
}

static const struct trace_event_field rel_fields[] = {
    {"__rel_loc char[]", "text", 8, 4, true, TRACE_FIELD_REL_STRING},
    {"int", "n", 12, 4, true, TRACE_FIELD_NUMBER},
    {.name = NULL},
};

static const struct trace_event_field *rel_table(const struct trace_event_call *call __maybe_unused)
{
	return rel_fields;
}

/* A string whose place is counted from after its field. */
static void relative_string_keys(void)
{
	static const struct trace_event_class class = {.system = "relative", .fields = rel_table};
	struct trace_event_call call = {.class = &class, .name = "ev"};

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_event_register(&call), 0);
	host_unlock();
	EXPECT_EQ(trace_put("events/relative/ev/trigger", "hist:keys=text:vals=n"), 0);
	EXPECT_EQ(trace_put("events/relative/ev/inject", "n=5 text=\"behind\""), 0);
	EXPECT_EQ(trace_put("events/relative/ev/inject", "n=2 text=\"behind\""), 0);
	EXPECT(str_has_prefix(hist_entries_of("events/relative/ev/hist"), "{ text: behind  "));
	EXPECT(strstr(
	    hist_entries_of("events/relative/ev/hist"), "hitcount:          2  n:          7\n"));
	EXPECT_EQ(trace_put("events/relative/ev/trigger", ""), 0);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&call), 0);
	host_unlock();
	trace_fresh();
}

static void modifiers(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb.log2,cc.buckets=10,aa.hex:sort=bb"), 0);
	hist_hit("bb=0 cc=9 aa=255");
	hist_hit("bb=9223372036854775809 cc=19 aa=-1");
	EXPECT_STR(hist_entries(),
	    "{ bb: ~ 2^0 , cc: ~ 0-9, aa: ff } hitcount:          1\n"
	    "{ bb: ~ 2^64, cc: ~ 10-19, aa: ffffffffffffffff } hitcount:          1\n");
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb.syscall:sort=bb"), 0);
	hist_hit("bb=0");
	hist_hit("bb=39");
	hist_hit("bb=9999");
	EXPECT_STR(hist_entries(),
	    "{ bb: sys_read                      [  0] } hitcount:          1\n"
	    "{ bb: sys_getpid                    [ 39] } hitcount:          1\n"
	    "{ bb: unknown_syscall               [9999] } hitcount:          1\n");
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=ip.sym-offset"), 0);
	hist_hit("ip=5");
	/* Address and name in 55 columns, whatever the name is here. */
	const char *line = hist_entries();
	EXPECT(str_has_prefix(line, "{ ip: [5] ") &&
	       strstr(line, " } hitcount:          1\n") == line + 65);
	hist_end();
}

static void values_as_shares(void)
{
	hist_begin();
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:vals=bb.percent,cc.graph:sort=bb.descending"), 0);
	hist_hit("aa=1 bb=30 cc=30");
	hist_hit("aa=2 bb=60 cc=60");
	hist_hit("aa=3 bb=7 cc=7");
	hist_hit("aa=4 bb=0 cc=0");
	EXPECT_STR(hist_entries(),
	    "{ aa:          2 } hitcount:          1  bb (%):  61.85  cc: ####################\n"
	    "{ aa:          1 } hitcount:          1  bb (%):  30.92  cc: ##########          \n"
	    "{ aa:          3 } hitcount:          1  bb (%):   7.21  cc: ##                  \n"
	    "{ aa:          4 } hitcount:          1  bb (%):   0.00  cc:                     \n");
	hist_end();
}

/* Many entries come out in order, whatever order they went in. */
static void sorts(void)
{
	char line[40];
	u64 last = 0, n = 0;

	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb:sort=bb:size=1024"), 0);
	for (u64 i = 0, v = 1; i < 700; i++, v = v * 5 % 1009) {
		fmt_snprintf(line, sizeof(line), "bb=%lu", v * 1000003);
		hist_hit(line);
	}
	for (const char *at = trace_get(EV "/hist", NULL); (at = strstr(at, "{ bb: ")); n++) {
		const char *stop;
		at += 6;
		while (*at == ' ')
			at++;
		u64 v = parse_digits(at, &stop, 10);
		EXPECT(v > last);
		last = v;
	}
	EXPECT(n > 400);
	hist_end();
}

static void drops(void)
{
	char line[40];

	hist_begin();
	for (unsigned size = 65; size <= 129; size += 32) {
		unsigned room = size <= 128 ? 128 : 256;
		fmt_snprintf(line, sizeof(line), "hist:keys=aa:size=%u", size);
		EXPECT_EQ(trace_put(TRIGGER, line), 0);
		for (unsigned i = 0; i <= room + 1; i++) {
			fmt_snprintf(line, sizeof(line), "aa=%u", i);
			hist_hit(line);
		}
		hist_expect_totals(EV "/hist", room, room, 2);
	}
	hist_end();
}

static void pauses(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:pause"), 0);
	EXPECT(strstr(trace_get(TRIGGER, NULL), " [paused]\n"));
	hist_hit("aa=1");
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:continue"), 0);
	hist_hit("aa=2");
	hist_expect_totals(EV "/hist", 1, 1, 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:pause"), 0);
	hist_hit("aa=2");
	hist_expect_totals(EV "/hist", 1, 1, 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:clear"), 0);
	EXPECT(strstr(trace_get(TRIGGER, NULL), " [paused]\n"));
	hist_expect_totals(EV "/hist", 0, 0, 0);
	hist_end();
}

/* Several on one event, each by its filter; a filter is part of what a hist is. */
static void filters(void)
{
	hist_begin();
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa if bb > 5"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa if str == \"x\""), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa if bb > 5"), -EEXIST);
	hist_hit("aa=1 bb=6");
	hist_hit("aa=1 bb=5 str=\"x\"");
	hist_hit("aa=2 bb=7 str=\"x\"");
	const char *text = trace_get(EV "/hist", NULL);
	const char *second = strstr(text, "\n\n\n# event histogram\n");
	EXPECT(strstr(text, "Hits: 2") && second && strstr(second, "Hits: 2") &&
	       strstr(second, "Hits: 3"));
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa if bb > 6"), 0); /* none such */
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa if bb > 5"), 0);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "bb > 5"));
	hist_end();
}

static void named(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "hist:name=both:keys=aa"), -EINVAL);
	hist_hit("aa=1 bb=10");
	hist_hit_other("aa=1 bb=5");
	EXPECT_STR(hist_entries(), "{ aa:          1 } hitcount:          2  bb:         15\n");
	EXPECT_EQ(trace_append(TRIGGER, "hist:name=both:keys=aa:vals=bb:pause"), 0);
	hist_hit("aa=1 bb=10");
	hist_hit_other("aa=1 bb=5");
	/* It outlives the event it came with. */
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!ev"), 0);
	hist_hit_other("aa=1 bb=5");
	EXPECT_STR(hist_entries_of("events/synthetic/oth/hist"),
	    "{ aa:          1 } hitcount:          4  bb:         25\n");
	EXPECT_EQ(trace_append("synthetic_events", "ev int aa"), 0);
	hist_end();
}

/* A line of a histogram's name does nothing to it unless the rest is the histogram's, too. */
static void named_otherwise(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:name=both:keys=aa:pause"), -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, "hist:name=both:keys=bb:vals=bb:clear"), -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, "hist:name=both:keys=aa:vals=bb:sort=bb"), -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=both:keys=aa"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=both:keys=bb:vals=bb"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=none:keys=aa:vals=bb"), 0);
	EXPECT(strstr(trace_get(TRIGGER, NULL), "hist:name=both:keys=aa:vals=hitcount,bb") &&
	       strstr(trace_get(TRIGGER, NULL), "[active]"));
	/* Its size may differ. */
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=both:keys=aa:vals=bb:size=256"), 0);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "both"));
	hist_end();
}

/* A variable as a value, twice too, and under another name. */
static void variable_as_value(void)
{
	hist_begin();
	EXPECT_EQ(trace_put(OTHER_TRIGGER, "hist:keys=aa:v0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:vals=$v0,$v0:v1=bb,w=$v0"), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "hist:keys=aa:vals=$w,$v1"), 0);
	hist_hit_other("aa=1 bb=5");
	hist_hit("aa=1 bb=10");
	hist_hit_other("aa=1 bb=7");
	hist_hit("aa=1 bb=30");
	hist_hit_other("aa=1 bb=9");
	EXPECT_STR(hist_entries(),
	    "{ aa:          1 } hitcount:          2  v0:         12  v0:         12\n");
	EXPECT(strstr(trace_get("events/synthetic/oth/hist", NULL),
	    "{ aa:          1 } hitcount:          2  w:         12  v1:         40\n"));
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!hist:keys=aa:vals=$w,$v1"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa:vals=$v0,$v0:v1=bb,w=$v0"), 0);
	EXPECT_EQ(trace_append(OTHER_TRIGGER, "!hist:keys=aa:v0=bb"), 0);
	hist_end();
}

/* ---- limits ---- */

/* Variables: in one list what is too many is lost, in several it is refused. */
static void variable_limits(void)
{
	char line[400];
	struct seq s;

	hist_begin();
	for (unsigned n = HIST_VARS_MAX - 1; n <= HIST_VARS_MAX + 1; n++) {
		for (int lists = 0; lists < 2; lists++) {
			seq_init(&s, line, sizeof(line) - 1);
			seq_puts(&s, "hist:keys=aa");
			for (unsigned i = 0; i < n; i++)
				seq_printf(&s, "%cv%u=%u", i && !lists ? ',' : ':', i, i);
			line[s.len] = '\0';
			EXPECT_EQ(
			    trace_put(TRIGGER, line), lists && n > HIST_VARS_MAX ? -EINVAL : 0);
			EXPECT_EQ(!!strstr(trace_get(TRIGGER, NULL), "v15=15"),
			    n >= HIST_VARS_MAX && !(lists && n > HIST_VARS_MAX));
			EXPECT(!strstr(trace_get(TRIGGER, NULL), "v16"));
			EXPECT_EQ(trace_put(TRIGGER, ""), 0);
		}
	}
	hist_end();
}

static void action_limits(void)
{
	char line[400];
	struct seq s;

	hist_begin();
	for (unsigned n = HIST_ACTIONS_MAX - 1; n <= HIST_ACTIONS_MAX + 1; n++) {
		seq_init(&s, line, sizeof(line) - 1);
		seq_puts(&s, "hist:keys=aa:xx=aa");
		for (unsigned i = 0; i < n; i++)
			seq_puts(&s, ":onchange($xx).trace(out,$xx)");
		line[s.len] = '\0';
		EXPECT_EQ(trace_put(TRIGGER, line), n <= HIST_ACTIONS_MAX ? 0 : -EINVAL);
		EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	}
	hist_end();
}

/* References: one to each of so many variables of other histograms. */
static void reference_limits(void)
{
	char line[400];
	struct seq s;

	hist_begin();
	for (unsigned i = 0; i < 2; i++) {
		seq_init(&s, line, sizeof(line) - 1);
		seq_printf(&s, "hist:keys=%s", i ? "bb" : "aa");
		for (unsigned v = 0; v < 9; v++)
			seq_printf(&s, ":%c%u=aa", i ? 'x' : 'y', v);
		line[s.len] = '\0';
		EXPECT_EQ(trace_append(OTHER_TRIGGER, line), 0);
	}
	/* 15, 16 and 17 different ones in sums of four. */
	for (unsigned n = HIST_REFS_MAX - 1; n <= HIST_REFS_MAX + 1; n++) {
		seq_init(&s, line, sizeof(line) - 1);
		seq_puts(&s, "hist:keys=aa");
		for (unsigned i = 0; i < n; i++)
			seq_printf(&s, "%s$%c%u",
			    i % 4 ? "+"
			    : i	  ? (i / 4 == 1	     ? ":w1="
					: i / 4 == 2 ? ":w2="
					: i / 4 == 3 ? ":w3="
						     : ":w4=")
				  : ":w0=",
			    i < 9 ? 'x' : 'y', i < 9 ? i : i - 9);
		line[s.len] = '\0';
		EXPECT_EQ(trace_append(TRIGGER, line), n <= HIST_REFS_MAX ? 0 : -EINVAL);
		EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	}
	hist_end();
}

/* Keys hold 384 bytes: one dynamic string and a stack, or a fixed string less. */
static void key_limits(void)
{
	hist_begin();
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,stacktrace"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,stacktrace,str"), -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,str,aa"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,dyn"), -EINVAL);
	hist_hit("aa=1 dyn=\"x\"");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	hist_end();
}

/* Hits the event synthetic/edge with these bytes. */
static void hist_inject_raw(const void *rec, u32 len)
{
	host_lock();
	struct trace_event_call *call = trace_event_find("synthetic", "edge");
	EXPECT_EQ(tracefs_inject(trace_event_file_of(trace_global, call), rec, len), 0);
	host_unlock();
}

static void edge_event(const char *definition, const char *trigger)
{
	trace_fresh();
	EXPECT_EQ(trace_append("dynamic_events", definition), 0);
	EXPECT_EQ(trace_put("events/synthetic/edge/trigger", trigger), 0);
}

static void edge_event_goes(void)
{
	EXPECT_EQ(trace_put("events/synthetic/edge/trigger", ""), 0);
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	trace_fresh();
}

static void edge_event_ends(const char *entries)
{
	EXPECT_STR(hist_entries_of("events/synthetic/edge/hist"), entries);
	edge_event_goes();
}

/* Records that end with their last field, and that say more than there is of them. */
static void edges_of_records(void)
{
	struct {
		struct trace_entry ent;
		union {
			char text[8];
			u32 loc;
		};
		u64 stack[2];
	} __attribute__((packed)) *rec = host_alloc(sizeof(*rec));

	/* The last field, with one byte more, none, one less; the short way and the long one. */
	for (u32 i = 0; i < 6; i++) {
		edge_event("s:edge u64 b; u32 a",
		    i % 2 ? "hist:keys=b:vals=a:x=a+1" : "hist:keys=b:vals=a");
		rec->stack[0] = 3;
		memcpy(rec->text, &(u64){7}, 8);
		hist_inject_raw(rec, sizeof(rec->ent) + 8 + sizeof(u32) + 1 - i / 2);
		edge_event_ends(i < 4 ? "{ b:          7 } hitcount:          1  a:          3\n"
				      : "{ b:          7 } hitcount:          1  a:          0\n");
	}
	edge_event("s:edge char s[8]", "hist:keys=s");
	memcpy(rec->text, "12345678", 8);
	hist_inject_raw(rec, sizeof(rec->ent) + 8);
	edge_event_ends(
	    "{ s: 1234567                                            } hitcount:          1\n");
	edge_event("s:edge unsigned long[] s", "hist:keys=s.stacktrace");
	rec->loc = (sizeof(rec->ent) + 8) | 24 << 16; /* a frame more than there is */
	rec->stack[0] = 1;
	rec->stack[1] = 0x1100;
	hist_inject_raw(rec, sizeof(*rec));
	edge_event_ends("{ s.stacktrace} hitcount:          1\n");
	host_free(rec);
}

/* A stack that is kept takes the place of a longer one. */
static void shorter_stack(void)
{
	struct {
		struct trace_entry ent;
		u64 nn, kk;
		u32 loc, unused;
		u64 stack[3];
	} *rec = host_alloc(sizeof(*rec));

	edge_event("s:edge u64 nn; u64 kk; unsigned long[] ss",
	    "hist:keys=kk:xx=nn:onmax($xx).save(ss.stacktrace)");
	for (u64 frames = 2; frames > 0; frames--) {
		rec->nn = 10 - frames;
		rec->loc = offsetof(typeof(*rec), stack) | (u32)(8 + 8 * frames) << 16;
		rec->stack[0] = frames;
		rec->stack[1] = 0x1100;
		rec->stack[2] = 0x1200;
		hist_inject_raw(rec, sizeof(*rec));
	}
	host_free(rec);
	const char *text = hist_entries_of("events/synthetic/edge/hist");
	EXPECT(strstr(text, "max:          9  ss.stacktrace:\n") && strstr(text, "1100"));
	EXPECT(!strstr(text, "1200"));
	edge_event_goes();
}

static const struct ktap_case cases[] = {
    {"hist.counts", counts},
    {"hist.compound_keys", compound_keys},
    {"hist.string_keys", string_keys},
    {"hist.relative_string_keys", relative_string_keys},
    {"hist.modifiers", modifiers},
    {"hist.values_as_shares", values_as_shares},
    {"hist.shorter_stack", shorter_stack},
    {"hist.sorts", sorts},
    {"hist.drops", drops},
    {"hist.pauses", pauses},
    {"hist.filters", filters},
    {"hist.named", named},
    {"hist.named_otherwise", named_otherwise},
    {"hist.variable_as_value", variable_as_value},
    {"hist.variable_limits", variable_limits},
    {"hist.action_limits", action_limits},
    {"hist.reference_limits", reference_limits},
    {"hist.key_limits", key_limits},
    {"hist.edges_of_records", edges_of_records},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_count = {cases};
