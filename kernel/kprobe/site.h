/*
 * Sites of probes: between kernel/kprobe/kprobe.c, which makes them, hit.c, which is hit, and
 * jump.c, which makes jumps of breakpoints. [P]: under kprobe_lock.
 */
#pragma once

#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/task/sync.h"

/* All probes at one instruction. */
struct probe_site {
	struct probe_site *next; /* [A] in its bucket */
	u64 addr;		 /* [I] */
	struct kprobe *first;	 /* [A] */
	struct arch_probe arch;	 /* [I] but for what is of jumps */
	/*
	 * With a slot that traps after the instruction; made when a probe first wants to know.
	 * [A]; NULL: none does.
	 */
	struct arch_probe *trapping;
	struct arch_probe *untrapped; /* [P] no more used, not yet freed */
	struct probe_site *doomed;    /* [P] chain of those to be freed */
	/* [A] at a hook: the only enabled probe, if that reads only registers of arguments; NULL */
	struct kprobe *argument_reader;
	bool hooked; /* [I] at a function's hook, which calls it: there is never an int3 */
	bool post;   /* [A] one of its probes has a post handler */
	/* [P] is there to be an int3, a jump or a hook's call; what there is */
	enum hook_probes wanted, armed;
	bool opened;	     /* [P] who traps goes through the detour */
	bool jump;	     /* [A] there is a jump, or about to be or to go */
	bool checked;	     /* [P] can there be one? */
	const char *no_jump; /* [P] if checked: why not; NULL: there can */
};

/*
 * By address; changed under the mutex, read without a lock: what is taken out is freed after
 * arch_probe_sync().
 */
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

extern struct mutex kprobe_lock;
extern bool kprobes_all_off; /* [P] none is armed, whatever is wanted */

/*
 * These sites are about to change, or to be armed: what jumps at them or over them becomes a
 * breakpoint.
 */
void kprobe_unoptimize_several(struct kprobe *const *ps, unsigned n);
void kprobe_unoptimize(struct probe_site *s);
void kprobe_unoptimize_all(void);
/* Something changed: those that may become jumps will, a little later. */
void kprobe_kick_optimizer(void);
/* Is it a jump, or to become one? */
bool kprobe_is_optimized(struct probe_site *s);
/* What the detour of a site with several probes calls. */
int kprobe_call_several(void *site, struct regs *r);
