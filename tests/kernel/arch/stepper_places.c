/*
 * Which boundaries stepper_skip_private() keeps: the first, and each after an instruction that uses
 * the clock, a segment, or memory other than its own stack; and that each boundary can be branched
 * off from. Task context.
 */
#include "arch/arch.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/arch/stepper.h"
#include "trace/host_context.h"

#define INSTRUCTIONS 28
#define SHARED	     8

void stepper_places_run(void *word);
__asm__(".pushsection .text.asm, \"ax\", @progbits\n"
	"stepper_places_run:\n\t"
	"pushq %rbp\n\t"
	"movq %rsp, %rbp\n\t"
	"pushq %r13\n\t"
	"pushq %rdi\n\t"
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
	"popq %rcx\n\t"
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

/* ---- A loop that waits ---- */

#define TURNS 100
#define KEPT  16 /* of a row at one address, and the first of it */

static void waits(void *word)
{
	for (unsigned i = 0; i < TURNS; i++)
		(void)atomic_load((u64 *)word);
}

static u64 boundaries_of_wait(void)
{
	u64 word = 0, at = 0, calls = 0, flags = irq_save();

	while (stepper_run(waits, &word, at, count, &calls))
		at++;
	irq_restore(flags);
	return at;
}

static void spins(void)
{
	stepper_begin();
	EXPECT(boundaries_of_wait() > 3 * TURNS);
	stepper_skip_private();
	EXPECT_EQ(boundaries_of_wait(), 1 + KEPT);
	stepper_end();
}

/* ---- Branches ---- */

/*
 * Each branch adds 100 to the word and lets the rest run, whose `lock incq` adds one; back at the
 * mark the word is put back.
 */
static struct {
	u64 word, kept, from, branches, ended;
	const void *stack_end;
	bool branched;
} b;

static bool branch(void *unused)
{
	(void)unused;
	b.kept = b.word;
	if (stepper_mark(b.stack_end)) {
		EXPECT_EQ(this_cpu_read(preempt_count), 1);
		EXPECT(!irqs_enabled());
		b.word = b.kept;
		b.branched = false;
		return true;
	}
	b.branched = true;
	b.word += 100;
	return false;
}

static void branch_once(void)
{
	u64 flags = irq_save();

	preempt_count_add(1);
	b.word = 0;
	stepper_run_each(stepper_places_run, &b.word, b.from, branch, NULL);
	preempt_count_sub(1);
	irq_restore(flags);
}

static __noinline void branch_all(void)
{
	/* Volatile: on the stack, where a mark puts back what it was. */
	volatile u64 mine = 4711;

	b.stack_end = __builtin_frame_address(0);
	b.branched = false;
	branch_once();
	EXPECT_EQ(this_cpu_read(preempt_count), 0);
	EXPECT(irqs_enabled());
	EXPECT_EQ(mine, 4711);
	mine = 0;
	if (!b.branched)
		return;
	b.branches++;
	b.ended += b.word;
	stepper_return();
}

static void branches(void)
{
	stepper_begin();
	for (b.from = 0; b.from <= INSTRUCTIONS; b.from += 5) {
		b.branches = b.ended = 0;
		branch_all();
		EXPECT_EQ(b.word, 1); /* the run without a branch */
		EXPECT_EQ(b.branches, INSTRUCTIONS - b.from);
		EXPECT_EQ(b.ended, b.branches * 101);
	}
	stepper_end();
}

static const struct ktap_case cases[] = {
    {"stepper_places.skipped", skipped},
    {"stepper_places.spins", spins},
    {"stepper_places.branches", branches},
    {NULL, NULL},
};
const struct ktap_suite suite_stepper_places = {cases};
