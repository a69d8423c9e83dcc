/*
 * Load averages. Every five seconds the tasks that want to run are counted, and each average moves
 * towards that number: a load of long ago weighs less by e per minute, five minutes, fifteen.
 *
 * The first tick after the time is up counts. Ticks come only while a CPU runs a task, so times
 * that nobody counted at were idle; they are made up for at the next tick, or when somebody asks.
 */
#include "kernel/task/load.h"
#include "arch/arch.h"
#include "kernel/task/sync.h"
#include "kernel/task/task.h"

#define PERIOD_NS 5000000000UL
#define ONE	  (1UL << LOAD_SHIFT)

/* exp(-5 s / 1 min), of 5 min, of 15 min. */
static const u64 weight[3] = {1884, 2014, 2037};

static struct spinlock load_lock = SPINLOCK_INIT;
static u64 averages[3]; /* [lock] */
static u64 counted_ns;	/* [lock] until then all is counted; others peek */

static void load_count(u64 tasks)
{
	for (unsigned i = 0; i < 3; i++) {
		u64 towards = tasks * ONE;
		u64 sum = averages[i] * weight[i] + towards * (ONE - weight[i]);

		averages[i] = (sum + (towards >= averages[i] ? ONE - 1 : 0)) / ONE;
	}
}

/* The lock is held. An hour of idling leaves nothing of any average. */
static void load_catch_up(u64 now)
{
	u64 tasks = 0;

	if (now - counted_ns > 720 * PERIOD_NS) {
		averages[0] = averages[1] = averages[2] = 0;
		counted_ns = now - now % PERIOD_NS - PERIOD_NS;
	}
	for (; now - counted_ns >= 2 * PERIOD_NS; counted_ns += PERIOD_NS)
		load_count(0);
	if (now - counted_ns < PERIOD_NS)
		return;
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		tasks += sched_runnable(cpu);
	load_count(tasks);
	counted_ns += PERIOD_NS;
}

void load_tick(u64 now)
{
	if (likely(now < READ_ONCE(counted_ns) + PERIOD_NS))
		return;
	u64 flags = spin_lock_irqsave(&load_lock);
	if (now >= counted_ns)
		load_catch_up(now);
	spin_unlock_irqrestore(&load_lock, flags);
}

void load_averages(u64 load[3])
{
	load_tick(clock_ns());
	u64 flags = spin_lock_irqsave(&load_lock);
	for (unsigned i = 0; i < 3; i++)
		load[i] = averages[i];
	spin_unlock_irqrestore(&load_lock, flags);
}
