/*
 * Allocates process ids in rising order and finds tasks by them. For the files of kernel/task, and
 * for tests.
 */
#pragma once

#include "kernel/task/task.h"

/*
 * Gives the task the number `want`, or (0) the next free one, and returns it; 0: none left or no
 * memory. The task can be found from now on.
 */
int pid_attach(struct task *t, int want);
/* Exchanges the numbers of two tasks. */
void pid_exchange(struct task *a, struct task *b);
/* The task's last reference is gone. */
void pid_detach(struct task *t);
/* task_alloc() with a requested number; 0: any. */
struct task *task_alloc_pid(const char *comm, int pid, struct thread_group *group);
