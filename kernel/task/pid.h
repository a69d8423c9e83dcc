/*
 * Process ids: numbers handed out in rising order, and what can be asked by number. Shared by the
 * files of kernel/task only.
 */
#pragma once

#include "kernel/task/task.h"

/*
 * A number for the task, `want` or (0) the next one free; 0: none left or no memory. The task can
 * be found from now on.
 */
int pid_attach(struct task *t, int want);
/* Each gets the other's number. */
void pid_exchange(struct task *a, struct task *b);
/* The task's last reference is gone. */
void pid_detach(struct task *t);
/* task_alloc() with a number asked for; 0: any. */
struct task *task_alloc_pid(const char *comm, int pid, struct thread_group *group);
