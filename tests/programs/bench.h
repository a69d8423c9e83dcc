/*
 * For ring-3 programs that measure: rows "bench NAME VALUE insn", a figure being the median of 51
 * rounds of 100 calls less the empty loop, in ticks of the TSC (under icount: instructions).
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N	100
#define ROUNDS	51
#define TRACING "/sys/kernel/tracing/"

static inline unsigned long ticks(void)
{
	unsigned lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (unsigned long)hi << 32 | lo;
}

static inline long call3(long nr, long a, long b, long c)
{
	long ret;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline void nothing(void)
{
	__asm__ volatile("");
}

static int by_value(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
	return x < y ? -1 : x > y;
}

/* Inlined with its body, so that the loop is the same two instructions for each. */
static inline __attribute__((always_inline)) unsigned long median(void (*body)(void))
{
	static unsigned long v[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		unsigned long start = ticks();
		for (int i = 0; i < N; i++) {
			__asm__ volatile("");
			body();
		}
		v[r] = ticks() - start;
	}
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	return v[ROUNDS / 2];
}

static inline void report(const char *name, unsigned long t, unsigned long base)
{
	printf("bench %s %.1f insn\n", name, (double)(t > base ? t - base : 0) / N);
	fflush(stdout);
}

/* What cannot be done ends the program. */
static inline void must(int fine, const char *what)
{
	if (!fine) {
		perror(what);
		exit(1);
	}
}

static inline void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), file);
	close(fd);
}
