/*
 * Synthetic events from kernel code: the functions that it uses, in the listings of the events
 * document's section 7, word for word where the words are C.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/synth.h"
#include "trace/dynevent/synth_cmd.h"
#include "trace/dynevent/synth_record.h"
#include "trace/event/api.h"
#include "trace/host_context.h"
#include "trace/host_memory.h"

/* What the listings take from their host. */
#define GFP_KERNEL	     0
#define kzalloc(size, flags) host_alloc(size)
#define smp_processor_id()   host_cpu()

/* ---- section 7.1: definitions from kernel code ---- */

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

/* As many fields as there may be make an event; one more makes none. */
static void api_most_fields(void)
{
	struct synth_field_desc fields[SYNTH_FIELDS_MAX + 1];
	static char names[SYNTH_FIELDS_MAX + 1][8];

	trace_fresh();
	for (unsigned i = 0; i <= SYNTH_FIELDS_MAX; i++) {
		fmt_snprintf(names[i], sizeof(names[i]), "f%u", i);
		fields[i] = (struct synth_field_desc){.type = "u8", .name = names[i]};
	}
	EXPECT_EQ(synth_event_create("many", fields, SYNTH_FIELDS_MAX + 1, THIS_MODULE), -EINVAL);
	EXPECT_EQ(synth_event_create("many", fields, SYNTH_FIELDS_MAX, THIS_MODULE), 0);
	EXPECT(strstr(trace_get("synthetic_events", NULL), names[SYNTH_FIELDS_MAX - 1]));
	EXPECT_EQ(synth_event_delete("many"), 0);
}

/* Without a system or without an event there is no file, and nothing is held. */
static void api_file_of_nothing(void)
{
	trace_fresh();
	EXPECT_EQ(PTR_ERR(trace_get_event_file(NULL, NULL, "unit_numbers")), -EINVAL);
	EXPECT_EQ(PTR_ERR(trace_get_event_file(NULL, "unit", NULL)), -EINVAL);
	EXPECT_EQ(PTR_ERR(trace_get_event_file(NULL, "unit", "no_such")), -EINVAL);
	EXPECT_EQ(PTR_ERR(trace_get_event_file("no_such", "unit", "unit_numbers")), -ENOENT);
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

/* ---- section 7.2: tracing ---- */

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

	fmt_snprintf(wanted, sizeof(wanted), fmt, (unsigned)host_cpu());
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

/* However often it is done, there is room for the next one's values, and each is recorded. */
static void api_piecewise_often(void)
{
	struct trace_event_file *file = start_schedtest();
	struct synth_event_trace_state state;

	for (unsigned i = 0; i < 100; i++) {
		EXPECT_EQ(synth_event_trace_start(file, &state), 0);
		EXPECT_EQ(synth_event_add_val("ts_ms", i, &state), 0);
		EXPECT_EQ(synth_event_trace_end(&state), 0);
	}
	EXPECT_EQ(trace_counts("synthetic", "schedtest").hit, 100);
	EXPECT_EQ(ring_buffer_entries(file->tr->buffer), 100);
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

/*
 * Both ways in one trace, names that are none, strings that are none; what was given is recorded at
 * the end all the same.
 */
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

/* ---- section 7.4: the layer below ---- */

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

/*
 * The text's listings, in the order of a use. The text says `cmd` for the object and for its
 * address.
 */
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
    {"synth.api_create", api_create},
    {"synth.api_gen_cmd", api_gen_cmd},
    {"synth.api_gen_cmd_array", api_gen_cmd_array},
    {"synth.api_gen_cmd_misuse", api_gen_cmd_misuse},
    {"synth.api_most_fields", api_most_fields},
    {"synth.api_file_of_nothing", api_file_of_nothing},
    {"synth.api_too_many_fields", api_too_many_fields},
    {"synth.api_trace", api_trace},
    {"synth.api_trace_misuse", api_trace_misuse},
    {"synth.api_piecewise_next", api_piecewise_next},
    {"synth.api_piecewise_often", api_piecewise_often},
    {"synth.api_piecewise_name", api_piecewise_name},
    {"synth.api_piecewise_misuse", api_piecewise_misuse},
    {"synth.api_missing_end", api_missing_end},
    {"synth.dynevent_cmd_layer", dynevent_cmd_layer},
    {"synth.dynevent_cmd_limits", dynevent_cmd_limits},
    {NULL, NULL},
};
const struct ktap_suite suite_synth_api = {cases};
