/* Threads of a test program, made by clone() itself, and the numbers of clone() and futex(). */
#pragma once

#include "tests/programs/raw.h"

enum {
	C_VM = 0x100,
	C_FS = 0x200,
	C_FILES = 0x400,
	C_SIGHAND = 0x800,
	C_THREAD = 0x10000,
	C_SYSVSEM = 0x40000,
	C_SETTLS = 0x80000,
	C_PARENT_SETTID = 0x100000,
	C_CHILD_CLEARTID = 0x200000,
	C_CHILD_SETTID = 0x1000000,
	C_NEWNS = 0x20000,
};
#define C_SHARE	  (C_VM | C_FS | C_FILES | C_SIGHAND | C_SYSVSEM)
#define C_PTHREAD (C_SHARE | C_THREAD | C_PARENT_SETTID | C_CHILD_CLEARTID)

enum {
	F_WAIT,
	F_WAKE,
	F_REQUEUE = 3,
	F_CMP_REQUEUE,
	F_WAKE_OP,
	F_LOCK_PI,
	F_UNLOCK_PI,
	F_TRYLOCK_PI,
	F_WAIT_BITSET,
	F_WAKE_BITSET,
	F_WAIT_REQUEUE_PI,
	F_CMP_REQUEUE_PI,
	F_PRIVATE = 128,
	F_REALTIME = 256,
};
#define THREAD_STACK 16384

struct thread {
	void (*fn)(void *arg);
	void *arg;
	volatile int tid, gone; /* gone: not 0 while the thread lives */
	char *stack;
};

/* The child finds its function and argument on its stack, and ends when it returns. */
long clone_raw(unsigned long flags, void *stack, volatile int *tid, volatile int *gone, long tls);
__asm__(".text\n"
	"clone_raw:\n"
	"	mov %rcx, %r10\n"
	"	mov $56, %eax\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jnz 1f\n"
	"	pop %rax\n"
	"	pop %rdi\n"
	"	call *%rax\n"
	"	xor %edi, %edi\n"
	"	mov $60, %eax\n"
	"	syscall\n"
	"1:	ret\n");

static inline long futex(
    volatile void *word, int op, long val, void *timeout, volatile void *word2, long val3)
{
	return syscall6(SYS_futex, (long)word, op, val, (long)timeout, (long)word2, val3);
}

/* A thread of this process, on a stack that it keeps for the next; its number. */
static inline long thread_begin(struct thread *t, void (*fn)(void *), void *arg)
{
	void **top;
	long tid;

	t->fn = fn;
	t->arg = arg;
	if (!t->stack)
		t->stack = (char *)map_pages(0, THREAD_STACK / PAGE, P_READ | P_WRITE, M_PRIVATE);
	top = (void **)(t->stack + THREAD_STACK - 64);
	top[0] = (void *)fn;
	top[1] = arg;
	t->gone = 1;
	tid = clone_raw(C_PTHREAD, top, &t->tid, &t->gone, 0);
	CHECK(tid > 0);
	return tid;
}

/* Until it uses its stack no more. As on Linux, it is still counted and found for a while. */
static inline void thread_end(struct thread *t)
{
	while (t->gone)
		futex(&t->gone, F_WAIT, 1, NULL, NULL, 0);
}

/* Until the kernel does not know its number any more, either. */
static inline void thread_vanish(struct thread *t)
{
	thread_end(t);
	while (syscall3(SYS_tgkill, syscall0(SYS_getpid), t->tid, 0) != NOSRCH)
		syscall0(SYS_sched_yield);
}
