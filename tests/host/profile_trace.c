/*
 * The function profiler, on functions of this file. A case about times turns sleep-time off, and
 * then says itself how long a call takes.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_function.h"

enum { FIRST, SECOND, THIRD, FOURTH };

#define HEAD                                                                                       \
	"  Function                               Hit    Time            Avg             s^2\n"    \
	"  --------                               ---    ----            ---             ---\n"

static void begin(const char *graph_time)
{
	trace_fresh();
	EXPECT_EQ(trace_put("options/sleep-time", "0"), 0);
	EXPECT_EQ(trace_put("options/graph-time", graph_time), 0);
	EXPECT_EQ(trace_put("function_profile_enabled", "1"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("function_profile_enabled", "0"), 0);
	EXPECT_EQ(trace_put("options/sleep-time", "1"), 0);
	EXPECT_EQ(trace_put("options/graph-time", "1"), 0);
	EXPECT_EQ(trace_put("set_ftrace_filter", ""), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
}

static void call(unsigned function, u64 ns)
{
	u64 slot = 1;

	host_function_enter(function, &slot);
	host_task_runs(ns);
	host_function_return(&slot, 0);
}

/* third: 100 by itself, and around two calls of fourth. */
static void nested(void)
{
	u64 slot = 1;

	host_function_enter(THIRD, &slot);
	host_task_runs(100);
	call(FOURTH, 1000);
	call(FOURTH, 3000);
	host_function_return(&slot, 0);
}

static void sums(void)
{
	begin("1");
	EXPECT_STR(trace_get("trace_stat/function0", NULL), HEAD);
	nested();
	call(FIRST, 12345678901);
	EXPECT_STR(trace_get("trace_stat/function0", NULL),
	    HEAD "  first_function                           1    12345678 us     12345678 us     "
		 "0.000 us    \n"
		 "  third_function                           1    4.100 us        4.100 us        "
		 "0.000 us    \n"
		 "  fourth_one                               2    4.000 us        2.000 us        "
		 "2.000 us    \n");
	EXPECT_EQ(trace_put("tracing_thresh", "3"), 0);
	EXPECT(!strstr(trace_get("trace_stat/function0", NULL), "fourth_one"));
	EXPECT(strstr(trace_get("trace_stat/function0", NULL), "third_function"));
	end();
}

/* A function's own time leaves out its calls, and leaves out the calls inside these only once. */
static void own_time(void)
{
	u64 slot = 1;

	begin("0");
	host_function_enter(FIRST, &slot);
	host_task_runs(7);
	nested();
	host_function_return(&slot, 0);
	EXPECT_STR(trace_get("trace_stat/function0", NULL),
	    HEAD "  fourth_one                               2    4.000 us        2.000 us        "
		 "2.000 us    \n"
		 "  third_function                           1    0.100 us        0.100 us        "
		 "0.000 us    \n"
		 "  first_function                           1    0.007 us        0.007 us        "
		 "0.000 us    \n");
	end();
}

static void wait_cycles(u64 n)
{
	u64 start = host_cycles();

	while (host_cycles() - start <= n)
		host_relax();
}

/* Calls inside may take longer by the clock than their function had a CPU: nothing is left then. */
static void shorter_than_its_calls(void)
{
	u64 slots[2] = {1, 1}, *inner = &slots[0], *outer = &slots[1]; /* as on a stack */

	begin("0");
	host_function_enter(FIRST, outer);
	EXPECT_EQ(trace_put("options/sleep-time", "1"), 0);
	host_function_enter(THIRD, inner);
	wait_cycles(100000);
	host_function_return(inner, 0);
	host_function_return(outer, 0);
	EXPECT(strstr(trace_get("trace_stat/function0", NULL),
	    "  first_function                           1    0.000 us "));
	end();
}

/* The variance of calls whose squares add up to more than 64 bits can hold. */
static void long_calls(void)
{
	begin("1");
	for (unsigned i = 0; i < 3; i++) {
		call(FOURTH, 20000000000);
		call(FOURTH, 20000004000);
	}
	EXPECT(strstr(trace_get("trace_stat/function0", NULL),
	    " 6    120000012 us     20000002 us     4.800 us    \n"));
	end();
}

static void names(void)
{
	begin("1");
	call(HOST_FUNCTION_OF_IRQ, 1);
	EXPECT(strstr(trace_get("trace_stat/function0", NULL),
	    "\n  of_an_interrupt_that_came_in_b           1    0.001 us "));
	end();
}

/* The profiler counts a call at its entry; its time at its return, if it was on throughout. */
static void calls_under_way(void)
{
	u64 slot = 1;

	begin("1");
	host_function_enter(FIRST, &slot);
	host_task_runs(5000);
	EXPECT(strstr(trace_get("trace_stat/function0", NULL), " 1    0.000 us "));
	EXPECT_EQ(trace_put("function_profile_enabled", "0"), 0);
	host_function_return(&slot, 0);
	call(FIRST, 1);
	EXPECT(strstr(trace_get("trace_stat/function0", NULL), " 1    0.000 us "));
	EXPECT_EQ(trace_put("set_ftrace_filter", "third_function"), 0);
	EXPECT_EQ(trace_put("function_profile_enabled", "1"), 0);
	EXPECT_STR(trace_get("trace_stat/function0", NULL), HEAD);
	nested();
	EXPECT(!strstr(trace_get("trace_stat/function0", NULL), "fourth_one"));
	EXPECT_EQ(trace_put("set_ftrace_filter", "fourth_one"), 0);
	nested();
	EXPECT(strstr(trace_get("trace_stat/function0", NULL),
	    "  fourth_one                               2 "));
	EXPECT(strstr(trace_get("trace_stat/function0", NULL),
	    "  third_function                           1 "));
	end();
}

/* Without a free hook the profiler stays off, and its earlier results stay readable. */
static void no_hook(void)
{
	static struct host_hook others[16];
	unsigned n = 0;

	begin("1");
	call(FIRST, 1000);
	EXPECT_EQ(trace_put("function_profile_enabled", "0"), 0);
	while (n < ARRAY_SIZE(others) && !host_hook_add(&others[n]))
		n++;
	EXPECT(n < ARRAY_SIZE(others));
	EXPECT_EQ(trace_put("function_profile_enabled", "1"), -EBUSY);
	EXPECT_STR(trace_get("function_profile_enabled", NULL), "0\n");
	EXPECT(strstr(trace_get("trace_stat/function0", NULL), " 1    1.000 us "));
	while (n--)
		host_hook_remove(&others[n]);
	end();
}

/* So it does whichever allocation fails, and its hook is free again. */
static void no_memory(void)
{
	static struct host_hook other;
	int err = -ENOMEM;

	trace_fresh();
	for (unsigned n = 1; err && n < 100; n++) {
		machine_fail_alloc(n);
		err = trace_put("function_profile_enabled", "1");
		machine_fail_alloc(0);
		EXPECT(err == 0 || err == -ENOMEM);
		EXPECT_STR(trace_get("function_profile_enabled", NULL), err ? "0\n" : "1\n");
		if (err)
			EXPECT_EQ(host_hook_add(&other), 0);
		if (err)
			host_hook_remove(&other);
	}
	EXPECT_EQ(err, 0);
	end();
}

static const struct ktap_case cases[] = {
    {"profile.sums", sums},
    {"profile.own_time", own_time},
    {"profile.shorter_than_its_calls", shorter_than_its_calls},
    {"profile.long_calls", long_calls},
    {"profile.names", names},
    {"profile.calls_under_way", calls_under_way},
    {"profile.no_hook", no_hook},
    {"profile.no_memory", no_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_profile_trace = {cases};
