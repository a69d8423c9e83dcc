/*
 * Probes where several things happen at once: other CPUs run the instruction while it is armed and
 * disarmed; interrupts and NMIs hit probes inside probes; everything executed is either a hit or
 * counted as missed. All of it with breakpoints, with jumps and with hooks.
 */
#include "kernel/kprobe/breakpoint.h"
#include "kernel/base/cmdline.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

/*
 * In a usual run, and with `storm=long` on the command line (make probe-storm): a million in all on
 * four CPUs.
 */
#define TOGGLES	     400
#define RUNS	     20000
#define TOGGLES_LONG 27000 /* three of eight are at an instruction */
#define RUNS_LONG    250000
#define WAIT_NS	     20000000000UL

/* What is probed counts by itself how often it runs. */
static u64 task_runs, irq_runs, nmi_runs, inner_runs; /* [A] */

static void __noipa storm_inner(void)
{
	atomic_add(&inner_runs, 1);
}

static void __noipa storm_task(void)
{
	atomic_add(&task_runs, 1);
}

static void __noipa storm_irq(void)
{
	atomic_add(&irq_runs, 1);
}

/*
 * Asleep: where time is counted in instructions, a CPU that spins has all of it up to the next
 * timer, and one whose task is met in the copy of a probed instruction sets that timer again each
 * time.
 */
static void give_way(void)
{
	sleep_ns(50000, NULL);
}

static void __noipa storm_nmi(void)
{
	atomic_add(&nmi_runs, 1);
}

static u64 hits[4];

static bool is_long(void)
{
	return cmdline_get("storm");
}

static unsigned run_count(void)
{
	return is_long() ? RUNS_LONG : RUNS;
}

static int count_inner(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&hits[3], 1);
	return 0;
}

static struct kprobe probes[4];

static int on_task(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&hits[0], 1);
	storm_inner();
	return 0;
}

static int on_irq(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&hits[1], 1);
	storm_inner();
	return 0;
}

static int on_nmi(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&hits[2], 1);
	storm_inner();
	return 0;
}

static bool nmi_handler(struct regs *r)
{
	(void)r;
	storm_nmi();
	return true;
}

static void in_irq(struct irq_work *unused)
{
	(void)unused;
	storm_irq();
}

static u32 running;

static void storm(void *unused)
{
	struct irq_work work = {.fn = in_irq};

	(void)unused;
	for (unsigned i = 0; i < run_count(); i++) {
		storm_task();
		if (i % 16 == 0)
			irq_work_queue(&work);
		if (i % 64 == 0)
			nmi_send(i / 64 % cpu_count());
		if (i % 256 == 0)
			storm_inner();
	}
	irq_work_sync(&work);
	atomic_sub(&running, 1);
}

/* Whoever is in the way goes on. */
static void make_jumps(void)
{
	u64 end = clock_ns() + WAIT_NS;

	while (!kprobes_optimize() && clock_ns() < end)
		give_way();
}

/* By the first byte of what stands there. */
enum way { BREAKPOINTS = 0xcc, JUMPS = 0xe9, HOOKS = 0xe8 };

static void run_storm(enum way way)
{
	static void (*const where[4])(void) = {storm_task, storm_irq, storm_nmi, storm_inner};
	static const kprobe_pre_handler_t handlers[4] = {on_task, on_irq, on_nmi, count_inner};
	static u64 *const runs[4] = {&task_runs, &irq_runs, &nmi_runs, &inner_runs};
	struct kprobe *ps[4];

	for (unsigned i = 0; i < 4; i++) {
		probes[i] = (struct kprobe){.addr = (void *)where[i],
		    .offset = way == HOOKS ? 0 : HOOK_LEN,
		    .pre_handler = handlers[i]};
		ps[i] = &probes[i];
		hits[i] = *runs[i] = 0;
	}
	EXPECT_EQ(nmi_handler_add(nmi_handler), 0);
	kprobes_optimization(way == JUMPS);
	EXPECT_EQ(register_kprobes(ps, 4), 0);
	if (way == JUMPS)
		make_jumps();
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(*(volatile u8 *)ps[i]->addr, way);
	running = cpu_count();
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		EXPECT(kthread_run(storm, NULL, cpu, "storm") != NULL);
	while (atomic_load(&running))
		give_way();
	nmi_handler_remove(nmi_handler);
	unregister_kprobes(ps, 4);
	kprobes_optimization(true);
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(hits[i] + probes[i].nmissed, *runs[i]);
	EXPECT_EQ(task_runs, (u64)run_count() * cpu_count());
	EXPECT(nmi_runs > 0);
	EXPECT(irq_runs > 0);
	EXPECT(probes[3].nmissed > 0);
	ktap_note("%llu in tasks, %llu in interrupts, %llu in NMIs; inside: %llu hits, %llu missed",
	    (unsigned long long)task_runs, (unsigned long long)irq_runs,
	    (unsigned long long)nmi_runs, (unsigned long long)hits[3],
	    (unsigned long long)probes[3].nmissed);
}

static void hits_and_misses(void)
{
	run_storm(BREAKPOINTS);
}

static void hits_and_misses_of_jumps(void)
{
	run_storm(JUMPS);
}

static void hits_and_misses_of_hooks(void)
{
	run_storm(HOOKS);
}

/* ---- armed and disarmed while it runs ---- */

static bool stop;
static u64 toggled_hits, wrong, armed, jumped;

/* Emulated, copied, and in two places of a function each. */
static u64 __noipa toggled(u64 a, u64 b)
{
	__asm__ volatile("addq %1, %0\n\txorq $0x55, %0\n\tnop" : "+r"(a) : "r"(b) : "cc");
	return a;
}

static void run_toggled(void *unused)
{
	(void)unused;
	for (u64 i = 0; !atomic_load(&stop); i++) {
		if (toggled(i, 3) != ((i + 3) ^ 0x55))
			atomic_add(&wrong, 1);
		if (i % 64 == 0)
			cpu_relax();
	}
	atomic_sub(&running, 1);
}

static int on_toggled(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&toggled_hits, 1);
	return 0;
}

static void wait_for_hit(u64 from)
{
	u64 end = clock_ns() + WAIT_NS;

	while (atomic_load(&toggled_hits) == from && clock_ns() < end)
		give_way();
	EXPECT(atomic_load(&toggled_hits) != from);
}

static void toggle(u64 offset)
{
	struct kprobe p = {.addr = (void *)toggled, .offset = offset, .pre_handler = on_toggled};

	if (register_kprobe(&p))
		return; /* inside an instruction */
	armed++;
	wait_for_hit(atomic_load(&toggled_hits));
	if (kprobes_optimization_is_on()) {
		make_jumps();
		jumped += *(volatile u8 *)p.addr == 0xe9;
		wait_for_hit(atomic_load(&toggled_hits));
	}
	unregister_kprobe(&p);
	u64 after = atomic_load(&toggled_hits);
	give_way();
	EXPECT_EQ(atomic_load(&toggled_hits), after);
}

static void toggle_all(bool jumps)
{
	u8 before[29];

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	memcpy(before, (void *)toggled, sizeof(before));
	stop = false;
	wrong = toggled_hits = armed = jumped = 0;
	kprobes_optimization(jumps);
	running = cpu_count() - 1;
	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	for (unsigned cpu = 1; cpu < cpu_count(); cpu++)
		EXPECT(kthread_run(run_toggled, NULL, cpu, "toggled") != NULL);
	for (unsigned i = 0; i < (is_long() ? TOGGLES_LONG : TOGGLES); i++)
		toggle(HOOK_LEN + i % 8);
	atomic_store(&stop, true);
	while (atomic_load(&running))
		give_way();
	task_set_affinity(current(), ~0UL);
	kprobes_optimization(true);
	ktap_note("%llu probes armed and disarmed, %llu of them jumps, %llu hits",
	    (unsigned long long)armed, (unsigned long long)jumped,
	    (unsigned long long)toggled_hits);
	EXPECT(jumps ? jumped > 0 : !jumped);
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(memcmp(before, (void *)toggled, sizeof(before)), 0);
}

static void while_it_runs(void)
{
	toggle_all(false);
}

static void jumps_while_it_runs(void)
{
	toggle_all(true);
}

static const struct ktap_case cases[] = {
    {"kprobe.hits_and_misses", hits_and_misses},
    {"kprobe.hits_and_misses_of_jumps", hits_and_misses_of_jumps},
    {"kprobe.hits_and_misses_of_hooks", hits_and_misses_of_hooks},
    {"kprobe.while_it_runs", while_it_runs},
    {"kprobe.jumps_while_it_runs", jumps_while_it_runs},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_storm = {cases};
