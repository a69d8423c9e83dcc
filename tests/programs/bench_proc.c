/*
 * The cost of processes and threads: fork to the end of wait, the same with an execve between, a
 * page fault, a signal and its return, a thread from clone() to its end, a futex from the call that
 * wakes to the thread that runs. Prints rows "bench NAME VALUE insn": medians of 21 rounds, in
 * ticks of the TSC (under icount: instructions of all CPUs' time).
 */
#include "tests/programs/thread.h"

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

static void no_work(void *unused)
{
	(void)unused;
}

static struct thread one;

static void thread_create_exit(void)
{
	thread_begin(&one, no_work, NULL);
	thread_end(&one);
}

static volatile int turn;
static volatile unsigned long running_at;

static void run_when_woken(void *unused)
{
	(void)unused;
	for (int r = 0; r < ROUNDS; r++) {
		while (turn != 1)
			futex(&turn, F_WAIT | F_PRIVATE, 0, NULL, NULL, 0);
		running_at = ticks();
		turn = 0;
		futex(&turn, F_WAKE | F_PRIVATE, 1, NULL, NULL, 0);
	}
}

static int by_value(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
	return x < y ? -1 : x > y;
}

static void row(const char *name, unsigned long v[ROUNDS], unsigned per)
{
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	printf("bench %s %.1f insn\n", name, (double)v[ROUNDS / 2] / per);
	fflush(stdout);
}

static void measure(const char *name, void (*body)(void), unsigned per)
{
	unsigned long v[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		unsigned long start = ticks();
		body();
		v[r] = ticks() - start;
	}
	row(name, v, per);
}

/* The other thread waits, and this one gives it the CPU by waiting itself. */
static void measure_futex(void)
{
	unsigned long v[ROUNDS];

	thread_begin(&one, run_when_woken, NULL);
	for (int r = 0; r < ROUNDS; r++) {
		syscall0(SYS_sched_yield);
		turn = 1;
		unsigned long start = ticks();
		futex(&turn, F_WAKE | F_PRIVATE, 1, NULL, NULL, 0);
		while (turn == 1)
			futex(&turn, F_WAIT | F_PRIVATE, 1, NULL, NULL, 0);
		v[r] = running_at - start;
	}
	thread_end(&one);
	row("proc.futex_wake_to_run", v, 1);
}

int main(void)
{
	set_handler(L_USR1, nothing, 0);
	measure("proc.fork_exit_wait", fork_wait, 1);
	measure("proc.fork_exec_exit_wait", fork_exec_wait, 1);
	measure("proc.page_fault_anon", faults, FAULTS);
	measure("proc.signal_and_return", signal_self, 1);
	measure("proc.thread_create_exit", thread_create_exit, 1);
	measure_futex();
	return 0;
}
