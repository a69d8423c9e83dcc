/*
 * What is left when something goes: records of events that are removed, in the buffer and in the
 * snapshot; what an instance had that others look at; sizes after a resize that failed.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/snapshot.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/output/printk.h"
#include "trace/user/user.h"

#define GONE   "events/user_events/gone"
#define NO_END 10000

static void fresh(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

static void hit_gone(void *arg __maybe_unused)
{
	EXPECT_EQ(trace_put(GONE "/inject", "nn=77"), 0);
}

/* A user event that is removed leaves its records readable, wherever they are. */
static void records_of_user_events(void)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		for (int in_snapshot = 0; in_snapshot < 2; in_snapshot++) {
			const char *file = in_snapshot ? "snapshot" : "trace";

			fresh();
			EXPECT_EQ(trace_append("dynamic_events", "u:gone u32 nn"), 0);
			EXPECT_EQ(trace_put(GONE "/enable", "1"), 0);
			host_on_cpu(cpu, hit_gone, NULL);
			if (in_snapshot)
				EXPECT_EQ(trace_put("snapshot", "1"), 0);
			EXPECT_EQ(trace_put(GONE "/enable", "0"), 0);
			EXPECT_EQ(user_events_delete("gone"), 0);
			EXPECT(strstr(trace_get(file, NULL), "gone: nn=77"));
		}
	}
	fresh();
}

/* A synthetic event takes all records with it. */
static void records_of_synthetic_events(void)
{
	fresh();
	EXPECT_EQ(trace_put("synthetic_events", "left int aa"), 0);
	EXPECT_EQ(trace_put("events/synthetic/left/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/synthetic/left/inject", "aa=5"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("events/synthetic/left/inject", "aa=6"), 0);
	EXPECT_EQ(trace_put("events/synthetic/left/enable", "0"), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT(ring_buffer_empty(trace_global->buffer));
	EXPECT(ring_buffer_empty(trace_global->snapshot));
	fresh();
}

/* An instance that printk's records, copies of markers and much data went to; then none does. */
static void instance_with_options(void)
{
	u32 copies = trace_marker_copies;

	fresh();
	EXPECT_EQ(trace_make_instance("dest"), 0);
	EXPECT_EQ(trace_put("instances/dest/options/trace_printk_dest", "1"), 0);
	EXPECT_EQ(trace_put("instances/dest/options/copy_trace_marker", "1"), 0);
	EXPECT(trace_printk_array != trace_global);
	EXPECT_EQ(trace_marker_copies, copies + 1);
	EXPECT_EQ(trace_put("instances/dest/syscall_user_buf_size", "100"), 0);
	EXPECT_EQ(trace_user_data_most, 100);
	EXPECT_EQ(trace_drop_instance("dest"), 0);
	EXPECT(trace_printk_array == trace_global);
	EXPECT_EQ(trace_marker_copies, copies);
	EXPECT_EQ(trace_user_data_most, trace_global->user_data);
	EXPECT_STR(trace_get("options/trace_printk_dest", NULL), "1\n");
	fresh();
}

/* Whichever allocation fails: buffer and snapshot have one size, so that they can be exchanged. */
static void sizes_stay_the_same(void)
{
	unsigned nth = 0;
	int err;

	fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	do {
		machine_fail_alloc(++nth);
		err = trace_put("buffer_size_kb", "32");
		machine_fail_alloc(0);
		for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
			EXPECT_EQ(ring_buffer_size(trace_global->snapshot, cpu),
			    ring_buffer_size(trace_global->buffer, cpu));
	} while (err == -ENOMEM && nth < NO_END);
	EXPECT_EQ(err, 0);
	EXPECT(nth > 2 * host_cpu_count());
	fresh();
}

/* A snapshot of large sub-buffers; their size stays while `trace` is open. */
static void large_subbuffers(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;

	fresh();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	EXPECT_EQ(trace_put("trace_marker", "large"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT(strstr(trace_get("snapshot", NULL), ": large\n"));
	EXPECT_EQ(trace_walk("trace", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), -EBUSY);
	tracefs_release(f);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	fresh();
}

/* A removal names the fields with their sizes. */
static void other_size(void)
{
	fresh();
	EXPECT_EQ(trace_append("dynamic_events", "u:sized struct one ss 8"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "-:user_events/sized struct one ss 16"), -ENOENT);
	EXPECT_EQ(trace_append("dynamic_events", "-:user_events/sized struct one ss 8"), 0);
	fresh();
}

static unsigned events_of_that_name(void)
{
	unsigned n = 0;

	for (const char *at = trace_get("dynamic_events", NULL); (at = strstr(at, "u:many.")); at++)
		n++;
	return n;
}

/* Of several events of one name one is in use, the newest or the oldest: none goes. */
static void busy_among_others(void)
{
	const u32 how = USER_EVENT_REG_MULTI_FORMAT | USER_EVENT_REG_PERSIST;

	for (int round = 0; round < 2; round++) {
		struct user_events_file *f = user_events_open(NULL), *g = user_events_open(NULL);
		struct user_event *ev;

		fresh();
		EXPECT_EQ(user_events_register(f, "many u32 aa", how, &ev), 0);
		EXPECT_EQ(user_events_register(g, "many u64 bb", how, &ev), 0);
		host_lock();
		user_events_release(round ? g : f);
		host_unlock();
		EXPECT_EQ(user_events_delete("many"), -EBUSY);
		EXPECT_EQ(events_of_that_name(), 2);
		host_lock();
		user_events_release(round ? f : g);
		host_unlock();
		EXPECT_EQ(user_events_delete("many"), 0);
		EXPECT_EQ(events_of_that_name(), 0);
		EXPECT_EQ(user_events_delete("many"), -ENOENT);
	}
	fresh();
}

static const struct ktap_case cases[] = {
    {"leftovers.records_of_user_events", records_of_user_events},
    {"leftovers.records_of_synthetic_events", records_of_synthetic_events},
    {"leftovers.instance_with_options", instance_with_options},
    {"leftovers.sizes_stay_the_same", sizes_stay_the_same},
    {"leftovers.large_subbuffers", large_subbuffers},
    {"leftovers.other_size", other_size},
    {"leftovers.busy_among_others", busy_among_others},
    {NULL, NULL},
};
const struct ktap_suite suite_leftovers = {cases};
