/*
 * The scheduler: which task runs, when and where. The times are the guest's: generous enough for a
 * busy host without -icount.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/group.h"
#include "kernel/task/load.h"
#include "tests/kernel/threads.h"

#define MS 1000000UL

static u32 stop;

static void spin_until_stop(void *unused)
{
	(void)unused;
	while (!READ_ONCE(stop))
		spin_ns(10000);
}

static void set_flag(void *flag)
{
	WRITE_ONCE(*(u32 *)flag, 1);
}

/* A thread that never gives the CPU up keeps nobody from running there. */
static void preempts_spinner(void)
{
	struct threads t = {0};
	unsigned cpu = cpu_count() - 1;
	u32 ran = 0;

	stop = 0;
	thread_start(&t, spin_until_stop, NULL, cpu);
	sleep_ns(5 * MS, NULL);
	thread_start(&t, set_flag, &ran, cpu);
	for (unsigned i = 0; i < 1000 && !READ_ONCE(ran); i++)
		sleep_ns(5 * MS, NULL);
	EXPECT_EQ(ran, 1);
	WRITE_ONCE(stop, 1);
	threads_join(&t);
}

struct clocked {
	u64 ns;
	/* the longest time it did not run: others did, or the host was busy with something else */
	u64 gap;
};

static void spin_and_report(void *arg)
{
	struct clocked *c = arg;

	for (u64 last = clock_ns(), now; !READ_ONCE(stop); last = now) {
		now = clock_ns();
		c->gap = MAX(c->gap, now - last);
	}
	c->ns = task_runtime_ns(current());
}

/* Equal tasks of one CPU get equal time, whenever they came. */
static void fair(void)
{
	struct threads t = {0};
	struct clocked c[3] = {{0}};
	u64 sum = 0, slack = 2 * TICK_NS;

	stop = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++)
		thread_start(&t, spin_and_report, &c[i], cpu_count() - 1);
	sleep_ns(200 * MS, NULL);
	WRITE_ONCE(stop, 1);
	threads_join(&t);
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++) {
		sum += c[i].ns;
		slack = MAX(slack, c[i].gap);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++)
		if (c[i].ns + slack < sum / 3 || c[i].ns > sum / 3 + slack)
			ktap_fail(__FILE__, __LINE__, "thread %u had %lu of %lu us, slack %lu", i,
			    c[i].ns / 1000, sum / 1000, slack / 1000);
}

#define NAPS 20

/* How many of the naps end more than a quarter of a tick late. */
static void nap_often(void *late)
{
	for (unsigned i = 0; i < NAPS; i++) {
		u64 due = clock_ns() + MS;
		sleep_ns(MS, NULL);
		*(u32 *)late += clock_ns() - due > TICK_NS / 4;
	}
}

/*
 * Who sleeps most of the time is let in at once when it wakes, not at a tick, though another spins
 * there.
 */
static void sleeper_comes_first(void)
{
	struct threads t = {0}, spinner = {0};
	unsigned cpu = cpu_count() - 1;
	u32 late = 0;

	if (cmdline_flag("hosttime")) {
		ktap_skip("the host's clock runs on while this machine waits for a CPU");
		return;
	}
	stop = 0;
	thread_start(&spinner, spin_until_stop, NULL, cpu);
	sleep_ns(20 * MS, NULL);
	thread_start(&t, nap_often, &late, cpu);
	threads_join(&t);
	WRITE_ONCE(stop, 1);
	threads_join(&spinner);
	EXPECT(late < NAPS - 2); /* a busy host makes some late; waiting for ticks makes all */
}

/* Without a tick of its own a sleep ends on time; it never ends early. */
static void sleeps(void)
{
	static const u64 ns[] = {0, 1, 1000, 50000, MS, 7 * MS};

	for (unsigned i = 0; i < ARRAY_SIZE(ns); i++) {
		u64 left = 1, start = clock_ns();
		EXPECT_EQ(sleep_ns(ns[i], &left), 0);
		u64 took = clock_ns() - start;
		EXPECT_EQ(left, 0);
		EXPECT(took >= ns[i]);
		if (took > ns[i] + 20 * MS && !cmdline_flag("hosttime"))
			ktap_fail(__FILE__, __LINE__, "%lu ns took %lu", ns[i], took);
	}
}

static u64 timer_interrupts(void)
{
	u64 n = 0;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		n += irq_counts(cpu)->n[VECTOR_TIMER];
	return n;
}

/*
 * CPUs with nothing to do are left alone: two ticks of each may be under way, and the sleep itself
 * needs one.
 */
static void idle_without_ticks(void)
{
	sleep_ns(3 * TICK_NS, NULL);
	u64 before = timer_interrupts();
	sleep_ns(50 * TICK_NS, NULL);
	EXPECT(timer_interrupts() - before <= 2 * cpu_count() + 2);
}

struct nap {
	int err;
	u64 left;
	u32 asleep;
};

/* For the length of the nap it is no kernel thread, which would take no signals. */
static void nap(void *arg)
{
	struct nap *n = arg;

	current()->flags &= ~TASK_KTHREAD;
	atomic_store(&n->asleep, 1);
	n->err = sleep_ns(3600000 * MS, &n->left);
	atomic_store(&n->asleep, 2);
	current()->flags |= TASK_KTHREAD;
}

/* A signal ends a sleep, and the time that was left is told. */
static void sleep_interrupted(void)
{
	struct threads t = {0};
	struct nap n = {.err = 0};

	thread_start(&t, nap, &n, -1);
	while (!atomic_load(&n.asleep))
		sleep_ns(MS, NULL);
	sleep_ns(5 * MS, NULL);
	EXPECT_EQ(atomic_load(&n.asleep), 1);
	EXPECT_EQ(signal_kill(t.pid[0], SIGTERM), 0);
	threads_join(&t);
	EXPECT_EQ(n.err, -EINTR);
	EXPECT(n.left > 3500000 * MS && n.left < 3600000 * MS);
}

/* ---- Waking ---- */

#define STORM_WAITERS 24
#define STORM_ROUNDS  50

static struct wait_queue storm_wq = WAIT_QUEUE_INIT(storm_wq);
static u32 storm_round, storm_seen[STORM_WAITERS];

static void storm_waiter(void *index)
{
	u32 *seen = &storm_seen[(u64)index];

	for (u32 round = 1; round <= STORM_ROUNDS; round++) {
		wait_event(&storm_wq, atomic_load(&storm_round) >= round);
		atomic_store(seen, round);
	}
}

/*
 * Every waiter on every CPU sees every round; a lost wake-up would hang here and be shot by the
 * runner.
 */
static void wake_storm(void)
{
	struct threads t = {0};

	storm_round = 0;
	memset(storm_seen, 0, sizeof(storm_seen));
	for (unsigned i = 0; i < STORM_WAITERS; i++)
		thread_start(&t, storm_waiter, (void *)(u64)i, i % cpu_count());
	for (u32 round = 1; round <= STORM_ROUNDS; round++) {
		atomic_store(&storm_round, round);
		wake_up(&storm_wq);
		for (unsigned i = 0; i < STORM_WAITERS; i++)
			while (atomic_load(&storm_seen[i]) < round)
				sched_yield_current();
	}
	threads_join(&t);
	EXPECT(list_empty(&storm_wq.waiters));
}

struct court {
	struct wait_queue wq;
	u32 ball;
};

#define SERVES 2000

static void player(void *arg)
{
	struct court *c = arg;

	for (u32 i = 0; i < SERVES; i++) {
		wait_event(&c->wq, atomic_load(&c->ball) == 2 * i + 1);
		atomic_store(&c->ball, 2 * i + 2);
		wake_up(&c->wq);
	}
}

static void ping_pong(void)
{
	struct threads t = {0};
	static struct court c;

	wait_queue_init(&c.wq);
	c.ball = 0;
	thread_start(&t, player, &c, cpu_count() - 1);
	for (u32 i = 0; i < SERVES; i++) {
		atomic_store(&c.ball, 2 * i + 1);
		wake_up(&c.wq);
		wait_event(&c.wq, atomic_load(&c.ball) == 2 * i + 2);
	}
	threads_join(&t);
	EXPECT_EQ(c.ball, 2 * SERVES);
}

/* Only tasks that wait can be woken, and only out of the states asked for. */
static void woken_once(void)
{
	EXPECT(!wake_up_process(current()));
	struct task *fresh = task_alloc("fresh", NULL);
	EXPECT(fresh != NULL && !wake_up_process(fresh)); /* it has not been started */
	task_put(fresh);
	task_put(fresh);
	atomic_store(&current()->state, TASK_UNINTERRUPTIBLE);
	EXPECT(!wake_up_state(current(), TASK_INTERRUPTIBLE));
	EXPECT(wake_up_state(current(), TASK_UNINTERRUPTIBLE));
	EXPECT_EQ(current()->state, TASK_RUNNING);
}

/* ---- Where ---- */

struct place {
	u64 cpus; /* [A] a bit for each CPU it was seen on */
	u32 stop;
};

static void note_cpu(void *arg)
{
	struct place *p = arg;

	while (!READ_ONCE(p->stop)) {
		atomic_or(&p->cpus, 1UL << cpu_id());
		spin_ns(10000);
	}
}

static void wait_for_cpus(struct place *p, u64 cpus)
{
	for (unsigned i = 0; i < 5000 && !(atomic_load(&p->cpus) & cpus); i++)
		sleep_ns(MS, NULL);
}

static void affinity(void)
{
	struct threads t = {0};
	struct place p = {0};
	unsigned last = cpu_count() - 1;

	EXPECT_EQ(task_set_affinity(current(), 0), -EINVAL);
	EXPECT_EQ(task_set_affinity(current(), cpu_count() < 64 ? 1UL << cpu_count() : 0), -EINVAL);
	thread_start(&t, note_cpu, &p, 0);
	wait_for_cpus(&p, 1);
	EXPECT_EQ(p.cpus, 1);
	struct task *task = task_find(t.pid[0]);
	EXPECT_EQ(task_set_affinity(task, 1UL << last), 0); /* while it runs: it is carried away */
	atomic_store(&p.cpus, 0);
	wait_for_cpus(&p, 1UL << last);
	atomic_store(&p.cpus, 0);
	sleep_ns(10 * MS, NULL);
	wait_for_cpus(&p, 1UL << last);
	EXPECT_EQ(p.cpus, 1UL << last);
	WRITE_ONCE(p.stop, 1);
	task_put(task);
	threads_join(&t);
}

static void affinity_of_oneself(void)
{
	u64 before = current()->cpus_allowed;

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
			EXPECT_EQ(task_set_affinity(current(), 1UL << cpu), 0);
			EXPECT_EQ(cpu_id(), cpu);
			EXPECT_EQ(current()->cpu, cpu);
		}
	}
	task_set_affinity(current(), before);
}

/*
 * Threads that all start on one CPU spread over those that are idle, also when they become idle
 * later.
 */
static void spreads(void)
{
	struct threads t = {0};

	if (cpu_count() < 2) {
		ktap_skip("needs two CPUs");
		return;
	}
	stop = 0;
	for (unsigned i = 0; i < 2; i++)
		thread_start(&t, spin_until_stop, NULL, 0);
	for (unsigned i = 0; i < t.n; i++) {
		struct task *task = task_find(t.pid[i]);
		task_set_affinity(task, UINT64_MAX);
		task_put(task);
	}
	unsigned busy = 0;
	for (unsigned tries = 0; tries < 500 && busy < 2; tries++) {
		sleep_ns(10 * MS, NULL);
		busy = 0;
		for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
			busy += sched_runnable(cpu) != 0;
	}
	EXPECT(busy >= 2);
	WRITE_ONCE(stop, 1);
	threads_join(&t);
}

/* With preemption off nobody else runs here, however much is due; then at once. */
static void preemption_off(void)
{
	struct threads t = {0};
	u32 ran = 0;

	task_set_affinity(current(), 1);
	preempt_disable();
	thread_start(&t, set_flag, &ran, 0);
	spin_ns(3 * TICK_NS);
	EXPECT_EQ(READ_ONCE(ran), 0);
	EXPECT_EQ(this_cpu_read(need_resched), 1);
	preempt_enable();
	for (unsigned i = 0; i < 1000 && !READ_ONCE(ran); i++)
		spin_ns(MS);
	EXPECT_EQ(READ_ONCE(ran), 1);
	threads_join(&t);
	task_set_affinity(current(), UINT64_MAX);
}

/*
 * When two tasks run for a minute, its average comes near two. When nobody runs for hours, nothing
 * of it is left. The clock that load_tick() is told of runs ahead of the real one: from then on
 * nothing is counted in this machine for as long.
 */
static void load(void)
{
	enum { PERIOD_S = 5, MINUTE = 60 / PERIOD_S };
	struct threads t = {0};
	u64 now = clock_ns() + 1000 * MS, before[3], averages[3];

	stop = 0;
	load_averages(before);
	for (unsigned i = 0; i < 2; i++)
		thread_start(&t, spin_until_stop, NULL, cpu_count() - 1);
	for (unsigned i = 0; i < MINUTE; i++)
		load_tick(now += PERIOD_S * 1000 * MS);
	load_averages(averages);
	/* 1 - 1/e of two tasks, and some of this one; 1/e of what the tests before this one left */
	EXPECT(averages[0] >= 2 * 0x800 * 62 / 100 &&
	       averages[0] <= 3 * 0x800 * 65 / 100 + before[0] * 38 / 100);
	EXPECT(averages[1] < averages[0] && averages[2] < averages[1] && averages[2]);
	WRITE_ONCE(stop, 1);
	threads_join(&t);
	load_tick(now += 12 * 3600 * 1000 * MS);
	load_averages(averages);
	EXPECT(averages[0] < 0x800 / 4 && averages[2] < averages[0]);
}

static const struct ktap_case cases[] = {
    {"sched.preempts_spinner", preempts_spinner},
    {"sched.fair", fair},
    {"sched.sleeper_comes_first", sleeper_comes_first},
    {"sched.sleeps", sleeps},
    {"sched.idle_without_ticks", idle_without_ticks},
    {"sched.sleep_interrupted", sleep_interrupted},
    {"sched.wake_storm", wake_storm},
    {"sched.ping_pong", ping_pong},
    {"sched.woken_once", woken_once},
    {"sched.affinity", affinity},
    {"sched.affinity_of_oneself", affinity_of_oneself},
    {"sched.spreads", spreads},
    {"sched.preemption_off", preemption_off},
    {"sched.load", load},
    {NULL, NULL},
};
const struct ktap_suite suite_sched = {cases};
