/*
 * One histogram fed by all CPUs at once, NMIs included: no key has two entries, and every event is in an entry's count or in Dropped.
 * While they feed it, it is read, cleared and removed.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace_tools.h"
#include "trace/hist.h"

#define TRIGGER "events/unit/unit_numbers/trigger"
#define EVENTS	20000 /* on each CPU */

static u64 fired, feeding; /* [A] */
static u32 range;	   /* of keys */
static u64 seed;

static bool in_nmi(struct regs *r __maybe_unused)
{
	trace_unit_numbers(1, 1, 0, atomic_load_relaxed(&fired) % range);
	atomic_add(&fired, 1);
	return true;
}

static void feed(void *arg)
{
	u64 random = seed + (u64)arg * 77;

	for (u32 i = 0; i < EVENTS; i++) {
		u64 r = prng_next(&random) >> 20;
		trace_unit_numbers(1, 1, 0, r % range);
		atomic_add(&fired, 1);
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
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	atomic_store(&feeding, cpu_count());
	for (u64 cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, feed, (void *)cpu, cpu);
	while (meanwhile && atomic_load(&feeding))
		meanwhile();
	threads_join(&t);
	nmi_handler_remove(in_nmi);
}

/* Every entry once, all counts together. */
static void check_table(u64 events)
{
	struct hist *h = list_first_entry(&hists, struct hist, node);
	struct hist_entry **found = host_alloc(h->size * sizeof(*found));
	u8 *seen = host_alloc(range);
	u32 n = hist_map_entries(h->map, found, h->size), twice = 0;
	u64 sum = 0;

	for (u32 i = 0; i < n; i++) {
		twice += seen[found[i]->words[0]]++;
		sum += hist_sum(h->map, found[i], 0);
	}
	EXPECT_EQ(twice, 0);
	EXPECT_EQ(sum, hist_map_hits(h->map));
	EXPECT_EQ(sum + hist_map_drops(h->map), events);
	EXPECT_EQ(n, MIN(range, h->size));
	host_free(seen);
	host_free(found);
}

static void feeds(const char *trigger, u32 keys)
{
	trace_fresh();
	range = keys;
	atomic_store(&fired, 0);
	EXPECT_EQ(trace_put(TRIGGER, trigger), 0);
	feed_on_all(NULL);
	check_table(atomic_load(&fired));
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	trace_fresh();
}

static void few_keys(void)
{
	feeds("hist:keys=d:size=128", 8);
}

static void many_keys(void)
{
	feeds("hist:keys=d,a:size=2048", 2000);
}

static void too_many_keys(void)
{
	feeds("hist:keys=d:vals=b:size=128", 1000);
}

static void read_and_clear(void)
{
	static u32 turn;
	const char *text = trace_get("events/unit/unit_numbers/hist", NULL);

	EXPECT(strstr(text, "\nTotals:\n"));
	if (++turn % 4 == 0)
		EXPECT_EQ(
		    trace_append(TRIGGER, "hist:keys=d:xx=b:onmax($xx).save(common_pid):clear"), 0);
	if (turn % 8 == 0) {
		EXPECT_EQ(trace_put(TRIGGER, ""), 0);
		EXPECT_EQ(trace_put(TRIGGER, "hist:keys=d:xx=b:onmax($xx).save(common_pid)"), 0);
	}
}

/* Nothing is freed or cleared under who counts. */
static void comes_and_goes(void)
{
	trace_fresh();
	range = 300;
	EXPECT_EQ(trace_put(TRIGGER, "hist:keys=d:xx=b:onmax($xx).save(common_pid)"), 0);
	feed_on_all(read_and_clear);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT(list_empty(&hists));
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"hist_smp.few_keys", few_keys},
    {"hist_smp.many_keys", many_keys},
    {"hist_smp.too_many_keys", too_many_keys},
    {"hist_smp.comes_and_goes", comes_and_goes},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_smp = {cases};
