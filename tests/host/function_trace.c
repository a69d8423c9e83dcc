/*
 * The tracer `function` over functions of ours: which are traced, what becomes of each call, and
 * calls of the tracer's own.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/unit/trace/tools.h"

enum { FIRST, SECOND, THIRD, FOURTH };

static void begin(const char *filter)
{
	trace_fresh();
	EXPECT_EQ(trace_put("set_ftrace_filter", filter), 0);
	EXPECT_EQ(trace_put("set_ftrace_notrace", ""), 0);
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("set_ftrace_filter", ""), 0);
	EXPECT_EQ(trace_put("set_ftrace_notrace", ""), 0);
	trace_fresh();
}

static unsigned count_calls(void)
{
	unsigned n = 0;

	for (unsigned i = FIRST; i <= FOURTH; i++)
		host_function_call(i, 0x42);
	while (*trace_nth(n))
		n++;
	return n;
}

static void what_is_traced(void)
{
	static const struct {
		const char *wanted, *unwanted, *list;
		unsigned calls;
	} rows[] = {
	    {"", "", "#### all functions enabled ####\n", 3},
	    {"first_function", "", "first_function\n", 1},
	    {"*_function", "", "first_function\nthird_function\n", 2},
	    {"f*", "fourth*", "first_function\nfourth_one\n", 1},
	    {"", "*", "#### all functions enabled ####\n", 0},
	    {"2", "", "third_function\n", 1},
	    {"f[io]*_??e", "", "fourth_one\n", 1},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(rows[i].wanted);
		EXPECT_EQ(trace_put("set_ftrace_notrace", rows[i].unwanted), 0);
		EXPECT_STR(trace_get("set_ftrace_filter", NULL), rows[i].list);
		EXPECT_EQ(count_calls(), rows[i].calls);
		end();
	}
}

/* What is refused changes nothing: not even what stood before it in the same write. */
static void what_is_refused(void)
{
	static const char *const rows[] = {
	    "second_function", "nosuch", "4", "0", "-1", "x*", "!nosuch", "fourth_one:nosuch"};

	begin("first_function");
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(trace_append("set_ftrace_filter", rows[i]), -EINVAL);
	EXPECT_STR(trace_get("set_ftrace_filter", NULL), "first_function\n");
	EXPECT_EQ(count_calls(), 1);
	end();
}

/* A list takes effect when its file is closed: meanwhile the old one holds. */
static void as_a_whole(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;

	begin("first_function");
	EXPECT_EQ(trace_walk("set_ftrace_filter", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_WRITE | TRACEFS_TRUNC, &f), 0);
	EXPECT_EQ(count_calls(), 1);
	EXPECT_EQ(tracefs_write(f, "third_function ", 15, &(u64){0}), 15);
	EXPECT_EQ(count_calls(), 2);
	tracefs_release(f);
	EXPECT_STR(trace_get("set_ftrace_filter", NULL), "third_function\n");
	end();
}

/* In an instance, whose ledger is new. */
static void each_call_is_counted(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function"), 0);
	host_function_call(FIRST, 0x42);
	EXPECT_EQ(trace_put("instances/other/tracing_on", "0"), 0);
	host_function_call(FIRST, 0x42);
	const char *ledger = trace_get("instances/other/trace_ledger", NULL);
	EXPECT(strstr(ledger, "ftrace:function: hits 2 = recorded 1 + filtered 0 + pid_filtered 0 "
			      "+ soft_off 0 + too_deep 0 + refused 1\n"));
	EXPECT(strstr(ledger, "\nbalanced\n"));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

static void in_instances(void)
{
	begin("first_function");
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/set_ftrace_filter", "f*"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function"), 0);
	EXPECT_EQ(count_calls(), 1);
	EXPECT(strstr(trace_get("instances/other/trace", NULL), "entries-written: 2/2 "));
	EXPECT(strstr(trace_get("enabled_functions", NULL), "first_function (2) "));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	EXPECT(strstr(trace_get("enabled_functions", NULL), "first_function (1) "));
	EXPECT_EQ(count_calls(), 2);
	end();
}

static const struct ktap_case cases[] = {
    {"function.what_is_traced", what_is_traced},
    {"function.what_is_refused", what_is_refused},
    {"function.as_a_whole", as_a_whole},
    {"function.each_call_is_counted", each_call_is_counted},
    {"function.in_instances", in_instances},
    {NULL, NULL},
};
const struct ktap_suite suite_function_trace = {cases};
