/* Switching between two kernel threads of one CPU. */
#include "kernel/task/task.h"
#include "tests/bench/bench.h"

static u32 stop;

static void other(void *unused)
{
	(void)unused;
	while (!READ_ONCE(stop))
		sched_yield_current();
}

/* Two switches a pass: there and back. */
BENCH_ROUND(yield_round, sched_yield_current())

static void run_switch(const char *name)
{
	u64 v[BENCH_ROUNDS];

	stop = 0;
	kthread_run(other, NULL, (int)cpu_id(), "bench-other");
	yield_round(10);
	for (unsigned i = 0; i < BENCH_ROUNDS; i++) {
		u64 t = yield_round(1000);
		unsigned j = i;
		for (; j > 0 && v[j - 1] > t; j--)
			v[j] = v[j - 1];
		v[j] = t;
	}
	WRITE_ONCE(stop, 1);
	sched_yield_current();
	bench_value(name, v[BENCH_ROUNDS / 2] * 10 / 2000, "insn");
}

const struct bench bench_task[] = {
    {"ctx.switch", run_switch},
    {NULL, NULL},
};
