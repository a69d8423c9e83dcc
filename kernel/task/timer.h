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

/*
 * Ends a wait of the current task at clock_ns() == deadline (~0: never): wakes it, and `due` is
 * set.
 */
struct timer_wake {
	struct timer timer;
	struct task *task;
	bool due; /* [A] */
};
void timer_wake_at(struct timer_wake *w, u64 deadline);
void timer_wake_cancel(struct timer_wake *w);

/* As wait_event_interruptible(), and -ETIMEDOUT when the deadline came first. */
#define wait_event_until(wq, cond, deadline)                                                       \
	({                                                                                         \
		int ret_ = 0;                                                                      \
		struct timer_wake w_;                                                              \
		struct wait_entry e_;                                                              \
		timer_wake_at(&w_, deadline);                                                      \
		while (!ret_ && !(cond)) {                                                         \
			wait_prepare(wq, &e_, true);                                               \
			if (!(cond)) {                                                             \
				if (atomic_load(&w_.due))                                          \
					ret_ = -ETIMEDOUT;                                         \
				else if (signal_pending_current())                                 \
					ret_ = -EINTR;                                             \
				else                                                               \
					schedule();                                                \
			}                                                                          \
			wait_finish(wq, &e_);                                                      \
		}                                                                                  \
		timer_wake_cancel(&w_);                                                            \
		ret_;                                                                              \
	})

/* Nanoseconds: between two ends, 0: it ends once; until the next, 0: it is off. */
struct timer_setting {
	u64 interval, value;
};

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
