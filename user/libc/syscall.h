/* System calls from ring 3, raw: the result is the value or a negative Linux error number. */
#pragma once

#include "kernel/abi/syscall_nr.h"

static inline long syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static inline long syscall4(long nr, long a, long b, long c, long d)
{
	return syscall6(nr, a, b, c, d, 0, 0);
}

static inline long syscall3(long nr, long a, long b, long c)
{
	return syscall6(nr, a, b, c, 0, 0, 0);
}

static inline long syscall2(long nr, long a, long b)
{
	return syscall6(nr, a, b, 0, 0, 0, 0);
}

static inline long syscall1(long nr, long a)
{
	return syscall6(nr, a, 0, 0, 0, 0, 0);
}

static inline long syscall0(long nr)
{
	return syscall6(nr, 0, 0, 0, 0, 0, 0);
}

/* What a C function returns for it: -1 with errno set, in newlib's numbering, for an error. */
long syscall_result(long r);
/* newlib's number for an error as Linux's, and back. */
int errno_to_linux(int e);
int errno_from_linux(int e);
/* The text Linux's users know; newlib's own differs for many. */
const char *errno_text(int e);
/* "EINVAL", or "errno=3" (Linux's number) for those that have no name here. */
const char *errno_name(int e);
/* newlib's signal numbers as Linux's, and back; 0 for one the other side does not have. */
int signal_to_linux(int sig);
int signal_from_linux(int sig);
