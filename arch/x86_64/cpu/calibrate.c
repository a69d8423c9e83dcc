/*
 * The TSC's rate: from CPUID or a hypervisor, and measured by a clock of known rate. Boot CPU,
 * interrupts off.
 *
 * An edge is a moment between two readings of the reference that differ; it is known to lie between
 * the TSC before the first and after the second: the window. Whatever delays the CPU (a
 * hypervisor, SMIs) only widens a window, so of several edges the one with the narrowest is taken.
 * The rate comes from the edges at both ends of the measurement, and cannot be wrong by more than
 * their windows. An edge in the middle shows whether both halves agree.
 */
#include "arch/x86_64/cpu/clock.h"

#include "arch/x86_64/cpu/msr.h"

enum {
	EDGES = 5,    /* tried at each end and in the middle */
	POLLS = 5000, /* without an edge: the clock is dead */
	HALVES_PER_SECOND = 3000,
	LONGER = 10, /* as many times longer where short halves disagree */
	GLANCES_PER_SECOND = 10000,
	SPREAD_MAX_PPM = 500,
	POLL_CYCLES = 10000,  /* between two readings of the reference that wait for it */
	TOLD_MAX_PPM = 20000, /* the reported rate's distance from a glance, beside its error */
};
#define TSC_HZ_MIN	       100000000UL
#define TSC_HZ_MAX	       20000000000UL
#define HYPERVISOR_LEAF	       0x40000000
#define HYPERVISOR_TIMING_LEAF 0x40000010
#define CRYSTAL_LEAF	       0x15

u64 tsc_hz_told(struct cpuid (*leaf)(u32 leaf, u32 subleaf), const char **by)
{
	if (leaf(1, 0).c >> 31 && leaf(HYPERVISOR_LEAF, 0).a >= HYPERVISOR_TIMING_LEAF) {
		*by = "hypervisor";
		u64 hz = leaf(HYPERVISOR_TIMING_LEAF, 0).a * 1000UL;
		if (hz)
			return hz;
	}
	*by = "cpuid";
	if (leaf(0, 0).a >= CRYSTAL_LEAF) {
		struct cpuid r = leaf(CRYSTAL_LEAF, 0);
		if (r.a && r.b && r.c)
			return (u64)r.c * r.b / r.a;
	}
	return 0;
}

struct edge {
	u64 tsc;    /* the middle of the window */
	u64 window; /* TSC ticks */
	u64 value;  /* what the reference said right after it */
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

/* The rate between two edges, 0 for nonsense. */
static u64 tsc_rate(const struct ref_clock *ref, const struct edge *from, const struct edge *to)
{
	u64 passed = (to->value - from->value) & ref->mask;
	u64 hz = passed ? multiply_divide(to->tsc - from->tsc, ref->hz, passed) : 0;

	return hz >= TSC_HZ_MIN && hz <= TSC_HZ_MAX ? hz : 0;
}

static bool tsc_edge_after(
    const struct ref_clock *ref, const struct edge *from, u64 ticks, struct edge *out)
{
	wait_ticks(ref, from->value, ticks);
	return tsc_best_edge(ref, out);
}

static bool tsc_measure(const struct ref_clock *ref, u64 half, struct calibration *out)
{
	struct edge first, middle, last;

	if (!tsc_best_edge(ref, &first) || !tsc_edge_after(ref, &first, half, &middle) ||
	    !tsc_edge_after(ref, &middle, half, &last))
		return false;
	u64 a = tsc_rate(ref, &first, &middle), b = tsc_rate(ref, &middle, &last);
	out->hz = tsc_rate(ref, &first, &last);
	if (!a || !b || !out->hz)
		return false;
	out->spread_ppm = (MAX(a, b) - MIN(a, b)) * 1000000 / out->hz;
	return true;
}

bool calibrate_tsc(const struct ref_clock *ref, struct calibration *out)
{
	u64 ticks = ref->hz / HALVES_PER_SECOND;
	if (!tsc_measure(ref, ticks, out))
		return false;
	if (out->spread_ppm <= SPREAD_MAX_PPM)
		return true;
	return tsc_measure(ref, ticks * LONGER, out);
}

bool tsc_agrees(const struct ref_clock *ref, u64 hz)
{
	struct edge from, to;

	if (!tsc_best_edge(ref, &from) ||
	    !tsc_edge_after(ref, &from, ref->hz / GLANCES_PER_SECOND, &to))
		return false;
	u64 seen = tsc_rate(ref, &from, &to);
	u64 error_ppm = (from.window + to.window) * 1000000 / (to.tsc - from.tsc) + TOLD_MAX_PPM;
	return seen && MAX(seen, hz) - MIN(seen, hz) <= hz / 1000 * error_ppm / 1000;
}
