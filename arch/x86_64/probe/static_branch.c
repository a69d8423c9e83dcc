/*
 * Static branches: the table of sites that static_branch() made, and bringing the text in line with
 * the keys. Task context; serialised by branch_lock, whose holder has preemption off and interrupts
 * on.
 */
#include "arch/arch.h"

#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"

#define SITE_LEN 5
#define CHUNK	 128 /* sites patched in one go */
#define SITES	 1024
#define FEW_KEYS 8 /* the sites of so many are found by their lists, else by a look at all */

extern const struct static_branch_site __start___static_branch[], __stop___static_branch[];

static const u8 nop5[SITE_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static u32 branch_lock;			 /* [A] */
static struct text_patch patches[CHUNK]; /* [branch_lock] */
static u16 next_of_key[SITES];		 /* [branch_lock] the next site of the same key, as struct
					    static_key has its first */
static bool listed;			 /* [branch_lock] */

static bool site_is_on(const struct static_branch_site *s)
{
	return *(const volatile u8 *)s->site == 0xe9;
}

static void static_key_patch(struct text_patch *p, const struct static_branch_site *s)
{
	s32 distance = (s32)(s->target - (s->site + SITE_LEN));
	p->addr = (void *)s->site;
	p->len = SITE_LEN;
	memcpy(p->bytes, nop5, SITE_LEN);
	if (!s->key->enabled)
		return;
	p->bytes[0] = 0xe9;
	memcpy(p->bytes + 1, &distance, sizeof(distance));
}

/* The sites of a key are a list by their numbers, in order of address. */
static void static_key_list_sites(void)
{
	u32 count = __stop___static_branch - __start___static_branch;

	if (listed || count > SITES)
		return;
	listed = true;
	for (u32 i = count; i > 0; i--) {
		struct static_key *key = __start___static_branch[i - 1].key;

		next_of_key[i - 1] = key->first;
		key->first = i;
	}
}

/* Adds a patch, and makes them all when there are enough. */
static unsigned static_key_add_site(unsigned n, const struct static_branch_site *s)
{
	static_key_patch(&patches[n++], s);
	if (n < CHUNK)
		return n;
	text_patch(patches, n);
	return 0;
}

static unsigned static_key_add_sites(unsigned n, const struct static_key *key)
{
	for (u16 at = key->first; at; at = next_of_key[at - 1])
		n = static_key_add_site(n, &__start___static_branch[at - 1]);
	return n;
}

/* Those that are not as their keys say. */
static unsigned static_key_add_changed(unsigned n)
{
	const struct static_branch_site *s;

	for (s = __start___static_branch; s < __stop___static_branch; s++)
		if (site_is_on(s) != s->key->enabled)
			n = static_key_add_site(n, s);
	return n;
}

void static_key_set_many(struct static_key *const *keys, const u8 *states, unsigned n)
{
	unsigned patched = 0, changed = 0;
	preempt_disable();
	while (!atomic_cas(&branch_lock, 0, 1))
		cpu_relax();
	static_key_list_sites();
	bool few = listed && n <= FEW_KEYS;
	for (unsigned i = 0; i < n; i++) {
		if (keys[i]->enabled == !!states[i])
			continue;
		WRITE_ONCE(keys[i]->enabled, !!states[i]);
		changed++;
		if (few)
			patched = static_key_add_sites(patched, keys[i]);
	}
	if (changed && !few)
		patched = static_key_add_changed(patched);
	if (patched)
		text_patch(patches, patched);
	atomic_store_release(&branch_lock, 0);
	preempt_enable();
}
