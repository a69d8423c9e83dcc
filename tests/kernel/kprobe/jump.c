/*
 * Probes that have become jumps: that the probed code does not notice, what makes them breakpoints
 * again, and that nobody is overrun by one.
 */
#include "arch/x86_64/probe/probe.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/kprobe/tools.h"

#define RFLAGS_TF 0x100UL

/* ---- what is probed ---- */

u64 jump_word;
__asm__(
    ".pushsection .text.asm, \"ax\"\n.globl jump_target\n.type jump_target, @function\n.balign 16\n"
    "jump_target:\n\t"
    "pushq %rbp\n\t"		     /* 0 */
    "movq %rsp, %rbp\n\t"	     /* 1 */
    "pushq %rbx\n\t"		     /* 4 */
    "addq %rdi, jump_word(%rip)\n\t" /* 5 */
    "leaq (%rdi,%rsi), %rax\n\t"     /* 12 */
    "incq %rax\n\t"		     /* 16 */
    "popq %rbx\n\t"		     /* 19 */
    "popq %rbp\n\t"		     /* 20 */
    "ret\n"			     /* 21 */
    ".size jump_target, . - jump_target\n.popsection");
void jump_target_call(void)
{
	u64 word = jump_word;

	EXPECT_EQ(jump_target(30, 12), 43);
	EXPECT_EQ(jump_word - word, 30);
}

/* ---- unnoticed ---- */

/* Fills all registers and the flags, passes the probed nop, and stores what it finds then. */
u64 jump_found[16];
void jump_fill(void);
extern u8 jump_fill_probed[];
__asm__(
    ".pushsection .text.asm, \"ax\"\n.globl jump_fill\n.type jump_fill, @function\n.balign "
    "16\njump_fill:\n\t"
    "pushq %rbp\n\tmovq %rsp, %rbp\n\t"
    "pushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\tpushq %rbp\n\t"
    "movl $0x100, %eax\n\tmovl $0x101, %ebx\n\tmovl $0x102, %ecx\n\tmovl $0x103, %edx\n\t"
    "movl $0x104, %esi\n\tmovl $0x105, %edi\n\tmovl $0x106, %ebp\n\tmovl $0x107, %r8d\n\t"
    "movl $0x108, %r9d\n\tmovl $0x109, %r10d\n\tmovl $0x10a, %r11d\n\tmovl $0x10b, %r12d\n\t"
    "movl $0x10c, %r13d\n\tmovl $0x10d, %r14d\n\tmovl $0x10e, %r15d\n\t"
    "pushq $0x8d7\n\torq $0x200, (%rsp)\n\tpopfq\n" /* all of the arithmetic flags, interrupts on */
    "jump_fill_probed:\n\tnopl 0(%rax,%rax)\n\t"
    "pushfq\n\tpopq jump_found+120(%rip)\n\t"
    "movq %rax, jump_found(%rip)\n\tmovq %rbx, jump_found+8(%rip)\n\t"
    "movq %rcx, jump_found+16(%rip)\n\tmovq %rdx, jump_found+24(%rip)\n\t"
    "movq %rsi, jump_found+32(%rip)\n\tmovq %rdi, jump_found+40(%rip)\n\t"
    "movq %rbp, jump_found+48(%rip)\n\tmovq %r8, jump_found+56(%rip)\n\t"
    "movq %r9, jump_found+64(%rip)\n\tmovq %r10, jump_found+72(%rip)\n\t"
    "movq %r11, jump_found+80(%rip)\n\tmovq %r12, jump_found+88(%rip)\n\t"
    "movq %r13, jump_found+96(%rip)\n\tmovq %r14, jump_found+104(%rip)\n\t"
    "movq %r15, jump_found+112(%rip)\n\t"
    "popq %rbp\n\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq "
    "%rbp\n\tret\n"
    ".size jump_fill, . - jump_fill\n.popsection");

static int on_hit_changes(struct kprobe *p, struct regs *r)
{
	probe_on_hit(p, r);
	r->r9 = 0x900;
	r->rbx = 0xb00;
	r->rflags &= ~1UL;
	r->rip = 0; /* means nothing */
	return 1;
}

static void registers_and_flags(void)
{
	struct kprobe p = {.addr = jump_fill_probed, .pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	jump_fill();
	for (unsigned i = 0; i < 15; i++)
		EXPECT_EQ(jump_found[i], 0x100 + i);
	EXPECT_EQ(jump_found[15] & 0xad7, 0xad7);
	EXPECT_EQ(probe_seen.rflags & 0xad7, 0xad7);
	EXPECT_EQ(probe_seen.rax, 0x100);
	EXPECT_EQ(probe_seen.r15, 0x10e);
	EXPECT_EQ(probe_seen.rsp, probe_seen.rsp & ~7UL);
	unregister_kprobe(&p);
	p.pre_handler = on_hit_changes;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	jump_fill();
	EXPECT_EQ(jump_found[8], 0x900);
	EXPECT_EQ(jump_found[1], 0xb00);
	EXPECT_EQ(jump_found[15] & 0xad7, 0xad6);
	unregister_kprobe(&p);
}

static u64 trace[2][16];
static unsigned depth[2], which;

static int on_hit_looks_back(struct kprobe *p, struct regs *r)
{
	(void)p;
	depth[which] = stack_trace(r, trace[which], ARRAY_SIZE(trace[0]));
	return 0;
}

/* Seen from the handler, and from what it calls, the way back is the same as with a breakpoint. */
static void looking_back(void)
{
	static const u8 offsets[] = {0, 1, 4, 12};

	for (unsigned i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct kprobe p = {.symbol_name = "jump_target",
		    .offset = offsets[i],
		    .pre_handler = on_hit_looks_back};
		kprobes_optimization(false);
		EXPECT_EQ(register_kprobe(&p), 0);
		for (which = 0; which < 2; which++) {
			if (which) {
				kprobes_optimization(true);
				EXPECT(probe_optimize());
				EXPECT_EQ(probe_head(&p), OP_JMP);
			}
			jump_target_call();
		}
		EXPECT(depth[0] > 3);
		EXPECT_EQ(depth[0], depth[1]);
		EXPECT_EQ(memcmp(trace[0], trace[1], depth[0] * sizeof(u64)), 0);
		unregister_kprobe(&p);
	}
}

/* Calls it, with its own frame; the call's return address. */
void jump_caller(void);
extern u8 jump_caller_returns[];
__asm__(
    ".pushsection .text.asm, \"ax\"\n.globl jump_caller\n.type jump_caller, @function\n.balign 16\n"
    "jump_caller:\n\tpushq %rbp\n\tmovq %rsp, %rbp\n\t"
    "call jump_target\njump_caller_returns:\n\tpopq %rbp\n\tret\n"
    ".size jump_caller, . - jump_caller\n.popsection");

static u64 detour_steps, detour_wrong, probed_at;

/*
 * Each instruction of a detour that saves or restores: the place that is probed comes first, then
 * who called its function.
 */
static bool on_detour_step(struct regs *r)
{
	u64 way[3];

	if (r->rip == (u64)jump_caller_returns)
		r->rflags &= ~RFLAGS_TF;
	if (!probe_detour_saves(r->rip))
		return true;
	detour_steps++;
	if (stack_trace(r, way, 3) < 3 || way[0] - probed_at > 1 ||
	    way[1] != (u64)jump_caller_returns)
		detour_wrong++;
	return true;
}

static void __noinline call_in_steps(void)
{
	preempt_disable();
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(RFLAGS_TF) : "memory", "cc");
	jump_caller();
	preempt_enable();
}

/* What comes between, an NMI say, finds the way back at each instruction of the detour. */
static void looking_back_from_inside(void)
{
	static const u8 offsets[] = {0, 1, 4, 12};

	EXPECT_EQ(debug_handler_add(on_detour_step), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct kprobe p = {.symbol_name = "jump_target",
		    .offset = offsets[i],
		    .pre_handler = probe_on_hit};
		EXPECT_EQ(register_kprobe(&p), 0);
		EXPECT(probe_optimize());
		EXPECT_EQ(probe_head(&p), OP_JMP);
		detour_steps = detour_wrong = 0;
		probed_at = (u64)jump_target + offsets[i];
		call_in_steps();
		EXPECT(detour_steps > 40);
		EXPECT_EQ(detour_wrong, 0);
		unregister_kprobe(&p);
	}
	debug_handler_remove(on_detour_step);
}

/* ---- what makes it a breakpoint again ---- */

static void other_probes(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = probe_on_hit}, q = p,
		      same = p;

	q.offset = 1;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	/* One under the jump, that is not enabled: it may stay. */
	q.flags = KPROBE_FLAG_DISABLED;
	EXPECT_EQ(register_kprobe(&q), 0);
	EXPECT_EQ(q.site->arch.first, 0x48);
	EXPECT_EQ(probe_head(&p), OP_JMP);
	EXPECT_EQ(enable_kprobe(&q), 0);
	EXPECT_EQ(probe_head(&p), OP_INT3);
	EXPECT_EQ(probe_head(&q), OP_INT3);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_INT3);
	EXPECT_EQ(probe_head(&q), OP_JMP);
	probe_hits = 0;
	jump_target_call();
	EXPECT_EQ(probe_hits, 2);
	EXPECT_EQ(disable_kprobe(&q), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	unregister_kprobe(&q);
	/* More of them at the same place. */
	EXPECT_EQ(register_kprobe(&same), 0);
	EXPECT_EQ(probe_head(&p), OP_INT3);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	probe_hits = 0;
	jump_target_call();
	EXPECT_EQ(probe_hits, 2);
	EXPECT_EQ(disable_kprobe(&p), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	jump_target_call();
	EXPECT_EQ(probe_hits, 3);
	unregister_kprobe(&same);
	EXPECT_EQ(probe_head(&p), 0x55);
	unregister_kprobe(&p);
}

static void post_handlers(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = probe_on_hit}, q = p;

	q.post_handler = probe_on_post;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(register_kprobe(&q), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_INT3);
	probe_hits = probe_post_hits = 0;
	jump_target_call();
	EXPECT_EQ(probe_hits, 2);
	EXPECT_EQ(probe_post_hits, 1);
	unregister_kprobe(&q);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	jump_target_call();
	EXPECT_EQ(probe_hits, 3);
	EXPECT_EQ(probe_post_hits, 1);
	unregister_kprobe(&p);
}

static void switches(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	kprobes_optimization(false);
	EXPECT(!kprobes_optimization_is_on());
	EXPECT_EQ(probe_head(&p), OP_INT3);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_INT3);
	kprobes_optimization(true);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	kprobes_switch(false);
	EXPECT_EQ(probe_head(&p), 0x55);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), 0x55);
	kprobes_switch(true);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	unregister_kprobe(&p);
}

/* Nobody asks for it: after a while it is done. */
static void by_itself(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(probe_head(&p), OP_INT3);
	for (unsigned i = 0; i < PROBE_TRIES && probe_head(&p) != OP_JMP; i++)
		sleep_ns(TICK_NS, NULL);
	EXPECT_EQ(probe_head(&p), OP_JMP);
	unregister_kprobe(&p);
}

/* ---- probe_hits inside probe_hits; returns ---- */

static int on_hit_calls(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	probe_hits++;
	jump_fill();
	return 0;
}

static void inside_a_handler(void)
{
	struct kprobe outer = {.symbol_name = "jump_target", .pre_handler = on_hit_calls};
	struct kprobe inner = {.addr = jump_fill_probed, .pre_handler = probe_on_hit}, off = inner;

	off.flags = KPROBE_FLAG_DISABLED;
	EXPECT_EQ(register_kprobe(&outer), 0);
	EXPECT_EQ(register_kprobe(&inner), 0);
	EXPECT_EQ(register_kprobe(&off), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&outer), OP_JMP);
	EXPECT_EQ(probe_head(&inner), OP_JMP);
	probe_hits = 0;
	for (unsigned i = 0; i < 100; i++)
		jump_target_call();
	EXPECT_EQ(probe_hits, 100);
	EXPECT_EQ(inner.nmissed, 100);
	EXPECT_EQ(off.nmissed, 0);
	EXPECT_EQ(outer.nmissed, 0);
	unregister_kprobe(&off);
	unregister_kprobe(&inner);
	unregister_kprobe(&outer);
}

static u64 returned, returns_to;

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	returned += r->rax;
	returns_to = ri->ret_addr;
	return 0;
}

static void returns(void)
{
	struct kretprobe rp = {.kp.symbol_name = "jump_target", .handler = on_return};

	EXPECT_EQ(register_kretprobe(&rp), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&rp.kp), OP_JMP);
	returned = 0;
	for (unsigned i = 0; i < 100; i++)
		jump_target_call();
	EXPECT_EQ(returned, 4300);
	EXPECT(returns_to - (u64)jump_target_call < 0x100);
	EXPECT_EQ(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* ---- somebody is there ---- */

/* Most of the time in the second instruction, which an interrupt leaves to be gone on with. */
void jump_slow(const void *from, u64 n);
__asm__(".pushsection .text.asm, \"ax\"\n.globl jump_slow\n.type jump_slow, @function\n.balign "
	"16\njump_slow:\n\t"
	"movq %rsi, %rcx\n\tmovq %rdi, %rsi\n\trep lodsb\n\tret\n"
	".size jump_slow, . - jump_slow\n.popsection");
#define SLOW_AT 3 /* and lodsb is at 6 */

static u8 slow_bytes[1 << 12];
static u32 slow_runs; /* [A] 1: go on; 0: stop; 2: has stopped */

static void run_slow(void *unused)
{
	(void)unused;
	while (atomic_load(&slow_runs) == 1)
		jump_slow(slow_bytes, sizeof(slow_bytes));
	atomic_store(&slow_runs, 2);
}

/*
 * The jump would go over the instruction in which the other task, on this CPU, was preempted. That
 * it is not there a moment later cannot be seen: the kernel tries by itself, too. Too early a jump
 * would end the other task in the middle of it.
 */
static void somebody_is_there(void)
{
	struct kprobe p = {
	    .symbol_name = "jump_slow", .offset = SLOW_AT, .pre_handler = probe_on_hit};
	unsigned busy = 0;

	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	atomic_store(&slow_runs, 1);
	EXPECT(kthread_run(run_slow, NULL, 0, "slow") != NULL);
	for (unsigned i = 0; i < 15; i++) {
		sleep_ns(2 * TICK_NS, NULL);
		EXPECT_EQ(register_kprobe(&p), 0);
		busy += !kprobes_optimize();
		EXPECT(probe_optimize());
		EXPECT_EQ(probe_head(&p), OP_JMP);
		unregister_kprobe(&p);
	}
	atomic_store(&slow_runs, 0);
	while (atomic_load(&slow_runs) != 2)
		sleep_ns(TICK_NS, NULL);
	task_set_affinity(current(), ~0UL);
	EXPECT(busy > 0);
	ktap_note("%u times of 15", busy);
}

static const struct ktap_case cases[] = {
    {"kprobe_jump.registers_and_flags", registers_and_flags},
    {"kprobe_jump.looking_back", looking_back},
    {"kprobe_jump.looking_back_from_inside", looking_back_from_inside},
    {"kprobe_jump.other_probes", other_probes},
    {"kprobe_jump.post_handlers", post_handlers},
    {"kprobe_jump.switches", switches},
    {"kprobe_jump.by_itself", by_itself},
    {"kprobe_jump.inside_a_handler", inside_a_handler},
    {"kprobe_jump.returns", returns},
    {"kprobe_jump.somebody_is_there", somebody_is_there},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_jump = {cases};
