/*
 * LTTng-UST beside our ring buffer: its event with two words, measured as tests/native/bench.c
 * measures. tests/drive/bench-native builds it where LTTng-UST is installed, and runs it in a
 * recording session of LTTng's. Prints one row.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/native/lttng/events.h"

#define PASSES 2000
#define ROUNDS 401
#define RUNS   5

static unsigned long round_of(int record)
{
	unsigned long start = __rdtsc();

	for (unsigned i = 0; i < PASSES; i++) {
		unsigned long a = i & 1023;

		__asm__ volatile("" : "+r"(a)::"memory");
		if (record)
			lttng_ust_tracepoint(bench, two_words, a, a);
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

int main(void)
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
	if (!lttng_ust_tracepoint_enabled(bench, two_words)) {
		fprintf(stderr, "the session does not record\n");
		return 1;
	}
	for (unsigned i = 0; i < RUNS; i++)
		v[i] = median_round(1, ticks_per_ns) - median_round(0, ticks_per_ns);
	qsort(v, RUNS, sizeof(v[0]), by_value);
	printf("native\tlttng_ust.2u64\t%.2f\t%.2f\t%.2f\tns\n", v[RUNS / 2], v[0], v[RUNS - 1]);
	return 0;
}
