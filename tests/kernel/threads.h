/* Threads of a test case: started together, waited for, and gone when the case ends. */
#pragma once

#include "kernel/task/task.h"

#define THREADS_MAX 64

struct threads {
	unsigned n;
	int pid[THREADS_MAX];
};

/* One more; cpu < 0: any. A failure is the case's. */
void thread_start(struct threads *t, void (*fn)(void *), void *arg, int cpu);
/* Until all have ended and their memory is given back. */
void threads_join(struct threads *t);
/*
 * Burns time. Not delay_us(): a pause in the loop costs the emulator a thousand times as much as
 * the guest.
 */
static inline void spin_ns(u64 ns)
{
	u64 end = clock_ns() + ns;
	while (clock_ns() < end)
		barrier();
}
/* Frames that are free once nothing is on its way any more. */
u64 settled_free_pages(void);
