/*
 * From vector to handler. Interrupt context, interrupts off. Counters: own CPU only.
 */
#include "arch/x86_64/irq/interrupt.h"

#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/irq/apic.h"
#include "arch/x86_64/irq/ipi.h"
#include "arch/x86_64/irq/trap.h"

#define FIRST_LOCAL 0xe0
#define OP_HLT	    0xf4

static struct irq_counts counts[MAX_CPUS] __aligned(64);

const struct irq_counts *irq_counts(unsigned cpu)
{
	return &counts[cpu];
}

static void interrupt_reschedule(struct regs *r)
{
	(void)r;
	kernel_ipi(IPI_RESCHEDULE);
}

static void interrupt_call(struct regs *r)
{
	(void)r;
	kernel_ipi(IPI_CALL);
}

static void interrupt_call_function(struct regs *r)
{
	(void)r;
	cpu_call_run();
}

static void interrupt_error(struct regs *r)
{
	(void)r;
	apic_clear_errors();
}

static void interrupt_spurious(struct regs *r)
{
	(void)r;
}

static const struct local_vector {
	void (*handler)(struct regs *r);
	enum vector_kind kind;
} local_vectors[256 - FIRST_LOCAL] = {
    [VECTOR_APIC_TIMER - FIRST_LOCAL] = {kernel_timer_tick, VECTOR_TIMER},
    [VECTOR_IPI_CALL - FIRST_LOCAL] = {interrupt_call, VECTOR_CALL},
    [VECTOR_CALL_FUNCTION - FIRST_LOCAL] = {interrupt_call_function, VECTOR_CALL},
    [VECTOR_IPI_RESCHEDULE - FIRST_LOCAL] = {interrupt_reschedule, VECTOR_RESCHEDULE},
    [VECTOR_APIC_ERROR - FIRST_LOCAL] = {interrupt_error, VECTOR_ERROR},
    [VECTOR_APIC_SPURIOUS - FIRST_LOCAL] = {interrupt_spurious, VECTOR_SPURIOUS},
};

const char *arch_vector_name(unsigned vector, unsigned *gsi)
{
	static const char *const names[VECTOR_KINDS] = {
	    [VECTOR_TIMER] = "Local timer interrupts",
	    [VECTOR_RESCHEDULE] = "Rescheduling interrupts",
	    [VECTOR_CALL] = "Function call interrupts",
	    [VECTOR_ERROR] = "APIC errors",
	    [VECTOR_SPURIOUS] = "Spurious interrupts",
	};

	*gsi = vector - VECTOR_FIRST_DEVICE < VECTOR_DEVICES ? vector - VECTOR_FIRST_DEVICE : ~0u;
	if (vector < FIRST_LOCAL)
		return trap_vector_name(vector);
	return local_vectors[vector - FIRST_LOCAL].handler
		   ? names[local_vectors[vector - FIRST_LOCAL].kind]
		   : NULL;
}

static void local_interrupt(struct regs *r, unsigned vector)
{
	if (vector < FIRST_LOCAL || !local_vectors[vector - FIRST_LOCAL].handler)
		return; /* a spurious one of the 8259: not to be ended */
	const struct local_vector *v = &local_vectors[vector - FIRST_LOCAL];
	if (v->kind != VECTOR_SPURIOUS)
		apic_eoi();
	counts[cpu_id()].n[v->kind]++;
	kernel_vector_entry(v->kind, vector);
	v->handler(r);
	kernel_vector_exit(v->kind, vector);
}

/*
 * An interrupt does not come between the sti and the hlt of cpu_idle_wait(), but an NMI may, and
 * after its iret the interrupt does: it is what the hlt was to wait for, and nothing else need
 * follow. A jump to nowhere may be interrupted before it faults: what is not text is not read.
 */
static void end_wait(struct regs *r)
{
	const u8 *next = (const u8 *)r->rip;

	if (next >= (u8 *)__text_start && next < (u8 *)__text_end && *next == OP_HLT)
		r->rip++;
}

void interrupt_dispatch(struct regs *r)
{
	unsigned vector = regs_vector(r);
	const struct regs *outer = private_read(irq_regs);
	private_write(irq_regs, r);
	end_wait(r);
	kernel_irq_enter(r, vector);
	if (vector - VECTOR_FIRST_DEVICE < VECTOR_DEVICES) {
		kernel_irq(vector - VECTOR_FIRST_DEVICE);
		apic_eoi(); /* last: a level line that is still up would come again at once */
	} else {
		local_interrupt(r, vector);
	}
	private_write(irq_regs, outer); /* before the task may be switched */
	kernel_irq_exit(r, vector);
}

void interrupt_count_tlb(void)
{
	counts[cpu_id()].n[IRQ_COUNT_TLB]++;
}

void nmi_dispatch(struct regs *r)
{
	counts[cpu_id()].n[IRQ_COUNT_NMI]++;
	machine_stop_check();
	kernel_nmi(r);
}
