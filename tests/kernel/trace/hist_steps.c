/*
 * A histogram's map while an insert is interrupted at every instruction boundary by another insert:
 * of the same key, of one whose way begins at the same slot, and of one that takes two entries and
 * gives one back. No key has two entries, none is lost, and no entry belongs to two keys. And
 * onmax() while another value comes in between: the largest stays.
 */
#include "arch/arch.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/arch/stepper.h"
#include "tests/unit/trace/tools.h"
#include "trace/hist/hist.h"
#include "trace/host_context.h"

#define KEY   1
#define AFTER 1000 /* keys that come at the end, and find what the free list has become */

static struct hist_map *map;
static u64 nested_key, total; /* total: inserts */

static void hist_steps_count(u64 key, void (*init)(void *arg, struct hist_entry *e))
{
	struct hist_entry *e = hist_map_insert(map, &key, 0, init, &key);

	EXPECT(e);
	local_inc(&total);
	if (e)
		hist_add(map, e, 0, 1);
}

static void hist_steps_again(void *key, struct hist_entry *unused __maybe_unused)
{
	hist_steps_count(*(u64 *)key, NULL);
}

/* The entry that is being prepared will be given back: its key comes into the map meanwhile. */
static void hist_steps_in_vain(u64 key)
{
	hist_steps_count(key, hist_steps_again);
}

static void hist_steps_in_vain_again(void *key, struct hist_entry *unused __maybe_unused)
{
	hist_steps_in_vain(*(u64 *)key);
}

/* Counts a key three times, and leaves two entries on the free list. */
static void hist_steps_give_two(u64 key)
{
	hist_steps_count(key, hist_steps_in_vain_again);
}

static void hist_steps_outer(void *unused __maybe_unused)
{
	hist_steps_count(KEY, NULL);
}

static void hist_steps_nested(void *unused __maybe_unused)
{
	hist_steps_count(nested_key, NULL);
}

static void hist_steps_nested_in_vain(void *unused __maybe_unused)
{
	hist_steps_in_vain(nested_key);
}

/* A key whose way begins at the same slot. */
static u64 hist_steps_same_slot(void)
{
	u64 key = KEY, slot = hist_hash(&key, 1) & map->slot_mask;

	do {
		key++;
	} while ((hist_hash(&key, 1) & map->slot_mask) != slot);
	return key;
}

static void hist_steps_expect(u64 key, u64 count)
{
	const struct hist_entry *e = hist_map_find(map, &key);

	EXPECT(e);
	EXPECT_EQ(e ? hist_sum(map, e, 0) : 0, count);
}

/* One pass; false: the insert has no such boundary. */
static bool hist_steps_pass(void (*hook)(void *), bool gave_two, u64 at)
{
	const u64 other = 77;
	struct hist_entry *out[8];
	bool same = nested_key == KEY;
	u64 flags, nested; /* a key that is there is not inserted in vain */

	hist_map_clear(map);
	total = 0;
	if (gave_two)
		hist_steps_give_two(other);
	flags = irq_save();
	bool reached = stepper_run(hist_steps_outer, NULL, at, hook, NULL);
	irq_restore(flags);
	if (!reached)
		hook(NULL);
	nested = total - 1 - (gave_two ? 3 : 0);
	for (u64 key = AFTER; key < AFTER + 3; key++)
		hist_steps_count(key, NULL);

	hist_steps_expect(KEY, 1 + (same ? nested : 0));
	if (!same)
		hist_steps_expect(nested_key, nested);
	if (gave_two)
		hist_steps_expect(other, 3);
	for (u64 key = AFTER; key < AFTER + 3; key++)
		hist_steps_expect(key, 1);
	EXPECT_EQ(hist_map_entries(map, out, 8), 4 + !same + gave_two);
	EXPECT_EQ(hist_map_hits(map), total);
	EXPECT_EQ(hist_map_drops(map), 0);
	return reached;
}

static void hist_steps_all(u64 key, bool in_vain, bool gave_two)
{
	u64 at = 0;

	nested_key = key;
	while (
	    hist_steps_pass(in_vain ? hist_steps_nested_in_vain : hist_steps_nested, gave_two, at))
		at++;
	EXPECT(at > 20); /* instructions: it was stepped */
}

static void hist_steps_begin(void)
{
	const struct hist_map_shape shape = {.size = HIST_MAP_MIN, .key_words = 1, .sums = 1};

	map = hist_map_create(&shape);
	EXPECT(map);
	stepper_begin();
}

static void hist_steps_end(void)
{
	stepper_end();
	hist_map_free(map);
}

static void same_key(void)
{
	hist_steps_begin();
	hist_steps_all(KEY, false, false);
	hist_steps_all(KEY, false, true);
	hist_steps_end();
}

static void other_key(void)
{
	hist_steps_begin();
	hist_steps_all(hist_steps_same_slot(), false, false);
	hist_steps_all(hist_steps_same_slot(), false, true);
	hist_steps_end();
}

static void free_list(void)
{
	hist_steps_begin();
	hist_steps_all(hist_steps_same_slot(), true, true);
	hist_steps_all(KEY, true, true);
	hist_steps_end();
}

/* ---- onmax() ---- */

#define TRIGGER "events/unit2/unit_tail/trigger"
#define LARGEST "hist:keys=wide:xx=tail:onmax($xx).save(tail)"

static struct hist *tracking;
static struct hist_entry *tracked;

static void hist_steps_track(u64 value)
{
	struct host_context ctx;
	u64 refs[HIST_REFS_MAX] = {0};

	host_context(&ctx);
	refs[tracking->actions[0]->ref->index] = value;
	hist_run_actions(tracking, tracked, &ctx, NULL, 0, refs, NULL);
}

static void hist_steps_larger(void *unused __maybe_unused)
{
	hist_steps_track(20);
}

static void hist_steps_smaller(void *unused __maybe_unused)
{
	hist_steps_track(10);
}

static void largest_stays(void)
{
	const u64 key = 1;
	u64 flags, at = 0;
	bool reached = true;

	trace_fresh();
	EXPECT_EQ(trace_put(TRIGGER, LARGEST), 0);
	trace_unit_tail(key, 0);
	tracking = list_entry(hists.prev, struct hist, node);
	tracked = hist_map_find(tracking->map, &key);
	stepper_begin();
	while (reached) {
		u32 best = tracking->actions[0]->best;
		hist_set_var(tracking->map, tracked, best, 0);
		flags = irq_save();
		reached = stepper_run(hist_steps_larger, NULL, at++, hist_steps_smaller, NULL);
		irq_restore(flags);
		EXPECT_EQ(hist_var(tracking->map, tracked, best), 20);
	}
	EXPECT(at > 50);
	stepper_end();
	EXPECT_EQ(trace_append(TRIGGER, "!" LARGEST), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"hist_steps.same_key", same_key},
    {"hist_steps.other_key", other_key},
    {"hist_steps.free_list", free_list},
    {"hist_steps.largest_stays", largest_stays},
    {NULL, NULL},
};

const struct ktap_suite suite_hist_steps = {cases};
