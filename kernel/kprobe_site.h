/* Sites of probes: between kernel/kprobe.c, which makes them, and kprobe_hit.c, which is hit. [P]: under kprobe.c's mutex. */
#pragma once

#include "kernel/kprobe.h"

/* All probes at one instruction. */
struct probe_site {
	struct probe_site *next; /* [A] in its bucket */
	u64 addr;		 /* [I] */
	struct kprobe *first;	 /* [A] */
	struct arch_probe arch;	 /* [I] */
	/* With a slot that traps behind the instruction; made when a probe first wants to know. [A]; NULL: none does. */
	struct arch_probe *trapping;
	struct probe_site *doomed; /* [P] chain of those to be freed */
	bool armed, wanted;	   /* [P] is there an int3; is there to be one */
};

/* By address; changed under the mutex, read without a lock: what is taken out is freed after arch_probe_sync(). */
#define PROBE_BUCKETS 1024
extern struct probe_site *probe_buckets[PROBE_BUCKETS]; /* [A] */

static inline unsigned probe_bucket(u64 addr)
{
	return (addr ^ addr >> 10) % PROBE_BUCKETS;
}

static inline __attribute__((always_inline)) struct probe_site *probe_site_at(u64 addr)
{
	struct probe_site *s = READ_ONCE(probe_buckets[probe_bucket(addr)]);

	while (s && s->addr != addr)
		s = READ_ONCE(s->next);
	return s;
}
