/*
 * host_synchronize(): whoever was in a tracer section when it began has left it when it returns, on
 * every CPU.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"

#define ROUNDS 25
#define MOST   100000 /* until one of them finds a section of another CPU */

static u64 section[MAX_CPUS]; /* [A] odd: inside one */
static u64 stop;	      /* [A] */
static u64 waited;	      /* how often there was one to wait for */

/*
 * Sections of all lengths, with interrupts on: the question of host_synchronize() finds the CPU
 * inside.
 */
static void enter_and_leave(void *arg)
{
	u64 *mine = &section[(u64)arg], random = 1 + (u64)arg;
	struct host_context ctx;

	while (!atomic_load(&stop)) {
		host_enter(&ctx);
		atomic_add(mine, 1);
		spin_ns(prng_next(&random) % 100000);
		atomic_add(mine, 1);
		host_preempt_enable();
		spin_ns(prng_next(&random) % 20000);
	}
}

static void one_round(void)
{
	u64 before[MAX_CPUS], allowed = current()->cpus_allowed;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		before[cpu] = atomic_load(&section[cpu]);
	host_synchronize();
	EXPECT_EQ(current()->cpus_allowed, allowed); /* it may have gone to other CPUs */
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (before[cpu] & 1) {
			EXPECT(atomic_load(&section[cpu]) != before[cpu]);
			waited++;
		}
}

static void waits_for_sections(void)
{
	struct threads t = {0};

	atomic_store(&stop, 0);
	waited = 0;
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, enter_and_leave, (void *)(u64)cpu, cpu);
	for (unsigned i = 0; i < ROUNDS || (cpu_count() > 1 && !waited && i < MOST); i++)
		one_round();
	atomic_store(&stop, 1);
	threads_join(&t);
	EXPECT(cpu_count() == 1 || waited > 0);
}

static const struct ktap_case cases[] = {
    {"synchronize.waits_for_sections", waits_for_sections},
    {NULL, NULL},
};
const struct ktap_suite suite_synchronize = {cases};
