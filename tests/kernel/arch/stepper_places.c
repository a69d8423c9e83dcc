/*
 * Which boundaries stepper_skip_private() keeps: the first, and each after an instruction that uses
 * the clock, a segment, or memory other than its own stack. Task context.
 */
#include "arch/arch.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/arch/stepper.h"
#include "trace/host_context.h"

#define INSTRUCTIONS 26
#define SHARED	     8

void stepper_places_run(void *word);
__asm__(".pushsection .text.asm, \"ax\", @progbits\n"
	"stepper_places_run:\n\t"
	"pushq %rbp\n\t"
	"movq %rsp, %rbp\n\t"
	"pushq %r13\n\t"
	"movq %rdi, %r13\n\t"
	"leaq 8(%rdi), %rsi\n\t"
	"nopw 8(%rdi)\n\t"
	"movq -8(%rbp), %rcx\n\t"
	"movzbl %cl, %ecx\n\t"
	"movl $0, %eax\n\t"
	"addq $1, %rax\n\t"
	"testq %rax, %rax\n\t"
	"jnz 1f\n"
	"1:\tmovq %rax, (%rsp)\n\t"
	"xorl %eax, %eax\n\t"
	/* shared: */
	"movq (%rdi), %rcx\n\t"
	"movq 0(%r13), %rcx\n\t"
	"movq (%rsp,%rax), %rcx\n\t"
	"movzbl (%rdi), %ecx\n\t"
	"lock incq (%rdi)\n\t"
	"cmpxchgq %rcx, (%rdi)\n\t"
	"movq %gs:0, %rcx\n\t"
	"rdtsc\n\t"
	/* private again */
	"movq %rdi, (%rsp)\n\t"
	"popq %r13\n\t"
	"popq %rbp\n\t"
	"ret\n"
	".popsection");

static void count(void *calls)
{
	++*(u64 *)calls;
}

/* How many boundaries stepper_run() finds. */
static u64 boundaries(void)
{
	u64 word = 0, at = 0, calls = 0, flags = irq_save();

	while (stepper_run(stepper_places_run, &word, at, count, &calls))
		at++;
	irq_restore(flags);
	EXPECT_EQ(calls, at);
	EXPECT_EQ(word, at + 1);
	return at;
}

static void skipped(void)
{
	stepper_begin();
	EXPECT_EQ(boundaries(), INSTRUCTIONS);
	stepper_skip_private();
	EXPECT_EQ(boundaries(), 1 + SHARED);
	stepper_end();
	stepper_begin();
	EXPECT_EQ(boundaries(), INSTRUCTIONS);
	stepper_end();
}

static const struct ktap_case cases[] = {
    {"stepper_places.skipped", skipped},
    {NULL, NULL},
};
const struct ktap_suite suite_stepper_places = {cases};
