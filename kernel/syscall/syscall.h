/* Dispatch of system calls by the table made from kernel/abi/syscalls.def. */
#pragma once

#include "kernel/abi/syscall_nr.h"
#include "kernel/lib/types.h"

struct regs;

#define SYSCALL_MAX 512
/*
 * As Linux's: the arguments of the call are rdi, rsi, rdx, r10, r8, r9 of the program's registers.
 */
typedef long (*syscall_fn)(const struct regs *r);

#define ARG(type, name)
#define SYSCALL(nr, name, args) long __x64_sys_##name(const struct regs *r);
#include "kernel/abi/syscalls.def"

/* count.c. "openat", of calls that are not here too; NULL: Linux has no call of this number. */
const char *syscall_name(unsigned nr);
/*
 * The calls that are here, in the order of their numbers: the one after `name`, which this function
 * returned (NULL: the first); NULL after the last.
 */
const char *syscall_next_name(const char *name, unsigned *nr);
extern u64 syscall_calls[SYSCALL_MAX];	     /* [A] how often each was made */
long syscall_count_error(long nr, long err); /* returns err */
/* An unknown call: counts it, and logs it once for each program and call. */
void syscall_missing(long nr);
void syscall_count_init(void); /* /proc/trapline/syscalls */
/*
 * The middle of calls, as Linux names and types it, for probes and tests: `name` is the kernel's
 * copy of the path (in `small` if it fits), uptr ring 3's pointer, as `filename` is.
 */
typedef u16 umode_t;
struct filename {
	const char *name;
	const char *uptr;
	char small[112];
};
long do_futex(u64 uaddr, u32 op, u32 val, const u64 *timeout, u64 uaddr2, u32 val2, u32 val3);
struct open_how {
	u64 flags, mode, resolve;
};
long do_sys_open(int dfd, const char *filename, int flags, umode_t mode);
long do_sys_openat2(int dfd, const char *filename, const struct open_how *how);
int do_unlinkat(int dfd, struct filename *name);
int do_mkdirat(int dfd, struct filename *name, umode_t mode);
/* flags: none, as there is no execveat(). */
long do_execveat_common(int fd, struct filename *filename, u64 argv, u64 envp, int flags);
int do_rmdir(int dfd, struct filename *name);
