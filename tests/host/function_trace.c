/*
 * The tracer `function` over functions of ours: which are traced, what becomes of each call, and
 * calls of the tracer's own.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/host/scripted_clock.h"
#include "tests/unit/trace/tools.h"
#include "trace/function/priv.h"
#include "trace/host_context.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

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
	    "second_function", "nosuch", "5", "0", "-1", "x*", "!nosuch", "fourth_one:nosuch"};

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

/* Another task's calls do not reach the tracer, and commands are for all tasks. */
static void whose_calls(void)
{
	struct host_context ctx;
	char pid[16];

	host_enter(&ctx);
	host_preempt_enable();
	fmt_snprintf(pid, sizeof(pid), "%d", ctx.pid);
	begin("first_function third_function:stacktrace");
	EXPECT_STR(trace_get("set_ftrace_pid", NULL), "no pid\n");
	EXPECT_EQ(trace_put("set_ftrace_pid", "12345"), 0);
	EXPECT_EQ(count_calls(), 1);
	EXPECT(strstr(trace_nth(0), "stack trace"));
	EXPECT_EQ(trace_append("set_ftrace_pid", pid), 0);
	host_function_call(FIRST, 0x42);
	EXPECT(strstr(trace_get("trace", NULL), "entries-written: 2/2 "));
	EXPECT_EQ(trace_put("set_ftrace_notrace_pid", pid), 0);
	host_function_call(FIRST, 0x42);
	EXPECT(strstr(trace_get("trace", NULL), "entries-written: 2/2 "));
	EXPECT_EQ(trace_put("set_ftrace_pid", ""), 0);
	EXPECT_EQ(trace_put("set_ftrace_notrace_pid", ""), 0);
	host_function_call(FIRST, 0x42);
	EXPECT(strstr(trace_get("trace", NULL), "entries-written: 3/3 "));
	EXPECT_EQ(trace_append("set_ftrace_filter", "!third_function:stacktrace"), 0);
	end();
}

/* Lists made before the tracer starts hold, and so do those of the tracer after a pause. */
static void whose_calls_from_the_start(void)
{
	begin("");
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("set_ftrace_pid", "12345"), 0);
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT_EQ(count_calls(), 0);
	EXPECT_EQ(trace_put("set_ftrace_pid", ""), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT_EQ(count_calls(), 3);
	end();
}

/* A call of another function, or of the same from elsewhere, ends the repeats. */
static void repeats(void)
{
	begin("");
	EXPECT_EQ(trace_put("options/func-no-repeats", "1"), 0);
	for (unsigned i = 0; i < 5; i++)
		host_function_call(FIRST, 0x42);
	host_function_call(FIRST, 0x43);
	host_function_call(THIRD, 0x43);
	EXPECT(strstr(trace_nth(0), "sym_1000 <-sym_42"));
	EXPECT(strstr(trace_nth(1), "sym_1000 <-sym_42 (repeats: 4, last_ts:"));
	EXPECT(strstr(trace_nth(2), "sym_1000 <-sym_43"));
	EXPECT(strstr(trace_nth(3), "sym_1200 <-sym_43"));
	EXPECT_STR(trace_nth(4), "");
	EXPECT_EQ(trace_put("options/func-no-repeats", "0"), 0);
	for (unsigned i = 0; i < 3; i++)
		host_function_call(THIRD, 0x43);
	EXPECT(*trace_nth(6));
	end();
}

/* Calls that repeat more often than a record can count make several; each has its own time. */
static void many_repeats(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function"), 0);
	EXPECT_EQ(trace_put("instances/other/options/func-no-repeats", "1"), 0);
	for (unsigned i = 0; i < 65536 + 3; i++)
		host_function_call(FIRST, 0x42);
	host_function_call(THIRD, 0x42);
	const char *trace = trace_get("instances/other/trace", NULL);
	EXPECT(strstr(trace, "sym_1000 <-sym_42 (repeats: 65535, last_ts:"));
	EXPECT(strstr(trace, "sym_1000 <-sym_42 (repeats: 2, last_ts:"));
	EXPECT(strstr(trace_get("instances/other/trace_ledger", NULL), "\nbalanced\n"));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

static u64 now;

static u64 clock_of_ours(void)
{
	return now;
}

/* How long before its record the last repeat was: more than 32 bits of the clock's unit. */
static void time_of_repeats(void)
{
	const u64 tick = 10000000; /* ns of the clock's */

	begin("");
	machine_clock(clock_of_ours);
	now = 7 * tick;
	EXPECT_EQ(trace_put("trace_clock", "uptime"), 0);
	EXPECT_EQ(trace_put("options/func-no-repeats", "1"), 0);
	EXPECT_EQ(trace_put("options/raw", "1"), 0);
	host_function_call(FIRST, 0x42);
	now = 9 * tick;
	host_function_call(FIRST, 0x42);
	now = (9 + (3UL << 32) + 5) * tick;
	host_function_call(THIRD, 0x42);
	EXPECT(strstr(trace_get("trace", NULL), " 1000 42 1 12884901893\n"));
	EXPECT_EQ(trace_put("options/func-no-repeats", "0"), 0);
	machine_clock(NULL);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	end();
}

static void call_again(void)
{
	host_function_call(FIRST, 0x42);
}

static void interrupt(void)
{
	machine_flags(TRACE_FLAG_HARDIRQ);
	host_function_call(FIRST, 0x42);
	machine_flags(0);
}

/*
 * While a call is recorded, another of the same context is one of the recording, and counted; an
 * interrupt's is recorded, and no repeat of the one in whose middle it comes.
 */
static void meanwhile(void)
{
	begin("");
	memset(&script, 0, sizeof(script));
	machine_clock(clock_of_script);
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function"), 0);
	EXPECT_EQ(trace_put("instances/other/options/func-no-repeats", "1"), 0);
	EXPECT_EQ(trace_put("instances/other/trace_clock", "uptime"), 0);
	script.at = script.reads + 1;
	script.meanwhile = call_again;
	host_function_call(FIRST, 0x42);
	host_function_call(THIRD, 0x42);
	script.at = script.reads + 1;
	script.meanwhile = interrupt;
	host_function_call(FIRST, 0x42);
	host_function_call(THIRD, 0x42);
	machine_clock(NULL);
	EXPECT(!strstr(trace_get("instances/other/trace", NULL), "(repeats: "));
	EXPECT(strstr(trace_get("instances/other/trace_ledger", NULL),
	    "cpu0: hits 6 = recorded 5 + filtered 0 + pid_filtered 0 + soft_off 0 + too_deep 1 + "
	    "refused 0\n"));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

/* Commands of two arrays: each counts once where it is, and an array's filter is its own. */
static void of_two_arrays(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_append("set_ftrace_filter", "first_function:traceoff"), 0);
	EXPECT_EQ(trace_append("instances/other/set_ftrace_filter", "third_function:traceoff"), 0);
	EXPECT(strstr(trace_get("enabled_functions", NULL), "first_function (1) "));
	EXPECT(strstr(trace_get("enabled_functions", NULL), "third_function (1) "));
	EXPECT(!strstr(trace_get("enabled_functions", NULL), "fourth_one"));
	EXPECT_EQ(trace_append("set_ftrace_filter", "!first_function:traceoff"), 0);
	EXPECT_EQ(trace_put("function_profile_enabled", "1"), 0);
	EXPECT_EQ(trace_append("instances/other/set_ftrace_filter", "third_function"), 0);
	host_function_call(FIRST, 0x42);
	EXPECT(strstr(trace_get("trace_stat/function0", NULL), "  first_function  "));
	EXPECT_EQ(trace_put("function_profile_enabled", "0"), 0);
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

#define EVENT "unit:unit_text"

/* Rows of a list: what is written, its error, what the commands are then. */
static void commands_listed(void)
{
	static const struct {
		const char *text;
		int err;
		const char *list;
	} rows[] = {
	    {"first_function:traceoff", 0, "first_function:traceoff:unlimited\n"},
	    {"first_function:traceoff", -EINVAL, "first_function:traceoff:unlimited\n"},
	    {"fourth_one:traceoff", 0,
		"first_function:traceoff:unlimited\nfourth_one:traceoff:unlimited\n"},
	    {"*_function:traceoff:0x10", 0,
		"first_function:traceoff:count=16\nthird_function:traceoff:count=16\n"
		"first_function:traceoff:unlimited\nfourth_one:traceoff:unlimited\n"},
	    {"!nosuch:traceoff:0", -EINVAL,
		"first_function:traceoff:count=16\nthird_function:traceoff:count=16\n"
		"first_function:traceoff:unlimited\nfourth_one:traceoff:unlimited\n"},
	    {"!f*:traceoff", 0,
		"first_function:traceoff:count=16\nthird_function:traceoff:count=16\n"},
	    {"!first_function:traceon:0", -ENODEV,
		"first_function:traceoff:count=16\nthird_function:traceoff:count=16\n"},
	    {"!:traceoff:0", 0, ""}, {"!first_function:traceoff:0", -ENODEV, ""},
	    {"second_function:traceoff", -EINVAL, ""}, {"first_function:traceoff:", -EINVAL, ""},
	    {"first_function:hist:keys=a", -EINVAL, ""},
	    {"first_function:enable_event:unit", -EINVAL, ""},
	    {"first_function:enable_event:" EVENT ":", -EINVAL, ""},
	    {"1:enable_event:" EVENT ":2", 0, "first_function:enable_event:" EVENT ":count=2\n"},
	    {"!first_function:enable_event:unit:nosuch", -EINVAL,
		"first_function:enable_event:" EVENT ":count=2\n"},
	    {"!first_function:enable_event:" EVENT ":0", 0, ""},
	    {"first_function:cpudump:7", 0, "first_function:cpudump:unlimited\n"},
	    {"!*:cpudump", 0, ""}, {"first_function:dump:7", 0, "first_function:dump:count=1\n"},
	    {"!*:dump", 0, ""},
	    {"first_function:traceoff:3", 0, "first_function:traceoff:count=3\n"},
	    {"!first_function:traceoff:x", 0, ""}, /* what the number is does not matter */
	};

	begin("first_function");
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_append("set_ftrace_filter", rows[i].text), rows[i].err);
		EXPECT_STR(trace_get("set_ftrace_filter", NULL) + strlen("first_function\n"),
		    rows[i].list);
	}
	EXPECT_EQ(trace_put("set_ftrace_notrace", "first_function:traceoff"), -EINVAL);
	end();
}

/* Commands of modules, which never come. */
static void modules(void)
{
	static const struct {
		const char *text;
		int err;
		const char *list;
	} rows[] = {
	    {"f*:mod:ext", 0, "f*:mod:ext\n"},
	    {"*:mod:ext", 0, "*:mod:ext\nf*:mod:ext\n"},
	    {"!f*:mod:other", -EINVAL, "*:mod:ext\nf*:mod:ext\n"},
	    {"!f*x:mod:ext", -EINVAL, "*:mod:ext\nf*:mod:ext\n"},
	    {"!f*:mod:ext", 0, "*:mod:ext\n"},
	    {"third_function:mod:!ext", 0, "third_function\n*:mod:ext\n"},
	    {"!*:mod:ext", 0, "third_function\n"},
	    {"f*:mod:ext", 0, "third_function\nf*:mod:ext\n"},
	};

	begin("");
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_append("set_ftrace_filter", rows[i].text), rows[i].err);
		EXPECT_STR(trace_get("set_ftrace_filter", NULL), rows[i].list);
	}
	EXPECT_EQ(trace_put("set_ftrace_filter", ""), 0);
	EXPECT_STR(trace_get("set_ftrace_filter", NULL), "#### all functions enabled ####\n");
	EXPECT_EQ(trace_put("set_ftrace_notrace", "f*:mod:ext"), 0);
	EXPECT_STR(
	    trace_get("set_ftrace_notrace", NULL), "#### no functions disabled ####\nf*:mod:ext\n");
	EXPECT_EQ(trace_put("set_graph_function", "1"), -EINVAL); /* takes names alone */
	end();
}

/* With its option each traced call has the stack that led to it, and without it none. */
static void stacks_of_calls(void)
{
	static const u64 stack[] = {0x1008, 0x1110};

	machine_stack(stack, ARRAY_SIZE(stack));
	begin("first_function");
	for (unsigned on = 0; on < 2; on++) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		EXPECT_EQ(trace_put("options/func_stack_trace", on ? "1" : "0"), 0);
		host_function_call(FIRST, 0x42);
		EXPECT(*trace_nth(0));
		EXPECT_EQ(!!strstr(trace_get("trace", NULL), "<stack trace>\n"), on);
	}
	EXPECT_EQ(trace_put("options/func_stack_trace", "0"), 0);
	end();
	machine_stack(NULL, 0);
}

/* The stack tracer's list takes numbers, and '!' of what is not in it; it is no array's. */
static void stack_filter(void)
{
	static const struct {
		const char *text;
		int err;
		const char *list;
	} rows[] = {
	    {"3", 0, "fourth_one\n"},
	    {"!first_function", 0, "fourth_one\n"},
	    {"*_function", 0, "first_function\nthird_function\nfourth_one\n"},
	    {"!1", 0, "third_function\nfourth_one\n"},
	    {"!nosuch", -EINVAL, "third_function\nfourth_one\n"},
	    {"first_function:mod:ext", -ENODEV, "third_function\nfourth_one\n"},
	    {"first_function:traceoff", -ENODEV, "third_function\nfourth_one\n"},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_append("stack_trace_filter", rows[i].text), rows[i].err);
		EXPECT_STR(trace_get("stack_trace_filter", NULL), rows[i].list);
	}
	EXPECT_EQ(trace_put("stack_trace_filter", ""), 0);
}

static void expect_stack_tracer(bool on)
{
	EXPECT_EQ(!!strstr(trace_get("stack_trace", NULL), "Stack tracer disabled"), !on);
}

static int switch_stack_tracer(bool on)
{
	host_lock();
	int err = trace_stack_switch(on);
	host_unlock();
	return err;
}

/* The stack tracer is off where it could not be switched on, and later it can be. */
static void stack_tracer_refused(void)
{
	static struct host_hook others[16];
	unsigned n = 0;
	int err = -ENOMEM;

	trace_fresh();
	while (n < ARRAY_SIZE(others) && !host_hook_add(&others[n]))
		n++;
	EXPECT_EQ(switch_stack_tracer(true), -EBUSY);
	expect_stack_tracer(false);
	EXPECT_EQ(switch_stack_tracer(true), -EBUSY);
	while (n--)
		host_hook_remove(&others[n]);
	for (n = 1; err && n < 100; n++) {
		machine_fail_alloc(n);
		err = switch_stack_tracer(true);
		machine_fail_alloc(0);
		EXPECT(err == 0 || err == -ENOMEM);
		expect_stack_tracer(!err);
	}
	EXPECT_EQ(err, 0);
	EXPECT_EQ(switch_stack_tracer(false), 0);
	expect_stack_tracer(false);
}

static void mark(void *text)
{
	EXPECT_EQ(trace_put("trace_marker", text), 0);
}

/* A dump comes when the lock is free, once; recording is off from the call on. */
static void dump(void)
{
	begin("fourth_one fourth_one:dump");
	mark("of before");
	machine_said();
	host_function_call(FOURTH, 0x42);
	EXPECT(strstr(machine_said(), ": of before\n"));
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	host_function_call(FOURTH, 0x42);
	EXPECT_STR(machine_said(), "");
	EXPECT_EQ(trace_append("set_ftrace_filter", "!fourth_one:dump fourth_one:cpudump"), 0);
	machine_run(1, mark, "elsewhere");
	machine_join(1);
	host_function_call(FOURTH, 0x42);
	const char *said = machine_said();
	EXPECT(strstr(said, ": of before\n"));
	EXPECT(!strstr(said, "elsewhere"));
	EXPECT_EQ(trace_append("set_ftrace_filter", "!fourth_one:cpudump"), 0);
	end();
}

/* With the n-th allocation failing nothing has changed. */
static void commands_without_memory(void)
{
	int err = -ENOMEM;

	begin("first_function");
	EXPECT_EQ(trace_append("set_ftrace_filter", "third_function:snapshot:3"), 0);
	for (unsigned n = 1; err; n++) {
		machine_fail_alloc(n);
		err = trace_append("set_ftrace_filter", "f*:enable_event:" EVENT);
		machine_fail_alloc(0);
		EXPECT(err == 0 || err == -ENOMEM);
		EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), err ? "0\n" : "0*\n");
		/* For all functions, or for none. */
		const char *list = trace_get("set_ftrace_filter", NULL);
		EXPECT_EQ(!err, !!strstr(list, "first_function:enable_event"));
		EXPECT_EQ(!err, !!strstr(list, "fourth_one:enable_event"));
	}
	for (unsigned n = err = 1; err && n < 100; n++) {
		machine_fail_alloc(n);
		err = trace_append("set_ftrace_filter", "!f*:enable_event:" EVENT);
		machine_fail_alloc(0);
		EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), err ? "0*\n" : "0\n");
	}
	EXPECT_EQ(err, 0);
	EXPECT_EQ(trace_append("set_ftrace_filter", "!third_function:snapshot:3"), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	end();
}

/* A command whose removal had no memory is there as before: whatever comes and goes later. */
static void removal_without_memory(void)
{
	static const char both[] = "first_function:stacktrace:unlimited\n"
				   "fourth_one:stacktrace:unlimited\n";
	int err = -ENOMEM;

	begin("first_function fourth_one:stacktrace first_function:stacktrace");
	for (unsigned n = 1; n < 100; n++) {
		machine_fail_alloc(n);
		err = trace_append("set_ftrace_filter", "!first_function:stacktrace");
		machine_fail_alloc(0);
		if (err != -ENOMEM)
			break;
		EXPECT_EQ(trace_append("set_ftrace_filter", "third_function:stacktrace"), 0);
		EXPECT_EQ(trace_append("set_ftrace_filter", "!third_function:stacktrace"), 0);
		EXPECT(strstr(trace_get("set_ftrace_filter", NULL), both));
	}
	EXPECT_EQ(err, 0);
	EXPECT(!strstr(trace_get("set_ftrace_filter", NULL), "first_function:stacktrace"));
	EXPECT_EQ(trace_append("set_ftrace_filter", "!fourth_one:stacktrace"), 0);
	end();
}

/* Whichever functions have commands of two groups: each call pulls those that are its own. */
static void commands_of_two_groups(void)
{
	static const char *const names[] = {"first_function", "third_function", "fourth_one"};
	static const unsigned numbers[] = {FIRST, THIRD, FOURTH};
	char word[64];

	for (unsigned masks = 0; masks < 64; masks++) {
		begin("");
		EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
		for (unsigned bit = 0; bit < 6; bit++) {
			fmt_snprintf(word, sizeof(word), "%s:stacktrace%s", names[bit % 3],
			    bit < 3 ? "" : ":5");
			if (masks >> bit & 1)
				EXPECT_EQ(trace_append("set_ftrace_filter", word), 0);
		}
		for (unsigned i = 0; i < 3; i++) {
			EXPECT_EQ(trace_put("trace", ""), 0);
			host_function_call(numbers[i], 0x42);
			unsigned n = (masks >> i & 1) + (masks >> (i + 3) & 1), got = 0;
			for (const char *at = trace_get("trace", NULL);
			     (at = strstr(at, "<stack trace>")); at++)
				got++;
			EXPECT_EQ(got, n);
		}
		trace_append("set_ftrace_filter", "!*:stacktrace");
		trace_append("set_ftrace_filter", "!*:stacktrace:5");
		EXPECT(!strstr(trace_get("set_ftrace_filter", NULL), "stacktrace"));
		end();
	}
}

static unsigned clock_depth, clock_deepest;

/* A clock that calls a function with a command. */
static u64 calling_clock(void)
{
	static u64 now;

	if (clock_depth < 3) {
		clock_depth++;
		clock_deepest = MAX(clock_deepest, clock_depth);
		host_function_call(THIRD, 0x43);
		clock_depth--;
	}
	return now++;
}

/* A command that calls a function with a command does not come back to itself. */
static void commands_that_call(void)
{
	begin("first_function");
	EXPECT_EQ(trace_append("set_ftrace_filter", "third_function:stacktrace"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	clock_deepest = 0;
	host_lock();
	ring_buffer_set_clock(trace_global->buffer, calling_clock);
	host_unlock();
	host_function_call(THIRD, 0x42);
	host_lock();
	ring_buffer_set_clock(trace_global->buffer, NULL);
	host_unlock();
	EXPECT_EQ(clock_deepest, 1);
	EXPECT_EQ(trace_append("set_ftrace_filter", "!third_function:stacktrace"), 0);
	end();
}

/*
 * With the n-th allocation failing, from the opening of a list to its closing, the list is the old
 * or the new one, and what is traced is what the list says.
 */
static void lists_without_memory(void)
{
	static const struct {
		const char *tracer, *file, *list;
		unsigned before, after; /* lines */
	} rows[] = {
	    {"function", "set_ftrace_filter", "third_function\n", 3, 1},
	    {"function", "set_ftrace_notrace", "third_function\n", 3, 2},
	    {"function_graph", "set_ftrace_filter", "third_function\n", 3, 1},
	    {"function_graph", "set_graph_function", "third_function\n", 3, 1},
	    {"function_graph", "set_graph_notrace", "third_function\n", 3, 2},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		bool changed = false;

		for (unsigned n = 1; !changed && n < 100; n++) {
			begin("");
			EXPECT_EQ(trace_put("current_tracer", rows[i].tracer), 0);
			char before[64];
			strscpy(before, trace_get(rows[i].file, NULL), sizeof(before));
			machine_fail_alloc(n);
			int err = trace_put(rows[i].file, "third_function");
			machine_fail_alloc(0);
			EXPECT(err == 0 || err == -ENOMEM);
			const char *now = trace_get(rows[i].file, NULL);
			changed = !strcmp(now, rows[i].list);
			EXPECT(changed || !strcmp(now, before));
			EXPECT_EQ(count_calls(), changed ? rows[i].after : rows[i].before);
			EXPECT_EQ(trace_put(rows[i].file, ""), 0);
			end();
		}
		EXPECT(changed);
	}
}

/* Whatever functions are in a table, half of it is empty: a look for another one ends soon. */
static void tables(void)
{
	for (u64 list = 0; list < 32; list++) {
		struct trace_function_table *t = trace_function_make_table(&list);
		u64 addr, full = 0;

		for (u64 i = 0; i <= t->mask; i++)
			full += t->at[i] != 0;
		EXPECT(2 * full <= t->mask + 1);
		for (unsigned i = 0; i < host_function_count(); i++)
			if (host_function(i, &addr))
				EXPECT_EQ(trace_function_place(t, addr) != TRACE_FUNCTION_NOWHERE,
				    list >> i & 1);
		EXPECT_EQ(trace_function_place(t, 0x42), TRACE_FUNCTION_NOWHERE);
		host_free(t);
	}
}

/* An instance takes its commands with it, and the events that they held. */
static void commands_of_an_instance(void)
{
	begin("first_function");
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/set_ftrace_filter",
		      "first_function:traceoff first_function:enable_event:" EVENT),
	    0);
	EXPECT(strstr(trace_get("enabled_functions", NULL), "first_function (3) "));
	host_function_call(FIRST, 0x42);
	EXPECT_STR(trace_get("instances/other/tracing_on", NULL), "0\n");
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_EQ(trace_drop_instance("other"), 0);
	EXPECT(strstr(trace_get("enabled_functions", NULL), "first_function (1) "));
	end();
}

static const struct ktap_case cases[] = {
    {"function.what_is_traced", what_is_traced},
    {"function.what_is_refused", what_is_refused},
    {"function.as_a_whole", as_a_whole},
    {"function.each_call_is_counted", each_call_is_counted},
    {"function.in_instances", in_instances},
    {"function.whose_calls", whose_calls},
    {"function.whose_calls_from_the_start", whose_calls_from_the_start},
    {"function.repeats", repeats},
    {"function.many_repeats", many_repeats},
    {"function.time_of_repeats", time_of_repeats},
    {"function.meanwhile", meanwhile},
    {"function.of_two_arrays", of_two_arrays},
    {"function.commands_listed", commands_listed},
    {"function.modules", modules},
    {"function.stacks_of_calls", stacks_of_calls},
    {"function.stack_filter", stack_filter},
    {"function.stack_tracer_refused", stack_tracer_refused},
    {"function.dump", dump},
    {"function.commands_without_memory", commands_without_memory},
    {"function.removal_without_memory", removal_without_memory},
    {"function.commands_of_two_groups", commands_of_two_groups},
    {"function.commands_that_call", commands_that_call},
    {"function.lists_without_memory", lists_without_memory},
    {"function.tables", tables},
    {"function.commands_of_an_instance", commands_of_an_instance},
    {NULL, NULL},
};
const struct ktap_suite suite_function_trace = {cases};
