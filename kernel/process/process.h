/*
 * Shared by fork, exec and exit: creating and releasing the parts of a ring-3 process around its
 * task. Task context.
 */
#pragma once

#include "kernel/process/mm.h"
#include "kernel/task/task.h"

/* An FPU save area, aligned to 64; NULL: no memory. Freed with its task. */
void *fpu_alloc(void);
/* Called when the current task stops using an address space: wakes a waiting vfork parent. */
void mm_release(struct mm *mm);
/* Changes the address space of a task that others may see; the caller releases the old one. */
void task_mm_set(struct task *t, struct mm *mm);
/* A task's address space, with a reference; NULL: it has none. */
struct mm *task_mm_get(struct task *t);
/*
 * A process that is not a copy of another. become() runs in the new task, still a kernel thread
 * with the caller's directory and no files. It ends with process_become(); if that fails, the task
 * ends with status 127 or 126, as in a shell. The struct must stay valid until then.
 */
struct process_start {
	int (*become)(struct process_start *start);
};
/* Starts a child of the caller and returns its pid, for task_wait(); or -ENOMEM. */
int process_start(struct process_start *start, const char *name);
/* Opens the device as files 0, 1 and 2 of the current task. */
int process_open_terminal(const char *device, u32 flags);
/*
 * Makes the current task run a program; the lists end with NULL. On an error nothing has changed.
 */
int process_become(const char *path, const char *const argv[], const char *const env[]);
/*
 * Called when the current thread leaves its address space, by exit or execve(): releases its locks,
 * and wakes threads that wait for it (set_robust_list, set_tid_address).
 */
void exit_mm_release(struct task *t);
/*
 * Ends all threads of the current process: (exit status << 8) or signal number. Never returns, as
 * do_exit().
 */
void process_exit(long code);
/*
 * For execve(): ends all other threads of the process and waits for their end; the current thread
 * then has the pid of the process. -EAGAIN: the process is ending.
 */
int process_be_alone(void);
/* The number of ring-3 processes, and their maximum (RLIMIT_NPROC). */
void process_count_add(int n);
unsigned process_count(void);
unsigned process_max(void);
void explore_files_init(void); /* /proc/trapline/explore */
