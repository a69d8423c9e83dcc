/* Becoming a ring-3 program, and making a copy of one. Task context. */
#pragma once

#include "kernel/lib/types.h"

#define EXEC_ARGS_MAX                                                                              \
	(128UL << 10) /* arguments and environment with their pointers: beyond it -E2BIG */

/* The strings of an exec in kernel memory, one after the other, arguments first. */
struct exec_args {
	char *strings;
	size_t len, size;
	unsigned argc, envc;
};

void exec_args_free(struct exec_args *a);
/* Adds one string to the arguments (or the environment, which comes after). */
int exec_args_add(struct exec_args *a, const char *s, bool env);
/* The same from ring-3 arrays of pointers; NULL arrays are empty. */
int exec_args_from_user(struct exec_args *a, u64 argv, u64 envp);
/*
 * Replaces the current task's program by that at `path` (kernel memory). On an error nothing has
 * changed.
 */
int task_exec_args(const char *path, struct exec_args *a);

struct regs;
enum {
	CLONE_SIGNAL = 0xff, /* in the flags of clone(): exit_signal */
	CLONE_VM = 0x100,
	CLONE_FS = 0x200,
	CLONE_FILES = 0x400,
	CLONE_SIGHAND = 0x800,
	CLONE_PTRACE = 0x2000,
	CLONE_VFORK = 0x4000,
	CLONE_PARENT = 0x8000,
	CLONE_THREAD = 0x10000,
	CLONE_SYSVSEM = 0x40000,
	CLONE_SETTLS = 0x80000,
	CLONE_PARENT_SETTID = 0x100000,
	CLONE_CHILD_CLEARTID = 0x200000,
	CLONE_DETACHED = 0x400000, /* accepted by clone() only, without effect */
	CLONE_UNTRACED = 0x800000,
	CLONE_CHILD_SETTID = 0x1000000,
	CLONE_IO = 0x80000000L,
	CLONE_CLEAR_SIGHAND = 0x100000000L, /* of clone3() only */
};
/*
 * fork, vfork, clone and clone3: the child's pid or negative errno. Flags for ptrace, System V
 * semaphores and disk scheduling have no effect, as the kernel has none of these.
 */
struct kernel_clone_args {
	u64 flags; /* without the signal */
	u64 pidfd; /* not supported */
	u64 child_tid, parent_tid;
	int exit_signal; /* sent to the parent at the child's end */
	u64 stack, stack_size, tls;
};
int kernel_clone(struct kernel_clone_args *args);
