/*
 * One histogram's table fed by all CPUs at once, interrupts and NMIs included: no key has two
 * entries, every try is a hit or a drop, every hit is in the sum of its key.
 */

#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "trace/hist/map.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"

#define TRIES  200000 /* on each CPU, in its task */
#define ROUNDS 4

static struct hist_map *map;
static u32 range; /* of keys */
static u64 tries;
static u32 running;

struct generator {
	u64 state;
};
static struct generator generators[HOST_CPUS][3]; /* of task, irq, NMI */

static u64 next(struct generator *g)
{
	g->state = g->state * 6364136223846793005UL + 1442695040888963407UL;
	return g->state >> 33;
}

static void insert(unsigned context)
{
	unsigned cpu = host_cpu();
	u64 key[2];

	key[0] = next(&generators[cpu][context]) % range;
	key[1] = ~key[0];
	struct hist_entry *e = hist_map_insert(map, key, cpu, NULL, NULL);
	if (e) {
		EXPECT(e->words[0] == key[0] && e->words[1] == key[1]);
		hist_add(map, e, 0, 1);
	}
	atomic_fetch_add(&tries, 1);
}

static void irq(void)
{
	insert(1);
	insert(1);
}

static void nmi(void)
{
	insert(2);
}

static void feed(void *unused)
{
	(void)unused;
	for (u32 i = 0; i < TRIES; i++)
		insert(0);
	atomic_sub(&running, 1);
}

static void seed_generators(u64 seed)
{
	ktap_note("seed %lu", seed);
	for (u32 i = 0; i < HOST_CPUS * 3; i++)
		(&generators[0][0])[i].state = seed + i * 0x9e3779b97f4a7c15UL;
}

/* No two entries of one key; their sums are all hits. */
static void check(u32 size)
{
	static struct hist_entry *found[HIST_MAP_MAX];
	static u8 seen[4 * HIST_MAP_MAX];
	u32 n = hist_map_entries(map, found, HIST_MAP_MAX), twice = 0;
	u64 sum = 0;

	memset(seen, 0, sizeof(seen));
	for (u32 i = 0; i < n; i++) {
		sum += hist_sum(map, found[i], 0);
		twice += seen[found[i]->words[0]]++;
		EXPECT(hist_map_find(map, found[i]->words) == found[i]);
	}
	EXPECT_EQ(twice, 0);
	EXPECT_EQ(sum, hist_map_hits(map));
	EXPECT_EQ(hist_map_hits(map) + hist_map_drops(map), atomic_load(&tries));
	EXPECT(n <= size && (range <= size || n == size));
}

static void feed_all(u32 size, u32 keys)
{
	struct hist_map_shape shape = {.size = size, .key_words = 2, .sums = 1};

	seed_generators(host_clock());
	range = keys;
	for (u32 round = 0; round < ROUNDS; round++) {
		map = hist_map_create(&shape);
		EXPECT(map);
		atomic_store(&tries, 0);
		atomic_store(&running, HOST_CPUS - 1);
		machine_handlers(irq, nmi);
		for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
			machine_run(cpu, feed, NULL);
		for (u32 i = 0; atomic_load(&running); i++) {
			insert(0);
			if (i % 64 == 0)
				machine_irq(1 + i / 64 % (HOST_CPUS - 1));
			if (i % 192 == 0)
				machine_nmi(1 + i / 192 % (HOST_CPUS - 1));
		}
		for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
			machine_join(cpu);
		machine_handlers(NULL, NULL);
		check(size);
		hist_map_free(map);
	}
}

/* Few keys: all CPUs bring the same ones at once. */
static void few_keys(void)
{
	feed_all(HIST_MAP_MIN, 16);
}

static void many_keys(void)
{
	feed_all(16384, 16384);
}

/* More keys than entries: what does not fit is dropped, and what fits stays whole. */
static void too_many_keys(void)
{
	feed_all(HIST_MAP_MIN, 1000);
}

static const struct ktap_case cases[] = {
    {"hist_stress.few_keys", few_keys},
    {"hist_stress.many_keys", many_keys},
    {"hist_stress.too_many_keys", too_many_keys},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_stress = {cases};
