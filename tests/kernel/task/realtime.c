/*
 * Real-time tasks: they come before all others, the one with the highest priority first, equals in
 * order of arrival. Who runs is seen in the order in which threads leave their letters.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/kernel/threads.h"

#define MS 1000000UL

static char letters[32]; /* [A] in the order in which they came */
static u32 letter_count;

static void note(char letter)
{
	u32 at = atomic_add(&letter_count, 1) - 1;

	if (at < sizeof(letters) - 1)
		WRITE_ONCE(letters[at], letter);
}

static void expect_letters(const char *wanted)
{
	if (strcmp(letters, wanted) != 0)
		ktap_fail(__FILE__, __LINE__, "%s came, not %s", letters, wanted);
}

static void set_policy(u32 policy, u32 priority)
{
	task_set_policy(
	    current(), &(struct task_policy){.policy = policy, .rt_priority = priority});
}

/* The case itself: on the last CPU, before all the threads that it starts there. */
static unsigned begin(void)
{
	unsigned cpu = cpu_count() - 1;

	memset(letters, 0, sizeof(letters));
	letter_count = 0;
	task_set_affinity(current(), 1UL << cpu);
	while (cpu_id() != cpu)
		sched_yield_current();
	set_policy(SCHED_FIFO, 90);
	return cpu;
}

static void end(struct threads *t)
{
	threads_join(t);
	set_policy(SCHED_OTHER, 0);
	task_set_affinity(current(), ~0UL);
}

/* How each thread is scheduled, and what it does. */
struct role {
	char letter;
	u32 policy, priority;
	void (*act)(const struct role *);
};

static void notes_twice(const struct role *r)
{
	note(r->letter);
	spin_ns(MS);
	note(r->letter);
}

static void yields_between(const struct role *r)
{
	note(r->letter);
	sched_yield_current();
	note(r->letter);
}

/*
 * Spins until another has left a letter, or has had time enough for it. A host that stops the CPU
 * for long also lets time pass: so 20 interrupts must have come after it.
 */
static void spins_for_another(const struct role *r)
{
	u32 mine = atomic_add(&letter_count, 0) + 1, late = 0;

	note(r->letter);
	while (READ_ONCE(letter_count) == mine && late < 20) {
		cpu_idle_wait();
		late += task_runtime_ns(current()) >= 20 * RR_SLICE_NS;
	}
	note(r->letter);
}

static void run_role(void *arg)
{
	const struct role *r = arg;

	r->act(r);
}

/* A thread that has its policy before it runs. */
static void start_role(struct threads *t, struct role *r, unsigned cpu)
{
	struct task_policy mine = task_get_policy(current()),
			   its = {.policy = r->policy, .rt_priority = r->priority};

	thread_start(t, run_role, r, cpu);
	struct task *task = task_find(t->pid[t->n - 1]);
	EXPECT(mine.rt_priority > its.rt_priority);
	EXPECT(task);
	if (!task) /* it has ended: this task was throttled */
		return;
	task_set_policy(task, &its);
	task_put(task);
}

/* The highest priority first, whatever came first; who shares comes last. */
static void by_priority(void)
{
	static struct role roles[] = {{'o', SCHED_OTHER, 0, notes_twice},
	    {'a', SCHED_FIFO, 10, notes_twice}, {'c', SCHED_FIFO, 30, notes_twice},
	    {'b', SCHED_FIFO, 20, notes_twice}};
	struct threads t = {0};
	unsigned cpu = begin();

	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	end(&t);
	expect_letters("ccbbaaoo");
}

/* Equals run one after the other, or by turns if they give the CPU up. */
static void equals(void)
{
	static struct role fifo[] = {{'a', SCHED_FIFO, 10, notes_twice},
	    {'b', SCHED_FIFO, 10, notes_twice}, {'c', SCHED_FIFO, 10, notes_twice}};
	static struct role yields[] = {
	    {'a', SCHED_FIFO, 10, yields_between}, {'b', SCHED_FIFO, 10, yields_between}};
	struct threads t = {0};
	unsigned cpu = begin();

	for (unsigned i = 0; i < ARRAY_SIZE(fifo); i++)
		start_role(&t, &fifo[i], cpu);
	end(&t);
	expect_letters("aabbcc");
	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(yields); i++)
		start_role(&t, &yields[i], cpu);
	end(&t);
	expect_letters("abab");
}

/* With SCHED_RR a slice ends, and the next equal has its turn. */
static void slices(void)
{
	static struct role roles[] = {
	    {'a', SCHED_RR, 10, spins_for_another}, {'b', SCHED_RR, 10, spins_for_another}};
	struct threads t = {0};
	unsigned cpu = begin();

	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	end(&t);
	expect_letters("abab");
}

static struct wait_queue bell = WAIT_QUEUE_INIT(bell);
static u32 rung;

static void waits_for_bell(const struct role *r)
{
	wait_event(&bell, atomic_load(&rung));
	note(r->letter);
}

static void rings(const struct role *r)
{
	note(r->letter);
	atomic_store(&rung, 1);
	wake_up(&bell);
	note(r->letter); /* not before whoever comes first has run */
}

/* A wake-up hands the CPU over at once; who was preempted goes on before its equals. */
static void preempts(void)
{
	static struct role roles[] = {{'w', SCHED_FIFO, 20, waits_for_bell},
	    {'a', SCHED_FIFO, 10, rings}, {'b', SCHED_FIFO, 10, notes_twice}};
	struct threads t = {0};
	unsigned cpu = begin();

	rung = 0;
	start_role(&t, &roles[0], cpu);
	sleep_ns(MS, NULL);
	start_role(&t, &roles[1], cpu);
	start_role(&t, &roles[2], cpu);
	end(&t);
	expect_letters("awabb");
}

static u32 stop;

static void hogs(const struct role *r)
{
	while (!READ_ONCE(stop))
		cpu_idle_wait();
	note(r->letter);
}

static void stops_them(const struct role *r)
{
	note(r->letter);
	WRITE_ONCE(stop, 1);
}

/* A real-time task that never ends leaves the others a part of each second. */
static void rests(void)
{
	static struct role roles[] = {
	    {'h', SCHED_FIFO, 50, hogs}, {'o', SCHED_OTHER, 0, stops_them}};
	struct threads t = {0};
	unsigned cpu = begin();

	stop = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	end(&t);
	expect_letters("oh");
}

struct meeting {
	u32 there;
	u64 cpus;
};

static void meet(void *arg)
{
	struct meeting *m = arg;

	atomic_add(&m->there, 1);
	while (atomic_load(&m->there) < cpu_count())
		barrier();
	atomic_or(&m->cpus, 1UL << cpu_id());
}

/* As many as there are CPUs run at the same time, though they were all made on one. */
static void on_each_cpu(void)
{
	struct threads t = {0};
	struct meeting m = {0};

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	begin();
	for (unsigned i = 0; i < cpu_count(); i++) {
		thread_start(&t, meet, &m, cpu_count() - 1);
		struct task *task = task_find(t.pid[i]);
		task_set_policy(
		    task, &(struct task_policy){.policy = SCHED_FIFO, .rt_priority = 1 + i});
		task_set_affinity(task, ~0UL);
		task_put(task);
	}
	/* Else it would take a CPU from them, time and again. */
	set_policy(SCHED_OTHER, 0);
	end(&t);
	EXPECT_EQ(m.there, cpu_count());
	EXPECT_EQ(m.cpus, (1UL << cpu_count()) - 1);
}

/* Another priority takes effect at once, on a task that waits and on one that runs. */
static void changes(void)
{
	static struct role roles[] = {
	    {'a', SCHED_FIFO, 10, notes_twice}, {'b', SCHED_FIFO, 20, notes_twice}};
	struct threads t = {0};
	unsigned cpu = begin();

	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	struct task *a = task_find(t.pid[0]);
	task_set_policy(a, &(struct task_policy){.policy = SCHED_RR, .rt_priority = 30});
	EXPECT_EQ(a->prio, 99 - 30);
	task_put(a);
	note('-');
	set_policy(SCHED_OTHER, 0); /* the others come first now */
	note('-');
	end(&t);
	expect_letters("-aabb-");
}

#define TURNS 4

static u32 whose;	   /* [A] who had the CPU last, */
static u64 turn_ns[TURNS]; /* and how long each turn was, of the time of whose it was */
static u32 turn_count;

/* Looks all the time whether the other has run meanwhile. */
static void takes_turns(const struct role *r)
{
	u64 began = task_runtime_ns(current()), now = began;

	WRITE_ONCE(whose, r->letter);
	while (READ_ONCE(turn_count) < TURNS) {
		if (READ_ONCE(whose) == (u32)r->letter) {
			now = task_runtime_ns(current());
			continue;
		}
		turn_ns[turn_count] = now - began;
		WRITE_ONCE(turn_count, turn_count + 1);
		WRITE_ONCE(whose, r->letter);
		began = now;
	}
}

/* No turn of SCHED_RR is shorter than a slice. The first look comes some time after its begin. */
static void whole_slices(void)
{
	static struct role roles[] = {
	    {'a', SCHED_RR, 10, takes_turns}, {'b', SCHED_RR, 10, takes_turns}};
	struct threads t = {0};
	unsigned cpu = begin();

	turn_count = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	end(&t);
	for (unsigned i = 0; i < TURNS; i++)
		if (turn_ns[i] < RR_SLICE_NS * 9 / 10)
			ktap_fail(__FILE__, __LINE__, "turn %u: %lu ns", i, turn_ns[i]);
}

static void notes_late(const struct role *r)
{
	note(r->letter);
	while (task_runtime_ns(current()) < 3 * RR_SLICE_NS)
		barrier();
	note(r->letter);
}

/* SCHED_FIFO knows no slices. */
static void no_slices(void)
{
	static struct role roles[] = {
	    {'a', SCHED_FIFO, 10, notes_late}, {'b', SCHED_FIFO, 10, notes_twice}};
	struct threads t = {0};
	unsigned cpu = begin();

	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	end(&t);
	expect_letters("aabb");
}

static struct wait_queue slice_end = WAIT_QUEUE_INIT(slice_end);

/*
 * With SCHED_RR alone until its slice is used up; then, with SCHED_FIFO, beside another. Who
 * preempts it often may always be there before it looks: it does not wait for ever.
 */
static void changes_policy(const struct role *r)
{
	u64 until;

	note(r->letter);
	while (!READ_ONCE(current()->turn_over) && task_runtime_ns(current()) < 5 * RR_SLICE_NS)
		barrier();
	set_policy(SCHED_FIFO, r->priority);
	until = task_runtime_ns(current()) + RR_SLICE_NS;
	atomic_store(&rung, 1);
	wake_up(&bell);
	while (task_runtime_ns(current()) < until)
		barrier();
	note(r->letter);
	wake_up(&slice_end);
}

/* A slice that was used up under SCHED_RR ends no turn under SCHED_FIFO. */
static void slice_forgotten(void)
{
	static struct role roles[] = {
	    {'b', SCHED_FIFO, 10, waits_for_bell}, {'a', SCHED_RR, 10, changes_policy}};
	struct threads t = {0};
	unsigned cpu = begin();

	rung = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(roles); i++)
		start_role(&t, &roles[i], cpu);
	/* threads_join() would wake this task often, and it would preempt them. */
	wait_event(&slice_end, READ_ONCE(letter_count) >= 2);
	end(&t);
	expect_letters("aab");
}

/* A task that waits and is given a higher priority than who runs: it runs at once. */
static void raised(void)
{
	static struct role role = {'a', SCHED_FIFO, 10, notes_twice};
	struct threads t = {0};
	unsigned cpu = begin();

	start_role(&t, &role, cpu);
	struct task *a = task_find(t.pid[0]);
	note('-');
	task_set_policy(a, &(struct task_policy){.policy = SCHED_FIFO, .rt_priority = 95});
	note('-');
	task_put(a);
	end(&t);
	expect_letters("-aa-");
}

/* ---- more than one CPU ---- */

static u32 seen_on; /* [A] one more than the CPU on which it ran; 0: it has not */

static void notes_cpu(void *unused __maybe_unused)
{
	atomic_store(&seen_on, 1 + cpu_id());
	wake_up(&bell);
}

static u32 may_nap;

static void naps(void *unused __maybe_unused)
{
	while (!atomic_load(&may_nap))
		barrier();
	wait_event(&bell, atomic_load(&seen_on));
}

/*
 * A CPU whose real-time task goes to sleep takes one that waits elsewhere, but none that may not
 * run there. The case has CPU 0, where that one waits.
 */
static void not_taken_over(void)
{
	static const struct task_policy above = {.policy = SCHED_FIFO, .rt_priority = 60},
					below = {.policy = SCHED_FIFO, .rt_priority = 50};
	struct threads t = {0};
	unsigned last = cpu_count() - 1;

	if (!last) {
		ktap_skip("one CPU");
		return;
	}
	begin();
	seen_on = may_nap = 0;
	task_set_affinity(current(), 1);
	thread_start(&t, naps, NULL, (int)last);
	thread_start(&t, notes_cpu, NULL, 0);
	struct task *napper = task_find(t.pid[0]), *waiter = task_find(t.pid[1]);
	task_set_policy(napper, &above);
	task_set_policy(waiter, &below);
	atomic_store(&may_nap, 1);
	while (READ_ONCE(napper->state) == TASK_RUNNING || READ_ONCE(napper->on_cpu))
		barrier();
	EXPECT_EQ(atomic_load(&seen_on), 0);
	task_put(napper);
	task_put(waiter);
	end(&t);
	EXPECT_EQ(seen_on, 1);
}

/* A task that waits where it may not run any more is taken elsewhere at once. */
static void waiter_moves(void)
{
	struct threads t = {0};

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	begin();
	seen_on = 0;
	thread_start(&t, notes_cpu, NULL, (int)cpu_count() - 1);
	struct task *task = task_find(t.pid[0]);
	task_set_affinity(task, 1);
	task_put(task);
	end(&t);
	EXPECT_EQ(seen_on, 1);
}

/* Leaves a letter whenever the other had much time since the last look. */
static void looks_at_hog(void *arg)
{
	struct task *hog = arg;
	u64 last = task_runtime_ns(hog);

	while (READ_ONCE(letter_count) < 2 && task_runtime_ns(current()) < 3000 * MS) {
		u64 now = task_runtime_ns(hog);

		if (now - last >= 500 * MS)
			note('.');
		last = now;
	}
	WRITE_ONCE(stop, 1);
}

/* When the period of the rest is over, the next one is theirs again. */
static void runs_again(void)
{
	static struct role role = {'h', SCHED_FIFO, 50, hogs};
	struct threads t = {0};
	unsigned cpu = begin();

	stop = 0;
	start_role(&t, &role, cpu);
	struct task *hog = task_find(t.pid[0]);
	thread_start(&t, looks_at_hog, hog, (int)cpu);
	end(&t);
	task_put(hog);
	expect_letters("..h");
}

static const struct ktap_case cases[] = {
    {"realtime.by_priority", by_priority},
    {"realtime.equals", equals},
    {"realtime.slices", slices},
    {"realtime.preempts", preempts},
    {"realtime.on_each_cpu", on_each_cpu},
    {"realtime.changes", changes},
    {"realtime.whole_slices", whole_slices},
    {"realtime.no_slices", no_slices},
    {"realtime.slice_forgotten", slice_forgotten},
    {"realtime.raised", raised},
    {"realtime.not_taken_over", not_taken_over},
    {"realtime.waiter_moves", waiter_moves},
    {"realtime.runs_again", runs_again},
    {"realtime.rests", rests}, /* last: the rest goes on for a while */
    {NULL, NULL},
};
const struct ktap_suite suite_realtime = {cases};
