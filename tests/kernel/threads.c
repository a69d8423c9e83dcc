/* Threads of test cases. Task context. */
#include "tests/kernel/threads.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"
#include "kernel/task/pid.h"
#include "kernel/task/timer.h"

#define FREED_TRIES 10000 /* in a second */

void thread_start(struct threads *t, void (*fn)(void *), void *arg, int cpu)
{
	struct task *task = t->n < THREADS_MAX ? kthread_create(fn, arg, cpu, "test") : NULL;

	EXPECT(task != NULL);
	if (!task)
		return;
	t->pid[t->n++] = task->pid; /* once it has started, it may be gone */
	kthread_start(task);
}

void threads_join(struct threads *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct task *task;
		while ((task = task_find(t->pid[i]))) {
			task_put(task);
			sleep_ns(100000, NULL);
		}
	}
	t->n = 0;
}

static void return_at_once(void *unused)
{
	(void)unused;
}

/*
 * A task's number is free after its memory. task_find() does not find it any more while another CPU
 * is still at that.
 */
static bool thread_is_freed(int pid)
{
	struct task other = {0};

	if (!pid_attach(&other, pid))
		return false;
	pid_detach(&other);
	return true;
}

/* A task that has ended is freed by the one that comes after it on its CPU. */
static void pass_all_cpus(void)
{
	struct threads t = {0};

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, return_at_once, NULL, (int)cpu);
	for (unsigned i = 0; i < t.n; i++) /* a tracer may hold one for longer */
		for (unsigned n = 0; n < FREED_TRIES && !thread_is_freed(t.pid[i]); n++)
			sleep_ns(100000, NULL);
}

u64 settled_free_pages(void)
{
	u64 last, now = page_free_count();

	do {
		last = now;
		pass_all_cpus();
		sleep_ns(2000000, NULL);
		stack_trim();
		now = page_free_count();
	} while (now != last);
	return now;
}
