/*
 * Jumps of more probes than the kernel patches at once, with tasks in the way of some: a probe
 * becomes a jump if nobody is in its middle, and later if somebody is. The tasks are in the way in
 * name only, by their preempted_at, so that nothing here depends on when a task runs.
 */
#include "kernel/kprobe/kprobe.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/sched.h"
#include "kernel/task/timer.h"
#include "tests/kernel/kprobe/tools.h"
#include "tests/kernel/threads.h"

#define MANY 150 /* more than two batches */
#define NOP  5	 /* bytes of each instruction */
_Static_assert(MANY > 2 * ARCH_PROBE_BATCH, "several batches");

void jump_many(void);
__asm__(".pushsection .text.asm, \"ax\"\n.globl jump_many\n.type jump_many, @function\n.balign "
	"16\njump_many:\n\t"
	".rept 150\n\t.byte 0x0f, 0x1f, 0x44, 0, 1\n\t.endr\n\tret\n"
	".size jump_many, . - jump_many\n.popsection");

static struct kprobe probes[MANY], *list[MANY];

static int on_hit(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	probe_hits++;
	return 0;
}

static void begin(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		probes[i] =
		    (struct kprobe){.addr = (u8 *)jump_many + i * NOP, .pre_handler = on_hit};
		list[i] = &probes[i];
	}
	EXPECT_EQ(register_kprobes(list, MANY), 0);
}

static unsigned heads(u8 op)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += probe_head(&probes[i]) == op;
	return n;
}

static void expect_heads(u8 op)
{
	EXPECT_EQ(heads(op), MANY);
	probe_hits = 0;
	jump_many();
	EXPECT_EQ(probe_hits, op == OP_INT3 || op == OP_JMP ? MANY : 0);
}

static void all_together(void)
{
	static u8 before[MANY * NOP];

	memcpy(before, (void *)jump_many, sizeof(before));
	begin();
	expect_heads(OP_INT3);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT(probe_optimize());
		expect_heads(OP_JMP);
		EXPECT_EQ(disable_kprobes(list, MANY), 0);
		expect_heads(before[0]);
		EXPECT_EQ(enable_kprobes(list, MANY), 0);
		expect_heads(OP_INT3);
	}
	EXPECT(probe_optimize());
	kprobes_optimization(false);
	expect_heads(OP_INT3);
	kprobes_optimization(true);
	EXPECT(probe_optimize());
	kprobes_switch(false);
	expect_heads(before[0]);
	kprobes_switch(true);
	EXPECT(probe_optimize());
	expect_heads(OP_JMP);
	unregister_kprobes(list, MANY);
	EXPECT(!memcmp(before, (void *)jump_many, sizeof(before)));
}

/* The text that a reader gets, from each byte on and of each length, has no trace of probes. */
static void text_without_probes(void)
{
	static u8 before[8 * NOP];
	u8 code[16];

	memcpy(before, (void *)jump_many, sizeof(before));
	for (unsigned jumps = 0; jumps < 2; jumps++) {
		begin();
		if (jumps)
			EXPECT(probe_optimize());
		for (unsigned at = 0; at + sizeof(code) <= sizeof(before); at++)
			for (unsigned n = 1; n <= sizeof(code); n++) {
				u64 addr = (u64)jump_many + at;

				memset(code, 0xee, sizeof(code));
				memcpy(code, (void *)addr, n);
				kernel_probe_original(addr, code, n);
				EXPECT(!memcmp(code, before + at, n));
				EXPECT(n == sizeof(code) || code[n] == 0xee);
			}
		unregister_kprobes(list, MANY);
	}
}

/* The same of a function whose hook calls a probe. */
static void text_without_hooks(void)
{
	struct kprobe p = {.symbol_name = "jump_target_call", .pre_handler = on_hit};
	u8 before[2 * NOP], code[2 * NOP];

	memcpy(before, (void *)jump_target_call, sizeof(before));
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(memcmp(before, (void *)jump_target_call, NOP) != 0);
	for (unsigned at = 0; at < sizeof(before); at++)
		for (unsigned n = 1; at + n <= sizeof(before); n++) {
			u64 addr = (u64)jump_target_call + at;

			memcpy(code, (void *)addr, n);
			kernel_probe_original(addr, code, n);
			EXPECT(!memcmp(code, before + at, n));
		}
	unregister_kprobe(&p);
}

/* ---- somebody is in the middle of one ---- */

static u32 goes_on; /* [A] */
static struct wait_queue sleepers = WAIT_QUEUE_INIT(sleepers);

static void sleeps(void *unused)
{
	(void)unused;
	wait_event(&sleepers, atomic_load(&goes_on));
}

static void keeps_cpu(void *unused)
{
	(void)unused;
	preempt_disable();
	atomic_store(&goes_on, 2);
	while (atomic_load(&goes_on) == 2)
		cpu_relax();
	preempt_enable();
}

/* The probe that the kernel makes a jump of before all others. */
static struct kprobe *first_of_all(void)
{
	struct kprobe *first = &probes[0];

	for (unsigned i = 1; i < MANY; i++)
		if (probe_bucket((u64)probes[i].addr) < probe_bucket((u64)first->addr))
			first = &probes[i];
	return first;
}

/* All but that one become jumps, in spite of where `at` says a task was preempted. */
static void expect_busy(u64 *at)
{
	struct kprobe *p = first_of_all();

	EXPECT_EQ(enable_kprobes(list, MANY), 0);
	WRITE_ONCE(*at, (u64)p->addr + 1);
	EXPECT(!kprobes_optimize());
	EXPECT_EQ(probe_head(p), OP_INT3);
	EXPECT_EQ(heads(OP_JMP), MANY - 1);
	WRITE_ONCE(*at, (u64)p->addr + NOP); /* after it */
	EXPECT(kprobes_optimize());
	expect_heads(OP_JMP);
	WRITE_ONCE(*at, 0);
	EXPECT_EQ(disable_kprobes(list, MANY), 0);
}

/* The kernel's own task, which nobody asks, tries again when the way is free. */
static void expect_retry(u64 *at)
{
	struct kprobe *p = first_of_all();

	WRITE_ONCE(*at, (u64)p->addr + 1);
	EXPECT_EQ(enable_kprobes(list, MANY), 0);
	for (unsigned i = 0; i < PROBE_TRIES && heads(OP_JMP) < MANY - 1; i++)
		sleep_ns(TICK_NS, NULL);
	sleep_ns(20 * TICK_NS, NULL); /* no earlier change is left to do */
	EXPECT_EQ(heads(OP_JMP), MANY - 1);
	EXPECT_EQ(probe_head(p), OP_INT3);
	WRITE_ONCE(*at, 0);
	for (unsigned i = 0; i < PROBE_TRIES && probe_head(p) != OP_JMP; i++)
		sleep_ns(TICK_NS, NULL);
	EXPECT_EQ(probe_head(p), OP_JMP);
	EXPECT_EQ(disable_kprobes(list, MANY), 0);
}

static void in_the_way(void)
{
	struct threads t = {0};
	struct task *task;

	begin();
	EXPECT_EQ(disable_kprobes(list, MANY), 0);
	atomic_store(&goes_on, 0);
	task_set_affinity(current(), 1);
	thread_start(&t, sleeps, NULL, 0);
	task = task_find(t.pid[0]);
	while (READ_ONCE(task->state) == TASK_RUNNING)
		sched_yield_current();
	expect_busy(&task->preempted_at);
	expect_retry(&task->preempted_at);
	task_put(task);
	atomic_store(&goes_on, 1);
	wake_up(&sleepers);
	threads_join(&t);
	/* The task that asks is elsewhere by now, whatever was noted of it. */
	EXPECT_EQ(enable_kprobes(list, MANY), 0);
	current()->preempted_at = (u64)probes[0].addr + 1;
	EXPECT(kprobes_optimize());
	expect_heads(OP_JMP);
	EXPECT_EQ(disable_kprobes(list, MANY), 0);
	if (cpu_count() > 1) { /* the idle task of a CPU that is busy */
		thread_start(&t, keeps_cpu, NULL, 1);
		while (atomic_load(&goes_on) != 2)
			sched_yield_current();
		expect_busy(&sched_idle_task(1)->preempted_at);
		atomic_store(&goes_on, 1);
		threads_join(&t);
	}
	task_set_affinity(current(), ~0UL);
	unregister_kprobes(list, MANY);
}

/* ---- a probe at the last instruction under a jump ---- */

static void last_covered(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .offset = 16, .pre_handler = probe_on_hit},
		      q = p;

	q.offset = 20; /* one byte, the fifth of the jump */
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	EXPECT_EQ(register_kprobe(&q), 0);
	EXPECT_EQ(probe_head(&p), OP_INT3);
	EXPECT_EQ(probe_head(&q), OP_INT3);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_INT3);
	probe_hits = 0;
	jump_target_call();
	EXPECT_EQ(probe_hits, 2);
	unregister_kprobe(&q);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	unregister_kprobe(&p);
}

static const struct ktap_case cases[] = {
    {"kprobe_jump_many.all_together", all_together},
    {"kprobe_jump_many.text_without_probes", text_without_probes},
    {"kprobe_jump_many.text_without_hooks", text_without_hooks},
    {"kprobe_jump_many.in_the_way", in_the_way},
    {"kprobe_jump_many.last_covered", last_covered},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_jump_many = {cases};
