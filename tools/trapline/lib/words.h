/* Two small tables: from texts to numbers, and from numbers to numbers. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

struct words {
	char **word; /* by number, from 0 */
	uint32_t count;
	uint32_t *slot; /* hashed; number + 1 */
	uint32_t slots;
};

/* Returns the number of a text; adds the text if it is new. */
uint32_t words_add(struct words *w, const char *text, size_t n);
void words_free(struct words *w);

struct map {
	struct map_slot {
		uint64_t key, value;
		bool used;
	} * slot;
	size_t slots, used;
};

/*
 * The value of a key, to read or change; adds the key with 0 if it is new. Valid until the next
 * call.
 */
uint64_t *map_at(struct map *m, uint64_t key);
/* The value of a key; 0 if there is none. */
uint64_t map_find(const struct map *m, uint64_t key);
void map_clear(struct map *m); /* frees, too */
