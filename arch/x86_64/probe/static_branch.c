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

extern const struct static_branch_site __start___static_branch[], __stop___static_branch[];

static const u8 nop5[SITE_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static u32 branch_lock;			 /* [A] */
static struct text_patch patches[CHUNK]; /* [branch_lock] */

static bool site_is_on(const struct static_branch_site *s)
{
	return *(const volatile u8 *)s->site == 0xe9;
}

static void make_patch(struct text_patch *p, const struct static_branch_site *s)
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

/* The first site from `s` on of that key; NULL: of any key that the text is not in line with. */
static const struct static_branch_site *next_site(
    const struct static_branch_site *s, const struct static_key *key)
{
	if (key)
		while (s < __stop___static_branch && s->key != key)
			s++;
	else
		while (s < __stop___static_branch && site_is_on(s) == s->key->enabled)
			s++;
	return s;
}

/* Patches every site that is not as its key says, of that key or (NULL) of all. */
static void update_sites(const struct static_key *key)
{
	const struct static_branch_site *s = __start___static_branch;
	unsigned n = 0;

	while ((s = next_site(s, key)) < __stop___static_branch) {
		make_patch(&patches[n++], s++);
		if (n == CHUNK) {
			text_patch(patches, n);
			n = 0;
		}
	}
	if (n)
		text_patch(patches, n);
}

void static_key_set_many(struct static_key *const *keys, const u8 *states, unsigned n)
{
	bool changed = false;
	preempt_disable();
	while (!atomic_cas(&branch_lock, 0, 1))
		cpu_relax();
	for (unsigned i = 0; i < n; i++) {
		changed |= keys[i]->enabled != !!states[i];
		keys[i]->enabled = !!states[i];
	}
	if (changed)
		update_sites(n == 1 ? keys[0] : NULL);
	atomic_store_release(&branch_lock, 0);
	preempt_enable();
}
