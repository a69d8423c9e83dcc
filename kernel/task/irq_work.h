/*
 * Defers work from contexts that must not take locks (NMIs, tracepoints inside the scheduler) to
 * interrupt context. It runs on the same CPU as soon as interrupts are on.
 */
#pragma once

#include "kernel/lib/types.h"

/* Zeroed but for fn. */
struct irq_work {
	struct irq_work *next; /* [A] on the list */
	void (*fn)(struct irq_work *);
	u32 queued; /* [A] */
};

/* Any context. False: it is queued already, and will run once after this. */
bool irq_work_queue(struct irq_work *w);
/* Waits until a run in progress is over. Task context, interrupts on. */
void irq_work_sync(struct irq_work *w);
void irq_work_run(void); /* from the interrupt */
