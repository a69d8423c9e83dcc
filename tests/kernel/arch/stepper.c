/*
 * See stepper.h. The trap flag gives a #DB behind each instruction; its handler counts, and at the
 * boundary that is asked for it sends the interrupted code on a detour, which calls the hook. The
 * handler itself is on its CPU's #DB stack and left by then, so that the hook can be stepped in its
 * turn.
 */
#include "tests/kernel/arch/stepper.h"

#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/ktap.h"

#define RFLAGS_TF 0x100UL
#define LEVELS	  4

/* One stepper_run() under way. [C] */
struct level {
	u64 left; /* boundaries before the one asked for */
	bool reached;
	void (*hook)(void *);
	void *arg;
};

static struct level levels[LEVELS];
static unsigned depth;

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
}

bool stepper_run(void (*fn)(void *), void *arg, u64 at, void (*hook)(void *), void *hook_arg)
{
	struct level *level = &levels[depth++];

	*level = (struct level){.left = at, .hook = hook, .arg = hook_arg};
	stepper_call(fn, arg);
	depth--;
	return level->reached;
}
