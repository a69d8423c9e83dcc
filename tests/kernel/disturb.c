/* Takes the CPU from the tests. See the header. Task context. */
#include "tests/kernel/disturb.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"

/* Logarithms of ns. Each is as likely, so most times are far shorter than the longest. */
#define SHORTEST   10
#define LONGEST	   21
#define LONG_NS	   20000000
#define LONG_EVERY 256

static u64 some_ns(u64 *random)
{
	u64 most = 1UL << (SHORTEST + prng_next(random) % (LONGEST - SHORTEST + 1));

	return 1 + prng_next(random) % most;
}

static void disturb(void *seed)
{
	u64 random = (u64)seed;

	for (;;) {
		sleep_ns(some_ns(&random), NULL);
		sleep_ns(some_ns(&random), NULL);
		spin_ns(prng_next(&random) % LONG_EVERY ? some_ns(&random) : LONG_NS);
	}
}

void disturb_begin(void)
{
	static const struct task_policy first = {.policy = SCHED_FIFO, .rt_priority = 99};
	u64 seed = cmdline_u64("disturb", 0);

	if (!seed)
		return;
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		struct task *t =
		    kthread_create(disturb, (void *)(seed * MAX_CPUS + cpu), (int)cpu, "disturb");

		BUG_ON(!t);
		task_set_policy(t, &first);
		kthread_start(t);
	}
	pr_info("tests: disturbed, seed %lu", seed);
}
