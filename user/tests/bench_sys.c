/*
 * What system calls cost, alone and with their events on, and writing to trace_marker: prints rows "bench NAME VALUE insn", a
 * figure being the median of 51 rounds of 100 calls less the empty loop, in ticks of the TSC (under icount: instructions).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N	100
#define ROUNDS	51
#define TRACING "/sys/kernel/tracing/"

static int marker;

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

static void nothing(void)
{
	__asm__ volatile("");
}

static inline void getpid_once(void)
{
	call3(39, 0, 0, 0);
}

static inline void marker_once(void)
{
	call3(1, marker, (long)"fifteen letters\n", 16);
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

static void report(const char *name, unsigned long t, unsigned long base)
{
	printf("bench %s %.1f insn\n", name, (double)(t > base ? t - base : 0) / N);
	fflush(stdout);
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		perror(file);
		exit(1);
	}
	close(fd);
}

int main(void)
{
	unsigned long base = median(nothing);

	report("sys.getpid", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_enter_getpid/enable", "1");
	report("sys.getpid.enter_on", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_exit_getpid/enable", "1");
	report("sys.getpid.enter_exit_on", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_enter_getpid/enable", "0");
	put(TRACING "events/syscalls/sys_exit_getpid/enable", "0");
	marker = open(TRACING "trace_marker", O_WRONLY);
	if (marker < 0) {
		perror("trace_marker");
		return 1;
	}
	report("marker.write16", median(marker_once), base);
	return 0;
}
