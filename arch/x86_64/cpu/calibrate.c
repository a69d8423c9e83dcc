/*
 * The TSC's rate by a clock of known rate. Boot CPU, interrupts off.
 *
 * An edge is a moment between two readings of the reference that differ; it is known to lie between
 * the TSC before the first and behind the second: the window. Whatever delays the CPU (a
 * hypervisor, SMIs) only widens a window, so of several edges the one with the narrowest is taken,
 * at both ends of a round; and of several rounds the one with the narrowest windows. The
 * measurement cannot be wrong by more than its windows.
 */
#include "arch/x86_64/cpu/clock.h"

enum {
	EDGES = 5,    /* tried at each end of a round */
	POLLS = 5000, /* without an edge: the clock is dead */
	ROUNDS = 3,
	ROUNDS_PER_SECOND = 1000, /* a round lasts 1 ms */
	LONG_ROUND = 10,	  /* as many times longer where short ones disagree */
	SPREAD_MAX_PPM = 500,
	POLL_CYCLES = 10000, /* between two readings in the middle of a round */
};
#define TSC_HZ_MIN 100000000UL
#define TSC_HZ_MAX 20000000000UL

struct edge {
	u64 tsc;    /* the middle of the window */
	u64 window; /* TSC ticks */
	u64 value;  /* what the reference said right behind it */
};

static bool next_edge(const struct ref_clock *ref, struct edge *out)
{
	u64 before = cycles();
	u64 value = ref->read();
	for (unsigned i = 0; i < POLLS; i++) {
		u64 start = cycles();
		u64 now = ref->read();
		if (now != value) {
			u64 behind = cycles();
			*out = (struct edge){before + (behind - before) / 2, behind - before, now};
			return true;
		}
		before = start;
	}
	return false;
}

static bool tsc_best_edge(const struct ref_clock *ref, struct edge *best)
{
	for (unsigned i = 0; i < EDGES; i++) {
		struct edge e;
		if (!next_edge(ref, &e))
			return false;
		if (i == 0 || e.window < best->window)
			*best = e;
	}
	return true;
}

struct round {
	u64 hz;
	u64 error_ppm; /* at most */
};

/* a * b / c; 0 if that does not fit. */
static u64 multiply_divide(u64 a, u64 b, u64 c)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	u64 low = product, high = product >> 64;
	if (high >= c)
		return 0;
	__asm__("divq %2" : "+a"(low), "+d"(high) : "r"(c) : "cc");
	return low;
}

/* Until the reference has gone on by that many ticks. A reading costs microseconds, in an emulator
 * above all: few are made. */
static void wait_ticks(const struct ref_clock *ref, u64 from, u64 ticks)
{
	while (((ref->read() - from) & ref->mask) < ticks) {
		u64 start = cycles();
		while (cycles() - start < POLL_CYCLES)
			;
	}
}

static bool measure_round(const struct ref_clock *ref, u64 ticks, struct round *out)
{
	struct edge from, to;
	if (!tsc_best_edge(ref, &from))
		return false;
	wait_ticks(ref, from.value, ticks);
	if (!tsc_best_edge(ref, &to))
		return false;
	u64 passed = (to.value - from.value) & ref->mask;
	u64 length = to.tsc - from.tsc;
	if (!passed || !length)
		return false;
	out->hz = multiply_divide(length, ref->hz, passed);
	out->error_ppm = (from.window + to.window) * 1000000 / length;
	return out->hz >= TSC_HZ_MIN && out->hz <= TSC_HZ_MAX;
}

static bool tsc_measure_rounds(const struct ref_clock *ref, u64 ticks, struct calibration *out)
{
	struct round best = {0, ~0UL};
	u64 low = ~0UL, high = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct round r;
		if (!measure_round(ref, ticks, &r))
			return false;
		low = MIN(low, r.hz);
		high = MAX(high, r.hz);
		if (r.error_ppm < best.error_ppm)
			best = r;
	}
	out->hz = best.hz;
	out->spread_ppm = (high - low) * 1000000 / high;
	return true;
}

bool calibrate_tsc(const struct ref_clock *ref, struct calibration *out)
{
	u64 ticks = ref->hz / ROUNDS_PER_SECOND;
	if (!tsc_measure_rounds(ref, ticks, out))
		return false;
	if (out->spread_ppm <= SPREAD_MAX_PPM)
		return true;
	return tsc_measure_rounds(ref, ticks * LONG_ROUND, out);
}
