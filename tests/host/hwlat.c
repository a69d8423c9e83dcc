/*
 * hwlat over a scripted clock: each case knows to the nanosecond how much time is stolen. Outer
 * gaps come before odd readings of a sample, inner ones before even.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/host/scripted_clock.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_lock.h"
#include "trace/tracer/hwlat.h"
#include "trace/tracer/tracer.h"

static void begin(const char *mode)
{
	trace_fresh();
	EXPECT_EQ(trace_put("tracing_thresh", "10"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/width", "50"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/window", "5000"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/mode", mode), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
	memset(&script, 0, sizeof(script));
	script.now = 5000000000;
	machine_clock(clock_of_script);
}

static void end(void)
{
	machine_clock(NULL);
	machine_smis(false, 0);
	trace_hwlat_fresh();
	EXPECT_EQ(trace_put("tracing_cpumask", "f"), 0);
	trace_fresh();
}

/* One sample with time stolen at a reading; how long it wants to sleep then. */
static u64 sample(u64 at, u64 steal_ns, void (*meanwhile)(void))
{
	char name[16];

	script.reads = 0;
	script.at = at;
	script.steal_ns = steal_ns;
	script.meanwhile = meanwhile;
	return machine_work(0, name);
}

static unsigned lines(void)
{
	unsigned n = 0;

	while (*trace_nth(n))
		n++;
	return n;
}

/*
 * The first reading is the start; then t1 and t2 by turns. Reading 5 is a t2, 6 a t1. The threshold
 * is 10 us: 10.9 is 10.
 */
static void gaps(void)
{
	begin("none");
	EXPECT_EQ(sample(0, 0, NULL), 4950000);
	EXPECT_EQ(sample(5, 10800, NULL), 4950000); /* 10.9 us in all */
	EXPECT_EQ(lines(), 0);
	EXPECT_STR(trace_get("tracing_max_latency", NULL), "0\n");
	sample(5, 10900, NULL);
	EXPECT_STR(trace_nth_event(0), "#1     inner/outer(us):   11/0     ts:5.000113600 count:1");
	sample(6, 37000, NULL);
	EXPECT_EQ(lines(), 2);
	EXPECT(strstr(trace_nth_event(1), "#2     inner/outer(us):    0/37    ts:"));
	EXPECT_STR(trace_get("tracing_max_latency", NULL), "37\n");
	end();
}

/* In the middle of what was sampled before: never a record of a time that nobody stole. */
static void quiet(void)
{
	begin("none");
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	for (unsigned i = 0; i < 20; i++)
		sample(0, 0, NULL);
	EXPECT_EQ(lines(), 0);
	sample(7, 900, NULL); /* exactly a microsecond */
	EXPECT_EQ(lines(), 1);
	end();
}

static void backwards(void)
{
	begin("none");
	sample(9, -5000UL, NULL); /* between the two readings of a round */
	EXPECT_EQ(lines(), 0);
	sample(8, -5000UL, NULL); /* between two rounds */
	EXPECT_EQ(lines(), 0);
	sample(9, 50000, NULL);
	EXPECT_EQ(lines(), 1);
	end();
}

/* An NMI of 30 us, told by the host; its clock reads are two. */
static void nmi(void)
{
	trace_hwlat_nmi(true);
	script.now += 30000 - STEP_NS;
	trace_hwlat_nmi(false);
}

static void with_nmi(void)
{
	begin("none");
	trace_hwlat_nmi(true); /* outside of a sample it does not count */
	trace_hwlat_nmi(false);
	sample(6, 0, nmi);
	EXPECT(strstr(trace_nth_event(0), "count:1 nmi-total:30 nmi-count:1"));
	sample(6, 30000, NULL);
	EXPECT(!strstr(trace_nth_event(1), "nmi"));
	end();
}

static void smis(void)
{
	machine_smis(true, 3);
}

static void with_smis(void)
{
	int err;

	trace_get("hwlat_detector/smi_count", &err);
	EXPECT_EQ(err, -ENOENT);
	begin("none");
	machine_smis(true, 4);
	sample(5, 20000, smis);
	EXPECT(strstr(trace_nth_event(0), "count:1 smi-count:3"));
	EXPECT(strstr(trace_get("hwlat_detector/smi_count", NULL),
	    "cpu0: 7 in samples: 3\ncpu1: 0 in samples: 0\n"));
	sample(5, 20000, NULL);
	EXPECT(!strstr(trace_nth_event(1), "smi"));
	end();
}

/*
 * Round the mask, beginning after its first; a CPU that leaves the mask is not visited any more.
 */
static void round_robin(void)
{
	static const char *const expected[] = {
	    "[002]", "[003]", "[001]", "[002]", "[003]", "[001]"};

	trace_fresh();
	EXPECT_EQ(trace_put("tracing_cpumask", "e"), 0);
	begin("round-robin");
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++)
		sample(5, 20000, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++)
		EXPECT(!strncmp(trace_nth(i), expected[i], 5));
	EXPECT_EQ(trace_put("tracing_cpumask", "4"), 0);
	sample(5, 20000, NULL);
	EXPECT(!strncmp(trace_nth(6), "[002]", 5));
	EXPECT_EQ(trace_put("tracing_cpumask", "0"), 0);
	sample(5, 20000, NULL);
	EXPECT_STR(trace_get("hwlat_detector/mode", NULL), "[none] round-robin per-cpu\n");
	end();
}

static void per_cpu(void)
{
	static const char *const names[] = {"hwlatd/0", "hwlatd/1", "hwlatd/3"};
	char name[16];

	trace_fresh();
	EXPECT_EQ(trace_put("tracing_cpumask", "b"), 0);
	begin("per-cpu");
	for (unsigned i = 0; i < 3; i++) {
		script.reads = 0;
		script.at = 5;
		script.steal_ns = 20000;
		EXPECT(machine_work(i, name));
		EXPECT_STR(name, names[i]);
	}
	EXPECT_EQ(machine_work(3, name), 0);
	EXPECT(!strncmp(trace_nth(0), "[000]", 5));
	EXPECT(!strncmp(trace_nth(1), "[001]", 5));
	EXPECT(!strncmp(trace_nth(2), "[003]", 5));
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(machine_work(0, name), 0);
	EXPECT_EQ(trace_put("hwlat_detector/mode", "none"), 0); /* stays stopped */
	EXPECT_EQ(machine_work(0, name), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT(machine_work(0, name));
	EXPECT_STR(name, "hwlatd");
	EXPECT_EQ(machine_work(1, name), 0);
	end();
}

static void two_nmis(void)
{
	nmi();
	script.now += 1000;
	nmi();
	script.at = script.reads + 6;
	script.steal_ns = 20000;
	script.meanwhile = NULL;
}

/* NMIs of a sample add up; a record has the time of the first gap, and how many there were. */
static void several_in_a_sample(void)
{
	begin("none");
	EXPECT_EQ(trace_put("hwlat_detector/width", "500"), 0);
	u64 start = script.now;
	sample(6, 0, two_nmis);
	char wanted[120];
	u64 found = start + 60000 + 1000 + 9 * STEP_NS;
	fmt_snprintf(wanted, sizeof(wanted),
	    "#1     inner/outer(us):    0/61    ts:5.%09lu count:2 nmi-total:60 nmi-count:2",
	    found - 5000000000);
	EXPECT_STR(trace_nth_event(0), wanted);
	end();
}

/* Numbers begin anew with the tracer, which waits for recording to be on. */
static void begins_anew(void)
{
	char name[16];

	begin("none");
	machine_smis(true, 4);
	sample(5, 20000, smis);
	sample(5, 20000, smis);
	EXPECT(str_has_prefix(trace_nth_event(1), "#2 "));
	EXPECT(strstr(trace_get("hwlat_detector/smi_count", NULL), " in samples: 6\n"));
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", "hwlat"), 0);
	EXPECT(!strstr(trace_get("hwlat_detector/smi_count", NULL), " in samples: 6\n"));
	EXPECT_EQ(machine_work(0, name), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	sample(5, 20000, NULL);
	EXPECT(str_has_prefix(trace_nth_event(0), "#1 "));
	/* However long it samples, the system gets a millisecond. */
	EXPECT_EQ(trace_put("hwlat_detector/window", "50"), 0);
	EXPECT_EQ(sample(0, 0, NULL), 1000000);
	EXPECT_EQ(trace_put("hwlat_detector/window", "1049"), 0);
	EXPECT_EQ(sample(0, 0, NULL), 1000000);
	EXPECT_EQ(trace_put("hwlat_detector/window", "1051"), 0);
	EXPECT_EQ(sample(0, 0, NULL), 1001000);
	end();
}

/* Each allocation fails once: then there is no sampler and the tracer is nop. */
static void no_memory(void)
{
	char name[16];

	trace_fresh();
	EXPECT_EQ(trace_put("hwlat_detector/mode", "per-cpu"), 0);
	for (unsigned nth = 1; nth <= HOST_CPUS; nth++) {
		host_lock();
		machine_fail_alloc(nth);
		int err = trace_tracer_set(trace_global, "hwlat", false);
		machine_fail_alloc(0);
		host_unlock();
		EXPECT_EQ(err, -ENOMEM);
		EXPECT_STR(trace_get("current_tracer", NULL), "nop\n");
		EXPECT_STR(trace_get("tracing_thresh", NULL), "0\n");
		EXPECT_EQ(machine_work(0, name), 0);
	}
	begin("per-cpu");
	end();
}

/* However often tracing is switched on and off, there is one sampler, or none. */
static void one_sampler(void)
{
	char name[16];

	begin("round-robin");
	sample(5, 20000, NULL);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0); /* it goes on, and does not begin anew */
	sample(5, 20000, NULL);
	EXPECT(!strncmp(trace_nth(0), "[001]", 5));
	EXPECT(!strncmp(trace_nth(1), "[002]", 5));
	EXPECT_EQ(machine_work(1, name), 0);
	EXPECT_EQ(trace_put("hwlat_detector/mode", "none"), 0);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		EXPECT_EQ(machine_work(0, name), 0);
		EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		EXPECT_EQ(trace_put("hwlat_detector/mode", "per-cpu"), 0);
		EXPECT_EQ(machine_work(0, name), 0);
		EXPECT_EQ(trace_put("hwlat_detector/mode", "none"), 0);
		EXPECT_EQ(trace_put("tracing_on", "1"), 0);
		EXPECT(machine_work(0, name));
		EXPECT_EQ(machine_work(1, name), 0);
	}
	end();
}

static const struct ktap_case cases[] = {
    {"hwlat.gaps", gaps},
    {"hwlat.quiet", quiet},
    {"hwlat.backwards", backwards},
    {"hwlat.with_nmi", with_nmi},
    {"hwlat.with_smis", with_smis},
    {"hwlat.round_robin", round_robin},
    {"hwlat.per_cpu", per_cpu},
    {"hwlat.several_in_a_sample", several_in_a_sample},
    {"hwlat.begins_anew", begins_anew},
    {"hwlat.no_memory", no_memory},
    {"hwlat.one_sampler", one_sampler},
    {NULL, NULL},
};
const struct ktap_suite suite_hwlat = {cases};
