/*
 * Histograms: what a command may say, how it is shown and typed in again, how errors look, what is counted. On events that are
 * injected, so that every number is known.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace_tools.h"
#include "trace/hist.h"
#include "trace/synth.h"

#define EV	"events/synthetic/ev"
#define TRIGGER EV "/trigger"
#define NONE	"# Available triggers:\n"

static void begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events",
		      "ev int aa; u64 bb; s8 cc; char str[8]; char dyn[]; u64 ip"),
	    0);
	EXPECT_EQ(trace_append("synthetic_events", "oth int aa; u64 bb; char str[8]"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "out int r"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "lat u64 delta; int id"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "names char s[8]; char d[]"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put("events/synthetic/oth/trigger", ""), 0);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0); /* what needed oth's variables is gone now */
	EXPECT_EQ(trace_put("events/synthetic/oth/trigger", ""), 0);
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT(list_empty(&hists));
	trace_fresh();
}

static void hit(const char *line)
{
	EXPECT_EQ(trace_put(EV "/inject", line), 0);
}

static void hit_other(const char *line)
{
	EXPECT_EQ(trace_put("events/synthetic/oth/inject", line), 0);
}

/* The lines of a hist file between the blank ones: entries and what belongs to them. */
static const char *entries_of(const char *path)
{
	static char text[8192];
	const char *all = trace_get(path, NULL), *start = strstr(all, "#\n\n");
	const char *stop = start ? strstr(start, "\n\nTotals:") : NULL;

	if (!stop)
		return all;
	start += 3;
	size_t n = stop > start ? (size_t)(stop - start + 1) : 0;
	n = MIN(n, sizeof(text) - 1);
	memcpy(text, start, n);
	text[n] = '\0';
	return text;
}

static const char *entries(void)
{
	return entries_of(EV "/hist");
}

static void expect_totals(const char *path, unsigned hits, unsigned n, unsigned dropped)
{
	char wanted[80];
	const char *text = trace_get(path, NULL), *totals = strstr(text, "\nTotals:");

	snprintf(wanted, sizeof(wanted),
	    "\nTotals:\n    Hits: %u\n    Entries: %u\n    Dropped: %u\n", hits, n, dropped);
	EXPECT_STR(totals ? totals : "", wanted);
}

/* ---- the command ---------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *command, *shown;
} commands[] = {
    {"hist:keys=aa", "hist:keys=aa:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:key=aa:val=bb", "hist:keys=aa:vals=hitcount,bb:sort=hitcount:size=2048"},
    {"hist:vals=bb,hitcount:keys=aa,cc",
	"hist:keys=aa,cc:vals=hitcount,bb:sort=hitcount:size=2048"},
    {"hist:keys=aa,bb,cc:values=aa,bb",
	"hist:keys=aa,bb,cc:vals=hitcount,aa,bb:sort=hitcount:size=2048"},
    {"hist:keys=aa.hex:vals=bb.hex:sort=bb.descending,aa",
	"hist:keys=aa.hex:vals=hitcount,bb.hex:sort=bb.hex.descending,aa.hex:size=2048"},
    {"hist:keys=aa:sort=hitcount.descending",
	"hist:keys=aa:vals=hitcount:sort=hitcount.descending:size=2048"},
    {"hist:keys=aa:sort=aa.ascending:size=200", "hist:keys=aa:vals=hitcount:sort=aa:size=256"},
    {"hist:keys=bb.log2,aa.buckets=10:sort=aa",
	"hist:keys=bb.log2,aa.buckets=10:vals=hitcount:sort=aa.buckets=10:size=2048"},
    {"hist:keys=aa.bucket=5", "hist:keys=aa.buckets=5:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=bb.buckets=32",
	"hist:keys=aa:vals=hitcount,bb.buckets=32:sort=hitcount:size=2048"},
    {"hist:keys=ip.sym,bb.syscall",
	"hist:keys=ip.sym,bb.syscall:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=ip.sym-offset:sort=ip",
	"hist:keys=ip.sym-offset:vals=hitcount:sort=ip.sym-offset:size=2048"},
    {"hist:keys=common_pid.execname",
	"hist:keys=common_pid.execname:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=common_cpu", "hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=cpu", "hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=stacktrace", "hist:keys=stacktrace:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=str,dyn", NULL /* more than a key may have: see limits */},
    {"hist:keys=str", "hist:keys=str:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=dyn", "hist:keys=dyn:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=aa+cc", "hist:keys=aa+cc:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=bb.percent",
	"hist:keys=aa:vals=hitcount,bb.percent:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=bb.graph", "hist:keys=aa:vals=hitcount,bb.graph:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=bb", "hist:keys=aa:vals=hitcount:xx=bb:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=bb,yy=aa-cc:zz=5",
	"hist:keys=aa:vals=hitcount:xx=bb,yy=aa-cc,zz=5:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=2*3+4", "hist:keys=aa:vals=hitcount:xx=10:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=bb*2/3-1", "hist:keys=aa:vals=hitcount:xx=bb*2/3-1:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=-(bb)", "hist:keys=aa:vals=hitcount:xx=-(bb):sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=-(bb+cc)", "hist:keys=aa:vals=hitcount:xx=-(bb+cc):sort=hitcount:size=2048"},
    {"hist:keys=$xx:xx=aa", "hist:keys=aa:vals=hitcount:xx=aa:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=common_timestamp.usecs", "hist:keys=aa:vals=hitcount:xx=common_timestamp."
					       "usecs:sort=hitcount:size=2048:clock=global"},
    {"hist:keys=aa:xx=common_timestamp:clock=mono",
	"hist:keys=aa:vals=hitcount:xx=common_timestamp:sort=hitcount:size=2048:clock=mono"},
    {"hist:name=foo:keys=aa", "hist:name=foo:keys=aa:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=bb:onmax($xx).save(cc,str)",
	"hist:keys=aa:vals=hitcount:xx=bb:sort=hitcount:size=2048:onmax($xx).save(cc,str)"},
    {"hist:keys=aa:xx=aa:onchange($xx).trace(out,$xx)",
	"hist:keys=aa:vals=hitcount:xx=aa:sort=hitcount:size=2048:onchange($xx).trace(out,$xx)"},
    {"hist:keys=aa:xx=aa:onchange($xx).out($xx)",
	"hist:keys=aa:vals=hitcount:xx=aa:sort=hitcount:size=2048:onchange($xx).out($xx)"},
    {"hist:keys=aa:xx=bb:onmax($xx).snapshot()",
	"hist:keys=aa:vals=hitcount:xx=bb:sort=hitcount:size=2048:onmax($xx).snapshot()"},
    {"hist:keys=aa if bb > 5", "hist:keys=aa:vals=hitcount:sort=hitcount:size=2048 if bb > 5"},
};

static void shows(void)
{
	char before[512];

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!commands[i].shown)
			continue;
		int err = trace_put(TRIGGER, commands[i].command);
		if (err)
			ktap_note("row %u: %s: %d", i, commands[i].command, err);
		snprintf(before, sizeof(before), "%s [active]\n", commands[i].shown);
		EXPECT_STR(trace_get(TRIGGER, NULL), before);
		/* Typed in again it shows the same. */
		EXPECT_EQ(trace_put(TRIGGER, commands[i].shown), 0);
		EXPECT_STR(trace_get(TRIGGER, NULL), before);
		/* A variable can be there but once; that is found first, as on Linux. */
		EXPECT_EQ(trace_append(TRIGGER, commands[i].shown),
		    strstr(commands[i].shown, ":xx=") ? -EINVAL : -EEXIST);
		/* And goes by the same words. */
		snprintf(before, sizeof(before), "!%s", commands[i].shown);
		EXPECT_EQ(trace_append(TRIGGER, before), 0);
		EXPECT(str_has_prefix(trace_get(TRIGGER, NULL), NONE));
	}
	end();
}

/* ---- what is refused --------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *command;
	int err;
	const char *message; /* the last of error_log; NULL: none */
	int caret;
} refused[] = {
    {"hist", -EINVAL, NULL, 0},
    {"hist:", -EINVAL, NULL, 0},
    {"hist:aa", -EINVAL, NULL, 0},
    {"hist:vals=aa", -EINVAL, NULL, 0},
    {"hist:keys=", -EINVAL, "Empty assignment", 5},
    {"hist:keys=nosuch", -EINVAL, "Couldn't find field", 10},
    {"hist:keys=aa.nosuch", -EINVAL, "Invalid field modifier", 13},
    {"hist:keys=aa.execname", -EINVAL, "Invalid field modifier", 13},
    {"hist:keys=aa.percent", -EINVAL, "Invalid field modifier", 13},
    {"hist:keys=aa.buckets=0", -EINVAL, "Invalid field modifier", 21},
    {"hist:keys=aa.buckets", -EINVAL, "Invalid field modifier", 0},
    {"hist:keys=aa,bb,cc,aa", -EINVAL, NULL, 0},
    {"hist:keys=aa:vals=aa,bb,cc", -EINVAL, NULL, 0},
    {"hist:keys=aa:vals=bb.log2", -EINVAL, "Invalid field modifier", 18},
    {"hist:keys=aa:vals=ip.sym", -EINVAL, "Invalid field modifier", 18},
    {"hist:keys=aa:xx=bb.log2", -EINVAL, "Invalid field modifier", 16},
    {"hist:keys=aa:sort=", -EINVAL, "Empty assignment", 13},
    {"hist:keys=aa:sort=bb", -EINVAL, "Sort field must be a key or a val", 18},
    {"hist:keys=aa:sort=aa,", -EINVAL, "Empty sort field", 13},
    {"hist:keys=aa:sort=.descending", -EINVAL, "Empty sort field", 13},
    {"hist:keys=aa:sort=aa.up", -EINVAL, "Invalid sort modifier", 21},
    {"hist:keys=aa:sort=aa,aa,aa", -EINVAL, "Too many sort fields (Max = 2)", 13},
    {"hist:keys=aa:size=64", -EINVAL, NULL, 0},
    {"hist:keys=aa:size=131073", -EINVAL, NULL, 0},
    {"hist:keys=aa:size=x", -EINVAL, NULL, 0},
    {"hist:keys=aa:size=99999999999999999999", -ERANGE, NULL, 0},
    {"hist:keys=aa:xx=", -EINVAL, "Empty assignment", 13},
    {"hist:keys=aa:xx=bb,yy", -EINVAL, "Malformed assignment", 19},
    {"hist:keys=aa:xx=bb,xx=cc", -EINVAL, "Variable already defined", 13},
    {"hist:keys=$xx", -EINVAL, "Couldn't find field", 10},
    {"hist:keys=aa:xx=bb+str", -EINVAL, "String type can not be an operand in expression", 19},
    {"hist:keys=aa:xx=aa-bb-aa-bb-aa", -EINVAL, "Too many subexpressions (3 max)", 10},
    {"hist:keys=aa:xx=bb/0", -EDOM, "Division by zero", 19},
    {"hist:keys=aa:xx=5x", -EINVAL, "Expecting numeric literal", 16},
    {"hist:keys=aa:xx=-bb", -EINVAL, NULL, 0},
    {"hist:keys=aa:xx=-(bb)+cc", -EINVAL, "Unary minus not supported in sub-expressions", 18},
    {"hist:keys=aa:xx=aa+", -EINVAL, NULL, 0},
    {"hist:keys=aa:xx=common_timestamp-common_timestamp.usecs", -EINVAL,
	"Timestamp units in expression don't match", 0},
    {"hist:keys=aa:vals=common_timestamp:clock=nosuch", -EINVAL, "Couldn't set trace_clock", 41},
    {"hist:keys=aa:cont", -ENOENT, "Can't clear or continue a nonexistent hist trigger", 0},
    {"hist:keys=aa:onmax(xx)", -EINVAL, "No action found", 0},
    {"hist:keys=aa:onmax(xx).save(bb)", -EINVAL,
	"For onmax(x) or onchange(x), x must be a variable", 19},
    {"hist:keys=aa:onmax($xx).save(bb)", -EINVAL, "Couldn't find onmax or onchange variable", 20},
    {"hist:keys=aa:xx=bb:onmax($xx).save(b)", -EINVAL, "Invalid action param", 16},
    {"hist:keys=aa:xx=bb:onmax($xx).save(bb).", 0, NULL, 0},
    {"hist:keys=aa:xx=bb:onmax($xx).snapshot(", -EINVAL, "No closing paren found", 0},
    {"hist:keys=aa:xx=bb:onmax($xx).nosuch(bb)", -EINVAL, "Couldn't find synthetic event", 30},
    {"hist:keys=aa:xx=bb:onmax($xx).trace(out,bb)", -EINVAL,
	"Param type doesn't match synthetic event field type", 16},
    {"hist:keys=aa:xx=bb:onmax($xx).trace(lat,bb)", -EINVAL,
	"Param count doesn't match synthetic event field count", 36},
    {"hist:keys=aa:xx=bb:onmax($xx).trace(lat,$nosuch,aa)", -EINVAL, "Couldn't find param", 41},
    {"hist:keys=aa:onmatch(synthetic.oth", -EINVAL, "No closing paren found", 21},
    {"hist:keys=aa:onmatch(oth).trace(out,aa)", -EINVAL, "Missing subsystem", 21},
    {"hist:keys=aa:onmatch(synthetic.nosuch).trace(out,aa)", -EINVAL,
	"Invalid subsystem or event name", 31},
    {"hist:keys=aa:onmatch(synthetic.oth).save(aa)", -EINVAL, "Handler doesn't support action", 36},
    {"hist:keys=aa:onmatch(synthetic.oth).trace(names,str,nosuch)", -EINVAL,
	"Matching event histogram not found", 52},
    {"hist:keys=aa if nosuch > 5", -EINVAL, NULL, 0},
    {"hist:keys=aa if", -EINVAL, NULL, 0},
};

static void refuses(void)
{
	char caret[120];

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		EXPECT_EQ(trace_put("error_log", ""), 0);
		int err = trace_append(TRIGGER, refused[i].command);
		const char *log = trace_get("error_log", NULL);
		if (err != refused[i].err ||
		    (refused[i].message && !strstr(log, refused[i].message)))
			ktap_note("row %u: %s\n%s", i, refused[i].command, log);
		EXPECT_EQ(err, refused[i].err);
		if (!refused[i].message) {
			EXPECT_STR(log, "");
		} else {
			EXPECT(strstr(log, refused[i].message));
			snprintf(caret, sizeof(caret), "\n%*s^\n", 11 + refused[i].caret, "");
			size_t n = strlen(log), m = strlen(caret);
			if (n < m || strcmp(log + n - m, caret))
				ktap_fail(__FILE__, __LINE__, "row %u: caret: %s", i, log);
		}
		if (!err)
			EXPECT_EQ(trace_put(TRIGGER, ""), 0);
		EXPECT(str_has_prefix(trace_get(TRIGGER, NULL), NONE));
		EXPECT(list_empty(&hists));
	}
	end();
}

/* ---- counting ---------------------------------------------------------------------------------------------------------------- */

static void counts(void)
{
	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:vals=bb,cc:sort=aa"), 0);
	hit("aa=-5 bb=10 cc=-1");
	hit("aa=7 bb=18446744073709551615 cc=1");
	hit("aa=7 bb=3 cc=2");
	EXPECT_STR(entries(),
	    "{ aa: 18446744073709551611 } hitcount:          1  bb:         10  cc: "
	    "18446744073709551615\n"
	    "{ aa:          7 } hitcount:          2  bb:          2  cc:          3\n");
	expect_totals(EV "/hist", 3, 2, 0);
	end();
}

static void compound_keys(void)
{
	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa,str,cc:sort=aa,cc.descending"), 0);
	hit("aa=1 str=\"x\" cc=1");
	hit("aa=1 str=\"x\" cc=2");
	hit("aa=0 str=\"y\" cc=-3");
	hit("aa=1 str=\"x\" cc=1");
	EXPECT_STR(entries(), "{ aa:          0, str: y                                            "
			      "     , cc: 18446744073709551613 } hitcount:          1\n"
			      "{ aa:          1, str: x                                            "
			      "     , cc:          2 } hitcount:          1\n"
			      "{ aa:          1, str: x                                            "
			      "     , cc:          1 } hitcount:          2\n");
	end();
}

/* Strings of every length, and order among them. */
static void string_keys(void)
{
	char line[320], text[256];

	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=dyn:sort=dyn"), 0);
	for (unsigned n = 0; n < 256; n += 85) {
		memset(text, 'a' + n / 85, n);
		text[n] = '\0';
		snprintf(line, sizeof(line), "dyn=\"%s\"", text);
		hit(line);
		hit(line);
	}
	expect_totals(EV "/hist", 8, 4, 0);
	EXPECT(str_has_prefix(entries(), "{ dyn:                                                   "
					 " } hitcount:          2\n{ dyn: bbb"));
	EXPECT(strstr(entries(), "ddd } hitcount:          2\n"));
	end();
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

/* A string whose place is counted from behind its field. */
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
	EXPECT(str_has_prefix(entries_of("events/relative/ev/hist"), "{ text: behind  "));
	EXPECT(
	    strstr(entries_of("events/relative/ev/hist"), "hitcount:          2  n:          7\n"));
	EXPECT_EQ(trace_put("events/relative/ev/trigger", ""), 0);
	host_lock();
	EXPECT_EQ(trace_event_unregister(&call), 0);
	host_unlock();
	trace_fresh();
}

static void modifiers(void)
{
	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb.log2,cc.buckets=10,aa.hex:sort=bb"), 0);
	hit("bb=0 cc=9 aa=255");
	hit("bb=9223372036854775809 cc=19 aa=-1");
	EXPECT_STR(entries(),
	    "{ bb: ~ 2^0 , cc: ~ 0-9, aa: ff } hitcount:          1\n"
	    "{ bb: ~ 2^64, cc: ~ 10-19, aa: ffffffffffffffff } hitcount:          1\n");
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb.syscall:sort=bb"), 0);
	hit("bb=0");
	hit("bb=39");
	hit("bb=9999");
	EXPECT_STR(entries(),
	    "{ bb: sys_read                      [  0] } hitcount:          1\n"
	    "{ bb: sys_getpid                    [ 39] } hitcount:          1\n"
	    "{ bb: unknown_syscall               [9999] } hitcount:          1\n");
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=ip.sym-offset"), 0);
	hit("ip=5");
	/* Address and name in 55 columns, whatever the name is here. */
	const char *line = entries();
	EXPECT(str_has_prefix(line, "{ ip: [5] ") &&
	       strstr(line, " } hitcount:          1\n") == line + 65);
	end();
}

static void values_as_shares(void)
{
	begin();
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:vals=bb.percent,cc.graph:sort=bb.descending"), 0);
	hit("aa=1 bb=30 cc=30");
	hit("aa=2 bb=60 cc=60");
	hit("aa=3 bb=7 cc=7");
	hit("aa=4 bb=0 cc=0");
	EXPECT_STR(entries(),
	    "{ aa:          2 } hitcount:          1  bb (%):  61.85  cc: ####################\n"
	    "{ aa:          1 } hitcount:          1  bb (%):  30.92  cc: ##########          \n"
	    "{ aa:          3 } hitcount:          1  bb (%):   7.21  cc: ##                  \n"
	    "{ aa:          4 } hitcount:          1  bb (%):   0.00  cc:                     \n");
	end();
}

/* Many entries come out in order, whatever order they went in. */
static void sorts(void)
{
	char line[40];
	u64 last = 0, n = 0;

	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=bb:sort=bb:size=1024"), 0);
	for (u64 i = 0, v = 1; i < 700; i++, v = v * 5 % 1009) {
		snprintf(line, sizeof(line), "bb=%lu", v * 1000003);
		hit(line);
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
	end();
}

static void drops(void)
{
	char line[40];

	begin();
	for (unsigned size = 65; size <= 129; size += 32) {
		unsigned room = size <= 128 ? 128 : 256;
		snprintf(line, sizeof(line), "hist:keys=aa:size=%u", size);
		EXPECT_EQ(trace_put(TRIGGER, line), 0);
		for (unsigned i = 0; i <= room + 1; i++) {
			snprintf(line, sizeof(line), "aa=%u", i);
			hit(line);
		}
		expect_totals(EV "/hist", room, room, 2);
	}
	end();
}

static void pauses(void)
{
	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:pause"), 0);
	EXPECT(strstr(trace_get(TRIGGER, NULL), " [paused]\n"));
	hit("aa=1");
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:continue"), 0);
	hit("aa=2");
	expect_totals(EV "/hist", 1, 1, 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:pause"), 0);
	hit("aa=2");
	expect_totals(EV "/hist", 1, 1, 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa:clear"), 0);
	EXPECT(strstr(trace_get(TRIGGER, NULL), " [paused]\n"));
	expect_totals(EV "/hist", 0, 0, 0);
	end();
}

/* Several on one event, each by its filter; a filter is part of what a hist is. */
static void filters(void)
{
	begin();
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa if bb > 5"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa if str == \"x\""), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=aa if bb > 5"), -EEXIST);
	hit("aa=1 bb=6");
	hit("aa=1 bb=5 str=\"x\"");
	hit("aa=2 bb=7 str=\"x\"");
	const char *text = trace_get(EV "/hist", NULL);
	const char *second = strstr(text, "\n\n\n# event histogram\n");
	EXPECT(strstr(text, "Hits: 2") && second && strstr(second, "Hits: 2") &&
	       strstr(second, "Hits: 3"));
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa if bb > 6"), 0); /* none such */
	EXPECT_EQ(trace_append(TRIGGER, "!hist:keys=aa if bb > 5"), 0);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "bb > 5"));
	end();
}

static void named(void)
{
	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_put("events/synthetic/oth/trigger", "hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_append("events/synthetic/oth/trigger", "hist:name=both:keys=aa"), -EINVAL);
	hit("aa=1 bb=10");
	hit_other("aa=1 bb=5");
	EXPECT_STR(entries(), "{ aa:          1 } hitcount:          2  bb:         15\n");
	EXPECT_EQ(trace_append(TRIGGER, "hist:name=both:keys=aa:vals=bb:pause"), 0);
	hit("aa=1 bb=10");
	hit_other("aa=1 bb=5");
	/* It outlives the event it came with. */
	EXPECT_EQ(trace_append(TRIGGER, "!hist:name=both:keys=aa:vals=bb"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!ev"), 0);
	hit_other("aa=1 bb=5");
	EXPECT_STR(entries_of("events/synthetic/oth/hist"),
	    "{ aa:          1 } hitcount:          4  bb:         25\n");
	EXPECT_EQ(trace_append("synthetic_events", "ev int aa"), 0);
	end();
}

/* ---- variables, handlers, actions ------------------------------------------------------------------------------------------------ */

#define OTHER "events/synthetic/oth/trigger"

static void references(void)
{
	begin();
	EXPECT_EQ(trace_put(OTHER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:vals=bb"), 0);
	EXPECT_EQ(trace_append(OTHER, "!hist:keys=aa:t0=bb"), -EBUSY);
	hit_other("aa=1 bb=100");
	hit("aa=2 bb=1"); /* no value under this key: not counted */
	hit("aa=1 bb=150");
	hit("aa=1 bb=160"); /* it was used up */
	EXPECT_STR(entries(), "{ aa:          1 } hitcount:          1  bb:        150\n");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_append(OTHER, "!hist:keys=aa:t0=bb"), 0);
	end();
}

/* Variables beside sums, of an event that is off: its record is never built. */
static void variables_without_record(void)
{
	static const char numbers[] = "events/unit/unit_numbers",
			  other[] = "events/unit2/unit_tail";
	char path[64], text[256];

	trace_fresh();
	snprintf(path, sizeof(path), "%s/trigger", numbers);
	EXPECT_EQ(trace_put(path, "hist:keys=d:vals=c,b:xx=b,tt=common_timestamp,nn=a"), 0);
	snprintf(path, sizeof(path), "%s/trigger", other);
	EXPECT_EQ(trace_put(path, "hist:keys=wide:yy=$xx,zz=$nn,dt=common_timestamp-$tt:"
				  "onchange($yy).save(tail):onmax($dt).snapshot()"),
	    0);
	trace_unit_numbers(-3, 500, 7, 42);
	trace_unit_numbers(-3, 501, 8, 42);
	trace_unit_tail(42, 5);
	trace_unit_tail(43, 6); /* no variables under this key */
	snprintf(path, sizeof(path), "%s/hist", numbers);
	EXPECT_STR(entries_of(path),
	    "{ d:         42 } hitcount:          2  c:         15  b:       1001\n");
	snprintf(path, sizeof(path), "%s/hist", other);
	snprintf(text, sizeof(text), "%s", entries_of(path));
	EXPECT(str_has_prefix(text,
	    "{ wide:         42 } hitcount:          1\n\tchanged:        501  tail:          5"));
	EXPECT(!strstr(text, "{ wide:         43"));
	snprintf(path, sizeof(path), "%s/trigger", other);
	EXPECT_EQ(trace_put(path, ""), 0);
	snprintf(path, sizeof(path), "%s/trigger", numbers);
	EXPECT_EQ(trace_put(path, ""), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

static void matches(void)
{
	begin();
	EXPECT_EQ(trace_put(OTHER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(
	    trace_put(TRIGGER, "hist:keys=aa:dd=bb-$t0:onmatch(synthetic.oth).trace(lat,$dd,aa)"),
	    0);
	EXPECT_EQ(trace_append("synthetic_events", "!lat"), -EBUSY);
	EXPECT_EQ(trace_put("events/synthetic/lat/enable", "1"), 0);
	hit_other("aa=1 bb=100");
	hit("aa=1 bb=150");
	hit("aa=1 bb=170");
	hit_other("aa=2 bb=7");
	hit("aa=2 bb=5");
	EXPECT_STR(trace_nth_event(0), "lat: delta=50 id=1");
	EXPECT_STR(trace_nth_event(1), "lat: delta=18446744073709551614 id=2");
	EXPECT_STR(trace_nth_event(2), "");
	EXPECT_EQ(trace_put("events/synthetic/lat/enable", "0"), 0);
	end();
}

/* A field of the matched event becomes a variable there, in a histogram of its own, which goes with the one that needs it. */
static void matched_fields(void)
{
	begin();
	EXPECT_EQ(trace_put(OTHER, "hist:keys=aa:t0=bb"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "pair u64 here; u64 there"), 0);
	EXPECT_EQ(trace_put(TRIGGER,
		      "hist:keys=aa:onmatch(synthetic.oth).trace(pair,bb,synthetic.oth.bb)"),
	    0);
	EXPECT(strstr(trace_get(OTHER, NULL),
	    "hist:keys=aa:vals=hitcount:synthetic_bb=bb:sort=hitcount:size=2048 [active]\n"));
	EXPECT_EQ(trace_put("events/synthetic/pair/enable", "1"), 0);
	hit_other("aa=1 bb=100");
	hit("aa=1 bb=150");
	EXPECT_STR(trace_nth_event(0), "pair: here=150 there=100");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT(!strstr(trace_get(OTHER, NULL), "synthetic_bb"));
	EXPECT_EQ(trace_put("events/synthetic/pair/enable", "0"), 0);
	end();
}

/* Of the matched event no variable is used, so nothing keeps it from going. */
static void matched_event_gone(void)
{
	static const char line[] = "!hist:keys=aa:onmatch(synthetic.brief).trace(pair,bb,bb)";

	begin();
	EXPECT_EQ(trace_append("synthetic_events", "brief u64 aa"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "pair u64 here; u64 there"), 0);
	EXPECT_EQ(trace_put(TRIGGER, line + 1), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!brief"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=bb:onmatch(synthetic.brief).trace(pair,bb,bb)"),
	    -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, line), 0);
	EXPECT(!strstr(trace_get(TRIGGER, NULL), "hist:keys"));
	EXPECT_EQ(trace_append("synthetic_events", "!pair"), 0);
	end();
}

static void tracks(void)
{
	begin();
	EXPECT_EQ(
	    trace_put(TRIGGER,
		"hist:keys=aa:xx=bb:onmax($xx).save(cc,str):onchange($xx).trace(names,str,dyn)"),
	    0);
	EXPECT_EQ(trace_put("events/synthetic/names/enable", "1"), 0);
	hit("aa=1 bb=10 cc=1 str=\"one\" dyn=\"first\"");
	hit("aa=1 bb=30 cc=2 str=\"two\" dyn=\"second\"");
	hit("aa=1 bb=20 cc=3 str=\"three\" dyn=\"third\"");
	hit("aa=1 bb=20 cc=4 str=\"four\" dyn=\"fourth\"");
	EXPECT_STR(entries(),
	    "{ aa:          1 } hitcount:          4\n"
	    "\tmax:         30  cc:          2  str: two                             \n"
	    "\tchanged:         20  cc:          2  str: two                             \n");
	EXPECT_STR(trace_nth_event(0), "names: s=one d=first");
	EXPECT_STR(trace_nth_event(1), "names: s=two d=second");
	EXPECT_STR(trace_nth_event(2), "names: s=three d=third");
	EXPECT_STR(trace_nth_event(3), "");
	EXPECT_EQ(trace_put("events/synthetic/names/enable", "0"), 0);
	end();
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

	begin();
	EXPECT_EQ(trace_put("events/synthetic/out/enable", "1"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(sums); i++) {
		snprintf(line, sizeof(line), "hist:keys=aa:xx=%s:onchange($xx).trace(out,$xx)",
		    sums[i].expr);
		EXPECT_EQ(trace_put(TRIGGER, line), 0);
		EXPECT_EQ(trace_put("trace", ""), 0);
		hit("aa=7 bb=3 cc=2");
		snprintf(wanted, sizeof(wanted), "out: %s", sums[i].wanted);
		EXPECT_STR(trace_nth_event(0), wanted);
	}
	EXPECT_EQ(trace_put("events/synthetic/out/enable", "0"), 0);
	end();
}

/* snapshot() of what was recorded when a maximum over all entries came. */
static void snapshots(void)
{
	begin();
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=aa:xx=bb:onmax($xx).snapshot()"), 0);
	EXPECT_EQ(trace_put(EV "/enable", "1"), 0);
	EXPECT(!strstr(trace_get(EV "/hist", NULL), "Snapshot taken"));
	hit("aa=1 bb=10");
	hit("aa=2 bb=5");
	EXPECT(strstr(trace_get(EV "/hist", NULL),
	    "\nSnapshot taken (see tracing/snapshot).  Details:\n"
	    "\ttriggering value { onmax($xx) }:         10\ttriggered by event with key: { aa:     "
	    "     1 }\n"));
	hit("aa=2 bb=50");
	EXPECT(strstr(trace_get(EV "/hist", NULL),
	    "         50\ttriggered by event with key: { aa:          2 }\n"));
	EXPECT(strstr(trace_get("snapshot", NULL), "aa=2 bb=5 "));
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=cc:yy=bb:onmax($yy).snapshot()"), -EBUSY);
	EXPECT_EQ(trace_put(EV "/enable", "0"), 0);
	end();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

/* A hist whose action makes its own event fire comes to an end. */
static void feeds_itself(void)
{
	begin();
	EXPECT_EQ(trace_put("synthetic_events", "ev int aa"), -EBUSY * 0);
	EXPECT_EQ(trace_append("synthetic_events", "loop int aa"), 0);
	EXPECT_EQ(trace_put("events/synthetic/loop/trigger",
		      "hist:keys=common_cpu:xx=aa:yy=aa:onmatch(synthetic.loop).trace(loop,aa)"),
	    0);
	EXPECT_EQ(trace_put("events/synthetic/loop/inject", "aa=1"), 0);
	EXPECT(strstr(trace_get("events/synthetic/loop/hist", NULL), "Entries: 1\n"));
	EXPECT_EQ(trace_put("events/synthetic/loop/trigger", ""), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!loop"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "oth int aa"), 0);
	end();
}

/* ---- limits ----------------------------------------------------------------------------------------------------------------------- */

/* Variables: in one list what is too many is lost, in several it is refused. */
static void variable_limits(void)
{
	char line[400];
	struct seq s;

	begin();
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
	end();
}

static void action_limits(void)
{
	char line[400];
	struct seq s;

	begin();
	for (unsigned n = HIST_ACTIONS_MAX - 1; n <= HIST_ACTIONS_MAX + 1; n++) {
		seq_init(&s, line, sizeof(line) - 1);
		seq_puts(&s, "hist:keys=aa:xx=aa");
		for (unsigned i = 0; i < n; i++)
			seq_puts(&s, ":onchange($xx).trace(out,$xx)");
		line[s.len] = '\0';
		EXPECT_EQ(trace_put(TRIGGER, line), n <= HIST_ACTIONS_MAX ? 0 : -EINVAL);
		EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	}
	end();
}

/* References: one to each of so many variables of other histograms. */
static void reference_limits(void)
{
	char line[400];
	struct seq s;

	begin();
	for (unsigned i = 0; i < 2; i++) {
		seq_init(&s, line, sizeof(line) - 1);
		seq_printf(&s, "hist:keys=%s", i ? "bb" : "aa");
		for (unsigned v = 0; v < 9; v++)
			seq_printf(&s, ":%c%u=aa", i ? 'x' : 'y', v);
		line[s.len] = '\0';
		EXPECT_EQ(trace_append(OTHER, line), 0);
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
	end();
}

/* Keys hold 384 bytes: one dynamic string and a stack, or a fixed string less. */
static void key_limits(void)
{
	begin();
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,stacktrace"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,stacktrace,str"), -EINVAL);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,str,aa"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "hist:keys=dyn,dyn"), -EINVAL);
	hit("aa=1 dyn=\"x\"");
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"hist.shows", shows},
    {"hist.refuses", refuses},
    {"hist.counts", counts},
    {"hist.compound_keys", compound_keys},
    {"hist.string_keys", string_keys},
    {"hist.relative_string_keys", relative_string_keys},
    {"hist.modifiers", modifiers},
    {"hist.values_as_shares", values_as_shares},
    {"hist.sorts", sorts},
    {"hist.drops", drops},
    {"hist.pauses", pauses},
    {"hist.filters", filters},
    {"hist.named", named},
    {"hist.references", references},
    {"hist.variables_without_record", variables_without_record},
    {"hist.matches", matches},
    {"hist.matched_fields", matched_fields},
    {"hist.matched_event_gone", matched_event_gone},
    {"hist.tracks", tracks},
    {"hist.expressions", expressions},
    {"hist.snapshots", snapshots},
    {"hist.feeds_itself", feeds_itself},
    {"hist.variable_limits", variable_limits},
    {"hist.action_limits", action_limits},
    {"hist.reference_limits", reference_limits},
    {"hist.key_limits", key_limits},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_hist = {cases};
