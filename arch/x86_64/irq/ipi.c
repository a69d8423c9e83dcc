/*
 * Messages between CPUs. The senders are part 1c of arch.h; cpu_call_run() and machine_stop_check()
 * run on the receivers in irq and NMI context.
 *
 * One call is under way at a time: `call_lock` holds the others off. Who waits for it has
 * interrupts on and preemption off, so it takes part in the call it waits for.
 */
#include "arch/x86_64/irq/ipi.h"

#include "arch/x86_64/irq/apic.h"
#include "arch/x86_64/irq/interrupt.h"
#include "arch/x86_64/probe/watch.h"
#include "kernel/lib/atomic.h"

#define STOP_WAIT_US 100000

static u32 call_lock; /* [A] */
static void (*call_fn)(void *);
static void *call_arg;
static u64 call_pending; /* [A] a bit per CPU that has not run call_fn yet */

static u32 stopper; /* [A] the CPU that stops the others, + 1 */
static u32 stopped; /* [A] how many have */

static const u8 ipi_vectors[IPI_COUNT] = {
    [IPI_RESCHEDULE] = VECTOR_IPI_RESCHEDULE,
    [IPI_CALL] = VECTOR_IPI_CALL,
};

static void send(unsigned cpu, u32 what)
{
	apic_send(cpu_local_of(cpu)->apic_id, what);
}

void ipi_send(unsigned cpu, enum ipi what)
{
	kernel_ipi_raised(1UL << cpu, what);
	send(cpu, ipi_vectors[what]);
}

void nmi_send(unsigned cpu)
{
	send(cpu, APIC_SEND_NMI);
}

void nmi_all_others(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (cpu != cpu_id())
			nmi_send(cpu);
}

void ipi_call_watch(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (cpu != cpu_id())
			send(cpu, VECTOR_CALL_FUNCTION);
}

void cpu_call_run(void)
{
	watch_follow();
	u64 me = 1UL << cpu_id();
	if (!(atomic_load(&call_pending) & me))
		return;
	call_fn(call_arg);
	atomic_and(&call_pending, ~me);
}

/* 1. take the lock 2. say what 3. tell each CPU of `cpus` 4. wait until all have done it 5. let the
 * next one in. CPUs that were stopped for good do nothing. */
static void ipi_call_others(u64 cpus, void (*fn)(void *), void *arg)
{
	if (unlikely(atomic_load(&stopper)))
		return;
	while (!atomic_cas(&call_lock, 0, 1))
		cpu_relax();
	call_fn = fn;
	call_arg = arg;
	atomic_store(&call_pending, cpus);
	if (cpus)
		kernel_ipi_raised(cpus, IPI_CALL);
	for (u64 left = cpus; left; left &= left - 1)
		send(__builtin_ctzll(left), VECTOR_CALL_FUNCTION);
	while (atomic_load(&call_pending))
		cpu_relax();
	atomic_store_release(&call_lock, 0);
}

static void call_here(void (*fn)(void *), void *arg)
{
	u64 flags = irq_save();
	fn(arg);
	irq_restore(flags);
}

void cpu_call_all(void (*fn)(void *), void *arg)
{
	preempt_disable();
	u64 all = cpu_count() == 64 ? ~0UL : (1UL << cpu_count()) - 1;
	ipi_call_others(all & ~(1UL << cpu_id()), fn, arg);
	call_here(fn, arg);
	preempt_enable();
}

void cpu_call(unsigned cpu, void (*fn)(void *), void *arg)
{
	preempt_disable();
	if (cpu == cpu_id())
		call_here(fn, arg);
	else
		ipi_call_others(1UL << cpu, fn, arg);
	preempt_enable();
}

void arch_write_back(void)
{
	__asm__ volatile("wbinvd" ::: "memory");
}

void machine_halt(void)
{
	arch_write_back(); /* who sees this machine presses its reset button */
	for (;;)
		__asm__ volatile("cli; hlt");
}

void arch_run_on(u64 stack_top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%1\n\t"
			 "ud2" ::"r"(stack_top),
			 "r"(fn), "D"(arg)
			 : "memory");
	__builtin_unreachable();
}

void machine_stop_check(void)
{
	u32 by = atomic_load(&stopper);
	if (!by || by == cpu_id() + 1)
		return;
	atomic_add(&stopped, 1);
	machine_halt();
}

void machine_stop_others(void)
{
	if (!atomic_cas(&stopper, 0, cpu_id() + 1)) {
		machine_stop_check(); /* somebody was first: this CPU is one of the others */
		return;
	}
	nmi_all_others();
	for (unsigned us = 0; us < STOP_WAIT_US && atomic_load(&stopped) + 1 < cpu_count();
	     us += 10)
		delay_us(10);
}
