/* See feed.h. One feed at a time. */
#include "tests/kernel/feed.h"

#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/interrupt.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"

u64 feed_count;

static struct {
	void (*fire)(u64 random);
	u32 events;
	u64 seed, feeding; /* [A] feeding: threads that are not done */
} feed;

static void fire(u64 random)
{
	feed.fire(random);
	atomic_add(&feed_count, 1);
}

static bool in_nmi(struct regs *r __maybe_unused)
{
	fire(atomic_load_relaxed(&feed_count));
	return true;
}

static void run(void *arg)
{
	u64 random = feed.seed + (u64)arg * 77;

	for (u32 i = 0; i < feed.events; i++) {
		u64 r = prng_next(&random) >> 20;
		fire(r);
		if (r % 256 == 0)
			nmi_send((r >> 8) % cpu_count());
	}
	atomic_sub(&feed.feeding, 1);
}

void feed_on_all(void (*fn)(u64 random), u32 events, void (*meanwhile)(void))
{
	struct threads t = {.n = 0};

	feed.fire = fn;
	feed.events = events;
	feed.seed = cycles();
	ktap_note("seed %lu, %u CPUs", feed.seed, cpu_count());
	atomic_store(&feed_count, 0);
	atomic_store(&feed.feeding, cpu_count());
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	for (u64 cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, run, (void *)cpu, cpu);
	while (meanwhile && atomic_load(&feed.feeding))
		meanwhile();
	threads_join(&t);
	nmi_handler_remove(in_nmi);
}
