/*
 * An event probe on an event that all CPUs fire at once, NMIs included: it is hit as often as the
 * event, and every hit is in the ledger. While they fire, the probe is switched, defined and
 * removed, in the whole machine and in an instance that comes and goes.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/task.h"
#include "tests/kernel/feed.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"

#define PROBE  "e:x unit.unit_text t=$text:string m=$mark:s32 c=$comm:string"
#define ENABLE "events/eprobes/x/enable"
#define EVENTS 5000 /* on each CPU */

static void fire(u64 random __maybe_unused)
{
	trace_unit_text("who", "some text", "more");
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
	feed_on_all(fire, EVENTS, NULL);
	EXPECT_EQ(hits_of_probe(), atomic_load(&feed_count));
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
	feed_on_all(fire, EVENTS, change);
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
