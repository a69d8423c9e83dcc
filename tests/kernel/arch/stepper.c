/*
 * See stepper.h. The trap flag gives a #DB behind each instruction; its handler counts, and at the
 * boundary that is asked for it sends the interrupted code on a detour, which calls the hook. The
 * handler itself is on its CPU's #DB stack and left by then, so that the hook can be stepped in its
 * turn.
 */
#include "tests/kernel/arch/stepper.h"

#include "arch/x86_64/probe/insn.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/ktap.h"

#define RFLAGS_TF 0x100UL
#define LEVELS	  4

/* One stepper_run() under way. [C] */
struct level {
	u64 left; /* boundaries before the one asked for */
	u64 at;	  /* address of the instruction that runs next; 0 before the first */
	bool reached;
	void (*hook)(void *);
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
void stepper_hook(void);
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
	"call stepper_hook\n\t"
	"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %r11\n\tpopq %r10\n\tpopq "
	"%r9\n\tpopq %r8\n\t"
	"popq %rdi\n\tpopq %rsi\n\tpopq %rdx\n\tpopq %rcx\n\tpopq %rbx\n\tpopq %rax\n\t"
	"popq %rbp\n\t"
	"popfq\n\t"
	"ret\n"
	".popsection");

void stepper_hook(void)
{
	struct level *level = &levels[depth - 1];

	level->hook(level->arg);
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
	if (skip_private && level->at && is_private(level->at)) {
		level->at = r->rip;
		return true;
	}
	level->at = r->rip;
	if (level->left--)
		return true;
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

bool stepper_run(void (*fn)(void *), void *arg, u64 at, void (*hook)(void *), void *hook_arg)
{
	struct level *level = &levels[depth++];

	*level = (struct level){.left = at, .hook = hook, .arg = hook_arg};
	stepper_call(fn, arg);
	depth--;
	return level->reached;
}
