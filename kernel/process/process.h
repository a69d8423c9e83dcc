/*
 * What fork, exec and exit share: the making and unmaking of a ring-3 process around its task. Task
 * context.
 */
#pragma once

#include "kernel/process/mm.h"
#include "kernel/task/task.h"

/* An FPU save area, aligned to 64; NULL: no memory. Freed with its task. */
void *fpu_alloc(void);
/* The current task stops using an address space: a vfork parent that waits for it goes on. */
void mm_release(struct mm *mm);
/* Gives a task that others may see another address space; the caller releases the old one. */
void task_mm_set(struct task *t, struct mm *mm);
/* Any task's address space, with a reference; NULL: none (any more). */
struct mm *task_mm_get(struct task *t);
/*
 * As the fork half of a shell: a kernel thread with the caller's files, cwd, process group and
 * parenthood.
 */
struct task *kthread_fork(void (*fn)(void *), void *arg, const char *name);
/*
 * The current thread leaves its address space, by its end or execve(): locks it holds are let go,
 * and who waits for it is woken (set_robust_list, set_tid_address).
 */
void exit_mm_release(struct task *t);
/* Ends all threads of the current process: (exit status << 8) or signal number. */
void __noreturn process_exit(long code);
/*
 * For execve(): ends all other threads of the process and waits for it; then the current one has
 * the pid of the process. -EAGAIN: the process is ending.
 */
int process_be_alone(void);
/* Ring-3 processes there are, and how many there may be (RLIMIT_NPROC). */
void process_count_add(int n);
unsigned process_count(void);
unsigned process_max(void);
