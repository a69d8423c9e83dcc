/*
 * The errors of kprobe_events: each text, and the position of its caret, which is Linux's. Lines
 * with 0 are the last that are taken.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/host_symbol.h"

#define EVENTS "kprobe_events"

#define N16 "nnnnnnnnnnnnnnnn"
#define N64 N16 N16 N16 N16

static const char bad_place[] = "Invalid probed address or symbol";
static const char bad_group[] = "Group name must follow the same rules as C identifiers";
static const char bad_event[] = "Event name must follow the same rules as C identifiers";
static const char bad_arg[] = "Argument name must follow the same rules as C identifiers";
static const char bad_max[] = "Invalid maxactive number";
static const char bad_variable[] = "Invalid $-variable specified";
static const char bad_type[] = "Unknown type is specified";
static const char bad_bits[] = "Invalid bitfield";
static const char no_memory_arg[] = "String accepts only memory argument";
static const char not_symbolic[] = "Symbol String doesn't accept data/userdata";
static const char used[] = "This argument name is already used";
static const char no_name[] = "This variable is not found at this probe point";
static const char no_deref[] = "$comm can not be dereferenced";

static const struct {
	const char *text;
	int err;
	const char *message; /* of error_log; NULL: nothing */
	int word, pos;	     /* the caret: in which word of the text, and where in it */
} lines[] = {
    {"p", -EINVAL, NULL, 0, 0},
    {"p:x", -EINVAL, NULL, 0, 0},
    {"x:x do_rmdir", -EINVAL, NULL, 0, 0},
    {"p10:x do_rmdir", -EINVAL, "Maxactive is not for kprobe", 0, 1},
    {"p0:x do_rmdir%return", -EINVAL, "Maxactive is not for kprobe", 0, 1},
    {"r0:x do_rmdir", -EINVAL, bad_max, 0, 1},
    {"r10x:x do_rmdir", -EINVAL, bad_max, 0, 1},
    {"r4294967296 do_rmdir", -EINVAL, bad_max, 0, 1},
    {"r4097:x do_rmdir", -EINVAL, "Maxactive is too big", 0, 1},
    {"r4096:x do_rmdir", 0, NULL, 0, 0},
    {"r0x10:x do_rmdir", 0, NULL, 0, 0},
    {"p:x nosuch", -ENOENT, bad_place, 1, 0},
    {"p:x nosuch+4", -ENOENT, bad_place, 1, 0},
    {"r:x nosuch%return", -ENOENT, bad_place, 1, 0},
    {"p:x do_rmdir-4", -EINVAL, bad_place, 1, 0},
    {"p:x do_rmdir+", -EINVAL, bad_place, 1, 0},
    {"p:x do_rmdir+4x", -EINVAL, bad_place, 1, 0},
    {"p:x do_rmdir+4294967296", -EINVAL, bad_place, 1, 0},
    {"p:x do_rmdir+4294967295", -ENOENT, bad_place, 1, 0},
    {"p:x 0", -EINVAL, "Failed to register probe event", 1, 0},
    {"r:x 0x0", -EINVAL, "Failed to register probe event", 1, 0},
    {"p:x 1", 0, NULL, 0, 0},
    {"p:x do_rmdir+2", -EILSEQ, "Probe point is not an instruction boundary", 1, 0},
    {"p:x kernel_probe_int3", -EINVAL, "Failed to register probe event", 1, 0},
    {"r:x do_rmdir+5", -EINVAL, "Retprobe address must be an function entry", 1, 0},
    {"p:x do_rmdir+5%return", -EINVAL, "Retprobe address must be an function entry", 1, 0},
    {"p:x do_rmdir%foo", -EINVAL, "Invalid probed address suffix", 1, 8},
    {"p:x do_rmdir%", -EINVAL, "Invalid probed address suffix", 1, 8},
    {"p: do_rmdir", -EINVAL, "Event name is not specified", 0, 2},
    {"r10: do_rmdir", -EINVAL, "Event name is not specified", 0, 4},
    {"p:/x do_rmdir", -EINVAL, "Group name is not specified", 0, 2},
    {"p:.x do_rmdir", -EINVAL, "Group name is not specified", 0, 2},
    {"p:" N64 "/x do_rmdir", -EINVAL, "Group name is too long", 0, 2},
    {"p:1g/x do_rmdir", -EINVAL, bad_group, 0, 2},
    {"p:-g/x do_rmdir", -EINVAL, bad_group, 0, 2},
    {"p:g.h/x do_rmdir", -EINVAL, bad_group, 0, 2},
    {"p:g-1/x do_rmdir", 0, NULL, 0, 0},
    {"p:g/ do_rmdir", 0, NULL, 0, 0},
    {"p:g. do_rmdir", 0, NULL, 0, 0},
    {"p:" N64 " do_rmdir", -EINVAL, "Event name is too long", 0, 2},
    {"p:x-y do_rmdir", -EINVAL, bad_event, 0, 2},
    {"p:g/x-y do_rmdir", -EINVAL, bad_event, 0, 4},
    {"p:g/h/x do_rmdir", -EINVAL, bad_event, 0, 4},
    {"r7:1x do_rmdir", -EINVAL, bad_event, 0, 3},
    {"p:synthetic/src do_rmdir", -EEXIST, "Given group/event name is already used by another event",
	0, 0},
    /* More than one thing is wrong: what is looked at first is said. */
    {"p1:1x nosuch abc", -EINVAL, "Maxactive is not for kprobe", 0, 1},
    {"p:1x nosuch abc", -ENOENT, bad_place, 1, 0},
    {"p:1x do_rmdir abc", -EINVAL, bad_event, 0, 2},
    {"p:x do_rmdir+2 abc", -EINVAL, "BTF is not available or not supported", 2, 0},
    {"p:x do_rmdir+2 @nosuch", -ENOENT, bad_place, 1, 0},
    {"p:x do_rmdir @nosuch abc", -ENOENT, no_name, 3, 0},
    {"p:x do_rmdir @nosuch+x @nosuch", -EINVAL, "Failed to register probe event", 1, 0},
    {"p:x do_rmdir @nosuch @nosuch+x", -ENOENT, bad_place, 1, 0},
    {"p:x do_rmdir @nosuch-9223372036854775809", -ERANGE, "Failed to register probe event", 1, 0},
    {"p:x do_rmdir @nosuch-9223372036854775808", -ENOENT, bad_place, 1, 0},
    {"p:x do_rmdir +9223372036854775808(%di)", -ERANGE, "Invalid dereference offset", 2, 0},
    {"p:x do_rmdir +9223372036854775807(%di)", 0, NULL, 0, 0},
    {"p:x do_rmdir @18446744073709551616", -ERANGE, "Invalid memory address", 2, 0},
    {"p:x do_rmdir @18446744073709551615", 0, NULL, 0, 0},
    {"p:x 1 @nosuch", 0, NULL, 0, 0},
    {"p:synthetic/src do_rmdir+2 @nosuch", -EEXIST,
	"Given group/event name is already used by another event", 0, 0},
};

/* One argument after "p:x do_rmdir "; or more, and then the words count from there. */
static const struct {
	const char *args;
	int err;
	const char *message;
	int word, pos;
} args[] = {
    {"$retval", -EINVAL, "$retval is not available on probe", 0, 0},
    {"a=$retval", -EINVAL, "$retval is not available on probe", 0, 2},
    {"a=+0(-8($retval))", -EINVAL, "$retval is not available on probe", 0, 8},
    {"$stack2048", 0, NULL, 0, 0},
    {"$stack2049", -EINVAL, "Invalid stack number", 0, 0},
    {"$stack18446744073709551616", -EINVAL, bad_variable, 0, 0},
    {"$arg1", 0, NULL, 0, 0},
    {"$arg2048", 0, NULL, 0, 0},
    {"$arg2049", -EINVAL, "Invalid argument number", 0, 0},
    {"a=$arg0", -EINVAL, "Invalid argument number", 0, 2},
    {"$arg", -EINVAL, bad_variable, 0, 0},
    {"$argx", -EINVAL, bad_variable, 0, 0},
    {"$", -EINVAL, bad_variable, 0, 0},
    {"a=$foo", -EINVAL, bad_variable, 0, 2},
    {"$comms", -EINVAL, bad_variable, 0, 0},
    {"$stackx", -EINVAL, bad_variable, 0, 0},
    {"%rax", -EINVAL, "Invalid register name", 0, 0},
    {"a=+4(%)", -EINVAL, "Invalid register name", 0, 5},
    {"@0x12zz", -EINVAL, "Invalid memory address", 0, 0},
    {"a=@18446744073709551616", -ERANGE, "Invalid memory address", 0, 2},
    {"@+5", -EINVAL, "File offset is not available with kprobe", 0, 0},
    {"@", -ENOENT, bad_place, -1, 0},
    {"@nosuch_symbol", -ENOENT, bad_place, -1, 0},
    {"@nosuch_symbol+", -EINVAL, "Failed to register probe event", -1, 0},
    {"@nosuch_symbol-x", -EINVAL, "Failed to register probe event", -1, 0},
    {"\\", -EINVAL, "Invalid immediate value", 0, 1},
    {"a=\\x", -EINVAL, "Invalid immediate value", 0, 3},
    {"\\5x", -EINVAL, "Invalid immediate value", 0, 1},
    {"\\-", -EINVAL, "Invalid immediate value", 0, 1},
    {"\\-9223372036854775809", -ERANGE, "Invalid immediate value", 0, 1},
    {"\\-9223372036854775808 \\+7 \\0x1f \\18446744073709551615", 0, NULL, 0, 0},
    {"\\\"", -EINVAL, "String is not closed with '\"'", 0, 2},
    {"a=\\\"abc", -EINVAL, "String is not closed with '\"'", 0, 7},
    {"\\\"\"", 0, NULL, 0, 0},
    {"+8", -EINVAL, "Dereference needs a brace", 0, 0},
    {"a=-8%di", -EINVAL, "Dereference needs a brace", 0, 2},
    {"+4(-8%di)", -EINVAL, "Dereference needs a brace", 0, 3},
    {"+(%di)", -EINVAL, "Invalid dereference offset", 0, 0},
    {"a=+0x(%di)", -EINVAL, "Invalid dereference offset", 0, 2},
    {"-x(%di)", -EINVAL, "Invalid dereference offset", 0, 0},
    {"+9223372036854775808(%di)", -ERANGE, "Invalid dereference offset", 0, 0},
    {"+8(%di", -EINVAL, "Dereference brace is not closed", 0, 6},
    {"a=-8(%di", -EINVAL, "Dereference brace is not closed", 0, 8},
    {"+u8(%di", -EINVAL, "Dereference brace is not closed", 0, 6},
    {"+0(+8(%di)", -EINVAL, "Dereference brace is not closed", 0, 9},
    /* legacy words */
    {"+8(a0", -EINVAL, "Dereference brace is not closed", 0, 3},
    {"+8(-4(a0)", -EINVAL, "Dereference brace is not closed", 0, 6},
    {"+8(+x(s0))", -EINVAL, "Invalid dereference offset", 0, 3},
    {"+8(-4(a999999))", -EINVAL, "Invalid argument number", 0, 6},
    {"+8(-4(s999999))", -EINVAL, "Invalid stack number", 0, 6},
    {"+0($comm)", -EINVAL, no_deref, 0, 3},
    {"a=+16(\\\"abc\")", -EINVAL, no_deref, 0, 6},
    {"abc", -ENOENT, no_name, 0, 0},
    {"a=5", -EINVAL, "Invalid fetch argument", 0, 2},
    {"+0(5)", -EINVAL, "Invalid fetch argument", 0, 3},
    {"+0()", -EINVAL, "Invalid fetch argument", 0, 3},
    {"a=+0(%di):u8[4", -EINVAL, "Array is not closed", 0, 14},
    {"a=+0(%di):u8[4]x", -EINVAL, "Array has wrong suffix", 0, 15},
    {"+0(%di):u8[]", -EINVAL, "Invalid array size", 0, 11},
    {"+0(%di):u8[-1]", -EINVAL, "Invalid array size", 0, 11},
    {"+0(%di):u8[0x40]", 0, NULL, 0, 0},
    {"+0(%di):u8[65]", -EINVAL, "Array number is too big", 0, 11},
    {"a=+0(%di):foo[4]", -EINVAL, bad_type, 0, 10},
    {"%di:", -EINVAL, bad_type, 0, 4},
    {"%di:U8", -EINVAL, bad_type, 0, 4},
    {"%di:u8:u8", -EINVAL, bad_type, 0, 4},
    {"%di:b4@0/7", -EINVAL, bad_type, 0, 4},
    {"%di:b4@0", -EINVAL, bad_type, 0, 4},
    {"$comm:u8", -EINVAL, NULL, 0, 0},
    {"$comm:string[2]", -EINVAL, NULL, 0, 0},
    {"\\\"abc\":ustring", -EINVAL, NULL, 0, 0},
    {"%di:string", -EINVAL, no_memory_arg, 0, 4},
    {"$stack:ustring", -EINVAL, no_memory_arg, 0, 7},
    {"a=%di:u8[4]", -EINVAL, no_memory_arg, 0, 6},
    {"\\5:u8[2]", -EINVAL, no_memory_arg, 0, 3},
    {"+0(%di):symstr[2]", -EINVAL, no_memory_arg, 0, 8},
    {"%di:b4@0/8[2]", -EINVAL, no_memory_arg, 0, 4},
    {"+0(%di):b4@0/8[2]", 0, NULL, 0, 0},
    {"\\5:symstr", -EINVAL, not_symbolic, 0, 3},
    {"$stack:symstr", -EINVAL, not_symbolic, 0, 7},
    {"a=+u0(%di):symstr", -EINVAL, not_symbolic, 0, 11},
    {"%di:b0@0/8", -EINVAL, bad_bits, 0, 4},
    {"%di:b9@0/8", -EINVAL, bad_bits, 0, 4},
    {"%di:b4@5/8", -EINVAL, bad_bits, 0, 4},
    {"%di:b4@/8", -EINVAL, bad_bits, 0, 4},
    {"%di:b4/8", -EINVAL, bad_bits, 0, 4},
    {"%di:b4@4/8 %di:b64@0/64 %di:b0x4@0x8/0x10", 0, NULL, 0, 0},
    {N16 N16 "n=%ax", -EINVAL, "Argument name is too long", 0, 0},
    {"=%ax", -EINVAL, "Argument name is not specified", 0, 0},
    {"1a=%ax", -EINVAL, bad_arg, 0, 0},
    {"a-b=%ax", -EINVAL, bad_arg, 0, 0},
    {"a=%ax a=%bx", -EINVAL, used, 1, 0},
    {"arg2=%ax %bx", -EINVAL, used, 1, 0},
    {"common_type=%ax", -EINVAL, used, 0, 0},
    {"common_tgid=%ax", -EINVAL, used, 0, 0},
    {"__probe_ip=%ax", -EINVAL, used, 0, 0},
    {"__probe_func=%ax", -EINVAL, used, 0, 0},
    {"__probe_ret_ip=%ax", -EINVAL, used, 0, 0},
    {"aa=" N64, -EINVAL, "Argument expression is too long", 0, 3},
    {"a=", -EINVAL, "No argument expression", 0, 2},
};

/* Where the log shows `pos` of a word of the text. */
static u32 caret_of(const char *text, int word, int pos)
{
	u32 at = 0;

	while (word-- > 0)
		at += strcspn(text + at, " ") + 1;
	return at + pos;
}

static void expect(const char *text, int err, const char *message, int word, int pos)
{
	char wanted[400] = "";

	EXPECT_EQ(trace_put("error_log", ""), 0);
	int got = trace_append(EVENTS, text);
	const char *log = trace_get("error_log", NULL);
	if (message)
		fmt_snprintf(wanted, sizeof(wanted),
		    "] trace_kprobe: error: %s\n  Command: %s\n%*s^\n", message, text,
		    11 + caret_of(text, word, pos), "");
	log += strcspn(log, "]");
	if (got != err || strcmp(log, wanted))
		ktap_fail(__FILE__, __LINE__, "%s: %d %s", text, got, log);
	if (!*trace_get(EVENTS, NULL) != (err != 0))
		ktap_fail(
		    __FILE__, __LINE__, "%s: listed as \"%s\"", text, trace_get(EVENTS, NULL));
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
}

static void of_places(void)
{
	trace_fresh();
	types_sample_use();
	EXPECT_EQ(trace_append("synthetic_events", "src int a"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		expect(lines[i].text, lines[i].err, lines[i].message, lines[i].word, lines[i].pos);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	types_host_use();
}

/*
 * An offset may lead to the entry of another function: then what is there at an entry is there, and
 * two bytes on is inside its second instruction.
 */
static void of_next_entry(void)
{
	static const struct {
		const char *form;
		unsigned more;
		int err;
		const char *message;
	} rows[] = {
	    {"p:x %s+%llu", 0, 0, NULL},
	    {"r:x %s+%llu $retval", 0, 0, NULL},
	    {"p:x %s+%llu $arg1", 0, 0, NULL},
	    {"p:x %s+%llu", 2, -EILSEQ, "Probe point is not an instruction boundary"},
	    {"r:x %s+%llu", 4, -EINVAL, "Retprobe address must be an function entry"},
	};
	u64 a = host_sym_find("do_mkdirat", NULL), b = host_sym_find("do_rmdir", NULL);
	const char *first = a < b ? "do_mkdirat" : "do_rmdir";
	unsigned long long distance = a < b ? b - a : a - b;
	char line[64];

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		fmt_snprintf(line, sizeof(line), rows[i].form, first, distance + rows[i].more);
		expect(line, rows[i].err, rows[i].message, 1, 0);
	}
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static void of_arguments(void)
{
	char line[160];

	trace_fresh();
	types_sample_use();
	for (unsigned i = 0; i < ARRAY_SIZE(args); i++) {
		fmt_snprintf(line, sizeof(line), "p:x do_rmdir %s", args[i].args);
		expect(line, args[i].err, args[i].message, args[i].word + 2, args[i].pos);
	}
	EXPECT_EQ(trace_put("error_log", ""), 0);
	types_host_use();
}

/* Some variables are there at the entry alone, or at the return alone. */
static void of_what_is_not_there(void)
{
	trace_fresh();
	expect("p:x do_rmdir+8 a=$arg1", -EINVAL, bad_variable, 2, 2);
	expect("p:x do_rmdir%return $retval", 0, NULL, 0, 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* 3072 bytes of arguments, and one less or more. */
static void of_size(void)
{
	static const char full[] =
	    "p:x do_rmdir a=+0(%di):u64[64] b=+0(%di):u64[64] "
	    "c=+0(%di):u64[64] d=+0(%di):u64[64] e=+0(%di):u64[64] f=+0(%di):";
	char line[240];

	trace_fresh();
	fmt_snprintf(line, sizeof(line), "%su64[63] g=+0(%%di):u8[7]", full);
	expect(line, 0, NULL, 0, 0);
	fmt_snprintf(line, sizeof(line), "%su64[63] g=+0(%%di):u8[8]", full);
	expect(line, 0, NULL, 0, 0);
	fmt_snprintf(line, sizeof(line), "%su64[63] g=+0(%%di):u8[9]", full);
	expect(line, -E2BIG, "Event too big (too many fields?)", 8, 2);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* What is said of a second definition of the same name. */
static void of_the_same_name(void)
{
	static const struct {
		const char *text, *message;
		int word;
	} again[] = {
	    {"p:x do_rmdir a=%di b=%si", "There is already the exact same probe event", 0},
	    {"r:x do_rmdir a=%di b=%si", "Probe type is different from existing probe", 0},
	    {"p:x do_rmdir a=%di", "Argument type or name is different from existing probe", 3},
	    {"p:x do_rmdir a=%di c=%si", "Argument type or name is different from existing probe",
		3},
	    {"p:x do_rmdir a=%di:u32 c=%si",
		"Argument type or name is different from existing probe", 2},
	    {"p:x do_rmdir a=%di b=%si c=%dx",
		"Argument type or name is different from existing probe", 4},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(again); i++) {
		EXPECT_EQ(trace_put("error_log", ""), 0);
		EXPECT_EQ(trace_put(EVENTS, "p:x do_rmdir a=%di b=%si"), 0);
		EXPECT_EQ(trace_append(EVENTS, again[i].text), -EEXIST);
		const char *log = trace_get("error_log", NULL);
		char caret[80];
		fmt_snprintf(caret, sizeof(caret), "\n%*s^\n",
		    11 + caret_of(again[i].text, again[i].word, 0), "");
		if (!strstr(log, again[i].message) || !strstr(log, caret))
			ktap_fail(__FILE__, __LINE__, "%s: %s", again[i].text, log);
		EXPECT_STR(trace_get(EVENTS, NULL), "p:kprobes/x do_rmdir a=%di b=%si\n");
	}
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* An event has probes of one form, be the argument of the other one the same. */
static void of_legacy_and_new(void)
{
	static const char *const lines[2][2] = {{"p:x do_rmdir a0", "p:x do_rmdir+4 a0=%di:x64"},
	    {"p:x do_rmdir a0=%di:x64", "p:x do_rmdir+4 a0"}};

	trace_fresh();
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(trace_put(EVENTS, lines[i][0]), 0);
		EXPECT_EQ(trace_append(EVENTS, lines[i][1]), -EEXIST);
		EXPECT(strstr(
		    trace_get("error_log", NULL), "Probe type is different from existing probe"));
		EXPECT_EQ(trace_put("error_log", ""), 0);
		EXPECT_EQ(trace_append(EVENTS, "-:x"), 0);
	}
}

static const struct ktap_case cases[] = {
    {"probe_errors.of_places", of_places},
    {"probe_errors.of_next_entry", of_next_entry},
    {"probe_errors.of_arguments", of_arguments},
    {"probe_errors.of_what_is_not_there", of_what_is_not_there},
    {"probe_errors.of_size", of_size},
    {"probe_errors.of_the_same_name", of_the_same_name},
    {"probe_errors.of_legacy_and_new", of_legacy_and_new},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_probe_errors = {cases};
