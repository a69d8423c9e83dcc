/*
 * A CPU that is in the copy of a probed instruction when its probe is removed: the removal waits
 * until the CPU has left the copy, and so does nobody else. The instruction takes long, and
 * interrupts find the CPU in it.
 */
#include "kernel/base/cmdline.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/kprobe/tools.h"
#include "tests/kernel/threads.h"

void copies_slow(const void *from, u64 n);
__asm__(".pushsection .text.asm, \"ax\"\n.globl copies_slow\n.type copies_slow, @function\n.balign "
	"16\ncopies_slow:\n\t"
	"movq %rsi, %rcx\n\tmovq %rdi, %rsi\n\trep lodsb\n\tret\n"
	".size copies_slow, . - copies_slow\n.popsection");
enum { BEFORE_SLOW = 3, SLOW = 6 }; /* rep lodsb, and the instruction before it */

#define ROUNDS 2
#define LOOKS  10000 /* until the CPU is found in the copy */

static u8 bytes[1 << 14];
static u32 runs; /* [A] the thread is to go on */

static int on_hit(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	return 0;
}

static void copies_run(void *unused)
{
	(void)unused;
	preempt_disable();
	while (atomic_load(&runs))
		copies_slow(bytes, sizeof(bytes));
	preempt_enable();
}

static void copies_note(void *rip)
{
	const struct regs *r = irq_regs();

	*(u64 *)rip = r ? r->rip : 0;
}

/* Whether the other CPU is in the copy now. */
static bool copies_busy(void)
{
	u64 rip = 0;

	cpu_call(1, copies_note, &rip);
	return arch_probe_in_slot(rip);
}

static bool copies_wait_until_busy(void)
{
	for (unsigned i = 0; i < LOOKS; i++)
		if (copies_busy())
			return true;
	return false;
}

static void copies_of(unsigned offset, bool jump)
{
	struct kprobe p = {.symbol_name = "copies_slow", .offset = offset, .pre_handler = on_hit};
	struct threads t = {0};
	unsigned stayed = 0;

	if (cpu_count() != 2) { /* with more the emulator seldom finds the CPU there */
		ktap_skip("needs two CPUs");
		return;
	}
	task_set_affinity(current(), 1);
	atomic_store(&runs, 1);
	thread_start(&t, copies_run, NULL, 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(register_kprobe(&p), 0);
		if (jump)
			EXPECT(probe_optimize());
		EXPECT_EQ(probe_head(&p), jump ? OP_JMP : OP_INT3);
		EXPECT(copies_wait_until_busy());
		arch_probe_sync(); /* waits for copies that were left */
		stayed += copies_busy();
		EXPECT(copies_wait_until_busy());
		unregister_kprobe(&p);
		EXPECT(!copies_busy());
	}
	/* Where the emulator counts instructions, it is the same each time. */
	EXPECT(stayed > 0 || cmdline_flag("hosttime"));
	atomic_store(&runs, 0);
	threads_join(&t);
	task_set_affinity(current(), ~0UL);
}

static void of_breakpoints(void)
{
	kprobes_optimization(false);
	copies_of(SLOW, false);
	kprobes_optimization(true);
}

static void of_jumps(void)
{
	copies_of(BEFORE_SLOW, true);
}

/* A CPU in the middle of what a jump would cover, though no task was preempted there. */
static void in_the_way(void)
{
	struct kprobe p = {
	    .symbol_name = "copies_slow", .offset = BEFORE_SLOW, .pre_handler = on_hit};
	struct threads t = {0};
	unsigned busy = 0;

	if (cpu_count() != 2) { /* with more the emulator seldom finds the CPU there */
		ktap_skip("needs two CPUs");
		return;
	}
	task_set_affinity(current(), 1);
	atomic_store(&runs, 1);
	thread_start(&t, copies_run, NULL, 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(register_kprobe(&p), 0);
		busy += !kprobes_optimize();
		EXPECT(probe_optimize());
		unregister_kprobe(&p);
	}
	EXPECT(busy > 0 || cmdline_flag("hosttime"));
	atomic_store(&runs, 0);
	threads_join(&t);
	task_set_affinity(current(), ~0UL);
}

/* The copies count as a part of the place, too. */
static void inside(void)
{
	struct kprobe p = {.symbol_name = "copies_slow", .offset = SLOW, .pre_handler = on_hit};

	EXPECT_EQ(register_kprobe(&p), 0);
	const struct arch_probe *a = &p.site->arch;
	EXPECT(arch_jump_inside(a, a->slot));
	EXPECT(arch_jump_inside(a, a->slot + 1));
	EXPECT(!arch_jump_inside(a, a->slot - 1));
	EXPECT(!arch_jump_inside(a, a->addr));
	EXPECT(arch_jump_inside(a, a->addr + 1));
	EXPECT(arch_jump_inside(a, a->addr + ARCH_JUMP_LEN - 1));
	EXPECT(!arch_jump_inside(a, a->addr + ARCH_JUMP_LEN));
	unregister_kprobe(&p);
}

static const struct ktap_case cases[] = {
    {"kprobe_copies.of_breakpoints", of_breakpoints},
    {"kprobe_copies.of_jumps", of_jumps},
    {"kprobe_copies.in_the_way", in_the_way},
    {"kprobe_copies.inside", inside},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_copies = {cases};
