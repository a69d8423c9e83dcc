/*
 * Device interrupts: the handlers of each line, and the tracepoints around them; also the machine's
 * counts of interrupts that are no device's. irq_request(): task context, by irq_lock. Dispatch:
 * irq context, without a lock; actions are only added.
 */
/* hot: runs with each event */
#include "kernel/task/irq.h"

#include "arch/arch.h"
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sync.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

#define UNCLAIMED_MAX 10000u /* interrupts in a row */
#define ASK_NS	      1000000UL

struct irq_action {
	struct irq_action *next; /* [A] */
	irq_handler fn;
	void *arg;
	const char *name;
};

static struct irq_line lines[IRQ_LINES];
static struct spinlock irq_lock = SPINLOCK_INIT;

const struct irq_line *irq_line(unsigned irq)
{
	return irq < IRQ_LINES ? &lines[irq] : NULL;
}

const char *irq_action_name(const struct irq_line *line, unsigned i)
{
	const struct irq_action *a = atomic_load_acquire(&line->first);
	while (a && i--)
		a = atomic_load_acquire(&a->next);
	return a ? a->name : NULL;
}

int irq_request(unsigned irq, const char *name, irq_handler fn, void *arg)
{
	if (irq >= IRQ_LINES)
		return -ENODEV;
	struct irq_action *a = kzalloc(sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = (struct irq_action){.fn = fn, .arg = arg, .name = name};
	u64 flags = spin_lock_irqsave(&irq_lock);
	struct irq_action **end = &lines[irq].first;
	bool first = !*end;
	while (*end)
		end = &(*end)->next;
	atomic_store_release(end, a);
	int err = first ? arch_irq_route(irq) : 0;
	if (err)
		*end = NULL;
	spin_unlock_irqrestore(&irq_lock, flags);
	if (err)
		kfree(a);
	return err;
}

unsigned irq_from_isa(unsigned isa)
{
	return arch_isa_gsi(isa);
}

/* True: one of the handlers says it was its device. */
static bool irq_run_handlers(unsigned irq, struct irq_line *line)
{
	bool claimed = false;
	for (struct irq_action *a = atomic_load_acquire(&line->first); a;
	     a = atomic_load_acquire(&a->next)) {
		trace_irq_handler_entry(irq, a->name);
		bool mine = a->fn(a->arg);
		if (WARN_ON_ONCE(irqs_enabled())) /* by a handler, which may not */
			irq_disable();
		trace_irq_handler_exit(irq, mine);
		claimed |= mine;
	}
	return claimed;
}

/* Lines that were given up: whose devices have drivers are asked by the clock. */
static void irq_poll_lines(struct timer *t)
{
	for (unsigned irq = 0; irq < IRQ_LINES; irq++)
		if (lines[irq].off)
			irq_run_handlers(irq, &lines[irq]);
	timer_start(t, clock_ns() + ASK_NS);
}

/* A device without a driver holds the line: nothing else would run any more. */
static void give_up(unsigned irq, struct irq_line *line)
{
	static struct timer timer;
	arch_irq_mask(irq);
	line->off = true;
	line->unclaimed = 0;
	pr_err("irq %u: nobody cared %u times in a row; the line is off, its devices are asked "
	       "each millisecond",
	    irq, UNCLAIMED_MAX);
	if (!timer.fn) {
		timer_setup(&timer, irq_poll_lines);
		timer_start(&timer, clock_ns() + ASK_NS);
	}
}

void kernel_irq(unsigned irq)
{
	struct irq_line *line = &lines[irq];
	line->count++;
	line->unclaimed = irq_run_handlers(irq, line) ? 0 : line->unclaimed + 1;
	if (unlikely(line->unclaimed >= UNCLAIMED_MAX))
		give_up(irq, line);
}

void kernel_vector_entry(enum vector_kind kind, unsigned vector)
{
	switch (kind) {
	case VECTOR_TIMER:
		trace_local_timer_entry(vector);
		break;
	case VECTOR_RESCHEDULE:
		trace_reschedule_entry(vector);
		break;
	case VECTOR_CALL:
		trace_call_function_entry(vector);
		break;
	case VECTOR_ERROR:
		trace_error_apic_entry(vector);
		break;
	default:
		trace_spurious_apic_entry(vector);
		break;
	}
}

void kernel_vector_exit(enum vector_kind kind, unsigned vector)
{
	switch (kind) {
	case VECTOR_TIMER:
		trace_local_timer_exit(vector);
		break;
	case VECTOR_RESCHEDULE:
		trace_reschedule_exit(vector);
		break;
	case VECTOR_CALL:
		trace_call_function_exit(vector);
		break;
	case VECTOR_ERROR:
		trace_error_apic_exit(vector);
		break;
	default:
		trace_spurious_apic_exit(vector);
		break;
	}
}

/* Linux's words, as ipi:ipi_raise shows them. */
static const char *const ipi_reasons[IPI_COUNT] = {
    [IPI_RESCHEDULE] = "Rescheduling interrupts",
    [IPI_CALL] = "Function call interrupts",
};

const char *irq_ipi_reason(unsigned i)
{
	return i < IPI_COUNT ? ipi_reasons[i] : NULL;
}

void kernel_ipi_raised(u64 cpus, enum ipi what)
{
	trace_ipi_raise(cpus, ipi_reasons[what]);
}

void kernel_tlb_flushed(enum tlb_reason reason, u64 pages)
{
	trace_tlb_flush(reason, pages);
}

/* A CPU that starts sets its APIC up before it has a task: no event can be recorded there yet. */
void kernel_msr_touched(u32 msr, u64 value, bool write, bool failed)
{
	if (!current())
		return;
	if (write)
		trace_write_msr(msr, value, failed);
	else
		trace_read_msr(msr, value, failed);
}
