/*
 * hist_map_insert(), in steps:
 *
 *   1. From the slot that the key's hash names, look at one slot after the other.
 *   2. A slot with the hash of our key: if its entry has our key, that is the one. Keys are whole
 *      before their slot is written (6).
 *   3. An empty slot: the key is not in the map. It cannot be behind: whoever inserted it went this
 *      way and found no slot empty.
 *   4. Take an entry: one that was given back, or the next that nobody had. None left: the event is
 *      dropped, and counted.
 *   5. Write the key into it, and what else must be there.
 *   6. Put its address into the slot, if that is still empty. If so, the key is in the map: all who
 *      look for it from now on find it at this slot first.
 *   7. If not, another CPU, or who interrupted us, was faster, perhaps with the same key: look at
 *      the slot once more (2). An entry taken in vain is kept for the next empty slot; if our key
 *      turns up, it is given back.
 *
 * So a key never has two entries: for two that insert it at once the first empty slot on the key's
 * way is the same, 6 lets one of them have it, and the other finds it there.
 */
/* hot: runs with each event */
#include "trace/hist/map.h"
#include "kernel/lib/string.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

#define CHUNK_BYTES 32768

/* ---- making ---- */

static u32 chunk_count(const struct hist_map *map)
{
	return (map->shape.size + (1u << map->chunk_shift) - 1) >> map->chunk_shift;
}

static void lay_out(struct hist_map *map, const struct hist_map_shape *shape)
{
	u32 words = shape->key_words + shape->sums + shape->vars + shape->text_words;

	map->shape = *shape;
	map->slot_mask = shape->size * 2 - 1;
	map->sums_at = shape->key_words;
	map->vars_at = map->sums_at + shape->sums;
	map->text_at = map->vars_at + shape->vars;
	map->stride = sizeof(struct hist_entry) + words * sizeof(u64);
	while ((2u << map->chunk_shift) * map->stride <= CHUNK_BYTES)
		map->chunk_shift++;
}

static bool alloc_chunks(struct hist_map *map)
{
	u32 n = chunk_count(map);
	size_t bytes = (size_t)map->stride << map->chunk_shift;

	if (host_memory_check("a histogram", n * bytes))
		return false;
	map->chunks = host_alloc(n * sizeof(*map->chunks));
	if (!map->chunks)
		return false;
	for (u32 i = 0; i < n; i++) {
		map->chunks[i] = host_alloc(bytes);
		if (!map->chunks[i])
			return false;
	}
	for (u32 i = 0; i < map->shape.size; i++)
		hist_map_entry(map, i)->number = i;
	return true;
}

struct hist_map *hist_map_create(const struct hist_map_shape *shape)
{
	struct hist_map *map = host_alloc(sizeof(*map));

	if (!map)
		return NULL;
	lay_out(map, shape);
	map->slots = host_alloc((map->slot_mask + 1UL) * sizeof(*map->slots));
	map->counts = host_alloc(host_cpu_limit() * sizeof(*map->counts));
	if (!map->slots || !map->counts || !alloc_chunks(map)) {
		hist_map_free(map);
		return NULL;
	}
	return map;
}

void hist_map_free(struct hist_map *map)
{
	if (!map)
		return;
	for (u32 i = 0; map->chunks && i < chunk_count(map); i++)
		host_free(map->chunks[i]);
	host_free(map->chunks);
	host_free(map->slots);
	host_free(map->counts);
	host_free(map);
}

void hist_map_clear(struct hist_map *map)
{
	memset(map->slots, 0, (map->slot_mask + 1UL) * sizeof(*map->slots));
	memset(map->counts, 0, host_cpu_limit() * sizeof(*map->counts));
	for (u32 i = 0; i < map->fresh; i++) {
		struct hist_entry *e = hist_map_entry(map, i);
		memset(e->is_set, 0, map->stride - offsetof(struct hist_entry, is_set));
		e->next_free = 0;
	}
	map->fresh = 0;
	map->given = 0;
}

/* ---- entries taken and given back ---- */

#define NUMBER(word)  ((u32)(word))
#define CHANGES(word) ((word) >> 32)

/*
 * The count in the upper half keeps one who was interrupted from taking for unchanged what went and
 * came again.
 */
static struct hist_entry *take_given(struct hist_map *map)
{
	u64 given = atomic_load_acquire(&map->given);

	while (NUMBER(given)) {
		struct hist_entry *e = hist_map_entry(map, NUMBER(given) - 1);
		u64 next = (CHANGES(given) + 1) << 32 | atomic_load_relaxed(&e->next_free);
		if (atomic_cas(&map->given, given, next))
			return e;
		given = atomic_load_acquire(&map->given);
	}
	return NULL;
}

static void give_back(struct hist_map *map, struct hist_entry *e)
{
	u64 given;

	do {
		given = atomic_load_acquire(&map->given);
		atomic_store_relaxed(&e->next_free, NUMBER(given));
	} while (!atomic_cas(&map->given, given, (CHANGES(given) + 1) << 32 | (e->number + 1)));
}

/* Never counts beyond the last, however often it is asked. */
static struct hist_entry *take_fresh(struct hist_map *map)
{
	u32 n = atomic_load_relaxed(&map->fresh);

	while (n < map->shape.size) {
		if (atomic_cas(&map->fresh, n, n + 1))
			return hist_map_entry(map, n);
		n = atomic_load_relaxed(&map->fresh);
	}
	return NULL;
}

static struct hist_entry *take(struct hist_map *map)
{
	struct hist_entry *e = take_given(map);

	return e ? e : take_fresh(map);
}

/* ---- keys ---- */

static inline void write_key(struct hist_entry *e, const u64 *key, u32 words)
{
	for (u32 i = 0; i < words; i++)
		e->words[i] = key[i];
}

/* Of a slot that is not empty: its entry if that has the key. */
static inline struct hist_entry *entry_in(
    const struct hist_map *map, u64 slot, u64 h, const u64 *key)
{
	struct hist_entry *e = hist_slot_entry(slot);

	if ((slot ^ h) & HIST_TAG_MASK)
		return NULL;
	return hist_same_key(e, key, map->shape.key_words) ? e : NULL;
}

struct hist_entry *hist_map_find(const struct hist_map *map, const u64 *key)
{
	u64 h = hist_hash(key, map->shape.key_words), slot;

	for (u32 i = h & map->slot_mask;; i = (i + 1) & map->slot_mask) {
		slot = atomic_load_acquire(&map->slots[i]);
		struct hist_entry *e = slot ? entry_in(map, slot, h, key) : NULL;
		if (e || !slot)
			return e;
	}
}

/* Steps 4 and 5. */
static struct hist_entry *prepare(
    struct hist_map *map, const u64 *key, void (*init)(void *arg, struct hist_entry *e), void *arg)
{
	struct hist_entry *e = take(map); /* 4 */

	if (!e)
		return NULL;
	write_key(e, key, map->shape.key_words); /* 5 */
	if (init)
		init(arg, e);
	return e;
}

struct hist_entry *hist_map_insert(struct hist_map *map, const u64 *key, u32 cpu,
    void (*init)(void *arg, struct hist_entry *e), void *arg)
{
	return hist_map_insert_hashed(
	    map, key, hist_hash(key, map->shape.key_words), cpu, init, arg);
}

struct hist_entry *hist_map_insert_hashed(struct hist_map *map, const u64 *key, u64 h, u32 cpu,
    void (*init)(void *arg, struct hist_entry *e), void *arg)
{
	struct hist_entry *mine = NULL, *e;
	u32 i = h & map->slot_mask; /* 1 */
	u64 slot;

	for (;;) {
		slot = atomic_load_acquire(&map->slots[i]);
		if (likely(slot)) {
			e = entry_in(map, slot, h, key); /* 2 */
			if (likely(e))
				break;
			i = (i + 1) & map->slot_mask;
			continue;
		}
		if (!mine) /* 3 */
			mine = prepare(map, key, init, arg);
		if (!mine) {
			local_inc(&map->counts[cpu].drops);
			return NULL;
		}
		if (atomic_cas(&map->slots[i], 0,
			(h & HIST_TAG_MASK) | ((u64)mine & ~HIST_TAG_MASK))) { /* 6 */
			e = mine;
			mine = NULL;
			break;
		}
	} /* 7 */
	if (unlikely(mine))
		give_back(map, mine);
	local_inc(&map->counts[cpu].hits);
	return e;
}

/* ---- reading ---- */

u32 hist_map_entries(const struct hist_map *map, struct hist_entry **out, u32 max)
{
	u32 n = 0;

	for (u32 i = 0; i <= map->slot_mask && n < max; i++) {
		u64 slot = atomic_load_acquire(&map->slots[i]);
		if (slot)
			out[n++] = hist_slot_entry(slot);
	}
	return n;
}

u64 hist_map_hits(const struct hist_map *map)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < host_cpu_limit(); cpu++)
		n += READ_ONCE(map->counts[cpu].hits);
	return n;
}

u64 hist_map_drops(const struct hist_map *map)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < host_cpu_limit(); cpu++)
		n += READ_ONCE(map->counts[cpu].drops);
	return n;
}
