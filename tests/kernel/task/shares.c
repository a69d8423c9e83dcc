/*
 * What a task is charged for its time, and where it comes in a queue then. What is compared is the
 * scheduler's own numbers: they hold on a host of any pace.
 */
#include "kernel/task/sched.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/threads.h"

#define MS  1000000UL
#define NAP (5 * TICK_NS) /* of who looks: long enough for the others to be seen at work */

static u32 stop;

static void spin_until_stop(void *unused __maybe_unused)
{
	while (!READ_ONCE(stop))
		barrier();
}

/* A task's numbers at the same moment. */
struct charged {
	u64 vruntime, ran, least; /* least: of its queue */
};

static struct charged charged(struct task *t)
{
	u64 flags;
	struct rq *rq = task_rq_lock(t, &flags);
	struct charged c = {t->vruntime, t->run_total_ns, rq->min_vruntime};

	spin_unlock_irqrestore(&rq->lock, flags);
	return c;
}

static struct task *start_spinner(struct threads *t, int cpu, s32 nice)
{
	thread_start(t, spin_until_stop, NULL, cpu);
	struct task *task = task_find(t->pid[t->n - 1]);

	task_set_nice(task, nice);
	return task;
}

static void run_for(struct task *t, u64 ns)
{
	for (u64 end = charged(t).ran + ns; charged(t).ran < end;)
		sleep_ns(NAP, NULL);
}

/* A step of the nice value makes time count a quarter more, or a fifth less. */
static void weights(void)
{
	static const struct {
		s32 nice;
		u32 least, most; /* percent of its time */
	} rows[] = {{0, 99, 101}, {1, 124, 126}, {5, 300, 306}, {-1, 79, 81}, {-5, 32, 34}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct threads t = {0};

		stop = 0;
		struct task *task = start_spinner(&t, (int)cpu_count() - 1, rows[i].nice);
		run_for(task, TICK_NS);
		struct charged from = charged(task);
		run_for(task, 5 * TICK_NS);
		struct charged to = charged(task);
		u64 percent = (to.vruntime - from.vruntime) * 100 / (to.ran - from.ran);
		if (percent < rows[i].least || percent > rows[i].most)
			ktap_fail(
			    __FILE__, __LINE__, "nice %d: %lu percent", rows[i].nice, percent);
		WRITE_ONCE(stop, 1);
		task_put(task);
		threads_join(&t);
	}
}

/* A queue's min_vruntime is at most that of each of its tasks, not only of the running one. */
static void least_of_all(void)
{
	struct threads t = {0};
	struct task *task[2];

	stop = 0;
	task[0] = start_spinner(&t, (int)cpu_count() - 1, 0);
	task[1] = start_spinner(&t, (int)cpu_count() - 1, 19);
	for (unsigned i = 0; i < 20; i++) {
		sleep_ns(NAP, NULL);
		/* The one is read after the other: it only grows, and so does the least. */
		u64 least = charged(task[0]).least;
		EXPECT(!sched_before(charged(task[0]).vruntime, least));
		EXPECT(!sched_before(charged(task[1]).vruntime, least));
	}
	WRITE_ONCE(stop, 1);
	task_put(task[0]);
	task_put(task[1]);
	threads_join(&t);
}

static s64 behind; /* how far the task was below its queue's min_vruntime after its sleep */

static void sleep_once(void *ns)
{
	sleep_ns((u64)ns, NULL);
	u64 flags = irq_save();
	behind = this_rq()->min_vruntime - current()->vruntime;
	irq_restore(flags);
}

/* However long a task slept, its vruntime is half a tick below min_vruntime at most. */
static void sleep_saves_nothing(void)
{
	struct threads t = {0}, spinner = {0};
	int cpu = (int)cpu_count() - 1;

	stop = 0;
	struct task *task = start_spinner(&spinner, cpu, 0);
	thread_start(&t, sleep_once, (void *)(20 * TICK_NS), cpu);
	threads_join(&t);
	EXPECT(behind <= (s64)(TICK_NS / 2));
	WRITE_ONCE(stop, 1);
	task_put(task);
	threads_join(&spinner);
}

/* Until the least of the one queue is so much greater than that of the other. */
static void advance(int cpu, int beyond, u64 ns)
{
	struct threads t = {0};

	stop = 0;
	struct task *task = start_spinner(&t, cpu, 19);
	while (sched_before(READ_ONCE(rqs[cpu].min_vruntime), rqs[beyond].min_vruntime + ns))
		sleep_ns(NAP, NULL);
	WRITE_ONCE(stop, 1);
	task_put(task);
	threads_join(&t);
}

/* A task that is taken to another CPU is as far from the others there as it was here. */
static void taken_along(void)
{
	struct threads t = {0};
	struct task *task[2];
	unsigned moved = 0;
	int last = (int)cpu_count() - 1;

	if (!last) {
		ktap_skip("needs two CPUs");
		return;
	}
	advance(last, 0, 1000 * MS);
	stop = 0;
	for (unsigned i = 0; i < 2; i++)
		task[i] = start_spinner(&t, 0, 0);
	for (unsigned i = 0; i < 2; i++)
		task_set_affinity(task[i], 1 | 1UL << last);
	while (!moved) {
		sleep_ns(NAP, NULL);
		for (unsigned i = 0; i < 2; i++) {
			struct charged c = charged(task[i]);

			if (task[i]->cpu != (unsigned)last)
				continue;
			moved++;
			if ((s64)(c.least - c.vruntime) > (s64)(500 * MS))
				ktap_fail(__FILE__, __LINE__, "%ld ns behind",
				    (s64)(c.least - c.vruntime));
		}
	}
	WRITE_ONCE(stop, 1);
	task_put(task[0]);
	task_put(task[1]);
	threads_join(&t);
}

static u64 turns;
static u32 go;

static void spin_then_yield(void *unused __maybe_unused)
{
	while (!READ_ONCE(go))
		barrier();
	while (!READ_ONCE(stop)) {
		turns++;
		sched_yield_current();
	}
}

#define YIELDS 100

struct yielder {
	struct task *other;
	u32 seen; /* yields after which the other had had a turn */
};

/* Waits until the other is so far before it that no time of its own will make up for that. */
static void count_turns(void *arg)
{
	struct yielder *y = arg;

	while (sched_before(charged(y->other).vruntime, charged(current()).vruntime + 100 * MS))
		barrier();
	WRITE_ONCE(go, 1);
	for (unsigned i = 0; i < YIELDS; i++) {
		u64 before = READ_ONCE(turns);
		sched_yield_current();
		y->seen += READ_ONCE(turns) != before;
	}
	WRITE_ONCE(stop, 1);
}

/*
 * Who yields lets one go first that has had much more than its share. A tick may end that one's
 * turn before it counts.
 */
static void yields(void)
{
	struct threads t = {0};
	struct yielder y = {.seen = 0};
	int cpu = (int)cpu_count() - 1;

	stop = go = 0;
	thread_start(&t, spin_then_yield, NULL, cpu);
	y.other = task_find(t.pid[0]);
	task_set_nice(y.other, 19);
	thread_start(&t, count_turns, &y, cpu);
	struct task *counter = task_find(t.pid[1]);
	task_set_nice(counter, -20);
	task_put(counter);
	threads_join(&t);
	task_put(y.other);
	EXPECT(y.seen >= YIELDS / 2);
}

struct switches {
	u64 by_will, against;
};

static void sleep_often(void *arg)
{
	struct switches *s = arg;

	/* A nap that is over before the task gives the CPU up is no switch. */
	for (unsigned i = 0; i < 1000 && current()->nvcsw < 10; i++)
		sleep_ns(MS, NULL);
	s->by_will = current()->nvcsw;
}

static void spin_until_preempted(void *arg)
{
	struct switches *s = arg;
	u64 before = current()->nvcsw;

	do
		s->against = READ_ONCE(current()->nivcsw);
	while (s->against < 3 && task_runtime_ns(current()) < 2000 * MS);
	s->by_will = current()->nvcsw - before;
}

/* Switches are counted by whose will they are. */
static void switches(void)
{
	struct threads t = {0}, spinner = {0};
	struct switches s;
	int cpu = (int)cpu_count() - 1;

	thread_start(&t, sleep_often, &s, cpu);
	threads_join(&t);
	EXPECT(s.by_will >= 10);
	stop = 0;
	struct task *task = start_spinner(&spinner, cpu, 0);
	thread_start(&t, spin_until_preempted, &s, cpu);
	threads_join(&t);
	EXPECT_EQ(s.by_will, 0);
	EXPECT_EQ(s.against, 3);
	WRITE_ONCE(stop, 1);
	task_put(task);
	threads_join(&spinner);
}

static void look_at_own_time(void *decreased)
{
	u64 last = 0, now;

	while (READ_ONCE(current()->nivcsw) < 30) {
		now = task_runtime_ns(current());
		*(u32 *)decreased += now < last || now - last > 1000000 * MS;
		last = now;
	}
}

/* task_runtime_ns() of a task that is preempted in it neither decreases nor jumps. */
static void own_time(void)
{
	struct threads t = {0}, spinner = {0};
	int cpu = (int)cpu_count() - 1;
	u32 decreased = 0;

	stop = 0;
	struct task *task = start_spinner(&spinner, cpu, 0);
	thread_start(&t, look_at_own_time, &decreased, cpu);
	threads_join(&t);
	EXPECT_EQ(decreased, 0);
	WRITE_ONCE(stop, 1);
	task_put(task);
	threads_join(&spinner);
}

/* As another CPU leaves it that has charged this task by a clock of its own. */
static void run_charged_ahead(void *unused __maybe_unused)
{
	u64 before;
	s64 more;

	task_set_nice(current(), -20);
	before = current()->vruntime;
	current()->run_start_ns = clock_ns() + 10 * MS;
	spin_ns(30 * MS);
	more = (s64)(current()->vruntime - before);
	EXPECT(more > 0 && more < (s64)(1000 * MS));
}

/* A task that was charged up to a later time pays for what it runs after it, and no more. */
static void charged_ahead(void)
{
	struct threads t = {0};

	thread_start(&t, run_charged_ahead, NULL, (int)cpu_count() - 1);
	threads_join(&t);
}

static void sleep_for_long(void *unused __maybe_unused)
{
	while (!READ_ONCE(stop))
		sleep_ns(10 * MS, NULL);
}

/* A task that wakes goes to a CPU that is idle, not to the busiest. */
static void idle_cpu_chosen(void)
{
	struct threads t = {0};
	unsigned last = cpu_count() - 1, cpu = last;

	if (!last) {
		ktap_skip("needs two CPUs");
		return;
	}
	stop = 0;
	task_set_affinity(current(), 1UL << last);
	task_put(start_spinner(&t, (int)last, 0));
	thread_start(&t, sleep_for_long, NULL, (int)last);
	struct task *sleeper = task_find(t.pid[1]);
	task_set_affinity(sleeper, 1 | 1UL << last);
	for (unsigned i = 0; i < 100 && cpu; i++) { /* another may have CPU 0 for a moment */
		sleep_ns(NAP, NULL);
		preempt_disable();
		if (READ_ONCE(sleeper->cpu) == last)
			cpu = sched_choose_cpu(sleeper);
		preempt_enable();
		if (READ_ONCE(sleeper->cpu) != last)
			cpu = sleeper->cpu;
	}
	EXPECT_EQ(cpu, 0);
	WRITE_ONCE(stop, 1);
	task_put(sleeper);
	threads_join(&t);
	task_set_affinity(current(), UINT64_MAX);
}

static const struct ktap_case cases[] = {
    {"shares.weights", weights},
    {"shares.least_of_all", least_of_all},
    {"shares.sleep_saves_nothing", sleep_saves_nothing},
    {"shares.taken_along", taken_along},
    {"shares.yields", yields},
    {"shares.switches", switches},
    {"shares.own_time", own_time},
    {"shares.charged_ahead", charged_ahead},
    {"shares.idle_cpu_chosen", idle_cpu_chosen},
    {NULL, NULL},
};
const struct ktap_suite suite_shares = {cases};
