/*
 * Looking back: arch/x86_64/cpu/unwind.c, from C, from the first and the last instruction of a
 * function, and across breakpoint, interrupt and NMI frames. Names come from the symbol table, so
 * that is seen to work too.
 */
#include "kernel/base/sym.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq_work.h"
#include "trace/host_context.h"

#define TRACE_MAX 32

static u64 trace[TRACE_MAX];
static unsigned count;

/* Position of the function in the trace, from `from` on; -1: not there. */
static int position(const char *name, unsigned from)
{
	for (unsigned i = from; i < count; i++) {
		const char *found = sym_find(trace[i] - 1, NULL, NULL);
		if (found && strcmp(found, name) == 0)
			return i;
	}
	return -1;
}

static void expect_chain(const char *const *names)
{
	int at = 0;

	for (; *names; names++) {
		int next = position(*names, at);
		if (next < 0)
			ktap_fail(
			    __FILE__, __LINE__, "%s is missing in the trace, or too early", *names);
		else
			at = next + 1;
	}
	for (unsigned i = 0; i < count; i++)
		EXPECT(sym_is_text(trace[i]));
}

static void __noinline unwind_inner(void (*fn)(void))
{
	fn();
	barrier();
}

static void __noinline unwind_outer(void (*fn)(void))
{
	unwind_inner(fn);
	barrier();
}

static void __noinline take_here(void)
{
	count = stack_trace(NULL, trace, TRACE_MAX);
	barrier();
}

static void from_c(void)
{
	unwind_outer(take_here);
	EXPECT(position("take_here", 0) == 0);
	expect_chain((const char *const[]){
	    "take_here", "unwind_inner", "unwind_outer", "from_c", "ktap_run", NULL});
	/* No more than asked for. */
	trace[2] = 0;
	EXPECT_EQ(stack_trace(NULL, trace, 2), 2);
	EXPECT_EQ(trace[2], 0);
	EXPECT_EQ(stack_trace(NULL, trace, 0), 0);
}

/* As a recorder: left out at the head, with what it calls. */
static __trace_text void __noinline take_traced(void)
{
	count = stack_trace_traced(trace, TRACE_MAX);
	barrier();
}

static void of_traced_code(void)
{
	unwind_outer(take_traced);
	EXPECT(position("unwind_inner", 0) == 0);
	expect_chain((const char *const[]){
	    "unwind_inner", "unwind_outer", "of_traced_code", "ktap_run", NULL});
	trace[1] = 0;
	count = stack_trace_traced(trace, 1);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(trace[1], 0);
	EXPECT(position("of_traced_code", 0) == 0);
}

static u64 hit_rip;

/* Does what a probe would: runs the instruction whose first byte the int3 replaced. */
static void emulate(struct regs *r)
{
	static const u8 pushed[] = {0x89, 0xe5}, first[] = {0x48, 0x89, 0xe5};

	if (memcmp((void *)r->rip, pushed, sizeof pushed) == 0) { /* mov %rsp, %rbp */
		r->rbp = r->rsp;
		r->rip += sizeof pushed;
	} else if (memcmp((void *)r->rip, first, sizeof first) == 0) { /* push %rbp */
		r->rsp -= 8;
		*(u64 *)r->rsp = r->rbp;
	}
}

static bool on_int3(struct regs *r)
{
	hit_rip = r->rip;
	count = stack_trace(r, trace, TRACE_MAX);
	emulate(r);
	return true;
}

static bool on_int3_nested(struct regs *r)
{
	(void)r;
	count = stack_trace(NULL, trace, TRACE_MAX);
	return true;
}

static void __noinline has_int3(void)
{
	__asm__ volatile("int3");
	barrier();
}

/*
 * Where a probe's int3 may have replaced an instruction of the frame, push or mov; and a function
 * without a frame.
 */
void unwind_int3_first(void);
void unwind_int3_pushed(void);
void unwind_int3_leaf(void);
__asm__(".pushsection .text.asm, \"ax\"\n"
	".type unwind_int3_first, @function\nunwind_int3_first:\n\t"
	"int3\n\tmovq %rsp, %rbp\n\tpopq %rbp\n\tret\n"
	".type unwind_int3_pushed, @function\nunwind_int3_pushed:\n\t"
	"pushq %rbp\n\tint3\n\t.byte 0x89, 0xe5\n\tpopq %rbp\n\tret\n"
	".type unwind_int3_leaf, @function\nunwind_int3_leaf:\n\t"
	"nop\n\tint3\n\tnop\n\tret\n"
	".popsection");

static void across_a_breakpoint(void)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} rows[] = {
	    {"has_int3", has_int3},
	    {"unwind_int3_first", unwind_int3_first},
	    {"unwind_int3_pushed", unwind_int3_pushed},
	    {"unwind_int3_leaf", unwind_int3_leaf},
	};

	EXPECT_EQ(int3_handler_add(on_int3), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		count = 0;
		unwind_outer(rows[i].fn);
		EXPECT_EQ(trace[0], hit_rip);
		expect_chain((const char *const[]){
		    rows[i].name, "unwind_inner", "unwind_outer", "across_a_breakpoint", NULL});
	}
	int3_handler_remove(on_int3);
	EXPECT_EQ(int3_handler_add(on_int3_nested), 0);
	unwind_outer(has_int3);
	expect_chain((const char *const[]){
	    "on_int3_nested", "kernel_int3", "has_int3", "unwind_inner", "unwind_outer", NULL});
	int3_handler_remove(on_int3_nested);
}

static volatile bool seen;
static const struct regs *regs_seen; /* gone when the interrupt has returned */
static u64 rip_seen;

static void in_irq(struct irq_work *unused)
{
	(void)unused;
	regs_seen = irq_regs();
	rip_seen = regs_seen ? regs_seen->rip : 0;
	count = stack_trace(NULL, trace, TRACE_MAX);
	seen = true;
}

static void __noinline wait_for_it(void)
{
	while (!seen)
		cpu_relax();
}

static void __noinline interrupt_me(void)
{
	static struct irq_work work = {.fn = in_irq};

	seen = false;
	irq_work_queue(&work);
	wait_for_it();
}

static void across_an_interrupt(void)
{
	preempt_disable(); /* else another task may run by the time the interrupt comes */
	unwind_outer(interrupt_me);
	preempt_enable();
	expect_chain((const char *const[]){
	    "in_irq", "irq_common", "interrupt_me", "unwind_inner", "unwind_outer", NULL});
	EXPECT(sym_is_text(rip_seen));
	EXPECT(!irq_regs());
}

static bool in_nmi(struct regs *r)
{
	regs_seen = irq_regs();
	EXPECT_EQ((u64)regs_seen, (u64)r);
	count = stack_trace(NULL, trace, TRACE_MAX);
	seen = true;
	return true;
}

static void __noinline nmi_me(void)
{
	seen = false;
	nmi_send(cpu_id());
	wait_for_it();
}

static void across_an_nmi(void)
{
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	preempt_disable();
	unwind_outer(nmi_me);
	preempt_enable();
	nmi_handler_remove(in_nmi);
	expect_chain((const char *const[]){"in_nmi", "kernel_nmi", "trap_nmi_entry", "nmi_me",
	    "unwind_inner", "unwind_outer", NULL});
	EXPECT(!irq_regs());
}

/* Frames that lie: nothing is followed out of the stacks, nothing goes round. */
static void survives_bad_frames(void)
{
	u64 fake[4] = {(u64)fake, (u64)survives_bad_frames, 0, 0};
	struct regs r = {.rip = (u64)survives_bad_frames, .cs = 0x10, .rsp = (u64)&fake[2]};
	static const u64 bad[] = {
	    0, 1, 8, 0x1000, 0x7fffffffe000, 0x800000000000, DIRECT_MAP_BASE, ~0UL, ~7UL};

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		r.rbp = bad[i];
		r.rsp = bad[i];
		EXPECT_EQ(stack_trace(&r, trace, TRACE_MAX), 1);
	}
	r.rbp = (u64)fake; /* points to itself */
	EXPECT_EQ(stack_trace(&r, trace, TRACE_MAX), 2);
	fake[0] = (u64)&r + 1; /* registers that point back: ends when the room does */
	EXPECT(stack_trace(&r, trace, TRACE_MAX) <= TRACE_MAX);
	r.cs = 0x33; /* ring 3 */
	EXPECT_EQ(stack_trace(&r, trace, TRACE_MAX), 0);
}

static const struct ktap_case cases[] = {
    {"unwind.from_c", from_c},
    {"unwind.of_traced_code", of_traced_code},
    {"unwind.across_a_breakpoint", across_a_breakpoint},
    {"unwind.across_an_interrupt", across_an_interrupt},
    {"unwind.across_an_nmi", across_an_nmi},
    {"unwind.survives_bad_frames", survives_bad_frames},
    {NULL, NULL},
};
const struct ktap_suite suite_unwind = {cases};
