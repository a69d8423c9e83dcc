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
#define WATCH  "events/wprobes/"

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

/* The events go away without a record: their number means nothing from then on. */
static void numbers_of_events(void)
{
	fresh();
	EXPECT_EQ(trace_append("dynamic_events", "u:gone u32 nn"), 0);
	unsigned id = trace_event_find("user_events", "gone")->id;
	EXPECT(trace_event_by_id(id));
	EXPECT_EQ(user_events_delete("gone"), 0);
	EXPECT(!trace_event_by_id(id));
	fresh();
}

/* "pre" is how "preamz" begins, and both are in one chain of the table of names. */
static void one_name_begins_another(void)
{
	fresh();
	EXPECT_EQ(trace_append("dynamic_events", "u:pre u32 nn"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "u:preamz u64 mm"), 0);
	EXPECT_EQ(user_events_delete("pre"), 0);
	EXPECT_STR(trace_get("dynamic_events", NULL), "u:preamz u64 mm\n");
	EXPECT_EQ(user_events_delete("preamz"), 0);
	fresh();
}

static void watch_enable(char which, const char *on)
{
	char path[] = WATCH "a/enable";

	path[strlen(WATCH)] = which;
	EXPECT_EQ(trace_put(path, on), 0);
}

/*
 * Whichever allocation of a trigger fails, watchpoints that it took are free again, and one that
 * was on stays on. There are four.
 */
static void watchpoints(void)
{
	static const struct machine_regs regs;
	unsigned nth = 0;
	int err;

	fresh();
	for (char c = 'a'; c <= 'e'; c++) {
		char line[] = "w:a w@0xffff888000001000:8";
		line[2] = c;
		EXPECT_EQ(trace_append("dynamic_events", line), 0);
	}
	watch_enable('a', "1");
	do {
		const char *path = nth % 2 ? WATCH "b/trigger" : WATCH "a/trigger";
		machine_fail_alloc(nth / 2 + 1);
		err = trace_append(path, "snapshot");
		machine_fail_alloc(0);
		if (!err)
			EXPECT_EQ(trace_append(path, "!snapshot"), 0);
		EXPECT_EQ(trace_put("snapshot", "0"), 0);
		EXPECT_EQ(trace_put("trace", ""), 0);
		for (char c = 'c'; c <= 'e'; c++)
			watch_enable(c, "1");
		machine_watch_hit(&regs, 1);
		EXPECT(strstr(trace_get("trace", NULL), ": a: "));
		for (char c = 'c'; c <= 'e'; c++)
			watch_enable(c, "0");
	} while ((err || nth % 2 == 0) && nth++ < NO_END);
	EXPECT_EQ(err, 0);
	EXPECT(nth > 20);
	watch_enable('a', "0");
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	fresh();
}

/* A legacy probe may go while it is on, but not while a trigger needs it. */
static void legacy_probe(void)
{
	fresh();
	EXPECT_EQ(trace_append("kprobe_events", "p:leg do_rmdir a0"), 0);
	EXPECT_STR(trace_get("events/kprobes/leg/enable", NULL), "1\n");
	EXPECT_EQ(trace_append("events/unit/unit_numbers/trigger", "enable_event:kprobes:leg"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:leg"), -EBUSY);
	EXPECT_EQ(trace_append("events/unit/unit_numbers/trigger", "!enable_event:kprobes:leg"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:leg"), 0);
	EXPECT_STR(trace_get("kprobe_events", NULL), "");
	fresh();
}

/* A tracepoint gives its probe all hits, be its own event off, on, or on again. */
static void probe_of_a_tracepoint(void)
{
	fresh();
	EXPECT_EQ(trace_append("dynamic_events", "t:tp unit_numbers"), 0);
	EXPECT_EQ(trace_put("events/tracepoints/tp/enable", "1"), 0);
	for (unsigned hits = 1; hits <= 4; hits++) {
		EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", hits % 2 ? "0" : "1"), 0);
		trace_unit_numbers(1, 2, 3, 4);
		EXPECT_EQ(trace_counts("tracepoints", "tp").hit, hits);
	}
	EXPECT_EQ(trace_put("events/tracepoints/tp/enable", "0"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "-:tp"), 0);
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
    {"leftovers.numbers_of_events", numbers_of_events},
    {"leftovers.one_name_begins_another", one_name_begins_another},
    {"leftovers.watchpoints", watchpoints},
    {"leftovers.legacy_probe", legacy_probe},
    {"leftovers.probe_of_a_tracepoint", probe_of_a_tracepoint},
    {NULL, NULL},
};
const struct ktap_suite suite_leftovers = {cases};
