/*
 * Decimal numbers without floating point, which the kernel does not use: m / 10^scale, exact as long as the digits fit into 64
 * bits; then digits behind the point are given up. Pure.
 */
#pragma once

#include "kernel/lib/types.h"

#define SH_DEC_SCALE 9 /* most digits behind the point */

struct sh_dec {
	s64 m;
	int scale; /* 0..SH_DEC_SCALE */
};

struct sh_dec sh_dec_int(s64 v);
/* The number at the start of s (blanks, sign, digits, fraction, 0x no); *end is set behind it, to s if there is none. */
struct sh_dec sh_dec_parse(const char *s, const char **end);
struct sh_dec sh_dec_add(struct sh_dec a, struct sh_dec b);
struct sh_dec sh_dec_sub(struct sh_dec a, struct sh_dec b);
struct sh_dec sh_dec_mul(struct sh_dec a, struct sh_dec b);
struct sh_dec sh_dec_div(struct sh_dec a, struct sh_dec b); /* b must not be 0 */
struct sh_dec sh_dec_mod(struct sh_dec a, struct sh_dec b); /* b must not be 0; the sign of a */
int sh_dec_cmp(struct sh_dec a, struct sh_dec b);
s64 sh_dec_trunc(struct sh_dec a);
/* As C's %.6g shows it, but never with an exponent. */
void sh_dec_text(struct sh_dec a, char out[32]);
/* As C's %.*f. */
void sh_dec_fixed(struct sh_dec a, int digits, char out[48]);
