/* Random numbers of a test, the same each time for the same seed. */
#pragma once

static unsigned long random_state; /* not 0 */

/* Below n. */
static inline unsigned long any(unsigned long n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

/* Number `i` of the sequences that a seed gives. */
static inline void random_begin(unsigned long seed, unsigned long i)
{
	random_state = seed * 0x9e3779b97f4a7c15 + i;
	random_state += !random_state;
}
