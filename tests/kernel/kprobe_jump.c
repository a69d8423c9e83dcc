/*
 * Probes that have become jumps: where that may be and where not, that the probed code does not notice, what makes them breakpoints
 * again, and that nobody is overrun by one.
 */
#include "arch/x86_64/insn.h"
#include "arch/x86_64/probe.h"
#include "arch/x86_64/sections.h"
#include "kernel/kprobe_site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/sym.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

enum { OP_INT3 = 0xcc, OP_JMP = 0xe9 };
#define TRIES 1000

static u64 hits, post_hits;
static struct regs seen;

static int on_hit(struct kprobe *p, struct regs *r)
{
	(void)p;
	hits++;
	seen = *r;
	return 0;
}

static void on_post(struct kprobe *p, struct regs *r, u64 flags)
{
	(void)p;
	(void)r;
	(void)flags;
	post_hits++;
}

/* Until nobody is in the way: each try takes as long as others take to go on. */
static bool optimize(void)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (kprobes_optimize())
			return true;
		sleep_ns(TICK_NS, NULL);
	}
	return false;
}

static u8 head_of(const struct kprobe *p)
{
	return *(volatile u8 *)p->addr;
}

/* ---- what is probed ------------------------------------------------------------------------------------------------- */

u64 jump_word;
u64 jump_target(u64 a, u64 b);
__asm__(".pushsection .text\n.globl jump_target\n.type jump_target, @function\n.balign 16\n"
	"jump_target:\n\t"
	"pushq %rbp\n\t"		 /* 0 */
	"movq %rsp, %rbp\n\t"		 /* 1 */
	"pushq %rbx\n\t"		 /* 4 */
	"addq %rdi, jump_word(%rip)\n\t" /* 5 */
	"leaq (%rdi,%rsi), %rax\n\t"	 /* 12 */
	"incq %rax\n\t"			 /* 16 */
	"popq %rbx\n\t"			 /* 19 */
	"popq %rbp\n\t"			 /* 20 */
	"ret\n"				 /* 21 */
	".size jump_target, . - jump_target\n.popsection");
#define TARGET_SIZE 22

static const struct {
	u8 offset;
	const char *why;
} places[] = {
    {0, NULL},
    {1, NULL},
    {4, NULL},
    {5, NULL},
    {12, NULL},
    {16, NULL},
    {19, "an instruction that may not run elsewhere"},
    {20, "an instruction that may not run elsewhere"},
    {21, "an instruction that may not run elsewhere"},
};

static void call_target(void)
{
	u64 word = jump_word;

	EXPECT_EQ(jump_target(30, 12), 43);
	EXPECT_EQ(jump_word - word, 30);
}

static void every_place(void)
{
	u8 before[TARGET_SIZE];

	memcpy(before, (void *)jump_target, sizeof(before));
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		struct kprobe p = {.symbol_name = "jump_target",
		    .offset = places[i].offset,
		    .pre_handler = on_hit};
		EXPECT_EQ(register_kprobe(&p), 0);
		EXPECT(optimize());
		EXPECT_STR(p.site->no_jump, places[i].why);
		EXPECT_EQ(head_of(&p), places[i].why ? OP_INT3 : OP_JMP);
		hits = 0;
		call_target();
		EXPECT_EQ(hits, 1);
		EXPECT_EQ(seen.rip, (u64)p.addr + 1);
		EXPECT_EQ(seen.rdi, 30);
		EXPECT_EQ(seen.cs, 0x10);
		/* A breakpoint pushes what it finds: 0 after an interrupt took this CPU from ring 3. */
		EXPECT(seen.ss == 0x18 || (places[i].why && !seen.ss));
		EXPECT_EQ(seen.error, (u64)-1);
		unregister_kprobe(&p);
		EXPECT_EQ(memcmp(before, (void *)jump_target, sizeof(before)), 0);
		call_target();
		EXPECT_EQ(hits, 1);
	}
}

/* Places that say no, each for a reason of its own; the probe is at 0 but where it says +1. */
extern u8 jump_no_into[], jump_no_loop[], jump_no_call[], jump_no_table[], jump_no_std[],
    jump_no_fault[], jump_no_end[], jump_no_jcc[], jump_no_static[], jump_no_target[];
struct static_key jump_key;
__asm__(".pushsection .text\n"
	".macro jump_no name\n.globl jump_no_\\name\n.type jump_no_\\name, @function\n.balign "
	"16\njump_no_\\name:\n.endm\n"
	".macro jump_no_ends name\n.size jump_no_\\name, . - jump_no_\\name\n.endm\n"
	".macro nop4\n.byte 0x0f, 0x1f, 0x40, 0\n.endm\n.macro nop5\n.byte 0x0f, 0x1f, 0x44, 0, "
	"0\n.endm\n"
	"jump_no into\n\tnop\n1:\tnop4\n\tjc 1b\n\tret\njump_no_ends into\n"
	"jump_no loop\n\tnop\n1:\tnop4\n\tloop 1b\n\tret\njump_no_ends loop\n"
	"jump_no call\n\tnop\n1:\tnop4\n\tret\n\tcall 1b\n\tret\njump_no_ends call\n"
	"jump_no table\n\tnop5\n\tjmp *%rax\njump_no_ends table\n"
	"jump_no std\n\tnop5\n\tstd\n\tcld\n\tret\njump_no_ends std\n"
	"jump_no fault\n\tnop5\n3:\tmovb (%rax), %al\n4:\tret\njump_no_ends fault\n"
	".pushsection __ex_table, \"a\"\n\t.quad 3b, 4b, 1\n.popsection\n"
	"jump_no jcc\n\tnop\n\tjc 1f\n\tnop4\n1:\tret\njump_no_ends jcc\n"
	"jump_no static\n\tnop\n5:\tnop5\n\tret\njump_no_ends static\n"
	"jump_no target\n\tnop\n6:\tnop4\n\tret\njump_no_ends target\n"
	".pushsection __static_branch, \"a\"\n\t.balign 8\n\t.quad 5b, 6b, jump_key\n.popsection\n"
	/* up to the next function: what lies between is padding */
	"jump_no end\n\tnop5\n\tnop5\n\tnop\n\tnop\n\tret\n\tnop\n\tnop\n\tnop\njump_no_ends end\n"
	"jump_no behind\n\tret\njump_no_ends behind\n"
	".popsection");

static void refusals(void)
{
	static const struct {
		u8 *at;
		const char *why;
	} rows[] = {
	    {jump_no_into, "a jump leads into it"},
	    {jump_no_loop, "a jump leads into it"},
	    {jump_no_call, "a jump leads into it"},
	    {jump_no_table, "its function jumps to places that are not known"},
	    {jump_no_std, "its function turns the direction of strings"},
	    {jump_no_fault, "its function has instructions that may fault"},
	    {jump_no_end + 13, "its function ends too soon"},
	    {jump_no_jcc, "an instruction that may not run elsewhere"},
	    {jump_no_static, "a switch that is patched itself"},
	    {jump_no_target, "a jump leads into it"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kprobe p = {.addr = rows[i].at, .pre_handler = on_hit};
		EXPECT_EQ(register_kprobe(&p), 0);
		EXPECT(optimize());
		EXPECT_STR(p.site->no_jump, rows[i].why);
		EXPECT_EQ(head_of(&p), OP_INT3);
		unregister_kprobe(&p);
	}
}

/* ---- unnoticed ------------------------------------------------------------------------------------------------------ */

/* Fills all registers and the flags, passes the probed nop, and stores what it finds then. */
u64 jump_found[16];
void jump_fill(void);
extern u8 jump_fill_probed[];
__asm__(
    ".pushsection .text\n.globl jump_fill\n.type jump_fill, @function\n.balign 16\njump_fill:\n\t"
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
	on_hit(p, r);
	r->r9 = 0x900;
	r->rbx = 0xb00;
	r->rflags &= ~1UL;
	r->rip = 0; /* means nothing */
	return 1;
}

static void registers_and_flags(void)
{
	struct kprobe p = {.addr = jump_fill_probed, .pre_handler = on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	jump_fill();
	for (unsigned i = 0; i < 15; i++)
		EXPECT_EQ(jump_found[i], 0x100 + i);
	EXPECT_EQ(jump_found[15] & 0xad7, 0xad7);
	EXPECT_EQ(seen.rflags & 0xad7, 0xad7);
	EXPECT_EQ(seen.rax, 0x100);
	EXPECT_EQ(seen.r15, 0x10e);
	EXPECT_EQ(seen.rsp, seen.rsp & ~7UL);
	unregister_kprobe(&p);
	p.pre_handler = on_hit_changes;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(optimize());
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
				EXPECT(optimize());
				EXPECT_EQ(head_of(&p), OP_JMP);
			}
			call_target();
		}
		EXPECT(depth[0] > 3);
		EXPECT_EQ(depth[0], depth[1]);
		EXPECT_EQ(memcmp(trace[0], trace[1], depth[0] * sizeof(u64)), 0);
		unregister_kprobe(&p);
	}
}

/* ---- what makes it a breakpoint again -------------------------------------------------------------------------------- */

static void other_probes(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = on_hit}, q = p, same = p;

	q.offset = 1;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	/* One under the jump, that is not enabled: it may stay. */
	q.flags = KPROBE_FLAG_DISABLED;
	EXPECT_EQ(register_kprobe(&q), 0);
	EXPECT_EQ(q.site->arch.first, 0x48);
	EXPECT_EQ(head_of(&p), OP_JMP);
	EXPECT_EQ(enable_kprobe(&q), 0);
	EXPECT_EQ(head_of(&p), OP_INT3);
	EXPECT_EQ(head_of(&q), OP_INT3);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_INT3);
	EXPECT_EQ(head_of(&q), OP_JMP);
	hits = 0;
	call_target();
	EXPECT_EQ(hits, 2);
	EXPECT_EQ(disable_kprobe(&q), 0);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	unregister_kprobe(&q);
	/* More of them at the same place. */
	EXPECT_EQ(register_kprobe(&same), 0);
	EXPECT_EQ(head_of(&p), OP_INT3);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	hits = 0;
	call_target();
	EXPECT_EQ(hits, 2);
	EXPECT_EQ(disable_kprobe(&p), 0);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	call_target();
	EXPECT_EQ(hits, 3);
	unregister_kprobe(&same);
	EXPECT_EQ(head_of(&p), 0x55);
	unregister_kprobe(&p);
}

static void post_handlers(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = on_hit}, q = p;

	q.post_handler = on_post;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(optimize());
	EXPECT_EQ(register_kprobe(&q), 0);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_INT3);
	hits = post_hits = 0;
	call_target();
	EXPECT_EQ(hits, 2);
	EXPECT_EQ(post_hits, 1);
	unregister_kprobe(&q);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	call_target();
	EXPECT_EQ(hits, 3);
	EXPECT_EQ(post_hits, 1);
	unregister_kprobe(&p);
}

static void switches(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(optimize());
	kprobes_optimization(false);
	EXPECT(!kprobes_optimization_is_on());
	EXPECT_EQ(head_of(&p), OP_INT3);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_INT3);
	kprobes_optimization(true);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	kprobes_switch(false);
	EXPECT_EQ(head_of(&p), 0x55);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), 0x55);
	kprobes_switch(true);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&p), OP_JMP);
	unregister_kprobe(&p);
}

/* Nobody asks for it: after a while it is done. */
static void by_itself(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .pre_handler = on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(head_of(&p), OP_INT3);
	for (unsigned i = 0; i < TRIES && head_of(&p) != OP_JMP; i++)
		sleep_ns(TICK_NS, NULL);
	EXPECT_EQ(head_of(&p), OP_JMP);
	unregister_kprobe(&p);
}

/* ---- hits inside hits; returns ---------------------------------------------------------------------------------------- */

static int on_hit_calls(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	hits++;
	jump_fill();
	return 0;
}

static void inside_a_handler(void)
{
	struct kprobe outer = {.symbol_name = "jump_target", .pre_handler = on_hit_calls};
	struct kprobe inner = {.addr = jump_fill_probed, .pre_handler = on_hit}, off = inner;

	off.flags = KPROBE_FLAG_DISABLED;
	EXPECT_EQ(register_kprobe(&outer), 0);
	EXPECT_EQ(register_kprobe(&inner), 0);
	EXPECT_EQ(register_kprobe(&off), 0);
	EXPECT(optimize());
	EXPECT_EQ(head_of(&outer), OP_JMP);
	EXPECT_EQ(head_of(&inner), OP_JMP);
	hits = 0;
	for (unsigned i = 0; i < 100; i++)
		call_target();
	EXPECT_EQ(hits, 100);
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
	EXPECT(optimize());
	EXPECT_EQ(head_of(&rp.kp), OP_JMP);
	returned = 0;
	for (unsigned i = 0; i < 100; i++)
		call_target();
	EXPECT_EQ(returned, 4300);
	EXPECT(returns_to - (u64)call_target < 0x100);
	EXPECT_EQ(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* ---- somebody is there ------------------------------------------------------------------------------------------------ */

/* Most of the time in the second instruction, which an interrupt leaves to be gone on with. */
void jump_slow(const void *from, u64 n);
__asm__(
    ".pushsection .text\n.globl jump_slow\n.type jump_slow, @function\n.balign 16\njump_slow:\n\t"
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

/* The jump would go over the instruction in which the other task, on this CPU, was preempted. */
static void somebody_is_there(void)
{
	struct kprobe p = {.symbol_name = "jump_slow", .offset = SLOW_AT, .pre_handler = on_hit};
	unsigned busy = 0;

	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	atomic_store(&slow_runs, 1);
	EXPECT(kthread_run(run_slow, NULL, 0, "slow") != NULL);
	for (unsigned i = 0; i < 50; i++) {
		sleep_ns(2 * TICK_NS, NULL);
		EXPECT_EQ(register_kprobe(&p), 0);
		if (!kprobes_optimize()) {
			busy++;
			EXPECT_EQ(head_of(&p), OP_INT3);
		}
		EXPECT(optimize());
		EXPECT_EQ(head_of(&p), OP_JMP);
		unregister_kprobe(&p);
	}
	atomic_store(&slow_runs, 0);
	while (atomic_load(&slow_runs) != 2)
		sleep_ns(TICK_NS, NULL);
	task_set_affinity(current(), ~0UL);
	EXPECT(busy > 0);
	ktap_note("%u times of 50", busy);
}

/* ---- the ground it stands on -------------------------------------------------------------------------------------------- */

/* Is it the beginning of a function, or of none? Those without probes have entrances of their own. */
static bool is_entrance(u64 target)
{
	u64 start = kernel_function_start(target);

	return !start || start == target || arch_probe_refused(target) != NULL;
}

static bool is_branch(enum insn_kind kind)
{
	return kind == INSN_JMP || kind == INSN_JCC || kind == INSN_LOOP || kind == INSN_CALL;
}

/* No code leads into the middle of another function: so it is enough to look for jumps within one. */
static void functions_are_closed(void)
{
	u64 start, size, branches = 0;
	const char *name;

	for (unsigned n = 0; sym_nth(n, &name, &start, &size); n++) {
		if (arch_probe_refused(start) || str_has_prefix(name, "opcodes_"))
			continue; /* these are single instructions of kprobe_opcodes.c */
		struct insn i;
		for (u64 at = start; at < start + size; at += i.len) {
			u8 code[INSN_MAX + 1];
			if (!insn_decode(&i, code, probe_read_code(at, code)))
				break;
			u64 target = at + i.len + i.imm;
			if (!is_branch(insn_kind(&i)) || target - start < size)
				continue;
			branches++;
			if (!is_entrance(target))
				ktap_fail(__FILE__, __LINE__, "%s+0x%lx leads to %llx", name,
				    (unsigned long)(at - start), (unsigned long long)target);
		}
	}
	EXPECT(branches > 1000);
}

static const struct ktap_case cases[] = {
    {"kprobe_jump.every_place", every_place},
    {"kprobe_jump.refusals", refusals},
    {"kprobe_jump.registers_and_flags", registers_and_flags},
    {"kprobe_jump.looking_back", looking_back},
    {"kprobe_jump.other_probes", other_probes},
    {"kprobe_jump.post_handlers", post_handlers},
    {"kprobe_jump.switches", switches},
    {"kprobe_jump.by_itself", by_itself},
    {"kprobe_jump.inside_a_handler", inside_a_handler},
    {"kprobe_jump.returns", returns},
    {"kprobe_jump.somebody_is_there", somebody_is_there},
    {"kprobe_jump.functions_are_closed", functions_are_closed},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_jump = {cases};
