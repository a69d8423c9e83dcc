/* See words.h. Both are open-addressed, with a power of two of slots, at most half of them full. */
#include "tools/trapline/lib/words.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64

static uint64_t hash_text(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3;
	return h ^ h >> 32;
}

static bool is_word(const char *word, const char *text, size_t n)
{
	return strlen(word) == n && !memcmp(word, text, n);
}

/* The slot that has it, or the free one where it belongs. */
static uint32_t *find_word(struct words *w, const char *text, size_t n)
{
	uint32_t i = hash_text(text, n) & (w->slots - 1);

	while (w->slot[i] && !is_word(w->word[w->slot[i] - 1], text, n))
		i = (i + 1) & (w->slots - 1);
	return &w->slot[i];
}

static void grow_words(struct words *w)
{
	free(w->slot);
	w->slots = w->slots ? w->slots * 2 : SLOTS_FIRST;
	w->slot = xmalloc(w->slots * sizeof(*w->slot));
	w->word = xrealloc(w->word, w->slots / 2 * sizeof(*w->word));
	for (uint32_t i = 0; i < w->count; i++)
		*find_word(w, w->word[i], strlen(w->word[i])) = i + 1;
}

uint32_t words_add(struct words *w, const char *text, size_t n)
{
	n = strnlen(text, n);
	if (w->count == w->slots / 2)
		grow_words(w);
	uint32_t *slot = find_word(w, text, n);
	if (!*slot) {
		w->word[w->count] = xstrndup(text, n);
		*slot = ++w->count;
	}
	return *slot - 1;
}

void words_free(struct words *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		free(w->word[i]);
	free(w->word);
	free(w->slot);
	*w = (struct words){.count = 0};
}

static struct map_slot *find_key(const struct map *m, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15) >> 20 & (m->slots - 1);

	while (m->slot[i].used && m->slot[i].key != key)
		i = (i + 1) & (m->slots - 1);
	return &m->slot[i];
}

static void grow_map(struct map *m)
{
	struct map bigger = {.slots = m->slots ? m->slots * 2 : SLOTS_FIRST, .used = m->used};

	bigger.slot = xmalloc(bigger.slots * sizeof(*bigger.slot));
	for (size_t i = 0; i < m->slots; i++)
		if (m->slot[i].used)
			*find_key(&bigger, m->slot[i].key) = m->slot[i];
	free(m->slot);
	*m = bigger;
}

uint64_t *map_at(struct map *m, uint64_t key)
{
	if (m->used == m->slots / 2)
		grow_map(m);
	struct map_slot *slot = find_key(m, key);
	if (!slot->used) {
		*slot = (struct map_slot){.key = key, .used = true};
		m->used++;
	}
	return &slot->value;
}

uint64_t map_find(const struct map *m, uint64_t key)
{
	return m->slots ? find_key(m, key)->value : 0;
}

void map_clear(struct map *m)
{
	free(m->slot);
	*m = (struct map){.slots = 0};
}
