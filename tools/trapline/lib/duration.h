/* Lengths of time for people, and where the ticks of an axis stand. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/* "12.3 us", three digits that count; `micro` is how the machine that shows it writes the u. */
const char *duration_text(char buf[32], uint64_t ns, const char *micro);
/*
 * The distance of ticks, 1, 2 or 5 times a power of ten, at least 1, so that at most `most` of them
 * (2 or more) divide `range`.
 */
uint64_t tick_step(uint64_t range, unsigned most);

/*
 * Bars of a histogram by powers of ten, five each, which grow by about 1.58: bar i from
 * bar_begin(i) up to but without bar_begin(i + 1).
 */
#define BARS 98 /* 0, then all numbers of 64 bits */
unsigned bar_of(uint64_t n);
uint64_t bar_begin(unsigned bar);
