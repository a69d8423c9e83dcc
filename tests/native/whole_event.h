/*
 * Measures a whole event as tests/native/bench.c measures a ring: nanoseconds, the median of short
 * rounds, less the empty loop. Prints one row. The program that includes this defines
 * record_event(), which records two words.
 */
#pragma once

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#define PASSES 2000
#define ROUNDS 401
#define RUNS   5

static inline void record_event(unsigned long a, unsigned long b);

static unsigned long round_of(int record)
{
	unsigned long start = __rdtsc();

	for (unsigned i = 0; i < PASSES; i++) {
		unsigned long a = i & 1023;

		__asm__ volatile("" : "+r"(a)::"memory");
		if (record)
			record_event(a, a);
	}
	return __rdtsc() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_round(int record, double ticks_per_ns)
{
	static double v[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		v[i] = round_of(record) / ticks_per_ns / PASSES;
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	return v[ROUNDS / 2];
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void measure_event(const char *name)
{
	double v[RUNS], ns = now_ns();
	unsigned long start = __rdtsc();
	double ticks_per_ns;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (now_ns() - ns < 1e8)
		;
	ticks_per_ns = (__rdtsc() - start) / (now_ns() - ns);
	for (unsigned i = 0; i < RUNS; i++)
		v[i] = median_round(1, ticks_per_ns) - median_round(0, ticks_per_ns);
	qsort(v, RUNS, sizeof(v[0]), by_value);
	printf("native\t%s\t%.2f\t%.2f\t%.2f\tns\n", name, v[RUNS / 2], v[0], v[RUNS - 1]);
}
