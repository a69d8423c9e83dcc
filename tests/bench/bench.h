/*
 * Measurements, never part of pass or fail. A figure is the median of BENCH_ROUNDS rounds of N
 * passes, less the same loop empty, per pass; in ticks of the TSC, which under icount are guest
 * instructions. By the host's clock: of BENCH_ROUNDS_NS rounds of a fifth of the passes, in ns.
 * Kernel tasks only.
 */
#pragma once

#include "arch/arch.h"
#include "kernel/lib/types.h"

#define BENCH_N		10000
#define BENCH_ROUNDS	9
#define BENCH_ROUNDS_NS 41

struct bench {
	const char *name;
	void (*run)(const char *name);
};

/* A round: n passes; returns the ticks they took. */
typedef u64 (*bench_round)(unsigned n);

/*
 * Prints "name value insn" (or ns), net of `baseline` (NULL: of nothing), each round with
 * interrupts off.
 */
void bench_report(const char *name, bench_round round, bench_round baseline, unsigned n);
/* Ticks of the median round. */
u64 bench_median(bench_round round, unsigned n);
/* Prints a value found otherwise, in tenths. */
void bench_value(const char *name, u64 tenths, const char *unit);
/* Reads such a file to its end; how many lines it had, if they are to be counted. */
u64 bench_read(const char *file, bool count);
void bench_line(const char *name); /* prints what reading a line of the marker's in `trace` costs */
/* Ticks of an empty loop as BENCH_ROUND makes it. */
u64 bench_empty(unsigned n);
/*
 * Writes a word to a tracefs file below /sys/kernel/tracing; panics if it is refused (a bench that
 * measures nothing).
 */
void bench_write(const char *file, const char *text);

/* The loop every figure shares: a changes from pass to pass, so that nothing is hoisted. */
#define BENCH_ROUND(fn, ...)                                                                       \
	static u64 fn(unsigned n)                                                                  \
	{                                                                                          \
		u64 start = cycles();                                                              \
		for (unsigned i = 0; i < n; i++) {                                                 \
			u64 a = i & 1023;                                                          \
			__asm__ volatile("" : "+r"(a));                                            \
			__VA_ARGS__;                                                               \
		}                                                                                  \
		return cycles() - start;                                                           \
	}

extern const struct bench bench_trace[], bench_trigger[], bench_kinds[], bench_ring[], bench_task[],
    bench_mem[], bench_probe[], bench_hist[], bench_files[], bench_function[], bench_latency[],
    bench_growth[];		  /* each ends with a NULL name */
void bench_events_register(void); /* tests/bench/bench_events.def; once, before any is measured */
