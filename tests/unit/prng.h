/* Random numbers for tests: xorshift64*; a case prints the seed it began with. Any context. */
#pragma once

#include "kernel/lib/types.h"

static inline u64 prng_next(u64 *state)
{
	u64 x = *state ? *state : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dUL;
}
