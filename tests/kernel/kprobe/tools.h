/*
 * Shared by the cases of probes: handlers that count and look, and the function that jumps are
 * tried at.
 */
#pragma once

#include "kernel/kprobe/kprobe.h"

enum { OP_INT3 = 0xcc, OP_JMP = 0xe9 };
#define PROBE_TRIES 1000 /* ticks to wait for what takes as long as others take to go on */

extern u64 probe_hits, probe_post_hits;
extern struct regs probe_seen; /* by the last handler */

int probe_on_hit(struct kprobe *p, struct regs *r);
void probe_on_post(struct kprobe *p, struct regs *r, u64 flags);

/* Makes jumps of what can be one. Waits until nobody is in the way; false: somebody stays. */
bool probe_optimize(void);
/* The byte where the probe is. */
u8 probe_head(const struct kprobe *p);

/*
 * jump.c: a function of nine instructions, JUMP_TARGET_SIZE bytes; and a call that expects it to do
 * its work.
 */
#define JUMP_TARGET_SIZE 22
u64 jump_target(u64 a, u64 b);
void jump_target_call(void);
