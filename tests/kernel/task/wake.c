/*
 * Waking who waits for events, from every context there is. What can be told at once is not left to
 * the waiter's alarm, but when that happens to come first.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/irq_work.h"
#include "kernel/trace/tracing.h"
#include "tests/kernel/threads.h"
#include "trace/host_context.h"
#include "trace/host_wait.h"

#define ROUNDS	     50
#define ALARM_ROUNDS 10
#define ALARM_TRIES  100

static struct host_waiters *waiters;
static u32 posted, taken; /* [A] */
static unsigned rounds;

static bool is_more(void *unused)
{
	(void)unused;
	return atomic_load(&posted) != atomic_load(&taken);
}

static void waiter(void *unused)
{
	for (unsigned i = 0; i < rounds; i++) {
		EXPECT_EQ(host_wait(waiters, is_more, unused), 0);
		atomic_add(&taken, 1);
	}
}

static void post(void)
{
	struct host_context ctx;

	host_enter(&ctx);
	atomic_add(&posted, 1);
	host_wake(waiters);
	host_preempt_enable();
}

static void post_from_irq(struct irq_work *work)
{
	(void)work;
	post();
}

static void in_irq(void)
{
	struct irq_work work = {.fn = post_from_irq};

	irq_work_queue(&work);
	irq_work_sync(&work);
}

static void with_irqs_off(void)
{
	u64 flags = irq_save();

	post();
	irq_restore(flags);
}

/* Besides the tracer, the caller has preemption off. */
static void with_preemption_off(void)
{
	preempt_disable();
	post();
	preempt_enable();
}

/* How many of the rounds were left to the alarm. */
static u64 late(void (*from)(void), int cpu, unsigned n)
{
	struct threads t = {0};
	u64 before = atomic_load(&trace_glue_late_wakes);

	waiters = host_waiters_alloc();
	posted = taken = 0;
	rounds = n;
	thread_start(&t, waiter, NULL, cpu);
	for (unsigned i = 0; i < n; i++) {
		from();
		while (atomic_load(&taken) != i + 1)
			sched_yield_current();
	}
	threads_join(&t);
	host_waiters_free(waiters);
	return atomic_load(&trace_glue_late_wakes) - before;
}

static void at_once(void)
{
	for (int cpu = 0; cpu < (int)MIN(cpu_count(), 2u); cpu++) {
		EXPECT(late(post, cpu, ROUNDS) < ROUNDS / 2);
		EXPECT(late(in_irq, cpu, ROUNDS) < ROUNDS / 2);
	}
}

/*
 * Nobody is woken, and nothing is missed. A round whose waiter has not gone to sleep yet leaves
 * nothing to the alarm, and on a busy machine that can be many in a row.
 */
static void by_the_alarm(void)
{
	static void (*const ways[])(void) = {with_irqs_off, with_preemption_off};

	for (unsigned way = 0; way < ARRAY_SIZE(ways); way++) {
		u64 n = 0;

		for (unsigned i = 0; i < ALARM_TRIES && !n; i++)
			n = late(ways[way], 0, ALARM_ROUNDS);
		EXPECT(n > 0);
	}
}

static struct wait_queue many = WAIT_QUEUE_INIT(many);
static u32 all_may_go, woken; /* [A] */

/* A lost wake-up ends after a minute: on no host does a wake-up take that long. */
static void wait_for_all(void *unused)
{
	u64 end = clock_ns() + 60000000000UL;

	(void)unused;
	wait_event_until(&many, atomic_load(&all_may_go), end);
	if (clock_ns() < end)
		atomic_add(&woken, 1);
}

static void until_asleep(int pid)
{
	struct task *t = task_find(pid);

	while (t && atomic_load(&t->state) != TASK_INTERRUPTIBLE)
		sched_yield_current();
	if (t)
		task_put(t);
}

/* All who wait on a queue are woken, not the first alone. */
static void all_of_a_queue(void)
{
	struct threads t = {0};

	all_may_go = woken = 0;
	for (unsigned i = 0; i < 4; i++)
		thread_start(&t, wait_for_all, NULL, i % cpu_count());
	for (unsigned i = 0; i < t.n; i++)
		until_asleep(t.pid[i]);
	atomic_store(&all_may_go, 1);
	wake_up(&many);
	threads_join(&t);
	EXPECT_EQ(woken, 4);
}

#define FREE_SPINS 100000

static u32 over, left, freed; /* [A] */

static bool is_over(void *unused)
{
	(void)unused;
	return atomic_load(&over);
}

static void wait_once(void *unused)
{
	EXPECT_EQ(host_wait(waiters, is_over, unused), 0);
	atomic_store(&left, 1);
}

/*
 * In an interrupt: queues the wake-up, which this CPU runs once the interrupt is over. Meanwhile
 * the waiter's alarm ends its sleep.
 */
static void queue_and_spin(struct irq_work *work)
{
	(void)work;
	atomic_store(&over, 1);
	host_wake(waiters);
	while (!atomic_load(&left))
		cpu_relax();
	for (unsigned i = 0; i < FREE_SPINS; i++) {
		EXPECT(!atomic_load(&freed));
		cpu_relax();
	}
}

static void interrupt_itself(void *work)
{
	irq_work_queue(work);
}

/* The memory of waiters stays as long as a CPU has a wake-up of theirs to run. */
static void freed_while_queued(void)
{
	struct irq_work work = {.fn = queue_and_spin};
	struct threads waiter_there = {0}, other = {0};

	if (cpu_count() < 2) {
		ktap_skip("needs two CPUs");
		return;
	}
	task_set_affinity(current(), 1);
	waiters = host_waiters_alloc();
	over = left = freed = 0;
	thread_start(&waiter_there, wait_once, NULL, 0);
	until_asleep(waiter_there.pid[0]);
	thread_start(&other, interrupt_itself, &work, 1);
	while (!atomic_load(&left))
		sched_yield_current();
	host_waiters_free(waiters);
	atomic_store(&freed, 1);
	threads_join(&other);
	threads_join(&waiter_there);
	irq_work_sync(&work);
	task_set_affinity(current(), ~0UL);
}

static const struct ktap_case cases[] = {
    {"wake.at_once", at_once},
    {"wake.by_the_alarm", by_the_alarm},
    {"wake.all_of_a_queue", all_of_a_queue},
    {"wake.freed_while_queued", freed_while_queued},
    {NULL, NULL},
};
const struct ktap_suite suite_wake = {cases};
