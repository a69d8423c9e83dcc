/*
 * hwlat on this machine: time that an NMI handler takes, and SMIs where the machine can be made to
 * have them. How much is taken is measured by whoever takes it, so nothing depends on the machine's
 * speed.
 */
#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/tracer/hwlat.h"

#define STEAL_NS 70000 /* at a time */
#define BOUNCES	 150   /* NMIs in a row: more than a window full */
#define ROUNDS	 20    /* of these, at most */
#define APM_CNT	 0xb2  /* a write is an SMI, where the firmware wants them */

static unsigned victim = 1; /* the CPU that loses time; the other passes the NMIs on */
static u32 smi_wanted;	    /* [A] */
static u32 bounces;	    /* [A] NMIs still to come */

/*
 * The two CPUs send each other NMIs, by turns: who samples has interrupts off, and sends nothing
 * otherwise.
 */
static bool steal(struct regs *r)
{
	(void)r;
	if (cpu_id() == victim) {
		spin_ns(STEAL_NS);
		if (atomic_load(&smi_wanted))
			port_out8(APM_CNT, 0);
	}
	if (atomic_load(&bounces)) {
		atomic_sub(&bounces, 1);
		nmi_send(1 - cpu_id());
	}
	return true;
}

/*
 * The test stays off the victim. From there it would begin each row of NMIs while nobody samples,
 * and where one processor emulates both CPUs, the victim gets nowhere between two of them.
 */
static void begin(const char *mode, const char *mask)
{
	EXPECT_EQ(task_set_affinity(current(), ~(1UL << victim)), 0);
	trace_fresh();
	EXPECT_EQ(nmi_handler_add(steal), 0);
	EXPECT_EQ(trace_put("tracing_cpumask", mask), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "50"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/width", "5000"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/window", "6000"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/mode", mode), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
}

static void end(void)
{
	trace_hwlat_fresh();
	nmi_handler_remove(steal);
	EXPECT_EQ(trace_put("tracing_cpumask", "3"), 0);
	trace_fresh();
	task_set_affinity(current(), ~0UL);
}

static u64 number_behind(const char *line, const char *word)
{
	const char *at = strstr(line, word), *stop;

	return at ? parse_digits(at + strlen(word), &stop, 10) : 0;
}

/* Microseconds at once: the larger of inner and outer. */
static u64 longest_of(const char *line)
{
	u64 inner = number_behind(line, "inner/outer(us): ");
	const char *slash = strstr(line, "/"), *stop;

	slash = strstr(slash ? slash + 1 : "", "/");
	return MAX(inner, slash ? parse_digits(slash + 1, &stop, 10) : 0);
}

/*
 * NMIs until a record of the victim says `what`, and that one took all its time at once: one that
 * comes just as the sample begins is counted in it and took its time before. The record.
 */
static const char *until(const char *what)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		atomic_store(&bounces, BOUNCES);
		nmi_send(victim);
		while (atomic_load(&bounces))
			sleep_ns(1000000, NULL);
		for (unsigned n = 0; *trace_nth(n); n++)
			if (!strncmp(trace_nth(n), victim ? "[001] d" : "[000] d", 7) &&
			    strstr(trace_nth(n), what) &&
			    longest_of(trace_nth(n)) >= STEAL_NS / 1000)
				return trace_nth(n);
	}
	return "";
}

/* What the record says was stolen is at least what the handler took. */
static void expect_stolen(const char *line)
{
	u64 nmis = number_behind(line, "nmi-count:"), total = number_behind(line, "nmi-total:");

	EXPECT(nmis >= 1);
	EXPECT(total >= nmis * (STEAL_NS / 1000));
	EXPECT(number_behind(trace_get("tracing_max_latency", NULL), "") >= longest_of(line));
	EXPECT(number_behind(line, "count:") >= 1);
}

static void stolen(const char *mode, const char *mask)
{
	begin(mode, mask);
	const char *line = until("nmi-count:");
	EXPECT(*line);
	if (*line)
		expect_stolen(line);
	end();
}

static void on_one_cpu(void)
{
	if (cpu_count() < 2)
		ktap_skip("one CPU");
	else
		stolen("per-cpu", "2");
}

static void rotating(void)
{
	if (cpu_count() < 2)
		ktap_skip("one CPU");
	else
		stolen("round-robin", "3");
}

static void on_all(void)
{
	if (cpu_count() < 2)
		ktap_skip("one CPU");
	else
		stolen("per-cpu", "3");
}

static void cause_smi(void *arg)
{
	u64 before, after;

	if (!arch_smi_count(&before))
		return;
	port_out8(APM_CNT, 0);
	arch_smi_count(&after);
	*(bool *)arg = after == before + 1;
}

/* On CPU 0: firmware need not have prepared others for SMIs. */
static void smi_counted(void)
{
	bool works = false;

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	cpu_call(0, cause_smi, &works);
	if (!works) {
		ktap_skip("no SMIs here, or nothing counts them");
		return;
	}
	victim = 0;
	begin("per-cpu", "1");
	atomic_store(&smi_wanted, 1);
	const char *line = until("smi-count:");
	EXPECT(number_behind(line, "smi-count:") >= 1);
	EXPECT(hwlat_smis(0) >= 1);
	EXPECT_EQ(hwlat_smis(1), 0);
	atomic_store(&smi_wanted, 0);
	end();
	victim = 1;
}

/* Without anybody who takes time, the tasks that sample come and go with the tracer. */
static void come_and_go(void)
{
	u64 before = settled_free_pages();

	for (unsigned i = 0; i < 20; i++) {
		EXPECT_EQ(trace_put("hwlat_detector/mode", i & 1 ? "per-cpu" : "none"), 0);
		EXPECT_EQ(trace_put("hwlat_detector/width", "100"), 0);
		EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		EXPECT_EQ(trace_put("tracing_on", "1"), 0);
		EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	}
	trace_hwlat_fresh();
	trace_fresh();
	EXPECT(settled_free_pages() + 16 >= before);
}

static const struct ktap_case cases[] = {
    {"hwlat_cpus.on_one_cpu", on_one_cpu},
    {"hwlat_cpus.rotating", rotating},
    {"hwlat_cpus.on_all", on_all},
    {"hwlat_cpus.smi_counted", smi_counted},
    {"hwlat_cpus.come_and_go", come_and_go},
    {NULL, NULL},
};
const struct ktap_suite suite_hwlat_cpus = {cases};
