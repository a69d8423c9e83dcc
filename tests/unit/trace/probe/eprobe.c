/* Event probes: definitions, how they are listed, and what is wrong with them. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/probe/eprobe_tools.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_clock.h"
#include "trace/probe/probe.h"
#include "trace/trigger/trigger.h"

/* ---- definitions ---- */

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
    {"e:x synthetic.src y=a", -EINVAL, NULL, "BTF is not available or not supported", 2, 2},
    {"e:x synthetic.src y=$nosuch:u128", -EINVAL, NULL, "Unknown type is specified", 2, 10},
    {"e:x synthetic.src y=$a:string[2]", 0, "e:eprobes/x synthetic.src y=$a:string[2]", NULL, 0, 0},
    {"e:x synthetic.src $a:u8[2]", -EINVAL, NULL, "String accepts only memory argument", 2, 3},
    {"e:x synthetic.src +u0($b):u8[2]", -EINVAL, NULL, "String accepts only memory argument", 2, 8},
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
	fmt_snprintf(wanted, sizeof(wanted), "] event_probe: error: %s\n  Command: %s\n%*s^\n",
	    definitions[i].message, definitions[i].text,
	    11 + caret_of(definitions[i].text, definitions[i].word, definitions[i].pos), "");
	if (!strstr(log, wanted))
		ktap_fail(__FILE__, __LINE__, "%s: %s", definitions[i].text, log);
}

static void define(void)
{
	eprobe_begin();
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
		fmt_snprintf(
		    line, sizeof(line), "%s%s", d->listed ? d->listed : "", d->listed ? "\n" : "");
		EXPECT_STR(trace_get(EVENTS, NULL) + before, line);
		if (err)
			continue;
		char *space = strchr(line, ' ');
		line[0] = '-';
		*space = '\0';
		EXPECT_EQ(trace_append(EVENTS, line), 0);
	}
	eprobe_end();
}

/* The filter is one of the probed event, and refused as such. */
static void bad_filter(void)
{
	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src y=$a if y  > 5"), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL),
	    "] event filter parse error: error: Field not found\n  Command: y > 5\n"));
	EXPECT(!strstr(trace_get("error_log", NULL), "event_probe"));
	EXPECT(!strstr(trace_get(EVENTS, NULL), "e:"));
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src"), 0);
	eprobe_end();
}

/* What is listed, less the newline, makes the same event; names have their limits. */
static void limits(void)
{
	static char line[4200], name[70];
	char first[128];

	eprobe_begin();
	memset(name, 'n', sizeof(name));
	for (int n = 62; n <= 64; n++) {
		fmt_snprintf(line, sizeof(line), "e:%.*s synthetic.src", n, name);
		EXPECT_EQ(trace_append(EVENTS, line), n <= 63 ? 0 : -EINVAL);
		fmt_snprintf(line, sizeof(line), "e:%.*s/x synthetic.src", n, name);
		EXPECT_EQ(trace_append(EVENTS, line), n <= 63 ? 0 : -EINVAL);
	}
	for (unsigned n = 127; n <= 129; n++) {
		size_t at = fmt_snprintf(line, sizeof(line), "e:many%u synthetic.src", n);
		for (unsigned i = 0; i < n; i++)
			at += fmt_snprintf(line + at, sizeof(line) - at, " f%u=$a:u8", i);
		EXPECT_EQ(trace_append(EVENTS, line), 0);
		fmt_snprintf(line, sizeof(line), "events/eprobes/many%u/format", n);
		const char *format = trace_get(line, NULL);
		EXPECT(strstr(format, "field:u8 f126;\toffset:134;"));
		EXPECT(!strstr(format, "field:u8 f127;") == (n < 128));
		EXPECT(!strstr(format, "field:u8 f128;"));
	}
	EXPECT_EQ(trace_append(EVENTS, "-:eprobes/"), 0);
	for (int n = 62; n <= 63; n++) {
		fmt_snprintf(line, sizeof(line), "-:%.*s/", n, name);
		EXPECT_EQ(trace_append(EVENTS, line), 0);
	}
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic/src $a y=+8($b):string $d:string"), 0);
	strscpy(first, strstr(trace_get(EVENTS, NULL), "e:"), sizeof(first));
	EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	EXPECT_EQ(trace_append(EVENTS, first), 0);
	EXPECT_STR(strstr(trace_get(EVENTS, NULL), "e:"), first);
	eprobe_end();
}

static void random_lines(void)
{
	static const char *const pieces[] = {"e:", "x", " ", "synthetic.src", "$a", "$s", "y=", "=",
	    ":string", ":u8", "[3]", "+0(", ")", "(", " if ", "a > 5", "/", ".", "\\", "\"",
	    "$comm", "@", ":b4@4/32", "%ax", "&&", "unit/unit_text"};
	u64 seed = host_clock();
	char line[256];

	eprobe_begin();
	ktap_note("seed %lu", seed);
	for (unsigned i = 0; i < 3000; i++) {
		size_t at = fmt_snprintf(line, sizeof(line), "e:r synthetic.src ");
		for (unsigned k = prng_next(&seed) % 8; k > 0; k--)
			at += fmt_snprintf(line + at, sizeof(line) - at, "%s",
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
	eprobe_end();
}

static const struct ktap_case cases[] = {
    {"event_probe.define", define},
    {"event_probe.bad_filter", bad_filter},
    {"event_probe.limits", limits},
    {"event_probe.random_lines", random_lines},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_event_probe = {cases};
