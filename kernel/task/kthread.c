/* Kernel threads. Task context. */
#include "kernel/base/events.h"
#include "kernel/task/pid.h"

/* What Linux's kernel_thread() passes to clone. */
#define KTHREAD_CLONE_FLAGS (0x100 /* CLONE_VM */ | 0x800000 /* CLONE_UNTRACED */)

static struct task *kthread_new(void (*fn)(void *), void *arg, const char *name, int pid)
{
	struct task *t = task_alloc_pid(name, pid, NULL);

	if (!t)
		return NULL;
	t->flags = TASK_KTHREAD;
	t->thread_fn = fn;
	t->thread_arg = arg;
	return t;
}

void kthread_start(struct task *t)
{
	trace_task_newtask(t, KTHREAD_CLONE_FLAGS);
	trace_sched_process_fork(current(), t);
	task_start(t);
}

struct task *kthread_create(void (*fn)(void *), void *arg, int cpu, const char *name)
{
	struct task *t = cpu < (int)cpu_count() ? kthread_new(fn, arg, name, 0) : NULL;

	if (t && cpu >= 0)
		t->cpus_allowed = 1UL << cpu;
	return t;
}

struct task *kthread_run(void (*fn)(void *), void *arg, int cpu, const char *name)
{
	struct task *t = kthread_create(fn, arg, cpu, name);

	if (t)
		kthread_start(t);
	return t;
}

struct task *kthread_run_init(void (*fn)(void *), void *arg)
{
	struct task *t = kthread_new(fn, arg, "init", 1);

	if (t)
		kthread_start(t);
	return t;
}
