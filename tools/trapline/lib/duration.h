/* Durations as text, and the ticks of an axis. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/* "12.3 us", with three significant digits; `micro` is the text for the u. */
const char *duration_text(char buf[32], uint64_t ns, const char *micro);
/*
 * The distance between ticks: 1, 2 or 5 times a power of ten, so that at most `most` (2 or more)
 * ticks divide `range`.
 */
uint64_t tick_step(uint64_t range, unsigned most);

/*
 * Bars of a histogram by powers of ten, five each, which grow by about 1.58: bar i from
 * bar_begin(i) up to but without bar_begin(i + 1).
 */
#define BARS 98 /* 0, then all numbers of 64 bits */
unsigned bar_of(uint64_t n);
uint64_t bar_begin(unsigned bar);
