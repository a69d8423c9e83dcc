/*
 * Each kind of instruction that is emulated, and some that are copied: run bare and run under a
 * probe, from the same random registers and flags, they must leave the same registers, flags and
 * stack, and go the same way.
 */
#include "kernel/base/random.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

#define ROUNDS	    200
/*
 * Below what the instruction uses there is room for the breakpoint's frames: they go on the stack
 * that is interrupted.
 */
#define STACK_ROOM  512
#define STACK_WORDS (STACK_ROOM + 24)
#define FLAGS_MASK  0x8d5UL /* CF PF AF ZF SF OF */

/* In the order in which opcodes_run() loads and stores them. */
struct machine {
	u64 rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15;
	u64 flags, way; /* way: 0 fell through, 1 jumped */
	u64 stack[STACK_WORDS];
};

/* Runs the code at `code` on m->stack with m's registers, and stores what it leaves. */
void opcodes_run(struct machine *m, u64 code);
extern const u8 opcodes_jumped[], opcodes_through[];
extern u64 opcodes_word, opcodes_pointer; /* what rip-relative operands mean */

__asm__(
    ".pushsection .bss\n.balign 8\nopcodes_machine: .quad 0\nopcodes_rsp: .quad 0\nopcodes_save: "
    ".quad 0\n"
    ".globl opcodes_word\nopcodes_word: .quad 0\n.globl opcodes_pointer\nopcodes_pointer: .quad "
    "0\n.popsection\n"
    ".pushsection .text.asm, \"ax\"\n.globl opcodes_run\n.type opcodes_run, @function\n.balign "
    "16\nopcodes_run:\n\t"
    "pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
    "movq %rdi, opcodes_machine(%rip)\n\tmovq %rsp, opcodes_rsp(%rip)\n\tmovq %rsi, "
    "opcodes_save(%rip)\n\t"
    "pushq 128(%rdi)\n\tpopfq\n\t"
    "movq 0(%rdi), %rax\n\tmovq 8(%rdi), %rcx\n\tmovq 16(%rdi), %rdx\n\tmovq 24(%rdi), %rbx\n\t"
    "movq 32(%rdi), %rsp\n\tmovq 40(%rdi), %rbp\n\tmovq 48(%rdi), %rsi\n\t"
    "movq 64(%rdi), %r8\n\tmovq 72(%rdi), %r9\n\tmovq 80(%rdi), %r10\n\tmovq 88(%rdi), %r11\n\t"
    "movq 96(%rdi), %r12\n\tmovq 104(%rdi), %r13\n\tmovq 112(%rdi), %r14\n\tmovq 120(%rdi), "
    "%r15\n\t"
    "movq 56(%rdi), %rdi\n\tjmp *opcodes_save(%rip)\n"
    ".globl opcodes_jumped\nopcodes_jumped:\n\t"
    "movq %rdi, opcodes_save(%rip)\n\tmovq opcodes_machine(%rip), %rdi\n\tmovq $1, "
    "136(%rdi)\n\tjmp 1f\n"
    ".globl opcodes_through\nopcodes_through:\n\t"
    "movq %rdi, opcodes_save(%rip)\n\tmovq opcodes_machine(%rip), %rdi\n\tmovq $0, 136(%rdi)\n"
    "1:\tmovq %rax, 0(%rdi)\n\tmovq %rcx, 8(%rdi)\n\tmovq %rdx, 16(%rdi)\n\tmovq %rbx, 24(%rdi)\n\t"
    "movq %rsp, 32(%rdi)\n\tmovq %rbp, 40(%rdi)\n\tmovq %rsi, 48(%rdi)\n\t"
    "movq %r8, 64(%rdi)\n\tmovq %r9, 72(%rdi)\n\tmovq %r10, 80(%rdi)\n\tmovq %r11, 88(%rdi)\n\t"
    "movq %r12, 96(%rdi)\n\tmovq %r13, 104(%rdi)\n\tmovq %r14, 112(%rdi)\n\tmovq %r15, "
    "120(%rdi)\n\t"
    "movq opcodes_save(%rip), %rax\n\tmovq %rax, 56(%rdi)\n\t"
    "movq opcodes_rsp(%rip), %rsp\n\tpushfq\n\tpopq 128(%rdi)\n\t"
    "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
    ".size opcodes_run, . - opcodes_run\n.popsection");

/* One instruction each; what does not jump goes on to opcodes_through. */
#define OPCODES(X)                                                                                 \
	X(nop, "nop")                                                                              \
	X(nopl, ".byte 0x0f, 0x1f, 0x44, 0, 0")                                                    \
	X(push_rax, "pushq %rax")                                                                  \
	X(push_rsp, "pushq %rsp")                                                                  \
	X(push_rbp, "pushq %rbp")                                                                  \
	X(push_r13, "pushq %r13")                                                                  \
	X(pop_rcx, "popq %rcx")                                                                    \
	X(pop_rsp, "popq %rsp")                                                                    \
	X(pop_r12, "popq %r12")                                                                    \
	X(mov_rsp_rbp, "movq %rsp, %rbp")                                                          \
	X(mov_rbp_rsp, "movq %rbp, %rsp")                                                          \
	X(mov_r9_rdi, "movq %r9, %rdi")                                                            \
	X(mov_edi_ebx, "movl %edi, %ebx")                                                          \
	X(mov_8b, ".byte 0x49, 0x8b, 0xc7")                                                        \
	X(mov_8b_32, ".byte 0x44, 0x8b, 0xe1")                                                     \
	X(leave, "leave")                                                                          \
	X(jmp_short, ".byte 0xeb, 0\n\tjmp opcodes_jumped")                                        \
	X(jmp_near, "jmp opcodes_jumped")                                                          \
	X(call, "call opcodes_jumped")                                                             \
	X(ret, "ret")                                                                              \
	X(ret_16, "ret $16")                                                                       \
	X(jmp_rax, "jmp *%rax")                                                                    \
	X(jmp_r11, "jmp *%r11")                                                                    \
	X(call_rax, "call *%rax")                                                                  \
	X(call_r11, "call *%r11")                                                                  \
	X(jmp_mem, "jmp *8(%rdx)")                                                                 \
	X(jmp_index, "jmp *-16(%rdx,%rbx,8)")                                                      \
	X(jmp_rbp_index, "jmp *-32(%rbp,%rbx,8)")                                                  \
	X(jmp_r13_index, "jmp *-32(%r13,%rbx,8)")                                                  \
	X(call_index_r12, "call *-16(%rdx,%r12,8)")                                                \
	X(call_rsp, "call *8(%rsp)")                                                               \
	X(call_rip, "call *opcodes_pointer(%rip)")                                                 \
	X(jmp_abs, "jmp *opcodes_pointer")                                                         \
	X(call_no_base, "call *opcodes_pointer(,%rsi,1)")                                          \
	X(loop, "loop 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                          \
	X(loope, "loope 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                        \
	X(loopne, "loopne 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                      \
	X(jrcxz, "jrcxz 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                        \
	X(jecxz, "jecxz 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                        \
	X(loop_32, ".byte 0x67\n\tloop 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")         \
	X(jo, "jo opcodes_jumped")                                                                 \
	X(jno, "jno opcodes_jumped")                                                               \
	X(jb, "jb opcodes_jumped")                                                                 \
	X(jae, "jae opcodes_jumped")                                                               \
	X(je, "je opcodes_jumped")                                                                 \
	X(jne, "jne opcodes_jumped")                                                               \
	X(jbe, "jbe opcodes_jumped")                                                               \
	X(ja, "ja opcodes_jumped")                                                                 \
	X(js, "js opcodes_jumped")                                                                 \
	X(jns, "jns opcodes_jumped")                                                               \
	X(jp, "jp opcodes_jumped")                                                                 \
	X(jnp, "jnp opcodes_jumped")                                                               \
	X(jl, "jl opcodes_jumped")                                                                 \
	X(jge, "jge opcodes_jumped")                                                               \
	X(jle, "jle opcodes_jumped")                                                               \
	X(jg, "jg opcodes_jumped")                                                                 \
	X(jg_short, "jg 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                        \
	X(jbe_short, "jbe 8f\n\tjmp opcodes_through\n8:\tjmp opcodes_jumped")                      \
	X(add, "addq %rbx, %rax")                                                                  \
	X(adc, "adcl %ecx, %edx")                                                                  \
	X(lea_rip, "leaq opcodes_word(%rip), %rax")                                                \
	X(add_rip, "addq %rax, opcodes_word(%rip)")                                                \
	X(cmp_rip, "cmpb $5, opcodes_word(%rip)")                                                  \
	X(movl_rip, "movl $0x12345678, opcodes_word(%rip)")                                        \
	X(xadd_rip, "lock xaddq %rcx, opcodes_word(%rip)")                                         \
	X(mov_mem, "movq (%rdx), %rax")                                                            \
	X(mul, "mulq %rbx")                                                                        \
	X(pushf, "pushfq")                                                                         \
	X(push_imm, "pushq $-5")                                                                   \
	X(push_mem, "pushq 8(%rdx)")                                                               \
	X(pop_mem, "popq 8(%rdx)")                                                                 \
	X(push_16, "pushw %ax")                                                                    \
	X(movabs, "movabsq $0x123456789abcdef0, %r10")                                             \
	X(setg, "setg %al")                                                                        \
	X(cmov, "cmovbeq %rbx, %rcx")                                                              \
	X(bswap, "bswapq %r14")                                                                    \
	X(stc, "stc")                                                                              \
	X(sahf, "sahf")                                                                            \
	X(gs, "movq %gs:0, %rax")                                                                  \
	X(pause, "pause")

#undef X
#define X(name, code)                                                                              \
	".type opcode_" #name ", @function\nopcode_" #name ":\n\t" code                            \
	"\n\tjmp opcodes_through\n\t"
__asm__(".pushsection .text.asm, \"ax\"\n" OPCODES(X) ".popsection");

#undef X
#define X(name, code) extern const u8 opcode_##name[];
OPCODES(X)
#undef X
#define X(name, code) {#name, opcode_##name},
static const struct {
	const char *name;
	const u8 *code;
} opcodes[] = {OPCODES(X)};

/* Pointers where instructions want them, anything else elsewhere. */
static void set_up(struct machine *m, u64 *seed, bool near)
{
	u64 *low = m->stack + STACK_ROOM;

	for (unsigned i = 0; i < 16; i++)
		((u64 *)m)[i] = prng_next(seed);
	for (unsigned i = 0; i < STACK_WORDS; i++)
		m->stack[i] = i < STACK_ROOM ? 0 : prng_next(seed);
	m->flags = (prng_next(seed) & FLAGS_MASK) | 2;
	m->rdx = (u64)&low[4];
	m->rbx = m->r12 = 3;
	m->rsi = 0;
	m->rsp = (u64)&low[8];
	m->rbp = m->r13 = (u64)&low[10];
	m->rcx = prng_next(seed) % 4 ? prng_next(seed) % 3 : prng_next(seed) << 32;
	low[5] = low[9] = (u64)opcodes_jumped;
	low[8] = prng_next(seed) % 2 ? (u64)opcodes_jumped : (u64)opcodes_through;
	if (near)
		m->rax = m->r11 = (u64)opcodes_jumped;
	opcodes_pointer = (u64)opcodes_jumped;
}

static void run(struct machine *m, const u8 *code)
{
	u64 flags = irq_save();

	opcodes_run(m, (u64)code);
	irq_restore(flags);
}

static u64 hits;

static int on_hit(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	hits++;
	return 0;
}

struct outcome {
	u64 machine[offsetof(struct machine, stack) / 8], stack[STACK_WORDS - STACK_ROOM], word;
};

static struct machine machine; /* always the same one: its addresses are among the outcomes */
static struct outcome bare[ROUNDS];

/* Below its stack pointer the code has nothing: what a breakpoint or a detour leaves differs. */
static void forget_below_stack(struct machine *m)
{
	u64 *end = m->stack + STACK_WORDS;

	for (u64 *p = m->stack; p < end && p < (u64 *)m->rsp; p++)
		*p = 0;
}

static void one_round(unsigned which, u64 *seed, struct outcome *out)
{
	bool near = strstr(opcodes[which].name, "_rax") || strstr(opcodes[which].name, "_r11");

	set_up(&machine, seed, near && !str_has_prefix(opcodes[which].name, "push"));
	opcodes_word = prng_next(seed);
	run(&machine, opcodes[which].code);
	forget_below_stack(&machine);
	memcpy(out->machine, &machine, sizeof(out->machine));
	memcpy(out->stack, machine.stack + STACK_ROOM, sizeof(out->stack));
	out->word = opcodes_word;
}

static void compare(unsigned which, u64 seed)
{
	struct kprobe p = {.addr = (void *)opcodes[which].code, .pre_handler = on_hit};
	struct outcome probed;
	unsigned differ = 0;
	u64 state = seed;

	for (unsigned i = 0; i < ROUNDS; i++)
		one_round(which, &state, &bare[i]);
	if (register_kprobe(&p)) {
		ktap_fail(
		    __FILE__, __LINE__, "%s cannot be probed: %s", opcodes[which].name, p.why);
		return;
	}
	hits = 0;
	state = seed;
	for (unsigned i = 0; i < ROUNDS; i++) {
		one_round(which, &state, &probed);
		differ += memcmp(&probed, &bare[i], sizeof(probed)) != 0;
	}
	unregister_kprobe(&p);
	if (differ)
		ktap_fail(__FILE__, __LINE__, "%s: %u of %u outcomes differ", opcodes[which].name,
		    differ, ROUNDS);
	EXPECT_EQ(hits, ROUNDS);
}

static void against_bare(void)
{
	u64 seed = random_u64();

	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned i = 0; i < ARRAY_SIZE(opcodes); i++)
		compare(i, seed + i);
}

static const struct ktap_case cases[] = {
    {"kprobe.opcodes", against_bare},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_opcodes = {cases};
