/*
 * Deferred work. A list per CPU, pushed to by compare-and-swap from any context of that CPU,
 * emptied whole by its interrupt.
 *
 * `queued` is 1 from the push until just before fn is called, so that whoever queues while fn runs
 * gets another run; `running` of the CPU names what is being called.
 */
/* hot: runs with each event */
#include "kernel/task/irq_work.h"
#include "arch/arch.h"
#include "kernel/lib/atomic.h"

struct irq_work_cpu {
	struct irq_work *list;	  /* [A] newest first */
	struct irq_work *running; /* [A] */
} __aligned(64);

static struct irq_work_cpu cpus[MAX_CPUS];

bool irq_work_queue(struct irq_work *w)
{
	if (atomic_xchg(&w->queued, 1))
		return false;
	preempt_disable();
	struct irq_work_cpu *c = &cpus[cpu_id()];
	struct irq_work *first;
	do {
		first = atomic_load(&c->list);
		w->next = first;
	} while (!atomic_cas(&c->list, first, w));
	if (!first)
		ipi_send(cpu_id(), IPI_CALL);
	preempt_enable_no_resched();
	return true;
}

static struct irq_work *reversed(struct irq_work *w)
{
	struct irq_work *out = NULL;

	while (w) {
		struct irq_work *next = w->next;
		w->next = out;
		out = w;
		w = next;
	}
	return out;
}

void irq_work_run(void)
{
	struct irq_work_cpu *c = &cpus[cpu_id()];
	struct irq_work *w = reversed(atomic_xchg(&c->list, NULL));

	while (w) {
		struct irq_work *next = w->next;
		atomic_store(&c->running, w);
		atomic_store(&w->queued, 0);
		w->fn(w);
		atomic_store(&c->running, NULL);
		w = next;
	}
}

void irq_work_sync(struct irq_work *w)
{
	while (atomic_load(&w->queued))
		cpu_relax();
	for (unsigned i = 0; i < cpu_count(); i++)
		while (atomic_load(&cpus[i].running) == w)
			cpu_relax();
}
