/*
 * For ring-3 tests of the system calls themselves: Linux's numbers and structures, no C library
 * between. CHECK as in check.h.
 */
#pragma once

#include "kernel/abi/linux.h"
#include "tests/programs/check.h"

#include <stdint.h>
#include <stdlib.h>

/* Linux's errors, negated: what raw calls return. */
enum {
	NOENT = -2,
	NOSRCH = -3,
	INTR = -4,
	TOOBIG = -7,
	NOEXEC = -8,
	BADF = -9,
	NOCHILD = -10,
	AGAIN = -11,
	NOMEM = -12,
	FAULT = -14,
	EXIST = -17,
	NODEV = -19,
	NOTDIR = -20,
	INVAL = -22,
	TOOMANYFILES = -24,
	NOTTY = -25,
	PIPEBROKEN = -32,
	NAMELONG = -36,
	NOSYS = -38,
	ACCES = -13,
	PERM = -1,
	OVERFLOW = -75,
	TIMEDOUT = -110,
};

/* Linux's signals. */
enum {
	L_HUP = 1,
	L_INT = 2,
	L_QUIT = 3,
	L_ILL = 4,
	L_TRAP = 5,
	L_ABRT = 6,
	L_BUS = 7,
	L_FPE = 8,
	L_KILL = 9,
	L_USR1 = 10,
	L_SEGV = 11,
	L_USR2 = 12,
	L_PIPE = 13,
	L_ALRM = 14,
	L_TERM = 15,
	L_CHLD = 17,
	L_CONT = 18,
	L_STOP = 19,
	L_TSTP = 20,
};

enum {
	P_READ = 1,
	P_WRITE = 2,
	P_EXEC = 4,
	M_SHARED = 1,
	M_PRIVATE = 2,
	M_FIXED = 0x10,
	M_ANON = 0x20,
	M_NORESERVE = 0x4000
};

#define PAGE 4096UL

void __restore_rt(void);

static inline long map_pages(unsigned long at, unsigned long pages, int prot, int flags)
{
	return syscall6(SYS_mmap, at, pages * PAGE, prot, flags | M_ANON, -1, 0);
}

static inline int set_handler(int sig, void *handler, unsigned long flags)
{
	struct abi_sigaction a = {
	    (uint64_t)handler, flags | ABI_SA_RESTORER, (uint64_t)__restore_rt, 0};

	return syscall4(SYS_rt_sigaction, sig, (long)&a, 0, 8);
}

/* The wait status of a child (-1: any), or -1. */
static inline int wait_for(long pid)
{
	int status = -1;

	return syscall4(SYS_wait4, pid, (long)&status, 0, 0) > 0 ? status : -1;
}

static inline void exit_now(int code)
{
	for (;;)
		syscall1(SYS_exit_group, code);
}

/* Runs fn in a child; its wait status. */
static inline int in_child(void (*fn)(void))
{
	long pid;

	fflush(stdout);
	pid = syscall0(SYS_fork);
	if (pid == 0) {
		fn();
		fflush(stdout);
		exit_now(check_failures ? 99 : 0);
	}
	return pid < 0 ? (int)pid : wait_for(pid);
}

static inline void sleep_ms(long ms)
{
	struct abi_timespec t = {ms / 1000, ms % 1000 * 1000000};

	syscall2(SYS_nanosleep, (long)&t, 0);
}

static inline long now_ns(void)
{
	struct abi_timespec t;

	syscall2(SYS_clock_gettime, ABI_CLOCK_MONOTONIC, (long)&t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
