/* See tools.h. The counts are of one probe at a time, on one CPU. */
#include "tests/kernel/kprobe/tools.h"

#include "kernel/task/timer.h"

u64 probe_hits, probe_post_hits;
struct regs probe_seen;

int probe_on_hit(struct kprobe *p, struct regs *r)
{
	(void)p;
	probe_hits++;
	probe_seen = *r;
	return 0;
}

void probe_on_post(struct kprobe *p, struct regs *r, u64 flags)
{
	(void)p;
	(void)flags;
	probe_post_hits++;
	probe_seen = *r;
}

bool probe_optimize(void)
{
	for (unsigned i = 0; i < PROBE_TRIES; i++) {
		if (kprobes_optimize())
			return true;
		sleep_ns(TICK_NS, NULL);
	}
	return false;
}

u8 probe_head(const struct kprobe *p)
{
	return *(volatile u8 *)p->addr;
}
