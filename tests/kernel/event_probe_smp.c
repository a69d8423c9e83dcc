/*
 * An event probe on an event that all CPUs fire at once, NMIs included: it is hit as often as the event, and every hit is in the
 * ledger. While they fire, the probe is switched, defined and removed, in the whole machine and in an instance that comes and goes.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace_tools.h"

#define PROBE  "e:x unit.unit_text t=$text:string m=$mark:s32 c=$comm:string"
#define ENABLE "events/eprobes/x/enable"
#define EVENTS 5000 /* on each CPU */

static u64 fired, feeding; /* [A] */
static u64 seed;

static void fire(void)
{
	trace_unit_text("who", "some text", "more");
	atomic_add(&fired, 1);
}

static bool in_nmi(struct regs *r __maybe_unused)
{
	fire();
	return true;
}

static void feed(void *arg)
{
	u64 random = seed + (u64)arg * 77;

	for (u32 i = 0; i < EVENTS; i++) {
		u64 r = prng_next(&random) >> 20;
		fire();
		if (r % 256 == 0)
			nmi_send((r >> 8) % cpu_count());
	}
	atomic_sub(&feeding, 1);
}

static void feed_on_all(void (*meanwhile)(void))
{
	struct threads t = {.n = 0};

	seed = cycles();
	ktap_note("seed %lu, %u CPUs", seed, cpu_count());
	atomic_store(&fired, 0);
	atomic_store(&feeding, cpu_count());
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	for (u64 cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, feed, (void *)cpu, cpu);
	while (meanwhile && atomic_load(&feeding))
		meanwhile();
	threads_join(&t);
	nmi_handler_remove(in_nmi);
}

static u64 hits_of_probe(void)
{
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("eprobes", "x"));
	u64 n = 0;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		n += file->counts[cpu].hit;
	return n;
}

static void expect_balance(void)
{
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
}

static void every_hit(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("dynamic_events", PROBE), 0);
	EXPECT_EQ(trace_put(ENABLE, "1"), 0);
	feed_on_all(NULL);
	EXPECT_EQ(hits_of_probe(), atomic_load(&fired));
	expect_balance();
	EXPECT_STR(trace_nth_event(0), "x: (unit.unit_text) t=\"some text\" m=7 c=\"who\"");
	EXPECT_EQ(trace_put(ENABLE, "0"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "-:x"), 0);
	trace_fresh();
}

static void change(void)
{
	static u32 turn;
	struct trace_array *tr;

	EXPECT_EQ(trace_append("dynamic_events", PROBE " if mark == 7"), 0);
	EXPECT_EQ(trace_put(ENABLE, "1"), 0);
	if (++turn % 4 == 0) {
		host_lock();
		EXPECT_EQ(trace_instance_create("ep", &tr), 0);
		host_unlock();
		EXPECT_EQ(trace_put("instances/ep/" ENABLE, "1"), 0);
		EXPECT_EQ(trace_put("instances/ep/events/eprobes/x/trigger", "hist:keys=m"), 0);
		host_lock();
		EXPECT_EQ(trace_array_destroy(tr), 0);
		host_unlock();
	}
	if (turn % 2)
		EXPECT_EQ(trace_put("events/unit/unit_text/enable", turn % 4 == 1 ? "1" : "0"), 0);
	EXPECT_EQ(trace_put(ENABLE, "0"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "-:x"), 0);
}

/* Nothing is freed under who records. */
static void comes_and_goes(void)
{
	trace_fresh();
	feed_on_all(change);
	expect_balance();
	trace_fresh();
	EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), "0\n");
}

static const struct ktap_case cases[] = {
    {"event_probe_smp.every_hit", every_hit},
    {"event_probe_smp.comes_and_goes", comes_and_goes},
    {NULL, NULL},
};
const struct ktap_suite suite_event_probe_smp = {cases};
