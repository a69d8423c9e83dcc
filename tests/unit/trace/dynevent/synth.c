/* Synthetic events: the syntax of a definition, its errors, the contents of records. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/synth.h"
#include "trace/dynevent/synth_record.h"
#include "trace/event/api.h"
#include "trace/host_context.h"
#include "trace/host_symbol.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

/* ---- definitions ---- */

static const struct {
	const char *text;
	int err;
	const char *listed;  /* NULL: nothing */
	const char *message; /* of error_log */
	int caret;
} definitions[] = {
    {"e int a", 0, "e\tint a\n", NULL, 0},
    {"  e int a;", 0, "e\tint a\n", NULL, 0},
    {"e int a u8 b", 0, "e\tint a; u8 b\n", NULL, 0},
    {"e int a;;; unsigned int b ;", 0, "e\tint a; unsigned int b\n", NULL, 0},
    {"e int a; int a", 0, "e\tint a; int a\n", NULL, 0},
    {"e char a[8]", 0, "e\tchar[8] a\n", NULL, 0},
    {"e char[8] a", 0, "e\tchar[8] a\n", NULL, 0},
    {"e char a[]", 0, "e\tchar[] a\n", NULL, 0},
    {"e char a[0]", 0, "e\tchar[0] a\n", NULL, 0},
    {"e char a[256]", 0, "e\tchar[256] a\n", NULL, 0},
    {"e char a[0x10]", -EINVAL, NULL, "Invalid array specification", 7},
    {"e char a[257]", -EINVAL, NULL, "Invalid array specification", 7},
    {"e char a[8]x", -EINVAL, NULL, "Invalid array specification", 7},
    {"e char a[-1]", -EINVAL, NULL, "Invalid array specification", 7},
    {"e char a[", -EINVAL, NULL, "Invalid array specification", 7},
    {"e char[300] a", -EINVAL, NULL, "Invalid type", 2},
    {"e int a[4]", -EINVAL, NULL, "Invalid type", 2},
    {"e short a", -EINVAL, NULL, "Invalid type", 2},
    {"e INT a", -EINVAL, NULL, "Invalid type", 2},
    {"e unsigned long a", 0, "e\tunsigned long a\n", NULL, 0},
    {"e unsigned pid_t a", -EINVAL, NULL, "Invalid type", 11},
    {"e int a unsigned", -EINVAL, NULL, "Incomplete type", 8},
    {"e int a; b", -EINVAL, NULL, "Invalid field", 9},
    {"e int a-b", -EINVAL, NULL, "Illegal name", 6},
    {"e int 1a", -EINVAL, NULL, "Illegal name", 6},
    {"e int _", 0, "e\tint _\n", NULL, 0},
    {"e;x int a", -EINVAL, NULL, synth_bad_form, 0},
    {"e", -EINVAL, NULL, synth_bad_form, 0},
    {"e int", -EINVAL, NULL, synth_bad_form, 0},
    {"; int a", -EINVAL, NULL, synth_bad_form, 0},
    {"e.x int a", -EINVAL, NULL, "Illegal name", 0},
    {"!e", -ENOENT, NULL, NULL, 0},
};

/* The caret's line: blanks up to the place in the command. */
static void expect_error(const char *message, int caret)
{
	char wanted[160];
	const char *log = trace_get("error_log", NULL);

	if (!message) {
		EXPECT_STR(log, "");
		return;
	}
	fmt_snprintf(wanted, sizeof(wanted), "synthetic_events: error: %s\n", message);
	EXPECT(strstr(log, wanted));
	fmt_snprintf(wanted, sizeof(wanted), "\n%*s^\n", 11 + caret, "");
	EXPECT(strstr(log, wanted));
}

static void define(void)
{
	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++) {
		typeof(&definitions[0]) d = &definitions[i];
		EXPECT_EQ(trace_put("error_log", ""), 0);
		int err = trace_put("synthetic_events", d->text);
		const char *listed = trace_get("synthetic_events", NULL);
		if (err != d->err)
			ktap_note("row %u: %s", i, d->text);
		EXPECT_EQ(err, d->err);
		EXPECT_STR(listed, d->listed ? d->listed : "");
		expect_error(d->message, d->caret);
	}
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* What the file shows, typed in again, shows the same. */
/* A name that is taken is refused with a word of why, whatever its fields are this time. */
static void taken_name(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_append("synthetic_events", "unit_taken int a"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "unit_taken u64 b; u64 c"), -EEXIST);
	expect_error("Event already exists", 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), "unit_taken\tint a\n");
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static void print_back(void)
{
	static char before[4096];

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++) {
		if (definitions[i].err)
			continue;
		EXPECT_EQ(trace_put("synthetic_events", definitions[i].text), 0);
		strscpy(before, trace_get("synthetic_events", NULL), sizeof(before));
		EXPECT_EQ(trace_put("synthetic_events", before), 0);
		EXPECT_STR(trace_get("synthetic_events", NULL), before);
		strscpy(before, trace_get("dynamic_events", NULL), sizeof(before));
		EXPECT_EQ(trace_put("dynamic_events", before), 0);
		EXPECT_STR(trace_get("dynamic_events", NULL), before);
	}
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
}

/* 63, 64 and 65 fields; names of events of 254, 255 and 256 characters, of fields of more. */
static void limits(void)
{
	static char line[2048];
	char name[1000];

	trace_fresh();
	for (unsigned n = SYNTH_FIELDS_MAX - 1; n <= SYNTH_FIELDS_MAX + 1; n++) {
		struct seq s;
		seq_init(&s, line, sizeof(line) - 1);
		seq_puts(&s, "many");
		for (unsigned i = 0; i < n; i++)
			seq_printf(&s, " u8 f%u;", i);
		line[s.len] = '\0';
		EXPECT_EQ(trace_put("synthetic_events", line), n <= SYNTH_FIELDS_MAX ? 0 : -EINVAL);
		EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	}
	expect_error("Too many fields", 0);
	for (unsigned n = SYNTH_NAME_MAX - 1; n <= SYNTH_NAME_MAX + 1; n++) {
		memset(name, 'n', n);
		name[n] = '\0';
		fmt_snprintf(line, sizeof(line), "%s int %s", name, name);
		EXPECT_EQ(trace_put("synthetic_events", line), n <= SYNTH_NAME_MAX ? 0 : -EINVAL);
	}
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fmt_snprintf(line, sizeof(line), "e int %s", name);
	EXPECT_EQ(trace_put("synthetic_events", line), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* ---- records: every type, strings of every length, memory that is not there ---- */

static struct trace_event_file *begin_event(const char *definition)
{
	char name[16];

	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events", definition), 0);
	EXPECT_EQ(trace_put("events/synthetic/enable", "1"), 0);
	strscpy(name, definition, strcspn(definition, " ") + 1);
	struct trace_event_file *file = trace_get_event_file(NULL, "synthetic", name);
	EXPECT(!IS_ERR(file));
	return file;
}

static void end_event(struct trace_event_file *file)
{
	trace_put_event_file(file);
	EXPECT_EQ(trace_put("events/synthetic/enable", "0"), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), "");
}

static void types(void)
{
	struct trace_event_file *file = begin_event(
	    "ty s64 a; u64 b; s32 c; u32 d; s16 e; u16 f; s8 g; u8 h; char i; unsigned char j; "
	    "int k; unsigned int l; long m; unsigned long n; bool o; pid_t p; gfp_t q; int r");
	u64 vals[18];

	for (unsigned i = 0; i < ARRAY_SIZE(vals); i++)
		vals[i] = ~0UL;
	vals[14] = 1;
	vals[16] = 0xcc0;
	EXPECT_EQ(synth_event_trace_array(file, vals, ARRAY_SIZE(vals)), 0);
	EXPECT_STR(trace_nth_event(0),
	    "ty: a=-1 b=18446744073709551615 c=-1 d=4294967295 e=65535 f=65535 g=255 h=255 i=255 "
	    "j=255 k=-1 l=4294967295 m=-1 n=18446744073709551615 o=1 p=-1 q=cc0 (GFP_KERNEL) r=-1");
	EXPECT_EQ(trace_put("options/verbose", "1"), 0);
	EXPECT(
	    strstr(trace_get("trace", NULL), "ty: %lld a=-1 %llu b=18446744073709551615 %d c=-1 "));
	EXPECT_EQ(trace_put("options/verbose", "0"), 0);
	end_event(file);
}

static void strings(void)
{
	static char text[400];
	struct trace_event_file *file = begin_event("st char f[8]; char d[]; u8 n; char e[]");
	static const u16 lengths[] = {0, 1, 7, 8, 254, 255, 256, 399};

	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		u32 n = lengths[i];
		char wanted[700];
		memset(text, 'x', n);
		text[n] = '\0';
		EXPECT_EQ(trace_put("trace", ""), 0);
		EXPECT_EQ(synth_event_trace(file, 4, (u64)text, (u64)text, n, (u64) "end"), 0);
		fmt_snprintf(
		    wanted, sizeof(wanted), "st: f=%.7s d=%.255s n=%u e=end", text, text, n & 255);
		EXPECT_STR(trace_nth_event(0), wanted);
	}
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(synth_event_trace(file, 4, 0, 0, 1, 8), 0); /* addresses of nothing */
	EXPECT_STR(trace_nth_event(0), "st: f=(fault) d=(fault) n=1 e=(fault)");
	struct synth_event_trace_state st;
	EXPECT_EQ(synth_event_trace_start(file, &st), -EOPNOTSUPP);
	end_event(file);
}

/*
 * Stacks after strings, so that their words have no even place: none, one, as many as a record
 * takes, more; and addresses of nothing.
 */
static void stacks(void)
{
	struct trace_event_file *file =
	    begin_event("st char d[]; unsigned long s[]; long[] t; u8 n");
	static const u32 lengths[] = {0, 1, SYNTH_STACK_MAX - 1, SYNTH_STACK_MAX};
	static u64 frames[SYNTH_STACK_MAX + 1];

	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		u32 n = lengths[i];
		char wanted[1024], name[64];
		struct seq s;
		memset(frames, 0, sizeof(frames));
		seq_init(&s, wanted, sizeof(wanted) - 1);
		seq_puts(&s, "st: d=xy s=STACK:\n");
		for (u32 k = 0; k < n; k++) {
			frames[k] = 0x1000 + k;
			if (k == SYNTH_STACK_MAX - 1)
				break;
			host_sym_print(name, sizeof(name), frames[k], true);
			seq_printf(&s, "=> %s\n", name);
		}
		seq_puts(&s, "t=STACK:\nn=7");
		wanted[s.len] = '\0';
		EXPECT_EQ(trace_put("trace", ""), 0);
		EXPECT_EQ(synth_event_trace(file, 4, (u64) "xy", (u64)frames, 8, 7), 0);
		EXPECT(strstr(trace_get("trace", NULL), wanted));
	}
	end_event(file);
}

/*
 * Eight fixed strings fit a record; sixteen are more than a sub-buffer holds: counted as lost, not
 * recorded.
 */
static void too_large(void)
{
	struct trace_event_file *file = begin_event(
	    "big char a[8] char b[8] char c[8] char d[8] char e[8] char f[8] char g[8] char h[8] "
	    "char i[8] char j[8] char k[8] char l[8] char m[8] char n[8] char o[8] char p[8]");
	u64 vals[16];

	for (unsigned i = 0; i < ARRAY_SIZE(vals); i++)
		vals[i] = (u64) "x";
	EXPECT_EQ(synth_event_trace_array(file, vals, 16), 0);
	EXPECT_STR(trace_nth_event(0), "");
	u64 lost = 0;
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		lost += file->counts[cpu].lost;
	EXPECT_EQ(lost, 1);
	end_event(file);
}

static void record_everywhere(u64 value)
{
	struct host_context ctx;

	host_enter(&ctx);
	synth_event_record(synth_event_find("ev"), &ctx, &value);
	host_preempt_enable();
}

/* From code to all instances that have it on, and to no other. */
static void to_instances(void)
{
	struct trace_array *tr;

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_instance_create("synth", &tr), 0);
	host_unlock();
	EXPECT_EQ(trace_put("synthetic_events", "ev int a"), 0);
	EXPECT_EQ(trace_put("instances/synth/events/synthetic/ev/enable", "1"), 0);
	record_everywhere(7);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT(strstr(trace_get("instances/synth/trace", NULL), " ev: a=7\n"));
	EXPECT_EQ(trace_put("events/synthetic/ev/enable", "1"), 0);
	record_everywhere(8);
	EXPECT_STR(trace_nth_event(0), "ev: a=8");
	EXPECT(strstr(trace_get("instances/synth/trace", NULL), " ev: a=8\n"));
	EXPECT_EQ(trace_put("events/synthetic/ev/enable", "0"), 0);
	EXPECT_EQ(trace_put("instances/synth/events/synthetic/ev/enable", "0"), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	host_lock();
	EXPECT_EQ(trace_array_destroy(tr), 0);
	host_unlock();
}

/*
 * A filter that fits no event stays readable until the directory goes, and goes with it. That it is
 * freed shows where the host counts memory.
 */
static void refused_filter_goes(void)
{
	EXPECT_EQ(trace_put("synthetic_events", "ev int a"), 0);
	EXPECT_EQ(trace_put("events/synthetic/filter", "nosuch == 1"), -EINVAL);
	EXPECT(str_has_prefix(trace_get("events/synthetic/filter", NULL), "nosuch == 1\n"));
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_EQ(trace_put("synthetic_events", "ev int a"), 0);
	EXPECT(!strstr(trace_get("events/synthetic/filter", NULL), "nosuch"));
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
}

/* To remove one its name is enough; what follows it is not looked at. The group can be no other. */
static void by_name(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_EQ(trace_append("synthetic_events", "ev int a"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!ev\tint a"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "ev int a"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!ev u8 no; such x"), 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), "");
	EXPECT_EQ(trace_append("dynamic_events", "s:synthesis/ev int a int b"), -EINVAL);
	EXPECT(strstr(trace_get("error_log", NULL),
	    "Command must be of the form: s or -:[synthetic/]<name> field[;field] ..."));
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* One that kernel code holds keeps all others, be they older or newer. */
static void held(void)
{
	static const char *const names[] = {"ev0", "ev1"};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT_EQ(trace_append("synthetic_events", "ev0 int a"), 0);
		EXPECT_EQ(trace_append("synthetic_events", "ev1 int a"), 0);
		struct trace_event_file *file = trace_get_event_file(NULL, "synthetic", names[i]);
		EXPECT_EQ(trace_put("synthetic_events", ""), -EBUSY);
		EXPECT(strstr(trace_get("synthetic_events", NULL), "ev0"));
		EXPECT(strstr(trace_get("synthetic_events", NULL), "ev1"));
		trace_put_event_file(file);
		EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	}
}

/* Dynamic strings lie close together: three short ones are all in the record. */
static void short_strings(void)
{
	struct trace_event_file *file = begin_event("st char a[]; char b[]; char c[]; char d[]");

	EXPECT_EQ(synth_event_trace(file, 4, (u64) "", (u64) "x", (u64) "", (u64) "yz"), 0);
	EXPECT_STR(trace_nth_event(0), "st: a= b=x c= d=yz");
	EXPECT_EQ(synth_event_trace(file, 4, (u64) "", (u64) "", (u64) "", (u64) ""), 0);
	EXPECT_STR(trace_nth_event(1), "st: a= b= c= d=");
	end_event(file);
}

static const struct ktap_case cases[] = {
    {"synth.define", define},
    {"synth.taken_name", taken_name},
    {"synth.print_back", print_back},
    {"synth.limits", limits},
    {"synth.types", types},
    {"synth.strings", strings},
    {"synth.stacks", stacks},
    {"synth.too_large", too_large},
    {"synth.to_instances", to_instances},
    {"synth.refused_filter_goes", refused_filter_goes},
    {"synth.by_name", by_name},
    {"synth.held", held},
    {"synth.short_strings", short_strings},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_synth = {cases};
