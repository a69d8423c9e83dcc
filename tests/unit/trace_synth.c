/*
 * Synthetic events: what a definition may say, how its errors look, what records hold; and the functions kernel code uses, in the
 * listings of the events document's section 7, word for word where the words are C.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace_tools.h"
#include "trace/events_api.h"
#include "trace/synth.h"

/* What the listings take from their host. */
#define GFP_KERNEL	     0
#define kzalloc(size, flags) host_alloc(size)
#define smp_processor_id()   host_cpu()

/* ---- definitions ------------------------------------------------------------------------------------------------------- */

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
	snprintf(wanted, sizeof(wanted), "synthetic_events: error: %s\n", message);
	EXPECT(strstr(log, wanted));
	snprintf(wanted, sizeof(wanted), "\n%*s^\n", 11 + caret, "");
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

/* 63, 64 and 65 fields; names of 62, 63 and 64 characters. */
static void limits(void)
{
	static char line[2048];
	char name[70];

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
	for (unsigned n = DYNEVENT_NAME_MAX - 1; n <= DYNEVENT_NAME_MAX + 1; n++) {
		memset(name, 'n', n);
		name[n] = '\0';
		snprintf(line, sizeof(line), "%s int %s", name, name);
		EXPECT_EQ(
		    trace_put("synthetic_events", line), n <= DYNEVENT_NAME_MAX ? 0 : -EINVAL);
	}
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* ---- section 7.1: definitions from kernel code --------------------------------------------------------------------------- */

#define SCHEDTEST                                                                                  \
	"schedtest\tpid_t next_pid_field; char[16] next_comm_field; u64 ts_ns; u64 ts_ms; "        \
	"unsigned int cpu; char[64] my_string_field; int my_int_field\n"

static struct synth_field_desc sched_fields[] = {
    {.type = "pid_t", .name = "next_pid_field"},
    {.type = "char[16]", .name = "next_comm_field"},
    {.type = "u64", .name = "ts_ns"},
    {.type = "u64", .name = "ts_ms"},
    {.type = "unsigned int", .name = "cpu"},
    {.type = "char[64]", .name = "my_string_field"},
    {.type = "int", .name = "my_int_field"},
};

static int create_schedtest(void)
{
	return synth_event_create("schedtest", sched_fields, ARRAY_SIZE(sched_fields), THIS_MODULE);
}

static void api_create(void)
{
	trace_fresh();
	EXPECT_EQ(create_schedtest(), 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), SCHEDTEST);
	EXPECT_EQ(create_schedtest(), -EEXIST);
	EXPECT_EQ(synth_event_delete("schedtest"), 0);
	EXPECT_EQ(synth_event_delete("schedtest"), -ENOENT);
	EXPECT_EQ(synth_event_create("none", sched_fields, 0, THIS_MODULE), -EINVAL);
	EXPECT_EQ(synth_event_create(NULL, sched_fields, 1, THIS_MODULE), -EINVAL);
	EXPECT_EQ(synth_event_create("1bad", sched_fields, 1, THIS_MODULE), -EINVAL);
	EXPECT_EQ(synth_event_create("no_type", (struct synth_field_desc[]){{NULL, "a"}}, 1, NULL),
	    -EINVAL);
	EXPECT_STR(trace_get("synthetic_events", NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* Begun with two fields, more added by each of the ways there are. */
static void api_gen_cmd(void)
{
	struct dynevent_cmd cmd;
	char *buf;
	int ret;

	trace_fresh();
	/* Create a buffer to hold the generated command */
	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);

	/* Before generating the command, initialize the cmd object */
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);

	ret = synth_event_gen_cmd_start(
	    &cmd, "schedtest", THIS_MODULE, "pid_t", "next_pid_field", "u64", "ts_ns");
	EXPECT_EQ(ret, 0);
	ret = synth_event_add_field(&cmd, "int", "intfield");
	EXPECT_EQ(ret, 0);
	ret = synth_event_add_fields(&cmd, sched_fields, 4);
	EXPECT_EQ(ret, 0);
	ret = synth_event_add_field_str(&cmd, "char last[]");
	EXPECT_EQ(ret, 0);
	ret = synth_event_gen_cmd_end(&cmd);
	EXPECT_EQ(ret, 0);
	EXPECT_STR(trace_get("synthetic_events", NULL),
	    "schedtest\tpid_t next_pid_field; u64 ts_ns; int intfield; pid_t next_pid_field; "
	    "char[16] next_comm_field; u64 ts_ns; u64 ts_ms; char[] last\n");
	EXPECT_EQ(synth_event_delete("schedtest"), 0);
	host_free(buf);
}

/* Alternatively, using an array of struct synth_field_desc fields. */
static void api_gen_cmd_array(void)
{
	struct synth_field_desc *fields = sched_fields;
	unsigned n_fields = ARRAY_SIZE(sched_fields);
	struct dynevent_cmd cmd;
	char *buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	int ret;

	trace_fresh();
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret = synth_event_gen_cmd_array_start(&cmd, "schedtest", THIS_MODULE, fields, n_fields);
	EXPECT_EQ(ret, 0);
	ret = synth_event_gen_cmd_end(&cmd);
	EXPECT_EQ(ret, 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), SCHEDTEST);
	EXPECT_EQ(synth_event_delete("schedtest"), 0);
	host_free(buf);
}

static void api_gen_cmd_misuse(void)
{
	char buf[64];
	struct dynevent_cmd cmd;

	trace_fresh();
	dynevent_cmd_init(&cmd, buf, sizeof(buf), DYNEVENT_TYPE_KPROBE, NULL);
	EXPECT_EQ(synth_event_gen_cmd_start(&cmd, "e", THIS_MODULE, "int", "a"), -EINVAL);
	EXPECT_EQ(synth_event_add_field(&cmd, "int", "a"), -EINVAL);
	EXPECT_EQ(synth_event_add_field_str(&cmd, "int a"), -EINVAL);
	EXPECT_EQ(dynevent_create(&cmd), -EINVAL);
	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	EXPECT_EQ(synth_event_gen_cmd_start(&cmd, "e", THIS_MODULE), 0);
	EXPECT_EQ(synth_event_add_field(&cmd, NULL, "a"), -EINVAL);
	EXPECT_EQ(synth_event_add_field(&cmd, "int", NULL), -EINVAL);
	EXPECT_EQ(synth_event_add_field_str(&cmd, NULL), -EINVAL);
	EXPECT_EQ(synth_event_gen_cmd_end(&cmd), -EINVAL); /* an event without fields */
	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	EXPECT_EQ(synth_event_gen_cmd_array_start(&cmd, "e", THIS_MODULE, sched_fields, 2), 0);
	EXPECT_EQ(synth_event_add_field(&cmd, "int", "too_long_for_what_is_left"), -E2BIG);
	EXPECT_EQ(synth_event_gen_cmd_end(&cmd), -E2BIG);
	EXPECT_STR(trace_get("synthetic_events", NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* One field more than there may be is refused when it is added. */
static void api_too_many_fields(void)
{
	struct dynevent_cmd cmd;
	char *buf = host_alloc(MAX_DYNEVENT_CMD_LEN);

	trace_fresh();
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(synth_event_gen_cmd_start(&cmd, "many", THIS_MODULE), 0);
	for (unsigned i = 0; i <= SYNTH_FIELDS_MAX; i++)
		EXPECT_EQ(
		    synth_event_add_field(&cmd, "u8", "f"), i < SYNTH_FIELDS_MAX ? 0 : -EINVAL);
	EXPECT_EQ(synth_event_gen_cmd_end(&cmd), 0); /* what was taken makes an event */
	EXPECT_EQ(synth_event_delete("many"), 0);
	host_free(buf);
}

/* ---- section 7.2: tracing -------------------------------------------------------------------------------------------------- */

static struct trace_event_file *start_schedtest(void)
{
	trace_fresh();
	EXPECT_EQ(create_schedtest(), 0);
	struct trace_event_file *file = trace_get_event_file(NULL, "synthetic", "schedtest");
	EXPECT(!IS_ERR(file));
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "schedtest", true), 0);
	return file;
}

static void end_schedtest(struct trace_event_file *file)
{
	EXPECT_EQ(synth_event_delete("schedtest"), -EBUSY);
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "schedtest", false), 0);
	EXPECT_EQ(synth_event_delete("schedtest"), -EBUSY); /* its file is held */
	trace_put_event_file(file);
	EXPECT_EQ(synth_event_delete("schedtest"), 0);
}

static void expect_record(unsigned n, const char *fmt)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), fmt, (unsigned)host_cpu());
	EXPECT_STR(trace_nth_event(n), wanted);
}

static void api_trace(void)
{
	struct trace_event_file *create_synth_test = start_schedtest();
	struct trace_event_file *schedtest_event_file = create_synth_test;
	u64 vals[7];
	int ret;

	ret = synth_event_trace(create_synth_test, 7, /* number of values */
	    444,				      /* next_pid_field */
	    (u64) "clackers",			      /* next_comm_field */
	    1000000,				      /* ts_ns */
	    1000,				      /* ts_ms */
	    smp_processor_id(),			      /* cpu */
	    (u64) "Thneed",			      /* my_string_field */
	    999);				      /* my_int_field */
	EXPECT_EQ(ret, 0);

	vals[0] = 777;		       /* next_pid_field */
	vals[1] = (u64) "tiddlywinks"; /* next_comm_field */
	vals[2] = 1000000;	       /* ts_ns */
	vals[3] = 1000;		       /* ts_ms */
	vals[4] = smp_processor_id();  /* cpu */
	vals[5] = (u64) "thneed";      /* my_string_field */
	vals[6] = 398;		       /* my_int_field */
	ret = synth_event_trace_array(schedtest_event_file, vals, ARRAY_SIZE(vals));
	EXPECT_EQ(ret, 0);
	expect_record(0, "schedtest: next_pid_field=444 next_comm_field=clackers ts_ns=1000000 "
			 "ts_ms=1000 cpu=%u my_string_field=Thneed my_int_field=999");
	expect_record(1, "schedtest: next_pid_field=777 next_comm_field=tiddlywinks ts_ns=1000000 "
			 "ts_ms=1000 cpu=%u my_string_field=thneed my_int_field=398");
	end_schedtest(schedtest_event_file);
	EXPECT_STR(trace_nth_event(0), "");
}

static void api_trace_misuse(void)
{
	struct trace_event_file *file = start_schedtest();
	u64 vals[8] = {0};

	EXPECT_EQ(synth_event_trace_array(file, vals, 6), -EINVAL);
	EXPECT_EQ(synth_event_trace_array(file, vals, 8), -EINVAL);
	EXPECT_EQ(synth_event_trace(file, 7, 1, 2, 3), -EINVAL);
	EXPECT_EQ(synth_event_trace(file, 3, 1, 2, 3), -EINVAL);
	struct trace_event_file *other = trace_get_event_file(NULL, "unit", "unit_numbers");
	EXPECT_EQ(synth_event_trace_array(other, vals, 4), -EINVAL);
	EXPECT_EQ(synth_event_trace_start(other, &(struct synth_event_trace_state){.rec = NULL}),
	    -EINVAL);
	trace_put_event_file(other);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "schedtest", false), 0);
	EXPECT_EQ(synth_event_trace_array(file, vals, 7), 0); /* off is no error */
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "schedtest", true), 0);
	end_schedtest(file);
}

static void api_piecewise_next(void)
{
	struct trace_event_file *schedtest_event_file = start_schedtest();
	struct synth_event_trace_state trace_state;
	int ret;

	ret = synth_event_trace_start(schedtest_event_file, &trace_state);
	EXPECT_EQ(ret, 0);

	/* next_pid_field */
	ret = synth_event_add_next_val(777, &trace_state);

	/* next_comm_field */
	ret |= synth_event_add_next_val((u64) "slinky", &trace_state);

	/* ts_ns */
	ret |= synth_event_add_next_val(1000000, &trace_state);

	/* ts_ms */
	ret |= synth_event_add_next_val(1000, &trace_state);

	/* cpu */
	ret |= synth_event_add_next_val(smp_processor_id(), &trace_state);

	/* my_string_field */
	ret |= synth_event_add_next_val((u64) "thneed_2.01", &trace_state);

	/* my_int_field */
	ret |= synth_event_add_next_val(395, &trace_state);
	EXPECT_EQ(ret, 0);
	EXPECT_EQ(synth_event_add_next_val(1, &trace_state), -EINVAL); /* no field is left */
	ret = synth_event_trace_end(&trace_state);
	EXPECT_EQ(ret, 0);
	expect_record(0, "schedtest: next_pid_field=777 next_comm_field=slinky ts_ns=1000000 "
			 "ts_ms=1000 cpu=%u my_string_field=thneed_2.01 my_int_field=395");
	end_schedtest(schedtest_event_file);
}

static void api_piecewise_name(void)
{
	struct trace_event_file *schedtest_event_file = start_schedtest();
	struct synth_event_trace_state trace_state;
	int ret;

	EXPECT_EQ(synth_event_trace_start(schedtest_event_file, &trace_state), 0);
	ret = synth_event_add_val("next_pid_field", 777, &trace_state);
	ret |= synth_event_add_val("next_comm_field", (u64) "silly putty", &trace_state);
	ret |= synth_event_add_val("ts_ns", 1000000, &trace_state);
	ret |= synth_event_add_val("ts_ms", 1000, &trace_state);
	ret |= synth_event_add_val("cpu", smp_processor_id(), &trace_state);
	ret |= synth_event_add_val("my_string_field", (u64) "thneed_9", &trace_state);
	ret |= synth_event_add_val("my_int_field", 3999, &trace_state);
	EXPECT_EQ(ret, 0);
	ret = synth_event_trace_end(&trace_state);
	EXPECT_EQ(ret, 0);
	expect_record(0, "schedtest: next_pid_field=777 next_comm_field=silly putty ts_ns=1000000 "
			 "ts_ms=1000 cpu=%u my_string_field=thneed_9 my_int_field=3999");
	end_schedtest(schedtest_event_file);
}

/* Both ways in one trace, names that are none, strings that are none; what was given is recorded at the end all the same. */
static void api_piecewise_misuse(void)
{
	struct trace_event_file *file = start_schedtest();
	struct synth_event_trace_state st;

	EXPECT_EQ(synth_event_trace_start(file, NULL), -EINVAL);
	EXPECT_EQ(synth_event_trace_end(NULL), -EINVAL);
	EXPECT_EQ(synth_event_trace_start(file, &st), 0);
	EXPECT_EQ(synth_event_add_val("my_int_field", 1, &st), 0);
	EXPECT_EQ(synth_event_add_next_val(1, &st), -EINVAL);
	EXPECT_EQ(synth_event_add_val("nosuch", 1, &st), -EINVAL);
	EXPECT_EQ(synth_event_add_val(NULL, 1, &st), -EINVAL);
	EXPECT_EQ(synth_event_add_val("my_string_field", 0, &st), -EINVAL);
	EXPECT_EQ(synth_event_trace_end(&st), 0);
	EXPECT_EQ(synth_event_trace_end(&st), 0); /* once more: nothing is open */
	EXPECT_EQ(synth_event_trace_start(file, &st), 0);
	EXPECT_EQ(synth_event_add_next_val(2, &st), 0);
	EXPECT_EQ(synth_event_add_val("my_int_field", 1, &st), -EINVAL);
	EXPECT_EQ(synth_event_trace_end(&st), 0);
	EXPECT_STR(trace_nth_event(0),
	    "schedtest: next_pid_field=0 next_comm_field= ts_ns=0 ts_ms=0 cpu=0 "
	    "my_string_field= my_int_field=1");
	EXPECT_STR(trace_nth_event(1),
	    "schedtest: next_pid_field=2 next_comm_field= ts_ns=0 ts_ms=0 cpu=0 "
	    "my_string_field= my_int_field=0");
	EXPECT_STR(trace_nth_event(2), "");
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "schedtest", false), 0);
	EXPECT_EQ(synth_event_trace_start(file, &st), 0); /* off: values go nowhere */
	EXPECT_EQ(synth_event_add_next_val(1, &st), 0);
	EXPECT_EQ(synth_event_add_val("cpu", 1, &st), -EINVAL);
	EXPECT_EQ(synth_event_trace_end(&st), 0);
	EXPECT_STR(trace_nth_event(2), "");
	EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "schedtest", true), 0);
	end_schedtest(file);
}

/* Until its end a trace is not seen; the event stays as long, though nothing else holds it. */
static void api_missing_end(void)
{
	struct trace_event_file *file = start_schedtest();
	struct synth_event_trace_state st;

	EXPECT_EQ(synth_event_trace_start(file, &st), 0);
	struct synth_event *ev = synth_event_of(file->call);
	EXPECT_EQ(ev->open, 1);
	EXPECT(ev->dyn.kind->is_busy(&ev->dyn));
	EXPECT_EQ(synth_event_trace_end(&st), 0);
	EXPECT_EQ(ev->open, 0);
	EXPECT(strstr(trace_nth_event(0), "schedtest: "));
	end_schedtest(file);
}

/* ---- records: every type, strings of every length, memory that is not there ------------------------------------------------- */

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
		snprintf(
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

/* Eight fixed strings fit a record; sixteen are more than a sub-buffer holds: counted as lost, not recorded. */
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
	host_exit();
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

/* ---- section 7.4: the layer below ------------------------------------------------------------------------------------------- */

#define DYNEVENT_TYPE_FOO 7

static char foo_command[128];

static int foo_event_run_command(struct dynevent_cmd *cmd)
{
	strscpy(foo_command, dynevent_cmd_text(cmd), sizeof(foo_command));
	return 0;
}

static int dynevent_foo_check_arg_fn(void *data)
{
	struct dynevent_arg_pair *pair = data;

	return pair->lhs && pair->rhs ? 0 : -EINVAL;
}

/* The text's listings, in the order of a use. The text says `cmd` for the object and for its address. */
static void dynevent_listing(struct dynevent_cmd *cmd, char *buf, unsigned maxlen)
{
	const char *name = "name", *type = "int";
	int ret;

	dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_FOO, foo_event_run_command);

	struct dynevent_arg arg;

	dynevent_arg_init(&arg, NULL, 0);

	arg.str = name;

	ret = dynevent_arg_add(cmd, &arg);
	EXPECT_EQ(ret, 0);

	struct dynevent_arg_pair arg_pair;

	dynevent_arg_pair_init(&arg_pair, dynevent_foo_check_arg_fn, 0, ';');

	arg_pair.lhs = type;
	arg_pair.rhs = name;

	ret = dynevent_arg_pair_add(cmd, &arg_pair);
	EXPECT_EQ(ret, 0);
	dynevent_arg_pair_init(&arg_pair, dynevent_foo_check_arg_fn, '=', 0);
	arg_pair.lhs = "flags";
	EXPECT_EQ(dynevent_arg_pair_add(cmd, &arg_pair), -EINVAL); /* rhs is NULL */
	arg_pair.rhs = "%cx";
	EXPECT_EQ(dynevent_arg_pair_add(cmd, &arg_pair), 0);
	EXPECT_EQ(dynevent_str_add(cmd, "as-is"), 0);
}

static void dynevent_cmd_layer(void)
{
	struct dynevent_cmd cmd;
	char *buf;
	int ret;

	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	dynevent_listing(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(cmd.type, DYNEVENT_TYPE_FOO);
	ret = dynevent_create(&cmd);
	EXPECT_EQ(ret, 0);
	EXPECT_STR(foo_command, " name  int name; flags=%cx as-is");
	host_free(buf);
}

/* A buffer of n bytes holds n - 1 of a command. */
static void dynevent_cmd_limits(void)
{
	struct dynevent_cmd cmd;
	char buf[8];

	for (unsigned n = 0; n <= sizeof(buf); n++) {
		dynevent_cmd_init(&cmd, buf, n, DYNEVENT_TYPE_FOO, foo_event_run_command);
		EXPECT_EQ(dynevent_str_add(&cmd, "12345"), n > 5 ? 0 : -E2BIG);
		EXPECT_EQ(dynevent_create(&cmd), n > 5 ? 0 : -E2BIG);
		EXPECT_STR(n > 5 ? foo_command : "12345", "12345");
	}
}

static const struct ktap_case cases[] = {
    {"synth.define", define},
    {"synth.print_back", print_back},
    {"synth.limits", limits},
    {"synth.api_create", api_create},
    {"synth.api_gen_cmd", api_gen_cmd},
    {"synth.api_gen_cmd_array", api_gen_cmd_array},
    {"synth.api_gen_cmd_misuse", api_gen_cmd_misuse},
    {"synth.api_too_many_fields", api_too_many_fields},
    {"synth.api_trace", api_trace},
    {"synth.api_trace_misuse", api_trace_misuse},
    {"synth.api_piecewise_next", api_piecewise_next},
    {"synth.api_piecewise_name", api_piecewise_name},
    {"synth.api_piecewise_misuse", api_piecewise_misuse},
    {"synth.api_missing_end", api_missing_end},
    {"synth.types", types},
    {"synth.strings", strings},
    {"synth.too_large", too_large},
    {"synth.to_instances", to_instances},
    {"synth.dynevent_cmd_layer", dynevent_cmd_layer},
    {"synth.dynevent_cmd_limits", dynevent_cmd_limits},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_synth = {cases};
