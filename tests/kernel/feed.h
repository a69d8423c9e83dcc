/*
 * An event fired on all CPUs at once: by a thread on each, and in the NMIs that they send each
 * other by chance. Task context.
 */
#pragma once

#include "kernel/lib/types.h"

/* How often it was fired in the last feed. [A] */
extern u64 feed_count;

/*
 * `events` times on each CPU, and in NMIs, fire(random), any context; meanwhile(), or NULL, runs
 * here again and again until the threads are done. Prints its seed.
 */
void feed_on_all(void (*fire)(u64 random), u32 events, void (*meanwhile)(void));
