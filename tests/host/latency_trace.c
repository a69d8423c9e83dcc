/*
 * What the latency tracers report, and what a reader of `trace` sees meanwhile. The cases make the
 * sections, which last as long as this computer takes.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/host/scripted_clock.h"
#include "tests/unit/load.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/snapshot.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_critical.h"
#include "trace/host_lock.h"
#include "trace/output/reader.h"
#include "trace/tracer/latency.h"

static void begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("options/function-trace", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", "irqsoff"), 0);
	EXPECT_EQ(trace_put("options/pause-on-trace", "0"), 0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	trace_fresh();
}

/* Makes a section longer than all that the tracer has reported so far. */
static void section(void)
{
	u64 start;

	host_preempt_disable();
	trace_critical_begin(0x1000, 0x2000);
	start = host_cycles();
	while (host_cycles() - start <= 2 * trace_global->max_latency_ns + 100000)
		host_relax();
	trace_critical_end(0x3000, 0x4000);
	host_preempt_enable();
}

/* A reader of `trace` that has read one byte. */
struct half_read {
	struct tracefs_file *file;
	char all[16384], text[16384]; /* what it will have read, by another reader; what it has */
	u64 pos;
};

static void read_a_byte(struct half_read *r)
{
	struct tracefs_node node;

	r->pos = 0;
	strscpy(r->all, trace_get("trace", NULL), sizeof(r->all));
	EXPECT_EQ(trace_walk("trace", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &r->file), 0);
	EXPECT_EQ(tracefs_read(r->file, r->text, 1, &r->pos), 1);
}

static void read_the_rest(struct half_read *r)
{
	size_t len = 1;
	ssize n;

	while ((n = tracefs_read(r->file, r->text + len, sizeof(r->text) - 1 - len, &r->pos)) > 0)
		len += n;
	tracefs_release(r->file);
	r->text[len] = '\0';
	EXPECT_STR(r->text, r->all);
}

/* Records older than the section are not shown. */
static void begins_with_the_section(void)
{
	begin();
	EXPECT_EQ(trace_put("trace_marker", "before"), 0);
	section();
	EXPECT_EQ(trace_put("trace_marker", "after"), 0);
	EXPECT(strstr(trace_get("trace", NULL), "sym_1000"));
	EXPECT(!strstr(trace_get("trace", NULL), "before"));
	end();
}

/* Lines of function_graph: a mark at each end; a reader keeps the form that it began with. */
static void graph(void)
{
	static struct half_read r;

	begin();
	EXPECT_EQ(trace_put("options/display-graph", "1"), 0);
	section();
	read_a_byte(&r);
	const char *mark = strstr(r.all, " |   0.000 us    |  sym_1000();\n");
	EXPECT(mark && strstr(mark, " |   0.000 us    |  sym_3000();\n"));
	EXPECT(trace_global->max_latency_ns > 0);
	EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 0);
	read_the_rest(&r);
	EXPECT_EQ(trace_put("options/overwrite", "0"), -EINVAL);
	section();
	EXPECT(!strstr(trace_get("trace", NULL), "();"));
	end();
}

static void section_with_a_call(void)
{
	u64 start, slot = 1;

	host_preempt_disable();
	trace_critical_begin(0x1000, 0x2000);
	host_function_enter(2, &slot);
	host_function_return(&slot, 0);
	start = host_cycles();
	while (host_cycles() - start <= 2 * trace_global->max_latency_ns + 100000)
		host_relax();
	trace_critical_end(0x3000, 0x4000);
	host_preempt_enable();
}

/* A tracer that could not change to graphs records calls as before. */
static void graph_without_memory(void)
{
	bool failed = true;

	begin();
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	for (unsigned nth = 1; failed; nth++) {
		machine_fail_alloc(nth);
		int err = trace_put("options/display-graph", "1");
		failed = !machine_fails_in();
		machine_fail_alloc(0);
		EXPECT_EQ(err, failed ? -ENOMEM : 0);
		EXPECT_STR(trace_get("options/display-graph", NULL), failed ? "0\n" : "1\n");
		EXPECT_EQ(trace_put("options/function-trace", "0"), 0);
		EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
		section_with_a_call();
		EXPECT(strstr(trace_get("trace", NULL), failed ? "sym_1200 <-" : "sym_1200();"));
	}
	EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
	end();
}

/* Calls in a section that lies in a function of the lists: it was entered before. */
static void graph_of_lists(void)
{
	static const struct {
		const char *file, *function;
		bool seen;
	} rows[] = {{"set_graph_function", "first_function", true},
	    {"set_graph_function", "fourth_one", false},
	    {"set_graph_notrace", "first_function", false},
	    {"set_graph_notrace", "fourth_one", true}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 outer = 1, inner = 2;
		begin();
		EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
		EXPECT_EQ(trace_put("options/display-graph", "1"), 0);
		EXPECT_EQ(trace_put(rows[i].file, rows[i].function), 0);
		host_function_enter(0, &outer);
		host_preempt_disable();
		trace_critical_begin(0x1000, 0x2000);
		host_function_enter(2, &inner);
		host_function_return(&inner, 0);
		u64 start = host_cycles();
		while (host_cycles() - start <= 100000)
			host_relax();
		trace_critical_end(0x3000, 0x4000);
		host_preempt_enable();
		host_function_return(&outer, 0);
		EXPECT_EQ(!!strstr(trace_get("trace", NULL), "|  sym_1200();\n"), rows[i].seen);
		EXPECT(!strstr(trace_get("trace", NULL), "sym_1000() {"));
		EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
		EXPECT_EQ(trace_put(rows[i].file, ""), 0);
		EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
		end();
	}
}

/* A reader keeps the latency that it began with, even if the tracer finds another. */
static void found_while_read(void)
{
	static struct half_read r;

	begin();
	section();
	read_a_byte(&r);
	EXPECT(strstr(r.all, "<stack trace>"));
	u64 before = trace_global->max_latency_ns;
	section();
	EXPECT(trace_global->max_latency_ns > before);
	read_the_rest(&r);
	EXPECT(strcmp(trace_get("trace", NULL), r.all) != 0);
	end();
}

/*
 * While a task works on the spare buffer, the tracer reports nothing and counts a missed snapshot.
 */
static void spare_in_use(void)
{
	begin();
	u64 missed = trace_global->snapshot_missed;
	host_lock();
	trace_snapshot_hold(trace_global);
	host_unlock();
	section();
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	EXPECT_EQ(trace_global->snapshot_missed, missed + 1);
	host_lock();
	trace_snapshot_release(trace_global);
	host_unlock();
	section();
	EXPECT(trace_global->max_latency_ns > 0);
	EXPECT_EQ(trace_global->snapshot_missed, missed + 1);
	end();
}

/* Neither the file `snapshot` nor a boot parameter replaces the records that the tracer shows. */
static void no_snapshot_beside(void)
{
	begin();
	section();
	u64 entries = ring_buffer_entries(trace_global->snapshot);
	EXPECT(entries > 0);
	host_lock();
	EXPECT_EQ(trace_snapshot_now(trace_global), -EBUSY);
	host_unlock();
	EXPECT_EQ(trace_put("snapshot", "1"), -EBUSY);
	EXPECT_EQ(trace_put("snapshot", "2"), -EBUSY);
	int err;
	trace_get("snapshot", &err);
	EXPECT_EQ(err, -EBUSY);
	EXPECT_EQ(ring_buffer_entries(trace_global->snapshot), entries);
	/* Clearing `trace` clears what it shows. */
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(ring_buffer_entries(trace_global->snapshot), 0);
	EXPECT(!strstr(trace_get("trace", NULL), "sym_1000"));
	end();
}

static void longer_section(void *unused __maybe_unused)
{
	section();
}

static void overrun(void *unused __maybe_unused)
{
	for (unsigned i = 0; i < 2000; i++) {
		host_preempt_disable();
		trace_critical_begin(0x1000, 0x2000);
		trace_critical_end(0x3000, 0x4000);
		host_preempt_enable();
	}
}

/* The numbers of the header are of the CPU that is shown: of another, nothing is written. */
static void numbers_of_its_cpu(void)
{
	static const char *const shown[] = {" us, #3/3, CPU#0 ", " us, #3/3, CPU#1 "};

	for (unsigned cpu = 0; cpu < ARRAY_SIZE(shown); cpu++) {
		begin();
		EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
		EXPECT_EQ(trace_put("tracing_max_latency", "1000000000"), 0);
		host_on_cpu(!cpu, overrun, NULL);
		EXPECT(ring_buffer_overruns(trace_global->buffer) > 0);
		EXPECT_EQ(trace_put("tracing_max_latency", "0"), 0);
		host_on_cpu(cpu, longer_section, NULL);
		EXPECT(strstr(trace_get("trace", NULL), shown[cpu]));
		end();
	}
}

static void mark(void *unused __maybe_unused)
{
	EXPECT_EQ(trace_put("trace_marker", "of another CPU"), 0);
}

/* What other CPUs recorded meanwhile is not shown. */
static void its_cpu_alone(void)
{
	begin();
	host_preempt_disable();
	trace_critical_begin(0x1000, 0x2000);
	host_preempt_enable();
	machine_run(1, mark, NULL);
	machine_join(1);
	host_preempt_disable();
	trace_critical_end(0x3000, 0x4000);
	host_preempt_enable();
	EXPECT(trace_global->max_latency_ns > 0);
	const char *trace = trace_get("trace", NULL);
	EXPECT(strstr(trace, "sym_3000"));
	EXPECT(strstr(trace, " us, #3/3, CPU#0 "));
	EXPECT(!strstr(trace, "of another CPU"));
	end();
}

/* ---- which sections, and when ---- */

/* What the host says at the beginning and at the end of a section. */
static void open_section(u64 ip)
{
	host_preempt_disable();
	trace_critical_begin(ip, 0);
	host_preempt_enable();
}

static void close_section(u64 ip)
{
	host_preempt_disable();
	trace_critical_end(ip, 0);
	host_preempt_enable();
}

static void wait_cycles(u64 n)
{
	u64 start = host_cycles();

	while (host_cycles() - start <= n)
		host_relax();
}

/* A section has one beginning and one end: others in between and after are nothing. */
static void one_beginning(void)
{
	begin();
	EXPECT_EQ(trace_put("tracing_max_latency", "1000000"), 0);
	close_section(0x10);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 0);
	open_section(0x20);
	open_section(0x30);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 1);
	close_section(0x40);
	close_section(0x50);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 2);
	open_section(0x60);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 3);
	close_section(0x70);
	EXPECT(!trace_global->latency_reports || !trace_global->longest.ns);
	end();
}

/* While recording is off no section begins; one that began before has no end to report. */
static void while_off(void)
{
	begin();
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	open_section(0x10);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	wait_cycles(100000);
	close_section(0x20);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 0);
	open_section(0x30);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	wait_cycles(100000);
	close_section(0x40);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	end();
}

/* A section is reported unless another was since it began: that report has its records. */
static void reported_meanwhile(void)
{
	begin();
	open_section(0x10);
	wait_cycles(100000);
	trace_global->latency_reports += 2;
	close_section(0x20);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	u32 before = trace_global->latency_reports;
	section();
	EXPECT(trace_global->max_latency_ns > 0);
	EXPECT_EQ(trace_global->latency_reports, before + 2);
	EXPECT_EQ(trace_global->longest.from, 0x1000);
	EXPECT_EQ(trace_global->longest.to, 0x3000);
	/* A shorter one is recorded, and not reported. */
	EXPECT_EQ(trace_put("tracing_max_latency", "100000000"), 0);
	open_section(0x10);
	close_section(0x20);
	EXPECT_EQ(trace_global->latency_reports, before + 2);
	/* With a threshold each is that reaches it; the longest stays what the last was. */
	EXPECT_EQ(trace_put("tracing_thresh", "1"), 0);
	open_section(0x10);
	wait_cycles(100000);
	close_section(0x20);
	EXPECT_EQ(trace_global->latency_reports, before + 4);
	EXPECT(trace_global->max_latency_ns < 100000000UL * 1000);
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	end();
}

/* One that was the longest when it ended is not, once it may be reported: it is not. */
static void no_longer_the_longest(void)
{
	struct trace_latency found = {.ns = 5000, .from = 0x10, .to = 0x20};
	struct host_context ctx;

	begin();
	u32 before = trace_global->latency_reports;
	EXPECT_EQ(trace_put("tracing_max_latency", "6"), 0);
	for (u64 ns = 5000; ns <= 7000; ns += 2000) {
		found.ns = ns;
		host_enter(&ctx);
		trace_latency_report(trace_global, &ctx, &found, before);
		host_preempt_enable();
		EXPECT_EQ(trace_global->latency_reports, ns < 6000 ? before : before + 2);
		EXPECT_EQ(trace_global->max_latency_ns, MAX(ns, 6000UL));
	}
	end();
}

/* Functions are recorded in sections, of the CPU alone that is in one. */
static void functions_in_sections(void)
{
	begin();
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	EXPECT_EQ(trace_put("tracing_max_latency", "1000000"), 0);
	host_function_call(0, 1);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 0);
	open_section(0x10);
	host_function_call(2, 1);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 2);
	close_section(0x20);
	host_function_call(3, 1);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 3);
	EXPECT_EQ(trace_put("options/function-trace", "0"), 0);
	open_section(0x10);
	host_function_call(2, 1);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 4);
	close_section(0x20);
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	end();
}

static void without_memory(void)
{
	unsigned failed = 0;

	begin();
	EXPECT_EQ(trace_put("tracing_max_latency", "1000000"), 0);
	for (;; failed++) {
		machine_fail_alloc(failed + 1);
		int err = trace_put("options/function-trace", "1");
		bool fails = !machine_fails_in();
		machine_fail_alloc(0);
		if (!fails)
			break;
		EXPECT_EQ(err, -ENOMEM);
		EXPECT_STR(trace_get("options/function-trace", NULL), "0\n");
	}
	EXPECT(failed > 1);
	open_section(0x10);
	host_function_call(2, 1);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 2);
	close_section(0x20);
	end();
}

/* ---- sections and calls of the recording itself ---- */

static void sections_meanwhile(void)
{
	trace_critical_begin(0x77, 0);
	trace_critical_end(0x88, 0);
}

static void call_meanwhile(void)
{
	host_function_call(0, 1);
}

/* From now on meanwhile() runs at reading number `at` of the ring's clock. */
static void meanwhile_at(u64 at, void (*meanwhile)(void))
{
	script.reads = 0;
	script.at = at;
	script.meanwhile = meanwhile;
}

static void meanwhile(void)
{
	begin();
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	EXPECT_EQ(trace_put("tracing_max_latency", "0"), 0);
	EXPECT_EQ(trace_put("trace_clock", "uptime"), 0);
	memset(&script, 0, sizeof(script));
	machine_clock(clock_of_script);
	meanwhile_at(1, sections_meanwhile);
	open_section(0x10);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 1);
	meanwhile_at(1, call_meanwhile);
	host_function_call(2, 1);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 2);
	meanwhile_at(1, sections_meanwhile);
	wait_cycles(100000);
	close_section(0x20);
	EXPECT_EQ(trace_global->longest.from, 0x10);
	EXPECT_EQ(trace_global->longest.to, 0x20);
	machine_clock(NULL);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	end();
}

/* A section that was open when the tracer or its form changed is not one of the next. */
static void forgets_open_sections(void)
{
	begin();
	open_section(0x10);
	EXPECT_EQ(trace_put("options/display-graph", "1"), 0);
	wait_cycles(100000);
	close_section(0x20);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	open_section(0x10);
	EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
	wait_cycles(100000);
	close_section(0x20);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	open_section(0x10);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("current_tracer", "preemptoff"), 0);
	wait_cycles(100000);
	close_section(0x20);
	EXPECT_EQ(trace_global->max_latency_ns, 0);
	end();
}

/* One array has one of them; what it set and made goes with it. */
static void one_owner(void)
{
	static const char *const tracers[] = {"irqsoff", "preemptoff", "preemptirqsoff"};

	trace_fresh();
	EXPECT_EQ(trace_put("options/function-trace", "0"), 0);
	EXPECT_EQ(trace_make_instance("other"), 0);
	for (unsigned graph = 0; graph < 2; graph++) {
		EXPECT_EQ(trace_put("options/display-graph", graph ? "1" : "0"), 0);
		EXPECT_EQ(trace_put("current_tracer", "irqsoff"), 0);
		EXPECT_STR(trace_get("options/latency-format", NULL), "1\n");
		EXPECT_STR(trace_get("options/pause-on-trace", NULL), "1\n");
		for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++)
			EXPECT_EQ(trace_put("instances/other/current_tracer", tracers[i]), -EBUSY);
		section();
		EXPECT(trace_global->longest.ns > 0);
		EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
		EXPECT_STR(trace_get("options/latency-format", NULL), "0\n");
		EXPECT_STR(trace_get("options/pause-on-trace", NULL), "0\n");
		EXPECT_EQ(trace_global->longest.ns, 0);
		EXPECT(!trace_global->snapshot && !trace_global->snapshot_users);
		for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++)
			EXPECT_EQ(trace_put("instances/other/current_tracer", tracers[i]), 0);
		EXPECT_EQ(trace_put("instances/other/current_tracer", "nop"), 0);
	}
	EXPECT_EQ(trace_drop_instance("other"), 0);
	EXPECT_EQ(trace_put("options/display-graph", "0"), 0);
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"latency.begins_with_the_section", begins_with_the_section},
    {"latency.graph", graph},
    {"latency.graph_without_memory", graph_without_memory},
    {"latency.graph_of_lists", graph_of_lists},
    {"latency.found_while_read", found_while_read},
    {"latency.spare_in_use", spare_in_use},
    {"latency.no_snapshot_beside", no_snapshot_beside},
    {"latency.numbers_of_its_cpu", numbers_of_its_cpu},
    {"latency.its_cpu_alone", its_cpu_alone},
    {"latency.without_memory", without_memory},
    {"latency.meanwhile", meanwhile},
    {"latency.one_beginning", one_beginning},
    {"latency.while_off", while_off},
    {"latency.reported_meanwhile", reported_meanwhile},
    {"latency.no_longer_the_longest", no_longer_the_longest},
    {"latency.functions_in_sections", functions_in_sections},
    {"latency.forgets_open_sections", forgets_open_sections},
    {"latency.one_owner", one_owner},
    {NULL, NULL},
};
const struct ktap_suite suite_latency_trace = {cases};
