/*
 * See stepper.h. The trap flag gives a #DB behind each instruction; its handler counts, and at the
 * boundary that is asked for it sends the interrupted code on a detour, which calls the hook. The
 * handler itself is on its CPU's #DB stack and left by then, so that the hook can be stepped in its
 * turn.
 */
#include "tests/kernel/arch/stepper.h"

#include "arch/x86_64/probe/insn.h"
#include "kernel/base/panic.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

#define RFLAGS_TF  0x100UL
#define LEVELS	   4
#define SPINS	   16	/* boundaries in a row at one address, before the rest are skipped */
#define STACK_KEPT 8192 /* bytes of stack that a mark has room for */

/* One stepper_run() under way. [C] */
struct level {
	u64 left; /* boundaries before the one asked for */
	u64 at;	  /* address of the instruction that runs next; 0 before the first */
	u64 last; /* address of the boundary before, and how many in a row were there */
	unsigned spins;
	bool reached;
	void (*hook)(void *);
	bool (*each)(void *); /* instead of hook */
	bool resumed;	      /* the next trap is at the boundary that the hook has had */
	void *arg;
};

static struct level levels[LEVELS];
static unsigned depth;
static bool skip_private;

/* ---- Instructions that use only registers and their own stack ---- */

/* True for ranges in which each opcode of `map` accesses at most what its ModRM names. */
static bool only_operands(const struct insn *i)
{
	static const struct {
		u8 map, first, last;
	} ranges[] = {
	    {INSN_MAP_1, 0x00, 0x5f},  /* arithmetic, push, pop */
	    {INSN_MAP_1, 0x63, 0x63},  /* movsxd */
	    {INSN_MAP_1, 0x68, 0x6b},  /* push, imul */
	    {INSN_MAP_1, 0x70, 0x8b},  /* jcc, arithmetic, test, xchg, mov */
	    {INSN_MAP_1, 0x90, 0x99},  /* nop, xchg, sign extension */
	    {INSN_MAP_1, 0xa8, 0xa9},  /* test */
	    {INSN_MAP_1, 0xb0, 0xc3},  /* mov, shifts, ret */
	    {INSN_MAP_1, 0xc6, 0xc7},  /* mov */
	    {INSN_MAP_1, 0xc9, 0xc9},  /* leave */
	    {INSN_MAP_1, 0xd0, 0xd3},  /* shifts */
	    {INSN_MAP_1, 0xe8, 0xe9},  /* call, jmp */
	    {INSN_MAP_1, 0xeb, 0xeb},  /* jmp */
	    {INSN_MAP_1, 0xf6, 0xf7},  /* test, not, neg, mul, div */
	    {INSN_MAP_1, 0xfe, 0xff},  /* inc, dec, call, jmp, push */
	    {INSN_MAP_0F, 0x40, 0x4f}, /* cmov */
	    {INSN_MAP_0F, 0x80, 0x9f}, /* jcc, setcc */
	    {INSN_MAP_0F, 0xa3, 0xa5}, /* bt, shld */
	    {INSN_MAP_0F, 0xab, 0xad}, /* bts, shrd */
	    {INSN_MAP_0F, 0xaf, 0xb1}, /* imul, cmpxchg */
	    {INSN_MAP_0F, 0xb3, 0xb3}, /* btr */
	    {INSN_MAP_0F, 0xb6, 0xb8}, /* movzx, popcnt */
	    {INSN_MAP_0F, 0xba, 0xbf}, /* bit tests and scans, movsx */
	    {INSN_MAP_0F, 0xc8, 0xcf}, /* bswap */
	};

	for (unsigned n = 0; n < ARRAY_SIZE(ranges); n++)
		if (i->map == ranges[n].map && i->opcode >= ranges[n].first &&
		    i->opcode <= ranges[n].last)
			return true;
	return false;
}

/* The kernel keeps frame pointers: %rbp always points into the stack, as %rsp does. */
static bool is_on_stack(const struct insn *i)
{
	unsigned base = insn_has_sib(i) ? i->sib & 7 : insn_rm(i);

	if (i->rex & (INSN_REX_B | INSN_REX_X) || (insn_has_sib(i) && (i->sib >> 3 & 7) != 4))
		return false;
	return base == 4 || (base == 5 && insn_mod(i) != 0);
}

static bool is_private(u64 address)
{
	struct insn i;

	if (!insn_decode(&i, (const u8 *)address, INSN_MAX))
		return false;
	if (insn_kind(&i) == INSN_NOP || (i.map == INSN_MAP_1 && i.opcode == 0x8d)) /* lea */
		return true;
	if (i.prefixes & ~(INSN_PREFIX_66 | INSN_PREFIX_REP) || !only_operands(&i))
		return false;
	return !i.has_modrm || insn_mod(&i) == 3 || is_on_stack(&i);
}

/*
 * Calls fn(arg) with the trap flag on: its first trap is that behind the call. At `stepper_done` fn
 * has returned.
 */
void stepper_call(void (*fn)(void *), void *arg);
extern char stepper_done[];
/*
 * The interrupted code's detour: as if it had called this at the boundary, but that nothing is
 * changed.
 */
void stepper_detour(void);
/* The flags that the interrupted code goes on with. */
u64 stepper_hook(u64 flags);
__asm__(".pushsection .text.asm, \"ax\", @progbits\n"
	"stepper_call:\n\t"
	"pushq %rbp\n\t"
	"movq %rsp, %rbp\n\t"
	"movq %rdi, %rax\n\t"
	"movq %rsi, %rdi\n\t"
	"pushfq\n\t"
	"orq $0x100, (%rsp)\n\t"
	"popfq\n\t"
	"call *%rax\n"
	"stepper_done:\n\t"
	"popq %rbp\n\t"
	"ret\n"
	"stepper_detour:\n\t"
	"pushfq\n\t"
	"pushq %rbp\n\t"
	"movq %rsp, %rbp\n\t"
	"pushq %rax\n\tpushq %rbx\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n\t"
	"pushq %r8\n\tpushq %r9\n\tpushq %r10\n\tpushq %r11\n\tpushq %r12\n\tpushq %r13\n\tpushq "
	"%r14\n\tpushq %r15\n\t"
	"cld\n\t"
	"movq 8(%rbp), %rdi\n\t"
	"call stepper_hook\n\t"
	"movq %rax, 8(%rbp)\n\t"
	"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %r11\n\tpopq %r10\n\tpopq "
	"%r9\n\tpopq %r8\n\t"
	"popq %rdi\n\tpopq %rsi\n\tpopq %rdx\n\tpopq %rcx\n\tpopq %rbx\n\tpopq %rax\n\t"
	"popq %rbp\n\t"
	"popfq\n\t"
	"ret\n"
	".popsection");

u64 stepper_hook(u64 flags)
{
	struct level *level = &levels[depth - 1];

	if (level->each) {
		level->resumed = level->each(level->arg);
		return level->resumed ? flags | RFLAGS_TF : flags;
	}
	level->hook(level->arg);
	return flags;
}

static bool on_debug(struct regs *r)
{
	struct level *level = &levels[depth - 1];

	if (!depth || !(r->rflags & RFLAGS_TF))
		return false;
	if (r->rip == (u64)stepper_done) {
		r->rflags &= ~RFLAGS_TF;
		return true;
	}
	if (level->resumed) {
		level->resumed = false;
		return true;
	}
	if (skip_private && level->at && is_private(level->at)) {
		level->at = r->rip;
		return true;
	}
	level->at = r->rip;
	level->spins = r->rip == level->last ? level->spins + 1 : 0;
	level->last = r->rip;
	if (skip_private && level->spins >= SPINS)
		return true;
	if (level->left) {
		level->left--;
		return true;
	}
	level->reached = true;
	r->rflags &= ~RFLAGS_TF;
	r->rsp -= sizeof(u64); /* the kernel has no red zone */
	*(u64 *)r->rsp = r->rip;
	r->rip = (u64)stepper_detour;
	return true;
}

void stepper_begin(void)
{
	EXPECT_EQ(debug_handler_add(on_debug), 0);
}

void stepper_end(void)
{
	debug_handler_remove(on_debug);
	skip_private = false;
}

void stepper_skip_private(void)
{
	skip_private = true;
}

static bool run(struct level how, void (*fn)(void *), void *arg)
{
	struct level *level = &levels[depth++];

	*level = how;
	stepper_call(fn, arg);
	depth--;
	return level->reached;
}

bool stepper_run(void (*fn)(void *), void *arg, u64 at, void (*hook)(void *), void *hook_arg)
{
	return run((struct level){.left = at, .hook = hook, .arg = hook_arg}, fn, arg);
}

bool stepper_run_each(void (*fn)(void *), void *arg, u64 from, bool (*hook)(void *), void *hook_arg)
{
	return run((struct level){.left = from, .each = hook, .arg = hook_arg}, fn, arg);
}

/* ---- Marks ---- */

struct mark_registers {
	u64 rbx, rbp, r12, r13, r14, r15, rip, rsp;
};

/*
 * The registers a function must preserve, and those at which its caller goes on: as setjmp() and
 * longjmp(), but that the second, without a stack of its own, first puts `words` words of stack
 * back.
 */
u64 stepper_save(struct mark_registers *r) __attribute__((returns_twice));
void stepper_restore(const struct mark_registers *r, const u64 *stack, u64 words) __noreturn;
__asm__(".pushsection .text.asm, \"ax\", @progbits\n"
	"stepper_save:\n\t"
	"movq %rbx, (%rdi)\n\t"
	"movq %rbp, 8(%rdi)\n\t"
	"movq %r12, 16(%rdi)\n\t"
	"movq %r13, 24(%rdi)\n\t"
	"movq %r14, 32(%rdi)\n\t"
	"movq %r15, 40(%rdi)\n\t"
	"movq (%rsp), %rax\n\t"
	"movq %rax, 48(%rdi)\n\t"
	"leaq 8(%rsp), %rax\n\t"
	"movq %rax, 56(%rdi)\n\t"
	"xorl %eax, %eax\n\t"
	"ret\n"
	"stepper_restore:\n\t"
	"movq %rdi, %rax\n\t"
	"movq 56(%rax), %rsp\n\t"
	"movq %rsp, %rdi\n\t"
	"movq %rdx, %rcx\n\t"
	"rep movsq\n\t"
	"movq (%rax), %rbx\n\t"
	"movq 8(%rax), %rbp\n\t"
	"movq 16(%rax), %r12\n\t"
	"movq 24(%rax), %r13\n\t"
	"movq 32(%rax), %r14\n\t"
	"movq 40(%rax), %r15\n\t"
	"movq 48(%rax), %rdx\n\t"
	"movl $1, %eax\n\t"
	"jmp *%rdx\n"
	".popsection");

static struct {
	struct mark_registers registers;
	u64 stack[STACK_KEPT / 8];
	u64 words;
	struct level levels[LEVELS];
	unsigned depth;
	u32 preempt_count;
} mark;

bool stepper_mark(const void *stack_end)
{
	if (stepper_save(&mark.registers))
		return true;
	mark.words = ((u64)stack_end - mark.registers.rsp) / 8;
	BUG_ON(mark.words > ARRAY_SIZE(mark.stack));
	memcpy(mark.stack, (const void *)mark.registers.rsp, mark.words * 8);
	memcpy(mark.levels, levels, sizeof(levels));
	mark.depth = depth;
	mark.preempt_count = this_cpu_read(preempt_count);
	return false;
}

void stepper_return(void)
{
	irq_save();
	memcpy(levels, mark.levels, sizeof(levels));
	depth = mark.depth;
	preempt_count_add(mark.preempt_count - this_cpu_read(preempt_count));
	stepper_restore(&mark.registers, mark.stack, mark.words);
}
