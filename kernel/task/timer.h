/*
 * One-shot timers and sleeping. The callback runs in irq context on the CPU that armed it. Task and
 * irq context.
 */
#pragma once

#include "kernel/lib/list.h"

struct timer {
	struct list_head node;
	u64 expires; /* clock_ns() */
	void (*fn)(struct timer *);
	unsigned cpu;
	bool armed;
};

void timer_setup(struct timer *t, void (*fn)(struct timer *));
void timer_start(struct timer *t, u64 expires_ns); /* absolute; re-arms */
bool timer_cancel(struct timer *t); /* true if it was armed; not running when this returns */
/* Sleeps; -EINTR and *left (may be NULL) when a signal came first. */
int sleep_ns(u64 ns, u64 *left);

struct sleeper {
	u64 expires; /* clock_ns() at the end of the sleep; of SLEEP_FOR, before it, from now */
	struct timer timer;
	struct task *task;
	bool due; /* [A] */
};
enum { SLEEP_UNTIL, SLEEP_FOR }; /* Linux's HRTIMER_MODE_ABS, HRTIMER_MODE_REL */
/* With Linux's name and arguments, for kprobes: nanosleep()'s. 0 or -EINTR. */
int do_nanosleep(struct sleeper *t, u32 mode);
#define TICK_NS 4000000UL /* 250 Hz */
