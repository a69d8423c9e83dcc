/*
 * The table of a histogram: a lock-free map of fixed size from keys to entries of sums and
 * variables. All CPUs insert concurrently. hist_map_insert() and the functions on entries: any
 * context. The rest: task context under host_lock.
 *
 * Words. An *entry* holds one key and its sums; entries lie in *chunks*, allocated at creation.
 * *Slots* map keys to entries: a slot is 0, or holds the upper 16 bits of the key's hash and the
 * address of an entry. There are twice as many slots as entries, so a search always finds an empty
 * one. A used slot keeps its value until the map is cleared. If another CPU inserts the same key
 * first, an entry *taken* for it is *given back*.
 */
#pragma once

#include "kernel/lib/atomic.h"

#define HIST_MAP_MIN	 128
#define HIST_MAP_MAX	 131072
#define HIST_MAP_DEFAULT 2048
#define HIST_VARS_MAX	 16

struct hist_entry {
	u32 number;		  /* [I] */
	u32 next_free;		  /* number plus one, while it is given back */
	u8 is_set[HIST_VARS_MAX]; /* [A] variables that have a value */
	u64 words[];		  /* the key, then sums, variables, text */
};

struct hist_map_count { /* [C] */
	u64 hits, drops;
} __aligned(64);

/* The parts of an entry. */
struct hist_map_shape {
	u32 size; /* entries: a power of two */
	u32 key_words;
	u32 sums, vars; /* words each */
	u32 text_words; /* after the variables, for the owner */
};

struct hist_map {
	u64 *slots; /* [A] */
	u32 slot_mask;
	u32 chunk_shift;	       /* log2 of entries in a chunk */
	u32 stride;		       /* bytes of an entry */
	u32 sums_at, vars_at, text_at; /* in words */
	struct hist_map_shape shape;
	struct hist_map_count *counts;
	char **chunks;
	u32 fresh; /* [A] number of entries ever taken, at most shape.size */
	/*
	 * [A] upper half: how often it changed; lower: number plus one of the last entry given back
	 */
	u64 given;
};

/* NULL: no memory. */
struct hist_map *hist_map_create(const struct hist_map_shape *shape);
void hist_map_free(struct hist_map *map);
/* The caller excludes inserts. */
void hist_map_clear(struct hist_map *map);

/*
 * Finds or makes the entry of a key. NULL: all entries are in use, which counts as a drop. Sums,
 * variables and text of a new entry are 0; `init` (or NULL) initialises it before other CPUs can
 * find it.
 */
struct hist_entry *hist_map_insert(struct hist_map *map, const u64 *key, u32 cpu,
    void (*init)(void *arg, struct hist_entry *e), void *arg);
/* The entry of a key, or NULL. */
struct hist_entry *hist_map_find(const struct hist_map *map, const u64 *key);
/* Fills out[] with up to `max` entries in use, unordered; returns their number. */
u32 hist_map_entries(const struct hist_map *map, struct hist_entry **out, u32 max);
u64 hist_map_hits(const struct hist_map *map);
u64 hist_map_drops(const struct hist_map *map);

static inline struct hist_entry *hist_map_entry(const struct hist_map *map, u32 number)
{
	u32 in_chunk = number & ((1u << map->chunk_shift) - 1);

	return (struct hist_entry *)(map->chunks[number >> map->chunk_shift] +
				     (size_t)in_chunk * map->stride);
}

#define HIST_ADDRESS_BITS 48
#define HIST_TAG_MASK	  (~0UL << HIST_ADDRESS_BITS)

/* Addresses are canonical: bit 47 determines the bits above it. */
static inline struct hist_entry *hist_slot_entry(u64 slot)
{
	return (struct hist_entry *)((s64)(slot << (64 - HIST_ADDRESS_BITS)) >>
				     (64 - HIST_ADDRESS_BITS));
}

static inline __attribute__((always_inline)) u64 hist_hash(const u64 *key, u32 words)
{
	u64 h = 0;

	do {
		h = (h ^ *key++) * 0x9e3779b97f4a7c15UL;
		h ^= h >> 32;
	} while (--words);
	return h;
}

static inline __attribute__((always_inline)) bool hist_same_key(
    const struct hist_entry *e, const u64 *key, u32 words)
{
	for (u32 i = 0; i < words; i++)
		if (e->words[i] != key[i])
			return false;
	return true;
}

/* hist_map_insert() with a known hash, after hist_map_hit() returned NULL. */
struct hist_entry *hist_map_insert_hashed(struct hist_map *map, const u64 *key, u64 hash, u32 cpu,
    void (*init)(void *arg, struct hist_entry *e), void *arg);

/*
 * Returns the key's entry if it is in its first slot, and counts a hit; else NULL. `words` is a
 * constant equal to the map's key_words.
 */
static inline __attribute__((always_inline)) struct hist_entry *hist_map_hit(
    struct hist_map *map, const u64 *key, u32 words, u64 hash, u32 cpu)
{
	u64 slot = atomic_load_acquire(&map->slots[hash & map->slot_mask]);
	struct hist_entry *e = hist_slot_entry(slot);

	if (unlikely(!slot || (slot ^ hash) >> HIST_ADDRESS_BITS || !hist_same_key(e, key, words)))
		return NULL;
	local_inc(&map->counts[cpu].hits);
	return e;
}

static inline void hist_add(const struct hist_map *map, struct hist_entry *e, u32 sum, u64 v)
{
	__atomic_fetch_add(&e->words[map->sums_at + sum], v, __ATOMIC_RELAXED);
}

static inline u64 hist_sum(const struct hist_map *map, const struct hist_entry *e, u32 sum)
{
	return atomic_load_relaxed(&e->words[map->sums_at + sum]);
}

static inline void hist_set_var(const struct hist_map *map, struct hist_entry *e, u32 var, u64 v)
{
	atomic_store_relaxed(&e->words[map->vars_at + var], v);
	atomic_store_release(&e->is_set[var], 1);
}

/* Changes a variable from one value to another; false: it no longer has the value `from`. */
static inline bool hist_change_var(
    const struct hist_map *map, struct hist_entry *e, u32 var, u64 from, u64 to)
{
	if (!atomic_cas(&e->words[map->vars_at + var], from, to))
		return false;
	atomic_store_release(&e->is_set[var], 1);
	return true;
}

static inline bool hist_var_is_set(const struct hist_entry *e, u32 var)
{
	return atomic_load_acquire(&e->is_set[var]);
}

static inline u64 hist_var(const struct hist_map *map, const struct hist_entry *e, u32 var)
{
	return atomic_load_relaxed(&e->words[map->vars_at + var]);
}

static inline char *hist_text(const struct hist_map *map, struct hist_entry *e)
{
	return (char *)&e->words[map->text_at];
}
