/*
 * Histograms: what a command may say, how it is shown and typed in again, what is refused and how
 * the errors look.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/hist/tools.h"
#include "trace/dynevent/synth.h"
#include "trace/hist/hist.h"

/* ---- the command ---- */

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
    {"hist:keys=aa:vals=bb.buckets=32", /* as in the histogram document */
	"hist:keys=aa:vals=hitcount,bb.buckets=32:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=common_pid.execname",
	"hist:keys=aa:vals=hitcount,common_pid.execname:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=bb.hex,hitcount,cc.usecs",
	"hist:keys=aa:vals=hitcount,bb.hex,cc.usecs:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=hitcount,hitcount,bb",
	"hist:keys=aa:vals=hitcount,bb:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=bb.percentage,aa.graphics",
	"hist:keys=aa:vals=hitcount,bb.percent,aa.graph:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=bb.log2+cc.buckets=4-aa.hex",
	"hist:keys=aa:vals=hitcount:xx=bb.log2+cc.buckets=4-aa.hex:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=-(ip.sym-offset+bb.syscall)",
	"hist:keys=aa:vals=hitcount:xx=-(ip.sym-offset+bb.syscall):sort=hitcount:size=2048"},
    {"hist:keys=ip.sym,bb.syscall",
	"hist:keys=ip.sym,bb.syscall:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=ip.sym-offset:sort=ip",
	"hist:keys=ip.sym-offset:vals=hitcount:sort=ip.sym-offset:size=2048"},
    {"hist:keys=common_pid.execname",
	"hist:keys=common_pid.execname:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=common_cpu", "hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=cpu", "hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=stacktrace", "hist:keys=stacktrace:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=stacktrace:sort=stacktrace",
	"hist:keys=stacktrace:vals=hitcount:sort=stacktrace:size=2048"},
    {"hist:keys=common_stacktrace",
	"hist:keys=common_stacktrace:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=common_stacktrace.hex", /* a modifier that says nothing of a stack */
	"hist:keys=common_stacktrace:vals=hitcount:sort=hitcount:size=2048"},
    {"hist:keys=aa:xx=common_stacktrace",
	"hist:keys=aa:vals=hitcount:xx=common_stacktrace:sort=hitcount:size=2048"},
    {"hist:keys=aa:vals=hitcount.percent,bb:nohitcount",
	"hist:keys=aa:vals=hitcount.percent,bb:sort=hitcount:size=2048:nohitcount"},
    {"hist:keys=aa:vals=hitcount.graph",
	"hist:keys=aa:vals=hitcount,hitcount.graph:sort=hitcount:size=2048"},
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
    {"hist:keys=aa:clock=nosuch", /* nobody asks for a time */
	"hist:keys=aa:vals=hitcount:sort=hitcount:size=2048"},
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

	hist_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!commands[i].shown)
			continue;
		int err = trace_put(TRIGGER, commands[i].command);
		if (err)
			ktap_note("row %u: %s: %d", i, commands[i].command, err);
		fmt_snprintf(before, sizeof(before), "%s [active]\n", commands[i].shown);
		EXPECT_STR(trace_get(TRIGGER, NULL), before);
		/* Typed in again it shows the same. */
		EXPECT_EQ(trace_put(TRIGGER, commands[i].shown), 0);
		EXPECT_STR(trace_get(TRIGGER, NULL), before);
		/* A variable can be there but once; that is found first, as on Linux. */
		EXPECT_EQ(trace_append(TRIGGER, commands[i].shown),
		    strstr(commands[i].shown, ":xx=") ? -EINVAL : -EEXIST);
		/* And goes by the same words. */
		fmt_snprintf(before, sizeof(before), "!%s", commands[i].shown);
		EXPECT_EQ(trace_append(TRIGGER, before), 0);
		EXPECT(str_has_prefix(trace_get(TRIGGER, NULL), NONE));
	}
	hist_end();
}

/* ---- what is refused ---- */

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
    {"hist:keys=aa:vals=hitcount,bb,hitcount,cc", -EINVAL, NULL, 0},
    {"hist:keys=aa:sort=stacktrace", -EINVAL, "Sort field must be a key or a val", 18},
    {"hist:keys=aa:nohitcount", -ENOENT, "Non-hitcount value is required for 'nohitcount'", 0},
    {"hist:keys=aa:xx=common_stacktrace+1", -EINVAL,
	"Stack trace can not be an operand in expression", 16},
    {"hist:keys=aa:xx=-(common_stacktrace)", -EINVAL,
	"Stack trace can not be an operand in expression", 18},
    {"hist:keys=aa:xx=common_stacktrace:onmax($xx).save(bb)", -EINVAL, "Expecting numeric field",
	40},
    {"hist:keys=bb.stacktrace", -EINVAL, "Invalid field modifier", 10},
    {"hist:keys=aa:xx=bb:onmax($xx).save($xx)", -EINVAL, "Couldn't create field variable", 25},
    {"hist:keys=aa:vals=bb.log2", -EINVAL, "Invalid field modifier", 18},
    {"hist:keys=aa:vals=ip.sym", -EINVAL, "Invalid field modifier", 18},
    {"hist:keys=aa:xx=bb.log2", -EINVAL, "Invalid field modifier", 16},
    {"hist:keys=str.log2", -EINVAL, "Expecting numeric field", 10},
    {"hist:keys=aa,dyn.buckets=10", -EINVAL, "Expecting numeric field", 13},
    {"hist:keys=aa:xx=str.buckets=1+bb", -EINVAL, "Expecting numeric field", 16},
    {"hist:keys=aa:vals=str", -EINVAL, "Expecting numeric field", 18},
    {"hist:keys=str:vals=bb,str", -EINVAL, "Expecting numeric field", 22},
    {"hist:keys=aa:vals=hitcount,dyn.hex", -EINVAL, "Expecting numeric field", 27},
    {"hist:keys=aa:vals=str.percent", -EINVAL, "Expecting numeric field", 18},
    {"hist:keys=aa:xx=dyn:onmax($xx).save(bb)", -EINVAL, "Expecting numeric field", 26},
    {"hist:keys=aa:xx=str:onchange($xx).snapshot()", -EINVAL, "Expecting numeric field", 29},
    {"hist:keys=aa:xx=common_pid.execname:onchange($xx).save(bb)", -EINVAL,
	"Expecting numeric field", 45},
    {"hist:vals=$xx:keys=aa:xx=str", -EINVAL, "Expecting numeric field", 10},
    {"hist:keys=aa:vals=str if aa == 1", -EINVAL, "Expecting numeric field", 18},
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
    {"!hist:keys=aa:xx=bb,xx=cc", 0, NULL, 0},
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

	hist_begin();
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
			fmt_snprintf(caret, sizeof(caret), "\n%*s^\n", 11 + refused[i].caret, "");
			size_t n = strlen(log), m = strlen(caret);
			if (n < m || strcmp(log + n - m, caret))
				ktap_fail(__FILE__, __LINE__, "row %u: caret: %s", i, log);
		}
		if (!err)
			EXPECT_EQ(trace_put(TRIGGER, ""), 0);
		EXPECT(str_has_prefix(trace_get(TRIGGER, NULL), NONE));
		EXPECT(list_empty(&hists));
	}
	hist_end();
}

static const struct ktap_case cases[] = {
    {"hist.shows", shows},
    {"hist.refuses", refuses},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_command = {cases};
