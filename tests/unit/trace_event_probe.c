/*
 * Event probes: definitions and what is wrong with them, values fetched from fields of every kind, the probed event's state, instances,
 * filters, triggers, removal.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/filter_sample.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace_tools.h"
#include "trace/probe.h"
#include "trace/trigger.h"

#define EVENTS "dynamic_events"

static void begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_append(EVENTS, "s:src int a; char s[8]; u64 b; char[] d; s8 c"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:eprobes/"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* ---- definitions -------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int err;
	const char *listed;  /* NULL: nothing */
	const char *message; /* of error_log; NULL: nothing */
	int word;	     /* the caret: in which word of the text, and where in it */
	int pos;
} definitions[] = {
    {"e:x synthetic.src", 0, "e:eprobes/x synthetic.src", NULL, 0, 0},
    {"e:x synthetic/src $a", 0, "e:eprobes/x synthetic.src arg1=$a", NULL, 0, 0},
    {"e synthetic.src", 0, "e:eprobes/src synthetic.src", NULL, 0, 0},
    {"event synthetic.src", 0, "e:eprobes/src synthetic.src", NULL, 0, 0},
    {"e:g/ synthetic.src", 0, "e:g/src synthetic.src", NULL, 0, 0},
    {"e:g-1.y synthetic.src", 0, "e:g-1/y synthetic.src", NULL, 0, 0},
    {"e:x unit.unit_text t=$text:string c=$comm", 0,
	"e:eprobes/x unit.unit_text t=$text:string c=$comm", NULL, 0, 0},
    {"e:x unit.unit_numbers c=$comm:string C=$COMM:string", 0,
	"e:eprobes/x unit.unit_numbers c=$comm:string C=$COMM:string", NULL, 0, 0},
    {"e:x synthetic.src p=+8(+0($b)):u16 s=+0($b):string[2] q=-4($a):x8[3]", 0,
	"e:eprobes/x synthetic.src p=+8(+0($b)):u16 s=+0($b):string[2] q=-4($a):x8[3]", NULL, 0, 0},
    {"e:x synthetic.src i=\\5 t=\\\"abc\":string b=$a:b4@4/32 y=$b:symbol", 0,
	"e:eprobes/x synthetic.src i=\\5 t=\\\"abc\":string b=$a:b4@4/32 y=$b:symbol", NULL, 0, 0},
    {"e:x  synthetic.src   $a   if  a >  5 ", 0, "e:eprobes/x synthetic.src arg1=$a", NULL, 0, 0},
    {"e", -EINVAL, NULL, NULL, 0, 0},
    {"e:x", -EINVAL, NULL, NULL, 0, 0},
    {"e: synthetic.src", -EINVAL, NULL, "Event name is not specified", 0, 2},
    {"e:/x synthetic.src", -EINVAL, NULL, "Group name is not specified", 0, 2},
    {"e:1g/x synthetic.src", -EINVAL, NULL,
	"Group name must follow the same rules as C identifiers", 0, 2},
    {"e:g/x-y synthetic.src", -EINVAL, NULL,
	"Event name must follow the same rules as C identifiers", 0, 4},
    {"e:x synthetic", -EINVAL, NULL, "This requires both group and event name to attach", 1, 0},
    {"e:x synthetic.", -EINVAL, NULL, "This requires both group and event name to attach", 1, 0},
    {"e:x .src", -EINVAL, NULL, "Group name is not specified", 1, 0},
    {"e:x .src", -EINVAL, NULL, "This requires both group and event name to attach", 1, 0},
    {"e:x synthetic.s-c", -EINVAL, NULL, "Event name must follow the same rules as C identifiers",
	1, 10},
    {"e:x synthetic.nosuch", -ENODEV, NULL, "Attached event does not exist", 1, 0},
    {"e:x nosuch.src", -ENODEV, NULL, "Attached event does not exist", 1, 0},
    {"e:x ftrace.print", -ENODEV, NULL, "Attached event does not exist", 1, 0},
    {"e:x kprobes.k", -ENODEV, NULL, "Attached event does not exist", 1, 0},
    {"e:x eprobes.e", -ENODEV, NULL, "Attached event does not exist", 1, 0},
    {"e:x synthetic.src if", -EINVAL, NULL, "No filter rule after 'if'", 3, 0},
    {"e:x synthetic.src $a if", -EINVAL, NULL, "No filter rule after 'if'", 4, 0},
    {"e:x synthetic.src $nosuch", -ENOENT, NULL, "Attached event does not have this field", 2, 0},
    {"e:x synthetic.src y=+0($nosuch)", -ENOENT, NULL, "Attached event does not have this field", 2,
	0},
    {"e:x synthetic.src $a p=$common_pid", -ENOENT, NULL, "Attached event does not have this field",
	3, 0},
    {"e:x synthetic.src $arg1", -ENOENT, NULL, "Attached event does not have this field", 2, 0},
    {"e:x synthetic.src $stack", -ENOENT, NULL, "Attached event does not have this field", 2, 0},
    {"e:x synthetic.src $retval", -ENOENT, NULL, "Attached event does not have this field", 2, 0},
    {"e:x synthetic.src y=%ax", -EINVAL, NULL, "Invalid $-variable specified", 2, 2},
    {"e:x synthetic.src y=+0(%ax)", -EINVAL, NULL, "Invalid $-variable specified", 2, 5},
    {"e:x synthetic.src y=%ax", -EINVAL, NULL, "Invalid fetch argument", 2, 2},
    {"e:x synthetic.src y=+0(%ax)", -EINVAL, NULL, "Invalid fetch argument", 2, 5},
    {"e:x synthetic.src @nosuch_symbol", -ENOENT, NULL, NULL, 0, 0},
    {"e:x synthetic.src y=a", -EINVAL, NULL, "Invalid fetch argument", 2, 2},
    {"e:x synthetic.src y=$nosuch:u128", -EINVAL, NULL, "Unknown type is specified", 2, 10},
    {"e:x synthetic.src $a:string[2]", -EINVAL, NULL, "String accepts only memory argument", 2, 3},
    {"e:x synthetic.src y=$a y=$b", -EINVAL, NULL, "This argument name is already used", 3, 0},
    {"e:x synthetic.src __probe_ip=$a", -EINVAL, NULL, "This argument name is already used", 2, 0},
    {"e:synthetic/src synthetic.src", -EEXIST, NULL,
	"Given group/event name is already used by another event", 0, 0},
};

static u32 caret_of(const char *text, int word, int pos)
{
	u32 at = 0, n = strlen(text);

	for (int i = 0; i < word && at < n; i++)
		at += strcspn(text + at, " ") + 1;
	return word && at > n ? n + 1 : at + pos;
}

static void expect_error(unsigned i)
{
	const char *log = trace_get("error_log", NULL);
	char wanted[256];

	if (!definitions[i].message) {
		EXPECT_STR(log, "");
		return;
	}
	snprintf(wanted, sizeof(wanted), "] event_probe: error: %s\n  Command: %s\n%*s^\n",
	    definitions[i].message, definitions[i].text,
	    11 + caret_of(definitions[i].text, definitions[i].word, definitions[i].pos), "");
	if (!strstr(log, wanted))
		ktap_fail(__FILE__, __LINE__, "%s: %s", definitions[i].text, log);
}

static void define(void)
{
	begin();
	EXPECT_EQ(trace_append(EVENTS, "p:k do_mkdirat"), 0);
	EXPECT_EQ(trace_append(EVENTS, "e:e synthetic.src"), 0);
	const size_t before = strlen(trace_get(EVENTS, NULL));
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++) {
		typeof(&definitions[0]) d = &definitions[i];
		char line[128];
		EXPECT_EQ(trace_put("error_log", ""), 0);
		int err = trace_append(EVENTS, d->text);
		if (err != d->err)
			ktap_note("%s", d->text);
		EXPECT_EQ(err, d->err);
		expect_error(i);
		snprintf(
		    line, sizeof(line), "%s%s", d->listed ? d->listed : "", d->listed ? "\n" : "");
		EXPECT_STR(trace_get(EVENTS, NULL) + before, line);
		if (err)
			continue;
		char *space = strchr(line, ' ');
		line[0] = '-';
		*space = '\0';
		EXPECT_EQ(trace_append(EVENTS, line), 0);
	}
	end();
}

/* The filter is one of the probed event, and refused as such. */
static void bad_filter(void)
{
	begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src y=$a if y  > 5"), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL),
	    "] event filter parse error: error: Field not found\n  Command: y > 5\n"));
	EXPECT(!strstr(trace_get("error_log", NULL), "event_probe"));
	EXPECT(!strstr(trace_get(EVENTS, NULL), "e:"));
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src"), 0);
	end();
}

/* What is listed, less the newline, makes the same event; names have their limits. */
static void limits(void)
{
	static char line[4200], name[70];
	char first[128];

	begin();
	memset(name, 'n', sizeof(name));
	for (int n = 62; n <= 64; n++) {
		snprintf(line, sizeof(line), "e:%.*s synthetic.src", n, name);
		EXPECT_EQ(trace_append(EVENTS, line), n <= 63 ? 0 : -EINVAL);
		snprintf(line, sizeof(line), "e:%.*s/x synthetic.src", n, name);
		EXPECT_EQ(trace_append(EVENTS, line), n <= 63 ? 0 : -EINVAL);
	}
	for (unsigned n = 127; n <= 129; n++) {
		size_t at = snprintf(line, sizeof(line), "e:many%u synthetic.src", n);
		for (unsigned i = 0; i < n; i++)
			at += snprintf(line + at, sizeof(line) - at, " f%u=$a:u8", i);
		EXPECT_EQ(trace_append(EVENTS, line), 0);
		snprintf(line, sizeof(line), "events/eprobes/many%u/format", n);
		const char *format = trace_get(line, NULL);
		EXPECT(strstr(format, "field:u8 f126;\toffset:134;"));
		EXPECT(!strstr(format, "field:u8 f127;") == (n < 128));
		EXPECT(!strstr(format, "field:u8 f128;"));
	}
	EXPECT_EQ(trace_append(EVENTS, "-:eprobes/"), 0);
	for (int n = 62; n <= 63; n++) {
		snprintf(line, sizeof(line), "-:%.*s/", n, name);
		EXPECT_EQ(trace_append(EVENTS, line), 0);
	}
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic/src $a y=+8($b):string $d:string"), 0);
	strscpy(first, strstr(trace_get(EVENTS, NULL), "e:"), sizeof(first));
	EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	EXPECT_EQ(trace_append(EVENTS, first), 0);
	EXPECT_STR(strstr(trace_get(EVENTS, NULL), "e:"), first);
	end();
}

static void random_lines(void)
{
	static const char *const pieces[] = {"e:", "x", " ", "synthetic.src", "$a", "$s", "y=", "=",
	    ":string", ":u8", "[3]", "+0(", ")", "(", " if ", "a > 5", "/", ".", "\\", "\"",
	    "$comm", "@", ":b4@4/32", "%ax", "&&", "unit/unit_text"};
	u64 seed = host_clock();
	char line[256];

	begin();
	ktap_note("seed %lu", seed);
	for (unsigned i = 0; i < 3000; i++) {
		size_t at = snprintf(line, sizeof(line), "e:r synthetic.src ");
		for (unsigned k = prng_next(&seed) % 8; k > 0; k--)
			at += snprintf(line + at, sizeof(line) - at, "%s",
			    pieces[(prng_next(&seed) >> 8) % ARRAY_SIZE(pieces)]);
		int err = trace_append(EVENTS, line);
		const char *made = strstr(trace_get(EVENTS, NULL), "\ne:");
		if (!err != !!made)
			ktap_fail(__FILE__, __LINE__, "%d: %s", err, line);
		if (!err) {
			EXPECT_EQ(trace_put("events/eprobes/enable", "1"), 0);
			trace_put("events/synthetic/src/inject", "a=9 s=\"text\" b=5 d=\"more\"");
			trace_get("trace", NULL);
			EXPECT_EQ(trace_put("events/eprobes/enable", "0"), 0);
			EXPECT_EQ(trace_append(EVENTS, "-:eprobes/"), 0);
		}
	}
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src"), 0);
	end();
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

static void format(void)
{
	begin();
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
	end();
}

static void synthetic_values(void)
{
	begin();
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
	end();
}

/* Every kind of field there is, in a record made by hand. */
static void field_kinds(void)
{
	static const char text[] = "pointed at";
	struct filter_sample rec = {.s8 = -2,
	    .u8 = 254,
	    .s16 = -300,
	    .u32 = 0xfffffffe,
	    .s64 = -5,
	    .u64 = (u64)text,
	    .name = "abc",
	    .ptr = text,
	    .numbers = {11, -12, 13}};
	const char *line;

	begin();
	memcpy(rec.tight, "full", 4);
	filter_sample_set(&rec, "dynamic", 8, "relative", 9, 3);
	host_lock();
	EXPECT_EQ(trace_event_register(&filter_sample_call), 0);
	host_unlock();
	char def[300];
	snprintf(def, sizeof(def),
	    "e:k %s.%s a=$s8:s32 b=$u8:u8 c=$s16:s32 d=$u32 e=$s64:s64 f=$name:string "
	    "g=$tight:string h=$dyn:string i=$rel:string j=$ptr:string k=+0($u64):string "
	    "l=+0($u64):u8 m=+4($ptr):string n=+2($name):string",
	    filter_sample_call.class->system, filter_sample_call.name);
	EXPECT_EQ(trace_append(EVENTS, def), 0);
	EXPECT_EQ(trace_put("events/eprobes/enable", "1"), 0);
	struct trace_event_file *file = trace_event_file_of(trace_global, &filter_sample_call);
	host_lock();
	EXPECT_EQ(trace_inject(file, &rec, sizeof(rec)), 0);
	host_unlock();
	char wanted[300];
	snprintf(wanted, sizeof(wanted),
	    "k: (%s.%s) a=-2 b=254 c=-300 d=0xfffffffe e=-5 f=\"abc\" g=\"full\" h=\"dynamic\" "
	    "i=\"relative\" j=\"pointed at\" k=\"pointed at\" l=112 m=\"ted at\" n=\"c\"",
	    filter_sample_call.class->system, filter_sample_call.name);
	line = trace_nth_event(0);
	EXPECT_STR(line, wanted);
	/* Strings that point outside the record, and a record that ends before its fields. */
	rec.dyn = 50000 | 10 << 16;
	rec.rel = 0xffffffff;
	rec.ptr = NULL;
	host_lock();
	EXPECT_EQ(trace_inject(file, &rec, sizeof(rec)), 0);
	EXPECT_EQ(trace_inject(file, &rec, 10), 0);
	host_unlock();
	EXPECT(strstr(
	    trace_nth_event(1), " g=\"full\" h=(fault) i=(fault) j=(fault) k=\"pointed at\""));
	EXPECT(
	    strstr(trace_nth_event(2), "a=-2 b=254 c=0 d=0x0 e=0 f=(fault) g=(fault) h=(fault)"));
	EXPECT_EQ(trace_put("events/eprobes/enable", "0"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:k"), 0);
	EXPECT_EQ(trace_append(EVENTS, "e:k synthetic.src"), 0);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&filter_sample_call), 0);
	host_unlock();
	end();
}

/* A static event, through its tracepoint. */
static void static_event(void)
{
	begin();
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
	end();
}

/* ---- the probed event, and other users of either ------------------------------------------------------------------------- */

static void inject(int a)
{
	char line[32];

	snprintf(line, sizeof(line), "a=%d", a);
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

	begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src $a if a > 5"), 0);
	EXPECT_STR(trace_get(enable, NULL), "0\n");
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	EXPECT_STR(trace_get(enable, NULL), "0*\n");
	EXPECT_STR(trace_get("events/synthetic/src/trigger", NULL), "");
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
	end();
}

/* Whoever is needed does not go. */
static void busy(void)
{
	begin();
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
    {"-:x unit.unit_text", -ENOENT, "xyz"},
    {"-:x synthetic.src y=$a", 0, "yz"},
    {"-:x synthetic.src y=$a z=$b", 0, "yz"},
    {"-:x synthetic.src y=$a z=$b w=$b", -ENOENT, "xyz"},
    {"-:x synthetic.src z=$b", -ENOENT, "xyz"},
    {"-:eprobes/ unit.unit_text", 0, "xz"},
};

static void removal(void)
{
	begin();
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

/* Each instance has its own switch, and its own records; one that goes takes its feeds along, whoever needs them. */
static void instances(void)
{
	struct trace_array *tr;

	begin();
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

/* Triggers that need no record, or only its numbers, get what they need whether there is a probe or not. */
static void beside_triggers(void)
{
	static const char trigger[] = "events/unit/unit_numbers/trigger";

	begin();
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
	end();
}

/* All at once, in whatever order that is. */
static void everything(void)
{
	begin();
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
	end();
}

static const struct ktap_case cases[] = {
    {"event_probe.define", define},
    {"event_probe.bad_filter", bad_filter},
    {"event_probe.limits", limits},
    {"event_probe.random_lines", random_lines},
    {"event_probe.format", format},
    {"event_probe.synthetic_values", synthetic_values},
    {"event_probe.field_kinds", field_kinds},
    {"event_probe.static_event", static_event},
    {"event_probe.soft", soft},
    {"event_probe.busy", busy},
    {"event_probe.removal", removal},
    {"event_probe.instances", instances},
    {"event_probe.beside_triggers", beside_triggers},
    {"event_probe.everything", everything},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_event_probe = {cases};
