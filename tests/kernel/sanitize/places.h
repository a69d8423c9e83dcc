/*
 * The places where an error was found: each once, by the address of the instruction, from any
 * context. Included by the one file that notes them.
 */
#pragma once

#include "kernel/base/sym.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/sanitize/sanitize.h"

#define PLACES_MAX  64
#define PLACE_DEPTH 6

struct place {
	u64 ip;		      /* [A] 0: not taken */
	u64 address, was, is; /* what was accessed; two words about it */
	u64 other;	      /* of another CPU's access; 0: none is known */
	const char *kind;
	unsigned size, cpu;
	u64 callers[PLACE_DEPTH];
};

static struct place places[PLACES_MAX];
static u32 place_count; /* [A] may be more than there is room for */

/* NULL: it is known, or there is no room for more. */
static struct place *place_take(u64 ip)
{
	for (unsigned i = 0; i < PLACES_MAX; i++) {
		u64 other = atomic_load(&places[i].ip);

		if (!other && atomic_cas(&places[i].ip, 0UL, ip)) {
			atomic_add(&place_count, 1);
			return &places[i];
		}
		if (atomic_load(&places[i].ip) == ip)
			return NULL;
	}
	atomic_add(&place_count, 1);
	return NULL;
}

/* The callers of the function with this frame, as far as frames lie above each other. */
static void place_callers(struct place *p, const u64 *frame)
{
	for (unsigned i = 0; i < PLACE_DEPTH; i++) {
		const u64 *next = (const u64 *)frame[0];

		p->callers[i] = frame[1];
		if (next <= frame || next > frame + PAGE_SIZE / sizeof(*frame))
			break;
		frame = next;
	}
}

static void place_print(const struct place *p)
{
	char name[96];

	sym_print(name, sizeof(name), p->ip, true);
	ktap_note("%s: %u bytes at %#lx (%#lx, %#lx) by %s on CPU %u", p->kind, p->size,
	    (unsigned long)p->address, (unsigned long)p->was, (unsigned long)p->is, name, p->cpu);
	if (p->other) {
		sym_print(name, sizeof(name), p->other, true);
		ktap_note("    and %s", name);
	}
	for (unsigned i = 0; i < PLACE_DEPTH && p->callers[i]; i++) {
		sym_print(name, sizeof(name), p->callers[i], true);
		ktap_note("    from %s", name);
	}
}

unsigned sanitize_count(void)
{
	return atomic_load(&place_count);
}

unsigned sanitize_report(void)
{
	u32 n = atomic_load(&place_count);

	for (u32 i = 0; i < n && i < PLACES_MAX; i++)
		place_print(&places[i]);
	ktap_note("%u places with errors", n);
	return n;
}
