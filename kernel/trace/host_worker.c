/* The workers of trace/host_worker.h: kernel threads. Task context. */
#include "kernel/base/refs.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "trace/host_worker.h"

/* [A] except what is set at start; the thread and the caller that stops it hold a reference. */
struct host_worker {
	u64 (*step)(void *arg);
	void (*due)(void *arg); /* NULL: step() returns how long to sleep, else until when */
	void *arg;
	struct wait_queue wq; /* both wait here: for the time, for the end */
	bool stop, done;
	u32 refs;
};

struct nap {
	struct timer timer;
	struct host_worker *w;
	bool over;
};

static void host_worker_put(struct host_worker *w)
{
	if (ref_drop(&w->refs))
		kfree(w);
}

static void host_worker_nap_is_over(struct timer *t)
{
	struct nap *nap = container_of(t, struct nap, timer);

	struct host_worker *w = nap->w;

	if (w->due)
		w->due(w->arg);
	atomic_store(&nap->over, true);
	wake_up(&w->wq);
}

static void host_worker_sleep(struct host_worker *w, u64 until)
{
	struct nap nap = {.w = w};

	timer_setup(&nap.timer, host_worker_nap_is_over);
	timer_start(&nap.timer, until);
	wait_event_interruptible(&w->wq, atomic_load(&nap.over) || atomic_load(&w->stop));
	timer_cancel(&nap.timer);
}

static void host_worker_run(void *arg)
{
	struct host_worker *w = arg;

	while (!atomic_load(&w->stop)) {
		u64 ns = w->step(w->arg);

		host_worker_sleep(w, w->due ? ns : clock_ns() + ns);
	}
	atomic_store(&w->done, true);
	wake_up(&w->wq);
	host_worker_put(w);
}

struct host_worker *host_worker_start_timed(
    const char *name, int cpu, u64 (*step)(void *arg), void (*due)(void *arg), void *arg)
{
	struct host_worker *w = kzalloc(sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct host_worker){.step = step, .due = due, .arg = arg, .refs = 2};
	wait_queue_init(&w->wq);
	if (kthread_run(host_worker_run, w, cpu, name))
		return w;
	kfree(w);
	return NULL;
}

struct host_worker *host_worker_start(const char *name, int cpu, u64 (*step)(void *arg), void *arg)
{
	return host_worker_start_timed(name, cpu, step, NULL, arg);
}

void host_worker_realtime(u32 priority)
{
	task_set_policy(
	    current(), &(struct task_policy){.policy = SCHED_FIFO, .rt_priority = priority});
}

void host_worker_stop(struct host_worker *w)
{
	atomic_store(&w->stop, true);
	wake_up(&w->wq);
	wait_event(&w->wq, atomic_load(&w->done));
	host_worker_put(w);
}

void host_worker_move(unsigned cpu)
{
	task_set_affinity(current(), 1UL << cpu);
	while (cpu_id() != cpu)
		sched_yield_current();
}

u64 host_irqs_off(void)
{
	return irq_save();
}

void host_irqs_restore(u64 flags)
{
	irq_restore(flags);
}

bool host_smi_count(u64 *n)
{
	return arch_smi_count(n);
}
