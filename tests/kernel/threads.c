/* Threads of test cases. Task context. */
#include "tests/kernel/threads.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"
#include "kernel/task/timer.h"

void thread_start(struct threads *t, void (*fn)(void *), void *arg, int cpu)
{
	struct task *task = t->n < THREADS_MAX ? kthread_run(fn, arg, cpu, "test") : NULL;

	EXPECT(task != NULL);
	if (task)
		t->pid[t->n++] =
		    task->pid; /* it cannot be gone: nobody else takes its number so soon */
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

u64 settled_free_pages(void)
{
	u64 last, now = page_free_count();

	do {
		last = now;
		sleep_ns(2000000, NULL);
		stack_trim();
		now = page_free_count();
	} while (now != last);
	return now;
}
