/* Threads of test cases. Task context. */
#include "tests/kernel/threads.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"
#include "kernel/task/timer.h"

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

/* A task that has ended is freed by the one that comes after it on its CPU. */
static void pass_all_cpus(void)
{
	struct threads t = {0};

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, return_at_once, NULL, (int)cpu);
	threads_join(&t);
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
