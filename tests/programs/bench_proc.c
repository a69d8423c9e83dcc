/*
 * What processes cost: fork to the end of wait, the same with an execve between, a page fault, a
 * signal and its return. Prints rows "bench NAME VALUE insn": medians of 21 rounds, in ticks of the
 * TSC (under icount: instructions of all CPUs' time).
 */
#include "tests/programs/raw.h"

#define ROUNDS 21

static inline unsigned long ticks(void)
{
	unsigned lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (unsigned long)hi << 32 | lo;
}

static void fork_wait(void)
{
	long pid = syscall0(SYS_fork);

	if (!pid)
		exit_now(0);
	wait_for(pid);
}

static void fork_exec_wait(void)
{
	static const char *argv[] = {"true", 0};
	long pid = syscall0(SYS_fork);

	if (!pid) {
		syscall3(SYS_execve, (long)"/bin/true", (long)argv, 0);
		exit_now(1);
	}
	wait_for(pid);
}

#define FAULTS 100

static void faults(void)
{
	char *p = (char *)map_pages(0, FAULTS, P_READ | P_WRITE, M_PRIVATE);

	for (int i = 0; i < FAULTS; i++)
		p[i * PAGE] = 1;
	syscall2(SYS_munmap, (long)p, FAULTS * PAGE);
}

static void nothing(int sig)
{
	(void)sig;
}

static void signal_self(void)
{
	syscall2(SYS_kill, syscall0(SYS_getpid), L_USR1);
}

static int by_value(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
	return x < y ? -1 : x > y;
}

static void measure(const char *name, void (*body)(void), unsigned per)
{
	unsigned long v[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		unsigned long start = ticks();
		body();
		v[r] = ticks() - start;
	}
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	printf("bench %s %.1f insn\n", name, (double)v[ROUNDS / 2] / per);
	fflush(stdout);
}

int main(void)
{
	set_handler(L_USR1, nothing, 0);
	measure("proc.fork_exit_wait", fork_wait, 1);
	measure("proc.fork_exec_exit_wait", fork_exec_wait, 1);
	measure("proc.page_fault_anon", faults, FAULTS);
	measure("proc.signal_and_return", signal_self, 1);
	return 0;
}
