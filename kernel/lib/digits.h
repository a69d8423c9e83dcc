/* Numbers to digits, written backwards from the end of a buffer: shared by the formatter and seq.
 * Pure: any context. */
#pragma once

#include "kernel/lib/types.h"

#define DIGITS_MAX 24 /* 22 octal digits of a u64 are the most */

/* How many digits v has, at least one. */
static inline unsigned count_hex(u64 v)
{
	return (67 - __builtin_clzll(v | 1)) / 4;
}

static inline unsigned count_oct(u64 v)
{
	return (66 - __builtin_clzll(v | 1)) / 3;
}

extern const u64 powers_of_10[20]; /* but the first is 0, so that 0 has one digit */

static inline unsigned count_dec(u64 v)
{
	/* 1233/4096 is a little more than log10(2): right, or one too few. */
	unsigned n = (64 - __builtin_clzll(v | 1)) * 1233 >> 12;
	return n + (v >= powers_of_10[n]);
}

/* Each writes the digits of v (at least one) so that they end before `end`; returns the first. */
char *digits_dec(char *end, u64 v);
char *digits_hex(char *end, u64 v);
char *digits_hex_upper(char *end, u64 v);
char *digits_oct(char *end, u64 v);
