/*
 * Event probes at work: values fetched from fields of every kind, the probed event's state,
 * instances, filters, triggers, removal.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/filter/sample.h"
#include "tests/unit/trace/probe/eprobe_tools.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"
#include "trace/probe/probe.h"
#include "trace/tracefs/inject.h"
#include "trace/trigger/trigger.h"

/* ---- values ---- */

static void format(void)
{
	eprobe_begin();
	EXPECT_EQ(
	    trace_append(EVENTS, "e:x synthetic.src a=$a:s32 b=$b s=$s:string t=+0($b):u8[2]"), 0);
	EXPECT(strstr(trace_get("events/eprobes/x/format", NULL),
	    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	    "\tfield:s32 a;\toffset:8;\tsize:4;\tsigned:1;\n"
	    "\tfield:u64 b;\toffset:12;\tsize:8;\tsigned:0;\n"
	    "\tfield:__data_loc char[] s;\toffset:20;\tsize:4;\tsigned:1;\n"
	    "\tfield:u8 t[];\toffset:24;\tsize:2;\tsigned:0;\n\n"
	    "print fmt: \" a=%d b=0x%Lx s=\\\"%s\\\" t={%u,%u}\", REC->a, REC->b, __get_str(s), "
	    "REC->t[0], REC->t[1]\n"));
	EXPECT_EQ(trace_append(EVENTS, "e:none synthetic.src"), 0);
	EXPECT(strstr(trace_get("events/eprobes/none/format", NULL), "\nprint fmt: \"\"\n"));
	eprobe_end();
}

static void synthetic_values(void)
{
	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src a=$a:s32 A=$a:s64 c=$c:s16 C=$c:x8 b=$b "
				       "s=$s:string d=$d:string n=$b:b4@4/64 i=\\-3:s8 "
				       "t=\\\"text\":string k=$comm:string"),
	    0);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	trace_put(
	    "events/synthetic/src/inject", "a=-7 s=\"hi\" b=0xabc d=\"longer than eight\" c=-1");
	const char *line = trace_nth_event(0);
	EXPECT(str_has_prefix(line, "x: (synthetic.src) a=-7 A=-7 c=-1 C=0xff b=0xabc s=\"hi\" "
				    "d=\"longer than eight\" n=11 i=-3 t=\"text\" k=\""));
	EXPECT_STR(trace_nth_event(1), ""); /* the other one is not on */
	eprobe_end();
}

/* A record with every kind of field there is, and a probe that fetches each of them. */
static const char pointed_text[] = "pointed at";
static struct filter_sample kinds_record;

static void kinds_begin(void)
{
	char def[300];

	kinds_record = (struct filter_sample){.s8 = -2,
	    .u8 = 254,
	    .s16 = -300,
	    .u32 = 0xfffffffe,
	    .s64 = -5,
	    .u64 = (u64)pointed_text,
	    .name = "abc",
	    .ptr = pointed_text,
	    .numbers = {11, -12, 13}};
	eprobe_begin();
	memcpy(kinds_record.tight, "full", 4);
	filter_sample_set(&kinds_record, "dynamic", 8, "relative", 9, 3);
	host_lock();
	EXPECT_EQ(trace_event_register(&filter_sample_call), 0);
	host_unlock();
	fmt_snprintf(def, sizeof(def),
	    "e:k %s.%s a=$s8:s32 b=$u8:u8 c=$s16:s32 d=$u32 e=$s64:s64 f=$name:string "
	    "g=$tight:string h=$dyn:string i=$rel:string j=$ptr:string k=+0($u64):string "
	    "l=+0($u64):u8 m=+4($ptr):string n=+2($name):string",
	    filter_sample_call.class->system, filter_sample_call.name);
	EXPECT_EQ(trace_append(EVENTS, def), 0);
	EXPECT_EQ(trace_put("events/eprobes/enable", "1"), 0);
}

static void kinds_end(void)
{
	EXPECT_EQ(trace_put("events/eprobes/enable", "0"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:k"), 0);
	EXPECT_EQ(trace_append(EVENTS, "e:k synthetic.src"), 0);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&filter_sample_call), 0);
	host_unlock();
	eprobe_end();
}

/* Records the first `size` bytes of it. */
static void kinds_inject(size_t size)
{
	struct trace_event_file *file = trace_event_file_of(trace_global, &filter_sample_call);

	host_lock();
	EXPECT_EQ(tracefs_inject(file, &kinds_record, size), 0);
	host_unlock();
}

static void field_kinds(void)
{
	char wanted[300];

	kinds_begin();
	kinds_inject(sizeof(kinds_record));
	fmt_snprintf(wanted, sizeof(wanted),
	    "k: (%s.%s) a=-2 b=254 c=-300 d=0xfffffffe e=-5 f=\"abc\" g=\"full\" h=\"dynamic\" "
	    "i=\"relative\" j=\"pointed at\" k=\"pointed at\" l=112 m=\"ted at\" n=\"c\"",
	    filter_sample_call.class->system, filter_sample_call.name);
	EXPECT_STR(trace_nth_event(0), wanted);
	kinds_end();
}

/* Strings that lie outside the record or end there, and a record that ends before its fields. */
static void fields_outside(void)
{
	const size_t size = sizeof(kinds_record);

	kinds_begin();
	kinds_record.dyn = 50000 | 10 << 16;
	kinds_record.rel = 0xffffffff;
	kinds_record.ptr = NULL;
	kinds_inject(size);
	kinds_inject(10);
	EXPECT(strstr(
	    trace_nth_event(0), " g=\"full\" h=(fault) i=(fault) j=(fault) k=\"pointed at\""));
	EXPECT(
	    strstr(trace_nth_event(1), "a=-2 b=254 c=0 d=0x0 e=0 f=(fault) g=(fault) h=(fault)"));
	memset((char *)&kinds_record + size - 8, 'x', 8);
	kinds_record.dyn = (size - 8) | 9 << 16;
	kinds_record.rel = (size - 8 - offsetof(struct filter_sample, rel) - 4) | 9 << 16;
	kinds_record.ptr = pointed_text;
	kinds_inject(size);
	kinds_record.dyn -= 1 << 16;
	kinds_record.rel -= 1 << 16;
	kinds_inject(size);
	EXPECT(strstr(trace_nth_event(2), " h=(fault) i=(fault) j=\"pointed at\""));
	EXPECT(strstr(trace_nth_event(3), " h=\"xxxxxxxx\" i=\"xxxxxxxx\" j="));
	kinds_end();
}

/* A static event, through its tracepoint. */
static void static_event(void)
{
	eprobe_begin();
	EXPECT_EQ(
	    trace_append(EVENTS, "e:x unit.unit_text t=$text:string m=$mark:u8 c=$comm:string"), 0);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	trace_unit_text("me", "words", "rest");
	EXPECT_STR(trace_nth_event(0), "x: (unit.unit_text) t=\"words\" m=7 c=\"me\"");
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	trace_unit_text("me", "again", "rest");
	EXPECT_STR(trace_nth_event(1), "x: (unit.unit_text) t=\"again\" m=7 c=\"me\"");
	EXPECT_STR(trace_nth_event(2), "unit_text: comm=me text=again mark=7 more=rest");
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "0"), 0);
	trace_unit_text("me", "last", "rest");
	EXPECT_STR(trace_nth_event(3), "unit_text: comm=me text=last mark=7 more=rest");
	EXPECT_STR(trace_nth_event(4), "");
	eprobe_end();
}

/* ---- the probed event, and other users of either ---- */

static void inject(int a)
{
	char line[32];

	fmt_snprintf(line, sizeof(line), "a=%d", a);
	trace_put("events/synthetic/src/inject", line);
}

static unsigned lines(void)
{
	unsigned n = 0;

	while (*trace_nth_event(n))
		n++;
	EXPECT_EQ(trace_put("trace", ""), 0);
	return n;
}

/* It is live, and off, for as long as the probe is on; what it filters is no matter. */
static void soft(void)
{
	const char *enable = "events/synthetic/src/enable";

	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src $a if a > 5"), 0);
	EXPECT_STR(trace_get(enable, NULL), "0\n");
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	EXPECT_STR(trace_get(enable, NULL), "0*\n");
	EXPECT(strstr(trace_get("events/synthetic/src/trigger", NULL), "# Available triggers:\n"));
	inject(5);
	EXPECT_EQ(lines(), 0);
	inject(6);
	EXPECT_EQ(lines(), 1);
	EXPECT_EQ(trace_put("events/synthetic/src/filter", "a < 3"), 0);
	EXPECT_EQ(trace_put(enable, "1"), 0);
	EXPECT_STR(trace_get(enable, NULL), "1*\n");
	inject(6);
	EXPECT_EQ(lines(), 1);
	inject(2);
	EXPECT_EQ(lines(), 1);
	EXPECT_EQ(trace_put(enable, "0"), 0);
	EXPECT_STR(trace_get(enable, NULL), "0*\n");
	EXPECT_EQ(trace_put("events/eprobes/x/filter", "arg1 == 7"), 0);
	inject(6);
	inject(7);
	EXPECT_EQ(lines(), 1);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "0"), 0);
	EXPECT_STR(trace_get(enable, NULL), "0\n");
	EXPECT(str_has_prefix(trace_get("events/synthetic/src/trigger", NULL), "# Available"));
	inject(7);
	EXPECT_EQ(lines(), 0);
	eprobe_end();
}

/* Whoever is needed does not go. */
static void busy(void)
{
	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src $a"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:src"), -EBUSY);
	EXPECT_EQ(trace_append("synthetic_events", "!src"), -EBUSY);
	EXPECT_EQ(trace_put("synthetic_events", ""), -EBUSY);
	EXPECT_EQ(trace_put(EVENTS, ""), -EBUSY);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:x"), -EBUSY);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "0"), 0);
	EXPECT_EQ(trace_put("events/eprobes/x/trigger", "hist:keys=arg1"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:x"), -EBUSY);
	inject(3);
	EXPECT(strstr(
	    trace_get("events/eprobes/x/hist", NULL), "{ arg1:          3 } hitcount:          1"));
	EXPECT_EQ(trace_append("events/eprobes/x/trigger", "!hist:keys=arg1"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:src"), 0);
	EXPECT_STR(trace_get(EVENTS, NULL), "");
}

static const struct {
	const char *command;
	int err;
	const char *left; /* names of those that stay */
} removals[] = {
    {"-:x", 0, "yz"},
    {"-:eprobes/x", 0, "yz"},
    {"-:g/x", -ENOENT, "xyz"},
    {"-:g/", 0, "xy"},
    {"-:eprobes/", 0, "z"},
    {"!e:x", 0, "yz"},
    {"-:x synthetic.src", 0, "yz"},
    {"-:x synthetic/src", 0, "yz"},
    {"-:x synthetic", -ENOENT, "xyz"},
    {"-:x synth.src", -ENOENT, "xyz"},
    {"-:x synthetic.sr", -ENOENT, "xyz"},
    {"-:x unit.unit_text", -ENOENT, "xyz"},
    {"-:x synthetic.src y=$a", 0, "yz"},
    {"-:x synthetic.src y=$a z=$b", 0, "yz"},
    {"-:x synthetic.src y=$a z=$b w=$b", -ENOENT, "xyz"},
    {"-:x synthetic.src z=$b", -ENOENT, "xyz"},
    {"-:eprobes/ unit.unit_text", 0, "xz"},
};

static void removal(void)
{
	eprobe_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(removals); i++) {
		EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src y=$a z=$b"), 0);
		EXPECT_EQ(trace_append(EVENTS, "e:y unit.unit_text"), 0);
		EXPECT_EQ(trace_append(EVENTS, "e:g/z synthetic.src"), 0);
		int err = trace_append(EVENTS, removals[i].command);
		if (err != removals[i].err)
			ktap_note("%s", removals[i].command);
		EXPECT_EQ(err, removals[i].err);
		const char *text = trace_get(EVENTS, NULL);
		EXPECT_EQ(!!strstr(text, "e:eprobes/x"), !!strchr(removals[i].left, 'x'));
		EXPECT_EQ(!!strstr(text, "e:eprobes/y"), !!strchr(removals[i].left, 'y'));
		EXPECT_EQ(!!strstr(text, "e:g/z"), !!strchr(removals[i].left, 'z'));
		trace_append(EVENTS, "-:eprobes/");
		trace_append(EVENTS, "-:g/");
	}
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
}

/*
 * Each instance has its own switch, and its own records; one that goes takes its feeds along,
 * whoever needs them.
 */
static void instances(void)
{
	struct trace_array *tr;

	eprobe_begin();
	host_lock();
	EXPECT_EQ(trace_instance_create("ep", &tr), 0);
	host_unlock();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src $a"), 0);
	EXPECT_EQ(trace_put("instances/ep/events/eprobes/x/enable", "1"), 0);
	EXPECT_STR(trace_get("events/synthetic/src/enable", NULL), "0\n");
	EXPECT_STR(trace_get("instances/ep/events/synthetic/src/enable", NULL), "0*\n");
	trace_put("instances/ep/events/synthetic/src/inject", "a=5");
	EXPECT(strstr(trace_get("instances/ep/trace", NULL), "x: (synthetic.src) arg1=0x5\n"));
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	inject(6);
	EXPECT_STR(trace_nth_event(0), "x: (synthetic.src) arg1=0x6");
	EXPECT_STR(trace_nth_event(1), "");
	EXPECT_EQ(trace_put("instances/ep/events/eprobes/x/trigger", "hist:keys=arg1"), 0);
	EXPECT_EQ(trace_put("instances/ep/events/synthetic/src/trigger", "traceoff"), 0);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "0"), 0);
	host_lock();
	EXPECT_EQ(trace_array_destroy(tr), 0);
	host_unlock();
	EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:src"), 0);
}

/*
 * Triggers that need no record, or only its numbers, get what they need whether there is a probe or
 * not.
 */
static void beside_triggers(void)
{
	static const char trigger[] = "events/unit/unit_numbers/trigger";

	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x unit.unit_numbers d=$d:u64 if c == 7"), 0);
	EXPECT_EQ(trace_append(trigger, "hist:keys=d"), 0);
	for (unsigned round = 0; round < 3; round++) {
		EXPECT_EQ(trace_put("events/eprobes/x/enable", round == 1 ? "1" : "0"), 0);
		trace_unit_numbers(1, 2, 7, 42);
		trace_unit_numbers(1, 2, 8, 42);
		EXPECT_STR(trace_nth_event(0), round == 1 ? "x: (unit.unit_numbers) d=42" : "");
		EXPECT_EQ(lines(), round == 1);
	}
	EXPECT(strstr(trace_get("events/unit/unit_numbers/hist", NULL), "hitcount:          6\n"));
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	EXPECT_EQ(trace_append(trigger, "!hist:keys=d"), 0);
	EXPECT_EQ(trace_append(trigger, "stacktrace:1"), 0);
	trace_unit_numbers(1, 2, 8, 43);
	EXPECT(str_has_prefix(trace_nth_event(0), "<stack trace>"));
	trace_unit_numbers(1, 2, 7, 43);
	EXPECT_EQ(trace_append(trigger, "!stacktrace"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0*\n");
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "0"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0\n");
	EXPECT(strstr(trace_get("trace", NULL), "x: (unit.unit_numbers) d=43\n"));
	eprobe_end();
}

/* All at once, in whatever order that is. */
static void everything(void)
{
	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src $a"), 0);
	EXPECT_EQ(trace_append(EVENTS, "e:y synthetic.src $b"), 0);
	for (unsigned round = 0; round < 3; round++) {
		EXPECT_EQ(trace_append("set_event", "eprobes:*\nsynthetic:*"), 0);
		inject(1);
		EXPECT_EQ(lines(), 3);
		EXPECT_EQ(trace_put("set_event", ""), 0);
		EXPECT_STR(trace_get("events/synthetic/src/enable", NULL), "0\n");
		inject(1);
		EXPECT_EQ(lines(), 1); /* what is injected is recorded, on or off */
	}
	eprobe_end();
}

/* A record with texts gives back the memory that it was built in, however many there are. */
static void many_texts(void)
{
	char line[256] = "d=\"";

	eprobe_begin();
	memset(line + strlen(line), 't', 200);
	memcpy(line + 203, "\"", 2);
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src d=$d:string"), 0);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	for (unsigned i = 0; i < 200; i++)
		EXPECT_EQ(trace_put("events/synthetic/src/inject", line), 0);
	struct trace_event_count counts = trace_counts("eprobes", "x");
	EXPECT_EQ(counts.hit, 200);
	EXPECT_EQ(counts.too_deep, 0);
	eprobe_end();
}

static const struct ktap_case cases[] = {
    {"event_probe.format", format},
    {"event_probe.synthetic_values", synthetic_values},
    {"event_probe.field_kinds", field_kinds},
    {"event_probe.fields_outside", fields_outside},
    {"event_probe.static_event", static_event},
    {"event_probe.soft", soft},
    {"event_probe.busy", busy},
    {"event_probe.removal", removal},
    {"event_probe.instances", instances},
    {"event_probe.beside_triggers", beside_triggers},
    {"event_probe.everything", everything},
    {"event_probe.many_texts", many_texts},
    {NULL, NULL},
};
const struct ktap_suite suite_event_probe_values = {cases};
