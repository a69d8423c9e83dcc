/*
 * osnoise, timerlat and what they count as noise, over a scripted clock: each case knows each
 * number to the nanosecond. The case itself makes the interrupts that come while a tracer reads the
 * clock: it calls the consumers of tracepoints as their call sites do.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/host/scripted_clock.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/consumer.h"
#include "trace/host_lock.h"
#include "trace/host_task.h"
#include "trace/tracer/noise.h"
#include "trace/tracer/tracer.h"

#define START 5000000000UL
#define US    1000UL

/* Tracepoints without an event: who finds one by its name adds its consumers. */
static struct tracepoint {
	struct host_key host;
	struct trace_key key;
	struct trace_event_call call;
} irq_begins, irq_ends, device_begins, device_ends, switched;

static void make_tracepoint(struct tracepoint *t, const char *name)
{
	memset(t, 0, sizeof(*t));
	t->key.host = &t->host;
	t->call.name = name;
	t->call.key = &t->key;
	t->call.stub = t;
	list_add(&t->call.node, &trace_events);
}

static void hit(struct tracepoint *t, u64 a, u64 b, u64 c)
{
	const u64 args[] = {a, b, c, 0};

	if (t->host.enabled)
		trace_consumers_call(&t->call, args);
}

static const struct host_task tasks[] = {{.pid = 1}, {.pid = 77}, {.pid = 78}, {.pid = 0}};
enum { WORKER, OTHER, THIRD, IDLE };

static void switch_tasks(unsigned from, unsigned to)
{
	hit(&switched, 0, (u64)&tasks[from], (u64)&tasks[to]);
}

static void put_all(const char *const rows[][2], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		EXPECT_EQ(trace_put(rows[i][0], rows[i][1]), 0);
}

static void begin(const char *tracer)
{
	static const char *const rows[][2] = {{"osnoise/options", "DEFAULTS"},
	    {"osnoise/cpus", "0-3"}, {"osnoise/runtime_us", "10"}, {"osnoise/period_us", "1000"},
	    {"osnoise/stop_tracing_us", "0"}, {"osnoise/stop_tracing_total_us", "0"},
	    {"osnoise/timerlat_period_us", "1000"}, {"tracing_thresh", "0"}};

	trace_fresh();
	put_all(rows, ARRAY_SIZE(rows));
	host_lock();
	make_tracepoint(&irq_begins, "local_timer_entry");
	make_tracepoint(&irq_ends, "local_timer_exit");
	make_tracepoint(&device_begins, "irq_handler_entry");
	make_tracepoint(&device_ends, "irq_handler_exit");
	make_tracepoint(&switched, "sched_switch");
	host_unlock();
	machine_tasks(tasks, ARRAY_SIZE(tasks));
	machine_noises();
	memset(&script, 0, sizeof(script));
	script.now = START;
	machine_clock(clock_of_script);
	EXPECT_EQ(trace_put("current_tracer", tracer), 0);
}

static void end(void)
{
	static const char *const rows[][2] = {{"current_tracer", "nop"},
	    {"osnoise/options", "DEFAULTS"}, {"osnoise/cpus", "0-3"},
	    {"osnoise/stop_tracing_us", "0"}, {"osnoise/stop_tracing_total_us", "0"},
	    {"osnoise/period_us", "1000000"}, {"osnoise/runtime_us", "1000000"}};

	machine_clock(NULL);
	put_all(rows, ARRAY_SIZE(rows));
	host_lock();
	list_del(&irq_begins.call.node);
	list_del(&irq_ends.call.node);
	list_del(&device_begins.call.node);
	list_del(&device_ends.call.node);
	list_del(&switched.call.node);
	host_unlock();
	machine_tasks(NULL, 0);
	trace_fresh();
}

/* A sample of CPU 0's worker; how long it sleeps then. Times are told from `last` on: reading 4. */
static u64 last;

static u64 sample(u64 steal_ns, void (*meanwhile)(void))
{
	char name[16];

	script.now = START + (script.now - START + US * US) / US / US * US * US;
	last = script.now + 4 * STEP_NS;
	script.reads = 0;
	script.at = 5;
	script.steal_ns = steal_ns;
	script.meanwhile = meanwhile;
	u64 pause = machine_work(0, name);
	script.at = 0;
	return pause;
}

static void expect_noises(const char *format, ...)
{
	char wanted[300];
	va_list args;

	va_start(args, format);
	fmt_vsnprintf(wanted, sizeof(wanted), format, args);
	va_end(args);
	EXPECT_STR(machine_noises(), wanted);
}

static void expect_line(unsigned n, const char *wanted)
{
	const char *line = trace_nth(n), *text = strstr(line, ": ");

	EXPECT_STR(text ? text + 2 : line, wanted);
}

/* The tracer charges the hardware with time that it saw no interrupt and no task take. */
static void hardware(void)
{
	begin("osnoise");
	EXPECT_EQ(sample(0, NULL), 990 * US);
	expect_line(0, "10          0 100.00000       0      0      0      0      0      0");
	expect_noises("");
	sample(899, NULL);
	expect_line(1, "10          0 100.00000       0      0      0      0      0      0");
	sample(900, NULL);
	expect_line(2, "10          1  90.00000       1      1      0      0      0      0");
	expect_noises("sample %lu 1000 0\n", last);
	sample(5000, NULL);
	expect_line(3, "10          5  50.00000       5      1      0      0      0      0");
	EXPECT_STR(trace_get("tracing_max_latency", NULL), "5\n");
	EXPECT_EQ(trace_put("tracing_thresh", "6"), 0);
	sample(5000, NULL);
	expect_line(4, "10          0 100.00000       0      0      0      0      0      0");
	EXPECT_EQ(trace_put("osnoise/runtime_us", "1000"), 0);
	EXPECT_EQ(sample(0, NULL), 0);
	end();
}

/* Each reading of the clock by who measures takes STEP_NS, too. */
static void irq(void)
{
	hit(&irq_begins, 236, 0, 0);
	script.now += 3000;
	hit(&irq_ends, 236, 0, 0);
}

static void device(void)
{
	hit(&device_begins, 4, (u64) "disk", 0);
	script.now += 1000;
	hit(&device_ends, 4, 1, 0);
}

static void irq_with_nmi(void)
{
	hit(&irq_begins, 236, 0, 0);
	script.now += 1000;
	trace_noise_nmi(true);
	script.now += 2000;
	trace_noise_nmi(false);
	hit(&irq_ends, 236, 0, 0);
}

static void others(void)
{
	switch_tasks(WORKER, OTHER);
	script.now += 1000;
	irq();
	switch_tasks(OTHER, THIRD);
	script.now += 2000;
	switch_tasks(THIRD, WORKER);
}

/* An interrupt or a task makes an event with its net duration; the tracer counts it apart. */
static void interferences(void)
{
	begin("osnoise");
	irq(); /* between two samples it is none */
	trace_noise_nmi(true);
	trace_noise_nmi(false);
	switch_tasks(WORKER, OTHER);
	switch_tasks(OTHER, WORKER);
	expect_noises("");
	sample(0, irq);
	expect_noises("irq 236 local_timer %lu 3100\nsample %lu 3500 1\n", last + 200, last);
	expect_line(0, "10          3  70.00000       3      0      0      1      0      0");
	sample(0, device);
	expect_noises("irq 4 disk %lu 1100\nsample %lu 1500 1\n", last + 200, last);
	sample(0, irq_with_nmi);
	expect_noises("nmi %lu 2100\nirq 236 local_timer %lu 1300\nsample %lu 3800 2\n",
	    last + 1400, last + 200, last);
	expect_line(2, "10          3  70.00000       3      0      1      1      0      0");
	sample(0, others);
	expect_noises("irq 236 local_timer %lu 3100\nthread 77 %lu 1300\nthread 78 %lu 2100\n"
		      "sample %lu 7100 3\n",
	    last + 1400, last + 200, last + 4800, last);
	expect_line(3, "10          7  30.00000       7      0      0      1      0      2");
	end();
}

/* Without a workload each task is noise, and none is sampled. */
static void no_workload(void)
{
	char name[16];

	begin("osnoise");
	EXPECT_EQ(trace_put("osnoise/options", "NO_OSNOISE_WORKLOAD"), 0);
	EXPECT_EQ(machine_work(0, name), 0);
	u64 from = script.now + STEP_NS;
	switch_tasks(WORKER, OTHER);
	expect_noises("");
	switch_tasks(OTHER, WORKER);
	expect_noises("thread 77 %lu 100\n", from);
	switch_tasks(WORKER, OTHER);
	EXPECT(strstr(machine_noises(), "thread 1 "));
	EXPECT_EQ(trace_put("osnoise/options", "OSNOISE_WORKLOAD"), 0);
	EXPECT(machine_work(0, name));
	end();
}

/* Without a workload the idle task is one like others. */
static void idle_is_noise(void)
{
	begin("osnoise");
	EXPECT_EQ(trace_put("osnoise/options", "NO_OSNOISE_WORKLOAD"), 0);
	switch_tasks(WORKER, IDLE);
	u64 from = script.now - STEP_NS;
	switch_tasks(IDLE, OTHER);
	expect_noises("thread 0 %lu 100\n", from);
	end();
}

/* An instance that leaves while others go on waits for who is about to record for it. */
static void waited_for(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("leaves"), 0);
	begin("osnoise");
	EXPECT_EQ(trace_put("instances/leaves/current_tracer", "osnoise"), 0);
	u64 before = machine_waits();
	EXPECT_EQ(trace_put("instances/leaves/tracing_on", "0"), 0);
	EXPECT(machine_waits() > before);
	EXPECT_EQ(trace_put("instances/leaves/current_tracer", "nop"), 0);
	end();
	EXPECT_EQ(trace_drop_instance("leaves"), 0);
}

static void expect_stop(bool stopped, unsigned line)
{
	EXPECT_STR(trace_get("tracing_on", NULL), stopped ? "0\n" : "1\n");
	EXPECT_EQ(!!strstr(trace_nth(line), "stop tracing hit on cpu 0"), stopped);
}

/* More than the user has set ends tracing: of one gap, of a sample. */
static void stops(void)
{
	begin("osnoise");
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "3"), 0);
	sample(2900, NULL);
	expect_stop(false, 1);
	sample(3000, NULL);
	expect_stop(true, 1);
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "0"), 0);
	EXPECT_EQ(trace_put("osnoise/stop_tracing_total_us", "5"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	sample(5800, NULL);
	expect_stop(false, 1);
	sample(5900, NULL);
	expect_stop(true, 2);
	end();
}

/* The interrupt of a timer and the worker that it wakes, so much later than they were due. */
static u64 expire(u64 due, u64 irq_late, u64 thread_late)
{
	char name[16];

	script.now = due + irq_late - STEP_NS;
	EXPECT(machine_due(0));
	script.now = due + thread_late - STEP_NS;
	return machine_work(0, name);
}

static void timerlat(void)
{
	char name[16];
	u64 due;

	begin("timerlat");
	due = machine_work(0, name);
	EXPECT_STR(name, "timerlat/0");
	EXPECT_EQ(due, script.now - STEP_NS + US * US);
	EXPECT_EQ(expire(due, 500, 2500), due + US * US);
	EXPECT_STR(strstr(trace_nth(0), "#"), "#1     context    irq timer_latency       500 ns");
	EXPECT_STR(strstr(trace_nth(1), "#"), "#1     context thread timer_latency      2500 ns");
	EXPECT_STR(trace_get("tracing_max_latency", NULL), "3\n"); /* rounded up */
	due += US * US;
	EXPECT_EQ(machine_work(0, name), due + US * US); /* something else woke it */
	EXPECT_STR(trace_nth(2), "");
	due += US * US;
	EXPECT_EQ(expire(due, 100, 3500 * US), due + 4 * US * US); /* periods that are over */
	EXPECT_STR(strstr(trace_nth(2), "#"), "#2     context    irq timer_latency       100 ns");
	due += 4 * US * US;
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "7"), 0);
	EXPECT_EQ(trace_put("osnoise/stop_tracing_total_us", "9"), 0);
	due = expire(due, 6999, 8999);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	due = expire(due, 100, 9000);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT(strstr(trace_nth(8), "stop tracing hit on cpu 0"));
	end();
}

/* After the timer's interrupt other tasks are noise, and so is who was interrupted. */
static void own_thread_is_no_noise(void)
{
	char name[16];

	begin("timerlat");
	machine_work(0, name);
	switch_tasks(OTHER, WORKER); /* what runs here is the worker */
	switch_tasks(WORKER, OTHER);
	expect_noises("");
	u64 from = script.now - STEP_NS;
	switch_tasks(OTHER, WORKER);
	expect_noises("thread 77 %lu 100\n", from);
	end();
}

static void timerlat_noise(void)
{
	char name[16];

	begin("timerlat");
	u64 due = machine_work(0, name);
	script.now = due;
	hit(&irq_begins, 236, 0, 0);
	EXPECT(machine_due(0));
	hit(&irq_ends, 236, 0, 0);
	EXPECT(strstr(machine_noises(), "irq 236 local_timer"));
	script.now += 4000;
	switch_tasks(OTHER, WORKER);
	EXPECT(strstr(machine_noises(), "thread 77"));
	end();
}

static void expect_workers(const char *const *names)
{
	char name[16];
	unsigned n = 0;

	for (; names[n]; n++) {
		EXPECT(machine_work(n, name));
		EXPECT_STR(name, names[n]);
	}
	EXPECT_EQ(machine_work(n, name), 0);
}

static void workers(void)
{
	static const char *const all[] = {"osnoise/0", "osnoise/1", "osnoise/2", "osnoise/3", NULL},
				 *const some[] = {"osnoise/1", "osnoise/3", NULL},
				 *const none[] = {NULL};

	begin("osnoise");
	expect_workers(all);
	EXPECT_EQ(trace_put("osnoise/cpus", "1,3"), 0);
	expect_workers(some);
	EXPECT(!strncmp(trace_nth(5), "[003]", 5));
	EXPECT_EQ(trace_put("osnoise/options", "OSNOISE_PREEMPT_DISABLE"), 0);
	expect_workers(some);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	expect_workers(none);
	EXPECT_EQ(trace_put("osnoise/cpus", "0-3"), 0); /* they stay away */
	expect_workers(none);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	expect_workers(all);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	expect_workers(none);
	end();
}

/* Several instances may have the same of the two: the workers go with the last. */
static void instances(void)
{
	char name[16];

	trace_fresh();
	EXPECT_EQ(trace_make_instance("a"), 0);
	begin("osnoise");
	EXPECT_EQ(trace_put("instances/a/current_tracer", "timerlat"), -EBUSY);
	EXPECT_EQ(trace_put("instances/a/current_tracer", "osnoise"), 0);
	EXPECT_EQ(machine_work(4, name), 0);
	sample(5000, NULL);
	expect_line(0, "10          5  50.00000       5      1      0      0      0      0");
	EXPECT(strstr(trace_get("instances/a/trace", NULL), "10          5  50.00000"));
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	sample(5000, NULL);
	EXPECT_STR(trace_nth(1), "");
	EXPECT_EQ(trace_put("instances/a/current_tracer", "nop"), 0);
	EXPECT_EQ(machine_work(0, name), 0);
	EXPECT_EQ(trace_put("current_tracer", "timerlat"), 0);
	end();
	EXPECT_EQ(trace_drop_instance("a"), 0);
}

static void again_by_hardware(void)
{
	irq();
	script.at = script.reads + 6;
	script.steal_ns = 1500;
	script.meanwhile = NULL;
}

static void ends_alone(void)
{
	hit(&irq_ends, 236, 0, 0);
	trace_noise_nmi(false);
	switch_tasks(OTHER, WORKER);
	irq();
	hit(&irq_ends, 236, 0, 0);
	switch_tasks(OTHER, WORKER);
}

/* Each gap of a sample has its own interferences, and each sample its own counts. */
static void one_after_the_other(void)
{
	begin("osnoise");
	sample(0, again_by_hardware);
	expect_noises("irq 236 local_timer %lu 3100\nsample %lu 3500 1\nsample %lu 1600 0\n",
	    last + 200, last, last + 3500 + 4 * STEP_NS);
	expect_line(0, "10          5  50.00000       3      1      0      1      0      0");
	irq(); /* the sample is over */
	expect_noises("");
	for (unsigned i = 1; i < 3; i++) {
		sample(0, others);
		expect_line(
		    i, "10          7  30.00000       7      0      0      1      0      2");
	}
	machine_noises();
	/* An end without a beginning is none, whatever ended before. */
	sample(0, ends_alone);
	const char *noises = machine_noises();
	EXPECT(str_has_prefix(noises, "irq 236 local_timer "));
	EXPECT(!strstr(noises + 4, "\nirq") && !strstr(noises, "nmi") && !strstr(noises, "thread"));
	end();
}

/* What an array takes no part in while it is off, though it has the tracer. */
static void off_by_itself(void)
{
	struct trace_array *other;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("a"), 0);
	begin("osnoise");
	EXPECT_EQ(trace_put("instances/a/current_tracer", "osnoise"), 0);
	host_lock();
	other = trace_array_find("a");
	trace_array_set_on(trace_global, false); /* as a trigger does */
	host_unlock();
	EXPECT_EQ(sample(5000, NULL), 990 * US);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	EXPECT_EQ(other->max_latency_ns, 5000 + STEP_NS);
	host_lock();
	trace_array_set_on(other, false);
	host_unlock();
	EXPECT_EQ(sample(5000, NULL), 1000 * US); /* none is taken */
	host_lock();
	trace_array_set_on(trace_global, true);
	trace_array_set_on(other, true);
	host_unlock();
	/* All end if one has what was set to be too long. */
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "3"), 0);
	sample(5000, NULL);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT_STR(trace_get("instances/a/tracing_on", NULL), "0\n");
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "0"), 0);
	/* Each begins with no maximum, and may go while it is off. */
	EXPECT_EQ(trace_put("instances/a/tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("instances/a/tracing_on", "0"), 0);
	EXPECT_EQ(trace_put("instances/a/current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("instances/a/tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("instances/a/current_tracer", "osnoise"), 0);
	EXPECT_EQ(other->max_latency_ns, 0);
	EXPECT_EQ(trace_put("instances/a/current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT(!irq_begins.host.enabled && !irq_ends.host.enabled && !switched.host.enabled);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	end();
	EXPECT_EQ(trace_drop_instance("a"), 0);
}

/* Without a workload, a worker of before is a task as any other; unwanted CPUs have no noise. */
static void no_workload_any_more(void)
{
	begin("osnoise");
	sample(0, NULL);
	EXPECT_EQ(trace_put("osnoise/options", "NO_OSNOISE_WORKLOAD"), 0);
	switch_tasks(OTHER, WORKER);
	switch_tasks(WORKER, OTHER);
	EXPECT(strstr(machine_noises(), "thread 1 "));
	EXPECT_EQ(trace_put("osnoise/cpus", "1"), 0);
	switch_tasks(OTHER, THIRD);
	irq();
	expect_noises("");
	char name[16];
	EXPECT_EQ(trace_put("current_tracer", "timerlat"), 0);
	EXPECT_EQ(trace_put("osnoise/cpus", "0"), 0);
	EXPECT_EQ(machine_work(0, name), 0);
	irq(); /* timerlat has no noise without its workers */
	expect_noises("");
	end();
}

static void irq_of_before(void)
{
	hit(&irq_ends, 236, 0, 0);
}

/*
 * An interrupt whose beginning was not seen is no noise: it began outside of a sample, or under the
 * tracer that was there before.
 */
static void of_before(void)
{
	begin("osnoise");
	sample(0, NULL);
	machine_noises();
	hit(&irq_begins, 236, 0, 0);
	sample(0, irq_of_before);
	EXPECT(!strstr(machine_noises(), "irq "));
	EXPECT_EQ(trace_put("osnoise/options", "NO_OSNOISE_WORKLOAD"), 0);
	hit(&irq_begins, 236, 0, 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("current_tracer", "osnoise"), 0);
	irq_of_before();
	expect_noises("");
	end();
}

/*
 * Each tracer begins with no longest latency: neither an earlier tracer's nor one that a user wrote
 * to the file.
 */
static void longest_of_before(void)
{
	static const char *const tracers[] = {"osnoise", "timerlat"};

	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++) {
		begin("nop");
		EXPECT_EQ(trace_put("tracing_max_latency", "12345"), 0);
		EXPECT_EQ(trace_put("current_tracer", tracers[i]), 0);
		EXPECT_STR(trace_get("tracing_max_latency", NULL), "0\n");
		end();
	}
}

/* The interrupt's stack is recorded if it, or then the task, was so late. */
static void timerlat_stacks(void)
{
	char name[16];

	begin("timerlat");
	EXPECT_EQ(trace_put("osnoise/print_stack", "5"), 0);
	u64 due = machine_work(0, name);
	due = expire(due, 500, 4999);
	EXPECT_STR(trace_nth(2), "");
	due = expire(due, 500, 5000);
	EXPECT(strstr(trace_nth(4), "<stack trace>"));
	EXPECT_STR(trace_nth(5), "");
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "7"), 0);
	due = expire(due, 6999, 8999); /* 5: irq, thread, stack */
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	due = expire(due, 7000, 8000); /* not to be stopped by less than it shows: no stack */
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT(strstr(trace_nth(9), "stop tracing hit"));
	EXPECT_EQ(trace_put("osnoise/stop_tracing_us", "5"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("current_tracer", "timerlat"), 0);
	due = machine_work(0, name);
	script.now = due + 5000 - STEP_NS;
	EXPECT(machine_due(0));
	EXPECT(strstr(trace_nth(0), "#1     context    irq")); /* counts from 1 again */
	EXPECT(strstr(trace_nth(1), "<stack trace>"));
	EXPECT(strstr(trace_nth(2), "stop tracing hit"));
	EXPECT_EQ(trace_put("osnoise/print_stack", "0"), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	end();
}

static void limits(void)
{
	static const struct {
		const char *file, *text;
		int err;
	} rows[] = {{"runtime_us", "1001", -EINVAL}, {"runtime_us", "1000", 0},
	    {"period_us", "999", -EINVAL}, {"period_us", "1000", 0}, {"runtime_us", "10", 0},
	    {"timerlat_period_us", "99", -EINVAL}, {"timerlat_period_us", "100", 0},
	    {"timerlat_period_us", "1000001", -EINVAL}, {"timerlat_period_us", "1000000", 0},
	    {"timerlat_period_us", "1000", 0}, {"options", "NO_DEFAULTS", -EINVAL},
	    {"options", "DEFAULT", -EINVAL}, {"cpus", "0-4", -ERANGE}, {"cpus", "2-1", -EINVAL},
	    {"cpus", "1-", -EINVAL}, {"cpus", ",1,,2-3,", 0}};
	char path[64];

	begin("nop");
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		fmt_snprintf(path, sizeof(path), "osnoise/%s", rows[i].file);
		EXPECT_EQ(trace_put(path, rows[i].text), rows[i].err);
	}
	EXPECT_STR(trace_get("osnoise/cpus", NULL), "1-3\n");
	EXPECT_EQ(trace_put("osnoise/cpus", "0,2"), 0);
	EXPECT_STR(trace_get("osnoise/cpus", NULL), "0,2\n");
	EXPECT_STR(trace_get("osnoise/options", NULL),
	    "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE "
	    "NO_OSNOISE_IRQ_DISABLE \n");
	EXPECT_EQ(trace_put("osnoise/options", "OSNOISE_IRQ_DISABLE"), 0);
	EXPECT_STR(trace_get("osnoise/options", NULL),
	    "NO_DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE "
	    "OSNOISE_IRQ_DISABLE \n");
	end();
}

/* Each worker's allocation fails once: then there is none. */
static void no_memory(void)
{
	char name[16];

	begin("nop");
	for (unsigned nth = 1; nth <= HOST_CPUS; nth++) {
		host_lock();
		machine_fail_alloc(nth);
		int err = trace_tracer_set(trace_global, "osnoise", false);
		machine_fail_alloc(0);
		host_unlock();
		EXPECT_EQ(err, -ENOMEM);
		EXPECT_EQ(machine_work(0, name), 0);
		EXPECT(!switched.host.enabled);
	}
	EXPECT_EQ(trace_put("current_tracer", "timerlat"), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"osnoise.hardware", hardware},
    {"osnoise.interferences", interferences},
    {"osnoise.no_workload", no_workload},
    {"osnoise.idle_is_noise", idle_is_noise},
    {"osnoise.waited_for", waited_for},
    {"osnoise.stops", stops},
    {"osnoise.timerlat", timerlat},
    {"osnoise.own_thread_is_no_noise", own_thread_is_no_noise},
    {"osnoise.timerlat_noise", timerlat_noise},
    {"osnoise.workers", workers},
    {"osnoise.instances", instances},
    {"osnoise.no_memory", no_memory},
    {"osnoise.one_after_the_other", one_after_the_other},
    {"osnoise.off_by_itself", off_by_itself},
    {"osnoise.no_workload_any_more", no_workload_any_more},
    {"osnoise.longest_of_before", longest_of_before},
    {"osnoise.timerlat_stacks", timerlat_stacks},
    {"osnoise.limits", limits},
    {"osnoise.of_before", of_before},
    {NULL, NULL},
};
extern const struct ktap_suite suite_osnoise;
const struct ktap_suite suite_osnoise = {cases};
