/*
 * NMIs that hit breakpoints and page faults: those return by iret, which lets the next NMI in while
 * the first is handled still (arch/x86_64/irq/entry.S). What is checked: the handler never runs
 * inside itself, none is lost while another runs, and the interrupted code finds all its registers
 * and flags as they were.
 */
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/irq/interrupt.h"
#include "arch/x86_64/irq/trap.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"

#define HLT	   0xf4
#define STORM	   1000		/* NMIs, or as many as come in */
#define STORM_TIME 1000000000UL /* nanoseconds */

static u64 handled, nested, breakpoints; /* [A] */
static u32 inside;			 /* [C] of the CPU that gets them */
static u64 resend;			 /* [A] how many more the handler sends to itself */

static bool on_int3(struct regs *r)
{
	(void)r;
	atomic_add(&breakpoints, 1);
	return true;
}

static bool in_nmi(struct regs *r)
{
	u64 word;

	(void)r;
	if (inside++)
		atomic_add(&nested, 1);
	if (atomic_load(&resend)) {
		atomic_sub(&resend, 1);
		nmi_send(cpu_id()); /* held back until the next iret */
	}
	__asm__ volatile("int3" ::: "memory"); /* its iret lets it in */
	copy_from_kernel_nofault(
	    &word, (void *)KERNEL_MAP_BASE, sizeof word); /* and a page fault's */
	__asm__ volatile("int3" ::: "memory");
	inside--;
	atomic_add(&handled, 1);
	return true;
}

static void begin(void)
{
	handled = nested = breakpoints = resend = inside = 0;
	EXPECT_EQ(int3_handler_add(on_int3), 0);
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
}

static void end(void)
{
	nmi_handler_remove(in_nmi);
	int3_handler_remove(on_int3);
	EXPECT_EQ(nested, 0);
	EXPECT_EQ(breakpoints, 2 * handled);
}

/* Each register has its own value over many NMIs; returns how often one was found changed. */
static u64 __noinline registers_hold(u64 rounds)
{
	u64 bad = 0;

	__asm__ volatile(
	    "pushq %%rbp\n\t"
	    "xorl %%r12d, %%r12d\n"
	    "1:\tmovq $0x11111111, %%rbx\n\tmovq $0x22222222, %%rcx\n\tmovq $0x33333333, %%rdx\n\t"
	    "movq $0x44444444, %%rsi\n\tmovq $0x55555555, %%rdi\n\tmovq $0x66666666, %%rbp\n\t"
	    "movq $0x77777777, %%r8\n\tmovq $0x12121212, %%r9\n\tmovq $0x23232323, %%r10\n\t"
	    "movq $0x34343434, %%r11\n\tmovq $0x45454545, %%r13\n\tmovq $0x56565656, %%r14\n\t"
	    "movq %%rsp, %%r15\n\t"
	    "stc\n\t"
	    "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
	    "jnc 2f\n\t"
	    "cmpq $0x11111111, %%rbx\n\tjne 2f\n\tcmpq $0x22222222, %%rcx\n\tjne 2f\n\t"
	    "cmpq $0x33333333, %%rdx\n\tjne 2f\n\tcmpq $0x44444444, %%rsi\n\tjne 2f\n\t"
	    "cmpq $0x55555555, %%rdi\n\tjne 2f\n\tcmpq $0x66666666, %%rbp\n\tjne 2f\n\t"
	    "cmpq $0x77777777, %%r8\n\tjne 2f\n\tcmpq $0x12121212, %%r9\n\tjne 2f\n\t"
	    "cmpq $0x23232323, %%r10\n\tjne 2f\n\tcmpq $0x34343434, %%r11\n\tjne 2f\n\t"
	    "cmpq $0x45454545, %%r13\n\tjne 2f\n\tcmpq $0x56565656, %%r14\n\tjne 2f\n\t"
	    "cmpq %%rsp, %%r15\n\tje 3f\n"
	    "2:\tincq %%r12\n"
	    "3:\tdecq %%rax\n\tjnz 1b\n\t"
	    "popq %%rbp\n\t"
	    "movq %%r12, %%rax"
	    : "=&a"(bad)
	    : [rounds] "0"(rounds)
	    : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
	    "r15", "memory", "cc");
	return bad;
}

static void one_inside_another(void)
{
	begin();
	preempt_disable();
	for (unsigned i = 0; i < 200; i++) {
		u64 before = atomic_load(&handled);
		atomic_store(&resend, 3);
		nmi_send(cpu_id());
		while (atomic_load(&handled) < before + 4)
			cpu_relax();
	}
	preempt_enable();
	EXPECT_EQ(handled, 800);
	end();
}

/* An NMI whose handler has a page fault leaves the address of the last one before it. */
static void keeps_fault_address(void)
{
	begin();
	u64 flags = irq_save(), before = read_cr2();
	for (u64 i = 0; i < 20; i++) {
		u64 address = 0x123456789000 + i;

		write_cr2(address);
		nmi_send(cpu_id());
		while (atomic_load(&handled) <= i)
			cpu_relax();
		EXPECT_EQ(read_cr2(), address);
	}
	write_cr2(before);
	irq_restore(flags);
	end();
}

struct storm {
	unsigned target;
	u64 sent;
	volatile bool stop, done;
};

/* The gaps run through all lengths, so the NMIs come at every point of the other CPU's handling. */
static void send_storm(void *arg)
{
	struct storm *s = arg;

	for (unsigned gap = 0; !s->stop; gap = (gap + 7) % 900) {
		nmi_send(s->target);
		s->sent++;
		for (unsigned i = 0; i < gap; i++)
			barrier();
		cpu_relax();
	}
	s->done = true;
}

static bool storm_goes_on(u64 start)
{
	return atomic_load(&handled) < STORM && clock_ns() - start < STORM_TIME;
}

/* Calls work() again and again while another CPU sends NMIs; false: there is no other. */
static bool storm_over(struct storm *s, void (*work)(void))
{
	u64 start = clock_ns();

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return false;
	}
	begin();
	preempt_disable();
	s->target = cpu_id();
	kthread_run(send_storm, s, (s->target + 1) % cpu_count(), "nmi-storm");
	while (storm_goes_on(start)) {
		work();
		cpu_relax(); /* where CPUs take turns, the other gets its */
	}
	s->stop = true;
	preempt_enable();
	while (!s->done)
		cpu_relax();
	return true;
}

static u64 bad, own; /* of the two below */

static void hold_registers(void)
{
	bad += registers_hold(20);
}

static void hit_breakpoint(void)
{
	__asm__ volatile("int3" ::: "memory");
	own++;
}

static void storm_from_another_cpu(void)
{
	struct storm s = {0};

	bad = 0;
	if (!storm_over(&s, hold_registers))
		return;
	EXPECT(handled > 0);
	EXPECT_EQ(bad, 0);
	EXPECT(handled <= s.sent);
	ktap_note(
	    "%llu sent, %llu handled", (unsigned long long)s.sent, (unsigned long long)handled);
	end();
}

/*
 * A breakpoint that an NMI interrupts anywhere, while the NMI's handler hits breakpoints of its
 * own.
 */
static void storm_over_breakpoints(void)
{
	struct storm s = {0};

	own = 0;
	if (!storm_over(&s, hit_breakpoint))
		return;
	nmi_handler_remove(in_nmi);
	int3_handler_remove(on_int3);
	EXPECT_EQ(nested, 0);
	EXPECT_EQ(breakpoints, 2 * handled + own);
}

/*
 * Where an interrupt goes on that came at `rip`: the one that asks for the scheduler, which is not
 * let in.
 */
static u64 goes_on(const u8 *rip)
{
	struct regs r = {.trap = 1 + VECTOR_IPI_RESCHEDULE, .rip = (u64)rip, .cs = SEL_KERNEL_CS};
	u64 flags = irq_save();

	preempt_disable();
	interrupt_dispatch(&r);
	preempt_enable_no_resched();
	irq_restore(flags);
	return r.rip - (u64)rip;
}

/*
 * An NMI after sti lets the interrupt in before the hlt that waits for it: it must not be waited
 * for again.
 */
static void before_the_wait(void)
{
	static const u8 no_text = HLT;
	const u8 *text = (const u8 *)__text_start, *hlt = text, *other = text;

	while (*hlt != HLT)
		hlt++;
	while (*other == HLT)
		other++;
	EXPECT_EQ(goes_on(hlt), 1);
	EXPECT_EQ(goes_on(other), 0);
	EXPECT_EQ(goes_on(&no_text), 0);
	EXPECT_EQ(goes_on(NULL), 0);
}

static const struct ktap_case cases[] = {
    {"nmi.one_inside_another", one_inside_another},
    {"nmi.keeps_fault_address", keeps_fault_address},
    {"nmi.storm_from_another_cpu", storm_from_another_cpu},
    {"nmi.storm_over_breakpoints", storm_over_breakpoints},
    {"nmi.before_the_wait", before_the_wait},
    {NULL, NULL},
};
const struct ktap_suite suite_nmi = {cases};
