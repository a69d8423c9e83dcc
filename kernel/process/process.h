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
 * A process that is no copy of another. become: called in the new task, a kernel thread still that
 * has the caller's directory and no files; it ends with process_become(), and an error of it ends
 * the task with 127 or 126, as in a shell. The struct stays until then.
 */
struct process_start {
	int (*become)(struct process_start *start);
};
/* A child of the caller: its pid, which task_wait() waits for; or -ENOMEM. */
int process_start(struct process_start *start, const char *name);
/* The current task gets the device as its files 0, 1 and 2. */
int process_open_terminal(const char *device, u32 flags);
/* The current task becomes a program; the lists end with NULL. On an error it is as it was. */
int process_become(const char *path, const char *const argv[], const char *const env[]);
/*
 * The current thread leaves its address space, by its end or execve(): releases its locks, and
 * wakes threads that wait for it (set_robust_list, set_tid_address).
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
void explore_files_init(void); /* /proc/trapline/explore */
