/*
 * Floating-point and vector registers belong to the process: four of them compute side by side,
 * give the CPU away all the time, and compare; over fork, signals and system calls too.
 */
#include "tests/programs/check.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void yield(void)
{
	syscall0(SYS_sched_yield);
}

typedef long long vec __attribute__((vector_size(16)));

/* Loads values no one else has, gives the CPU away, and looks. */
static int registers_hold(long seed)
{
	vec in[4], out[4];
	uint32_t mxcsr = 0x1f80 | ((seed & 3) << 13), mxcsr_out; /* rounding mode */
	uint16_t fcw = 0x37f | ((seed & 3) << 10), fcw_out;
	double st = 1.0 / (seed + 3), st_out;

	for (int i = 0; i < 4; i++)
		in[i] = (vec){seed * 1000003 + i, ~seed - i};
	__asm__ volatile(
	    "movdqu %[a], %%xmm0\n\tmovdqu %[b], %%xmm5\n\tmovdqu %[c], %%xmm9\n\tmovdqu %[d], "
	    "%%xmm15\n\t"
	    "ldmxcsr %[m]\n\tfldcw %[w]\n\tfldl %[st]\n\t"
	    "movl %[nr], %%eax\n\tsyscall\n\t"
	    "movdqu %%xmm0, %[ra]\n\tmovdqu %%xmm5, %[rb]\n\tmovdqu %%xmm9, %[rc]\n\tmovdqu "
	    "%%xmm15, %[rd]\n\t"
	    "stmxcsr %[rm]\n\tfnstcw %[rw]\n\tfstpl %[rst]"
	    : [ra] "=m"(out[0]), [rb] "=m"(out[1]), [rc] "=m"(out[2]), [rd] "=m"(out[3]),
	    [rm] "=m"(mxcsr_out), [rw] "=m"(fcw_out), [rst] "=m"(st_out)
	    : [a] "m"(in[0]), [b] "m"(in[1]), [c] "m"(in[2]), [d] "m"(in[3]), [m] "m"(mxcsr),
	    [w] "m"(fcw), [st] "m"(st), [nr] "i"(SYS_sched_yield)
	    : "rax", "rcx", "r11", "xmm0", "xmm5", "xmm9", "xmm15", "memory");
	return memcmp(in, out, sizeof in) == 0 && (mxcsr_out & 0x6000) == (mxcsr & 0x6000) &&
	       fcw_out == fcw && st_out == st;
}

static void side_by_side(void)
{
	int status, bad = 0;

	for (int p = 0; p < 4; p++) {
		if (fork())
			continue;
		for (long i = 0; i < 200; i++)
			if (!registers_hold(i * 4 + p))
				_exit(1);
		_exit(0);
	}
	for (int p = 0; p < 4; p++) {
		wait(&status);
		bad += status != 0;
	}
	CHECK_EQ(bad, 0);
}

/* The child of a fork has its parent's registers. */
static void fork_copies(void)
{
	vec in = {0x1234567890, -5}, out;
	int status;
	long pid;

	__asm__ volatile("movdqu %2, %%xmm7\n\tsyscall\n\tmovdqu %%xmm7, %1"
			 : "=a"(pid), "=m"(out)
			 : "m"(in), "0"(SYS_fork)
			 : "rcx", "r11", "xmm7", "memory");
	if (pid == 0)
		_exit(memcmp(&in, &out, sizeof in) != 0);
	CHECK(memcmp(&in, &out, sizeof in) == 0);
	wait(&status);
	CHECK_EQ(status, 0);
}

/* A task finds the registers of where it ran last, though this CPU still holds older ones. */
static void follow_to_other_cpus(void)
{
	const unsigned long first = 1, second = 2;

	if (syscall3(SYS_sched_setaffinity, 0, sizeof(second), (long)&second))
		return; /* one CPU */
	for (long i = 0; i < 20; i++) {
		vec there = {i, 1}, here = {i, 2}, out;
		long ret = syscall3(SYS_sched_setaffinity, 0, sizeof(first), (long)&first);

		CHECK_EQ(ret, 0);
		__asm__ volatile(
		    "movdqu %[a], %%xmm6\n\tmovl %[nr], %%eax\n\tmovq %[two], %%rdx\n\tsyscall\n\t"
		    "movdqu %[b], %%xmm6\n\tmovl %[nr], %%eax\n\tmovq %[one], %%rdx\n\tsyscall\n\t"
		    "movdqu %%xmm6, %[out]"
		    : [out] "=m"(out)
		    : [a] "m"(here), [b] "m"(there), [nr] "i"(SYS_sched_setaffinity),
		    [one] "r"(&first), [two] "r"(&second), "D"(0), "S"(sizeof(first))
		    : "rax", "rcx", "rdx", "r11", "xmm6", "memory");
		CHECK(memcmp(&there, &out, sizeof out) == 0);
	}
}

static volatile double sum;

static void clobber(int sig)
{
	(void)sig;
	for (int i = 1; i < 50; i++)
		sum += 1.0 / i;
	__asm__ volatile("pxor %%xmm3, %%xmm3\n\tfninit" ::: "xmm3");
}

/* A handler may use them all; the interrupted code does not notice. */
static void signals_keep(void)
{
	vec in = {77, 88}, out;
	double st = 2.5, st_out;
	long nr = SYS_kill;

	signal(SIGUSR1, clobber);
	__asm__ volatile(
	    "movdqu %4, %%xmm3\n\tfldl %5\n\tsyscall\n\tmovdqu %%xmm3, %1\n\tfstpl %2"
	    : "+a"(nr), "=m"(out), "=m"(st_out)
	    : "D"((long)getpid()), "m"(in), "m"(st), "S"((long)signal_to_linux(SIGUSR1))
	    : "rcx", "r11", "xmm3", "memory");
	CHECK_EQ(nr, 0);
	CHECK(memcmp(&in, &out, sizeof in) == 0);
	CHECK(st_out == st);
	CHECK(sum > 0);
}

/* A new program starts with clean registers, whatever the last one left. */
static void exec_cleans(char *self)
{
	char *argv[] = {self, "fresh", NULL};
	int status;

	if (fork() == 0) {
		uint32_t mxcsr = 0x7f80;
		uint16_t fcw = 0xf7f;
		vec dirty = {-1, -1};
		__asm__ volatile("ldmxcsr %0\n\tfldcw %1\n\tmovdqu %2, %%xmm11" ::"m"(mxcsr),
				 "m"(fcw), "m"(dirty)
				 : "xmm11");
		execve(self, argv, NULL);
		_exit(9);
	}
	wait(&status);
	CHECK_EQ(status, 0);
}

static int is_fresh(void)
{
	uint32_t mxcsr;
	uint16_t fcw;
	vec v, zero = {0, 0};

	__asm__ volatile("stmxcsr %0\n\tfnstcw %1\n\tmovdqu %%xmm11, %2"
			 : "=m"(mxcsr), "=m"(fcw), "=m"(v));
	return mxcsr == 0x1f80 && fcw == 0x37f && memcmp(&v, &zero, sizeof v) == 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return !is_fresh();
	side_by_side();
	fork_copies();
	follow_to_other_cpus();
	signals_keep();
	exec_cleans(argv[0]);
	yield();
	return check_failures != 0;
}
