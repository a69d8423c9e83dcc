/*
 * The tracers wakeup and wakeup_rt: which wake-ups they follow, what they record until the task
 * runs, and what they report. The cases make the wake-ups and switches, as a scheduler does.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/array.h"
#include "trace/event/snapshot.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_task.h"

static const struct host_task known[] = {
    {.pid = 100, .comm = "low"}, {.pid = 101, .comm = "high"}, {.pid = 102, .comm = "higher"}};
enum { LOW, HIGH, HIGHER };

static struct host_sched sched(unsigned task, u8 prio, u32 cpu)
{
	return (struct host_sched){
	    .task = &known[task], .pid = 100 + task, .cpu = cpu, .prio = prio};
}

static void begin(const char *tracer)
{
	trace_fresh();
	machine_tasks(known, ARRAY_SIZE(known));
	EXPECT_EQ(trace_put("options/function-trace", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", tracer), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	machine_tasks(NULL, 0);
	trace_fresh();
}

static void wake(unsigned task, u8 prio, u8 waker_prio)
{
	const struct host_sched woken = sched(task, prio, 0), curr = sched(LOW, waker_prio, 0);

	host_preempt_disable();
	trace_wakeup_woken(&woken, &curr);
	host_preempt_enable();
}

static void run(unsigned task, u8 prio)
{
	const struct host_sched prev = sched(LOW, 120, 0), next = sched(task, prio, 0);

	host_preempt_disable();
	trace_wakeup_switched(&prev, &next);
	host_preempt_enable();
}

static void wait_cycles(u64 n)
{
	u64 start = host_cycles();

	while (host_cycles() - start <= n)
		host_relax();
}

/* Lets pass more time than the longest latency so far took. */
static void wait_long(void)
{
	wait_cycles(4 * trace_global->max_latency_ns + 100000);
}

/* What is in the buffer that records go to now, as lines of the kinds of records. */
static u64 recorded(void)
{
	return ring_buffer_entries(trace_global->buffer);
}

static u64 reports(void)
{
	return trace_global->latency_reports / 2;
}

/*
 * The task's wake-up and its switch, each with a stack: then it is reported, and shown as the
 * longest. Nobody is followed any more.
 */
static void woken_and_run(void)
{
	begin("wakeup");
	u64 before = reports();
	wake(HIGH, 98, 120);
	EXPECT_EQ(recorded(), 2);
	wait_long();
	run(HIGHER, 97); /* another task */
	EXPECT_EQ(reports(), before);
	run(HIGH, 98);
	EXPECT_EQ(reports(), before + 1);
	EXPECT(trace_global->max_latency_ns > 0);
	EXPECT_EQ(trace_global->longest.task.pid, 101);
	EXPECT_EQ(trace_global->longest.cpu, 0);
	EXPECT_EQ(recorded(), 0); /* they went into the spare buffer */
	const char *trace = trace_get("trace", NULL);
	EXPECT(strstr(trace, "# wakeup latency trace v1.1.5 on "));
	EXPECT(strstr(trace, "#    | task: high-101 (uid:0 nice:0 policy:0 rt_prio:0)\n"));
	EXPECT(strstr(trace, "     100:120:R   + [000]     101: 98:R "));
	EXPECT(strstr(trace, "     100:120:R ==> [000]     101: 98:R "));
	EXPECT(strstr(trace, "<stack trace>"));
	run(HIGH, 98);
	EXPECT_EQ(recorded(), 0);
	EXPECT_EQ(reports(), before + 1);
	end();
}

/* A task that is to be followed goes before its waker, and before who is followed already. */
static void who_is_followed(void)
{
	begin("wakeup");
	wake(HIGH, 120, 120);
	EXPECT_EQ(recorded(), 0);
	wake(HIGH, 121, 120);
	EXPECT_EQ(recorded(), 0);
	wake(HIGH, 119, 120);
	EXPECT_EQ(recorded(), 2);
	wake(HIGHER, 119, 120);
	EXPECT_EQ(recorded(), 2);
	wake(HIGHER, 118, 120);
	EXPECT_EQ(recorded(), 4);
	run(HIGH, 119); /* nobody waits for that one now */
	EXPECT_EQ(recorded(), 4);
	run(HIGHER, 118);
	EXPECT_EQ(trace_global->longest.task.pid, 102);
	wake(HIGH, 119, 120); /* the next may be any again */
	EXPECT_EQ(recorded(), 2);
	end();
	begin("wakeup_rt");
	wake(HIGH, 100, 120);
	EXPECT_EQ(recorded(), 0);
	wake(HIGH, 99, 120);
	EXPECT_EQ(recorded(), 2);
	end();
}

/* A wait that is not longer than the longest is recorded, and not reported. */
static void not_the_longest(void)
{
	begin("wakeup");
	wake(HIGH, 98, 120);
	wait_long();
	run(HIGH, 98);
	u64 found = reports();
	EXPECT_EQ(trace_put("tracing_max_latency", "1000000000"), 0);
	wake(HIGH, 98, 120);
	run(HIGH, 98);
	EXPECT_EQ(reports(), found);
	EXPECT_EQ(recorded(), 4);
	/* With a threshold each that reaches it is reported. */
	EXPECT_EQ(trace_put("tracing_thresh", "1"), 0);
	for (unsigned i = 1; i <= 2; i++) {
		wake(HIGH, 98, 120);
		wait_cycles(100000);
		run(HIGH, 98);
		EXPECT_EQ(reports(), found + i);
	}
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	end();
}

/* While recording is off, nobody is followed, and no switch ends a wait. */
static void while_off(void)
{
	begin("wakeup");
	u64 found = reports();
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	wake(HIGH, 98, 120);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	wait_long();
	run(HIGH, 98);
	EXPECT_EQ(recorded(), 0);
	wake(HIGH, 98, 120);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	wait_long();
	run(HIGH, 98);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(recorded(), 2);
	EXPECT_EQ(reports(), found);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	end();
}

/* A report of another meanwhile took the first records away: this one is not reported. */
static void reported_meanwhile(void)
{
	begin("wakeup");
	wake(HIGH, 98, 120);
	wait_long();
	trace_global->latency_reports += 2;
	u64 found = reports();
	run(HIGH, 98);
	EXPECT_EQ(reports(), found);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	end();
}

static void call(void *function)
{
	host_function_call(*(unsigned *)function, 1);
}

/* Between the two, the functions that the task's CPU calls are recorded, and no others. */
static void functions_until_it_runs(void)
{
	unsigned first = 0, third = 2, fourth = 3;
	const struct host_sched woken = sched(HIGH, 98, 2), curr = sched(LOW, 120, 0),
				prev = sched(LOW, 120, 2);

	for (unsigned graph = 0; graph < 2; graph++) {
		begin("wakeup");
		EXPECT_EQ(trace_put("options/display-graph", graph ? "1" : "0"), 0);
		EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
		host_on_cpu(2, call, &first);
		EXPECT_EQ(recorded(), 0);
		host_preempt_disable();
		trace_wakeup_woken(&woken, &curr);
		host_preempt_enable();
		EXPECT_EQ(recorded(), 2);
		host_on_cpu(0, call, &third);
		EXPECT_EQ(recorded(), 2);
		host_on_cpu(2, call, &fourth);
		EXPECT_EQ(recorded(), graph ? 4 : 3);
		wait_long();
		host_preempt_disable();
		trace_wakeup_switched(&prev, &woken);
		host_preempt_enable();
		host_on_cpu(2, call, &first);
		EXPECT_EQ(recorded(), 0);
		const char *trace = trace_get("trace", NULL);
		EXPECT(strstr(trace, "sym_1300"));
		EXPECT(!strstr(trace, "sym_1000") && !strstr(trace, "sym_1200"));
		EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
		end();
	}
}

/* With options/display-graph all begins anew: a task that was woken before is not followed. */
static void graph_begins_anew(void)
{
	begin("wakeup");
	u64 found = reports();
	wake(HIGH, 98, 120);
	EXPECT_EQ(trace_put("options/display-graph", "1"), 0);
	EXPECT_EQ(recorded(), 0);
	wait_long();
	run(HIGH, 98);
	EXPECT_EQ(recorded(), 0);
	EXPECT_EQ(reports(), found);
	wake(HIGH, 98, 120);
	wait_long();
	run(HIGH, 98);
	EXPECT_EQ(reports(), found + 1);
	EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	end();
}

/* One array has it at a time. It sets options and takes them back; it ends with nobody followed. */
static void one_owner(void)
{
	begin("wakeup");
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "wakeup"), -EBUSY);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "wakeup_rt"), -EBUSY);
	EXPECT_STR(trace_get("options/latency-format", NULL), "1\n");
	EXPECT_EQ(trace_put("options/overwrite", "0"), -EINVAL);
	EXPECT_EQ(trace_put("options/overwrite", "1"), 0);
	wake(HIGH, 98, 120);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_STR(trace_get("options/latency-format", NULL), "0\n");
	EXPECT(!trace_global->snapshot && !trace_global->snapshot_users);
	EXPECT_EQ(trace_put("options/latency-format", "1"), 0);
	EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", "wakeup"), 0);
	EXPECT_STR(trace_get("options/overwrite", NULL), "1\n");
	EXPECT_EQ(trace_put("options/latency-format", "0"), 0);
	u64 found = reports();
	wait_long();
	run(HIGH, 98); /* was woken for the tracer of before */
	EXPECT_EQ(reports(), found);
	EXPECT_EQ(recorded(), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_STR(trace_get("options/overwrite", NULL), "0\n");
	EXPECT_STR(trace_get("options/latency-format", NULL), "1\n");
	EXPECT_EQ(trace_put("instances/other/current_tracer", "wakeup_rt"), 0);
	EXPECT_EQ(trace_put("current_tracer", "wakeup"), -EBUSY);
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"wakeup.woken_and_run", woken_and_run},
    {"wakeup.who_is_followed", who_is_followed},
    {"wakeup.not_the_longest", not_the_longest},
    {"wakeup.while_off", while_off},
    {"wakeup.reported_meanwhile", reported_meanwhile},
    {"wakeup.functions_until_it_runs", functions_until_it_runs},
    {"wakeup.graph_begins_anew", graph_begins_anew},
    {"wakeup.one_owner", one_owner},
    {NULL, NULL},
};
const struct ktap_suite suite_wakeup_trace = {cases};
