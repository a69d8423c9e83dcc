/*
 * One histogram fed by all CPUs at once, NMIs included: no key has two entries, and every event is
 * in an entry's count or in Dropped. While they feed it, it is read, cleared and removed.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/feed.h"
#include "tests/unit/trace/tools.h"
#include "trace/hist/hist.h"
#include "trace/host_memory.h"

#define TRIGGER "events/unit/unit_numbers/trigger"
#define EVENTS	20000 /* on each CPU */

static u32 range; /* of keys */

static void fire(u64 random)
{
	trace_unit_numbers(1, 1, 0, random % range);
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
	EXPECT_EQ(trace_put(TRIGGER, trigger), 0);
	feed_on_all(fire, EVENTS, NULL);
	check_table(atomic_load(&feed_count));
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
	feed_on_all(fire, EVENTS, read_and_clear);
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
