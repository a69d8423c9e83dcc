/* The map of histograms: keys and entries, limits, what is dropped, what clearing does. */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "trace/hist/map.h"

static struct hist_map *make(u32 size, u32 key_words)
{
	struct hist_map_shape shape = {
	    .size = size, .key_words = key_words, .sums = 2, .vars = 1, .text_words = 2};
	struct hist_map *map = hist_map_create(&shape);

	EXPECT(map);
	return map;
}

static struct hist_entry *put(struct hist_map *map, u64 a, u64 b, u64 c)
{
	u64 key[3] = {a, b, c};
	struct hist_entry *e = hist_map_insert(map, key, 0, NULL, NULL);

	if (e)
		hist_add(map, e, 0, 1);
	return e;
}

static void keys(void)
{
	for (u32 words = 1; words <= 3; words++) {
		struct hist_map *map = make(HIST_MAP_MIN, words);
		struct hist_entry *e = put(map, 1, 2, 3);
		EXPECT(put(map, 1, 2, 3) == e);
		EXPECT((put(map, 1, 2, 4) == e) == (words < 3));
		EXPECT((put(map, 1, 3, 3) == e) == (words < 2));
		EXPECT(put(map, 2, 2, 3) != e);
		EXPECT_EQ(hist_sum(map, e, 0), words == 3 ? 2 : words == 2 ? 3 : 4);
		EXPECT(hist_map_find(map, (u64[]){1, 2, 3}) == e);
		EXPECT(!hist_map_find(map, (u64[]){7, 2, 3}));
		EXPECT_EQ(hist_map_hits(map), 5);
		hist_map_free(map);
	}
}

/* Zero and all ones are keys like others. */
static void odd_keys(void)
{
	struct hist_map *map = make(HIST_MAP_MIN, 2);

	EXPECT(put(map, 0, 0, 0) != put(map, ~0UL, ~0UL, 0));
	EXPECT(put(map, 0, 0, 0) == hist_map_find(map, (u64[]){0, 0}));
	hist_map_free(map);
}

static void fills(u32 size)
{
	struct hist_map *map = make(size, 1);
	struct hist_entry *out[300];

	for (u32 i = 0; i < size + 10; i++)
		EXPECT_EQ(put(map, i, 0, 0) != NULL, i < size);
	for (u32 i = 0; i < size; i++)
		EXPECT(put(map, i, 0, 0));
	EXPECT_EQ(hist_map_hits(map), 2 * size);
	EXPECT_EQ(hist_map_drops(map), 10);
	EXPECT_EQ(hist_map_entries(map, out, 300), size);
	EXPECT_EQ(hist_map_entries(map, out, 5), 5);
	hist_map_clear(map);
	EXPECT_EQ(hist_map_entries(map, out, 300), 0);
	EXPECT_EQ(hist_map_hits(map) + hist_map_drops(map), 0);
	struct hist_entry *e = put(map, 3, 0, 0);
	EXPECT_EQ(hist_sum(map, e, 0), 1);
	EXPECT(!hist_var_is_set(e, 0));
	hist_map_free(map);
}

static void limits(void)
{
	fills(HIST_MAP_MIN);
	fills(HIST_MAP_MIN * 2);
}

/* A counter at its end stays there: what is refused a million times more is still refused. */
static void refuses_for_ever(void)
{
	struct hist_map *map = make(HIST_MAP_MIN, 1);

	for (u32 i = 0; i < HIST_MAP_MIN; i++)
		put(map, i, 0, 0);
	for (u32 i = 0; i < 1000000; i++)
		if (put(map, HIST_MAP_MIN + i, 0, 0)) {
			EXPECT(!"taken");
			break;
		}
	EXPECT_EQ(map->fresh, HIST_MAP_MIN);
	EXPECT_EQ(hist_map_drops(map), 1000000);
	hist_map_free(map);
}

/*
 * Keys of which all hashes' low halves agree go to one slot after the other, and come back from
 * there.
 */
static void collisions(void)
{
	struct hist_map *map = make(HIST_MAP_MIN, 1);

	for (u64 i = 0; i < HIST_MAP_MIN; i++)
		EXPECT(put(map, i << 40, 0, 0));
	for (u64 i = 0; i < HIST_MAP_MIN; i++)
		EXPECT_EQ(put(map, i << 40, 0, 0)->words[0], i << 40);
	hist_map_free(map);
}

static void note(void *arg, struct hist_entry *e)
{
	++*(u32 *)arg;
	EXPECT_EQ(e->words[0], 42);
}

/* Called once for an entry, when its key is there. */
static void initialises(void)
{
	struct hist_map *map = make(HIST_MAP_MIN, 1);
	u32 calls = 0;

	for (int i = 0; i < 3; i++)
		EXPECT(hist_map_insert(map, &(u64){42}, 0, note, &calls));
	EXPECT_EQ(calls, 1);
	hist_map_free(map);
}

/*
 * What happens between taking an entry and writing its slot: another brings the key, or another key
 * to that slot.
 */
static struct hist_map *racing;
static u64 racing_key;

static void be_overtaken(void *arg, struct hist_entry *e __maybe_unused)
{
	if (!*(u32 *)arg)
		return;
	--*(u32 *)arg;
	EXPECT(hist_map_insert(racing, &racing_key, 0, NULL, NULL));
}

static void gives_back(void)
{
	struct hist_entry *out[10];
	u32 calls = 1;

	racing = make(HIST_MAP_MIN, 1);
	racing_key = 42;
	struct hist_entry *e = hist_map_insert(racing, &(u64){42}, 0, be_overtaken, &calls);
	EXPECT(e == hist_map_find(racing, &(u64){42}));
	EXPECT_EQ(hist_map_entries(racing, out, 10), 1);
	EXPECT_EQ(racing->fresh, 2);
	for (u64 i = 100; i < 100 + HIST_MAP_MIN - 1; i++)
		EXPECT(put(racing, i, 0, 0)); /* the one given back among them */
	EXPECT(!put(racing, 99, 0, 0));
	EXPECT_EQ(racing->fresh, HIST_MAP_MIN);
	hist_map_free(racing);
}

/* An entry that was given back is made ready again for its next key, as a fresh one is. */
static void given_back_is_made_ready(void)
{
	u32 calls = 1;

	racing = make(HIST_MAP_MIN, 1);
	racing_key = 42;
	EXPECT(hist_map_insert(racing, &(u64){42}, 0, be_overtaken, &calls));
	racing_key = 44;
	calls = 1;
	EXPECT(hist_map_insert(racing, &(u64){43}, 0, be_overtaken, &calls));
	EXPECT_EQ(calls, 0);
	hist_map_free(racing);
}

/* Clearing forgets what was given back, too: no two keys share an entry after it. */
static void cleared_when_some_were_given_back(void)
{
	struct hist_entry *out[HIST_MAP_MIN];
	u32 calls = 1;

	racing = make(HIST_MAP_MIN, 1);
	racing_key = 42;
	EXPECT(hist_map_insert(racing, &(u64){42}, 0, be_overtaken, &calls));
	hist_map_clear(racing);
	for (u64 i = 0; i < HIST_MAP_MIN; i++)
		EXPECT(put(racing, i, 0, 0));
	EXPECT(!put(racing, HIST_MAP_MIN, 0, 0));
	EXPECT_EQ(hist_map_entries(racing, out, HIST_MAP_MIN), HIST_MAP_MIN);
	for (u64 i = 0; i < HIST_MAP_MIN; i++) {
		struct hist_entry *e = hist_map_find(racing, &i);

		EXPECT(e && e->words[0] == i && hist_sum(racing, e, 0) == 1);
	}
	hist_map_free(racing);
}

/* Entries larger than a chunk's usual share, and so many that there are several chunks. */
static void chunks(void)
{
	struct hist_map_shape shape = {
	    .size = 4096, .key_words = 48, .sums = 3, .vars = 16, .text_words = 64};
	struct hist_map *map = hist_map_create(&shape);
	u64 key[48] = {0};

	EXPECT(map);
	for (u64 i = 0; i < 4096; i++) {
		key[47] = i;
		struct hist_entry *e = hist_map_insert(map, key, 0, NULL, NULL);
		EXPECT(e);
		hist_set_var(map, e, 15, i);
		memset(hist_text(map, e), 'x', 64 * 8);
	}
	for (u64 i = 0; i < 4096; i++) {
		key[47] = i;
		struct hist_entry *e = hist_map_find(map, key);
		EXPECT_EQ(hist_var(map, e, 15), i);
		EXPECT(hist_var_is_set(e, 15) && !hist_var_is_set(e, 14));
	}
	hist_map_free(map);
}

/* What another has written meanwhile stays. */
static void changes_a_variable(void)
{
	struct hist_map_shape shape = {.size = HIST_MAP_MIN, .key_words = 1, .sums = 1, .vars = 2};
	struct hist_map *map = hist_map_create(&shape);
	u64 key = 7;

	EXPECT(map);
	struct hist_entry *e = hist_map_insert(map, &key, 0, NULL, NULL);
	EXPECT(!hist_change_var(map, e, 1, 5, 6) && !hist_var_is_set(e, 1));
	EXPECT(hist_change_var(map, e, 1, 0, 6) && hist_var_is_set(e, 1));
	EXPECT(!hist_change_var(map, e, 1, 0, 4));
	EXPECT_EQ(hist_var(map, e, 1), 6);
	hist_map_free(map);
}

static const struct ktap_case cases[] = {
    {"hist_map.keys", keys},
    {"hist_map.odd_keys", odd_keys},
    {"hist_map.limits", limits},
    {"hist_map.refuses_for_ever", refuses_for_ever},
    {"hist_map.collisions", collisions},
    {"hist_map.initialises", initialises},
    {"hist_map.gives_back", gives_back},
    {"hist_map.given_back_is_made_ready", given_back_is_made_ready},
    {"hist_map.cleared_when_some_were_given_back", cleared_when_some_were_given_back},
    {"hist_map.chunks", chunks},
    {"hist_map.changes_a_variable", changes_a_variable},
    {NULL, NULL},
};
const struct ktap_suite suite_hist_map = {cases};
