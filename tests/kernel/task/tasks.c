/* Tasks, pids, mutexes, timers, deferred work and NMIs. */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"

#define MS 1000000UL

/* ---- Mutex ---- */

#define LOCKS 3000

static struct mutex lock = MUTEX_INIT(lock);
static u64 guarded, inside;
static u32 overlaps;

static void lock_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < LOCKS; i++) {
		mutex_lock(&lock);
		if (inside++)
			atomic_add(&overlaps, 1);
		guarded++;
		if (i % 64 == 0)
			sched_yield_current();
		inside--;
		mutex_unlock(&lock);
	}
}

static void mutex_excludes(void)
{
	struct threads t = {0};

	guarded = inside = overlaps = 0;
	for (unsigned i = 0; i < 2 * cpu_count() && i < 8; i++)
		thread_start(&t, lock_often, NULL, i % cpu_count());
	unsigned n = t.n;
	threads_join(&t);
	EXPECT_EQ(guarded, n * LOCKS);
	EXPECT_EQ(overlaps, 0);
	EXPECT(lock.owner == NULL && list_empty(&lock.wq.waiters));
}

/* ---- Pids ---- */

static void pids_rise_and_wrap(void)
{
	struct task *t = task_alloc("one", NULL);
	int first = t->pid, last = first, wrapped = 0, twice = 0;

	for (unsigned i = 0; i < PID_MAX; i++) {
		struct task *n = task_alloc("next", NULL);
		if (!n)
			break;
		if (n->pid <= last)
			wrapped++;
		if (n->pid == first || n->pid == 1)
			twice++;
		if (n->pid < last && n->pid < 300)
			ktap_fail(__FILE__, __LINE__, "wraps to %d", n->pid);
		last = n->pid;
		task_put(n);
		task_put(n);
	}
	EXPECT_EQ(wrapped, 1);
	EXPECT_EQ(twice, 0);
	task_put(t);
	task_put(t);
}

static void found_by_pid(void)
{
	struct task *t = task_alloc("a name that is too long", NULL), *n = NULL;
	int pid = t->pid, before = 0, seen = 0;

	EXPECT_STR(t->comm, "a name that is ");
	struct task *f = task_find(pid);
	EXPECT(f == t);
	task_put(f);
	task_set_comm(t, "other");
	EXPECT_STR(t->comm, "other");
	while ((n = task_next(n))) {
		EXPECT(n->pid > before);
		before = n->pid;
		seen += n == t;
	}
	EXPECT_EQ(seen, 1);
	task_put(t);
	task_put(t);
	EXPECT(task_find(pid) == NULL);
	EXPECT(task_find(0) == NULL && task_find(-5) == NULL && task_find(PID_MAX) == NULL);
}

static void return_at_once(void *unused)
{
	(void)unused;
}

static void start_many(void)
{
	struct threads t = {0};

	for (unsigned i = 0; i < 40; i++)
		thread_start(&t, return_at_once, NULL, -1);
	threads_join(&t);
}

/* As many stacks as are kept for next time, whatever ran before. */
static void fill_stack_cache(void)
{
	u64 top[20];

	for (unsigned i = 0; i < ARRAY_SIZE(top); i++)
		top[i] = stack_alloc();
	for (unsigned i = 0; i < ARRAY_SIZE(top); i++)
		if (top[i])
			stack_free(top[i]);
}

static void threads_come_back(void)
{
	start_many();
	fill_stack_cache();
	u64 free = settled_free_pages();
	start_many();
	EXPECT(settled_free_pages() + 4 >=
	       free); /* the table of pids may have grown, a size class keep a page */
	for (u64 n = 1; n < 12; n++) { /* whichever allocation fails */
		mem_fail_nth(n);
		struct task *t = kthread_run(return_at_once, NULL, -1, "fails");
		mem_fail_nth(0);
		(void)t;
	}
	EXPECT(settled_free_pages() + 4 >= free);
}

/* ---- Timers ---- */

struct ring {
	struct timer timer;
	unsigned id;
};
static unsigned order[8], rung;

static void ring(struct timer *t)
{
	if (rung < ARRAY_SIZE(order))
		order[rung++] = container_of(t, struct ring, timer)->id;
}

static void timers_in_order(void)
{
	static const unsigned at_ms[] = {3, 1, 2, 1, 4};
	static const unsigned want[] = {
	    1, 3, 2, 0}; /* equals in the order they were started; 4 is cancelled */
	struct ring r[ARRAY_SIZE(at_ms)];
	u64 now = clock_ns();

	rung = 0;
	u64 flags = irq_save(); /* none is due before all are there */
	for (unsigned i = 0; i < ARRAY_SIZE(at_ms); i++) {
		r[i].id = i;
		timer_setup(&r[i].timer, ring);
		timer_start(&r[i].timer, now + 100 * MS);
		timer_start(&r[i].timer, now + at_ms[i] * MS); /* again: the first is forgotten */
	}
	EXPECT(timer_cancel(&r[4].timer));
	EXPECT(!timer_cancel(&r[4].timer));
	irq_restore(flags);
	sleep_ns(8 * MS, NULL);
	EXPECT_EQ(rung, ARRAY_SIZE(want));
	for (unsigned i = 0; i < ARRAY_SIZE(want); i++)
		EXPECT_EQ(order[i], want[i]);
	EXPECT(!timer_cancel(&r[0].timer));
}

struct again {
	struct timer timer;
	u32 left;
};

static void ring_again(struct timer *t)
{
	struct again *a = container_of(t, struct again, timer);

	if (--a->left)
		timer_start(t, clock_ns()); /* due already: comes all the same */
}

static void timer_restarts_itself(void)
{
	struct again a = {.left = 5};

	timer_setup(&a.timer, ring_again);
	timer_start(&a.timer, 0);
	for (unsigned i = 0; i < 50 && READ_ONCE(a.left); i++)
		sleep_ns(MS, NULL);
	EXPECT_EQ(a.left, 0);
	timer_cancel(&a.timer);
}

struct slow {
	struct timer timer;
	u32 began, asked, ended;
};

static void ring_slowly(struct timer *t)
{
	struct slow *s = container_of(t, struct slow, timer);

	atomic_store(&s->began, 1);
	while (!atomic_load(&s->asked))
		cpu_relax();
	spin_ns(10 * MS);
	atomic_store(&s->ended, 1);
}

static void start_slow(void *arg)
{
	struct slow *s = arg;
	timer_start(&s->timer, clock_ns() + MS);
}

/* timer_cancel() does not return while the callback runs on another CPU. */
static void cancel_waits(void)
{
	struct slow s = {.began = 0};

	if (cpu_count() < 2) {
		ktap_skip("needs two CPUs");
		return;
	}
	task_set_affinity(current(), 1);
	timer_setup(&s.timer, ring_slowly);
	cpu_call(1, start_slow, &s);
	while (!atomic_load(&s.began))
		cpu_relax();
	atomic_store(&s.asked, 1);
	EXPECT(!timer_cancel(&s.timer));
	EXPECT_EQ(s.ended, 1);
	task_set_affinity(current(), UINT64_MAX);
}

static void cancel_itself(struct timer *t)
{
	struct slow *s = container_of(t, struct slow, timer);

	EXPECT(!timer_cancel(t));
	timer_start(t, clock_ns() + 3600000 * MS);
	EXPECT(timer_cancel(t));
	atomic_store(&s->ended, 1);
}

/* A callback may cancel its own timer: that does not wait for the callback. */
static void cancelled_by_itself(void)
{
	struct slow s = {.began = 0};

	timer_setup(&s.timer, cancel_itself);
	timer_start(&s.timer, 0);
	while (!atomic_load(&s.ended))
		sleep_ns(MS, NULL);
	EXPECT(!timer_cancel(&s.timer));
}

/* ---- Deferred work and NMIs ---- */

static u32 work_runs, work_context;

static void work(struct irq_work *w)
{
	(void)w;
	work_runs++;
	work_context = this_cpu_read(preempt_count);
}

static void deferred_work(void)
{
	static struct irq_work w = {.fn = work};

	work_runs = 0;
	u64 flags = irq_save();
	EXPECT(irq_work_queue(&w));
	EXPECT(!irq_work_queue(&w));
	EXPECT_EQ(work_runs, 0);
	irq_restore(flags);
	irq_work_sync(&w);
	EXPECT_EQ(work_runs, 1);
	EXPECT(work_context & HARDIRQ_MASK);
	EXPECT(irq_work_queue(&w));
	irq_work_sync(&w);
	EXPECT_EQ(work_runs, 2);
}

static u32 nmis, nmi_count_seen;
static struct irq_work nmi_work = {.fn = work};

static bool on_nmi(struct regs *r)
{
	(void)r;
	nmi_count_seen = this_cpu_read(preempt_count);
	irq_work_queue(&nmi_work);
	atomic_add(&nmis, 1);
	return true;
}

static void nmi_reaches_all(void)
{
	nmis = work_runs = 0;
	EXPECT_EQ(nmi_handler_add(on_nmi), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		u32 before = atomic_load(&nmis);
		preempt_disable();
		nmi_send(cpu);
		for (unsigned i = 0; i < 100000 && atomic_load(&nmis) == before; i++)
			cpu_relax();
		preempt_enable();
		irq_work_sync(&nmi_work);
	}
	nmi_handler_remove(on_nmi);
	EXPECT_EQ(nmis, cpu_count());
	EXPECT_EQ(work_runs, cpu_count());
	EXPECT_EQ(nmi_count_seen & NMI_MASK, NMI_UNIT);
}

static const struct ktap_case cases[] = {
    {"mutex.excludes", mutex_excludes},
    {"task.pids_rise_and_wrap", pids_rise_and_wrap},
    {"task.found_by_pid", found_by_pid},
    {"task.threads_come_back", threads_come_back},
    {"timer.in_order", timers_in_order},
    {"timer.restarts_itself", timer_restarts_itself},
    {"timer.cancel_waits", cancel_waits},
    {"timer.cancelled_by_itself", cancelled_by_itself},
    {"irq_work.deferred", deferred_work},
    {"nmi.reaches_all", nmi_reaches_all},
    {NULL, NULL},
};
const struct ktap_suite suite_tasks = {cases};
