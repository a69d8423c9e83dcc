/*
 * Latency tracers on this machine: each finds a latency that a case makes on purpose. Where an
 * instruction takes a tick of the clock, it finds exactly the number of instructions.
 */
#include "arch/arch.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"

#define LOOPS		200000 /* far longer than any other section of the kernel */
#define WAKEUP_OVERHEAD 2000   /* ns: what the scheduler adds to a wake-up */
#define IDLE_NS		5000000UL
#define OVERHEAD	200 /* ns: instructions of a case that are no loop, within the latency */

/* 2 instructions each. */
static inline __attribute__((always_inline)) void latency_burn(u64 loops)
{
	__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(loops));
}

static bool latency_clock_is_exact(void)
{
	u64 start = cycles();

	latency_burn(5000);
	return cycles() - start - 10000 < 16;
}

/* Counts interrupts on all CPUs: a busy CPU takes time from this one. */
static u64 latency_interrupts(void)
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		for (unsigned i = 0; i < IRQ_COUNTS; i++)
			sum += irq_counts(cpu)->n[i];
	return sum;
}

/* ---- sections ---- */

static void __noipa latency_irqs_section(u64 loops)
{
	irq_disable();
	latency_burn(loops);
	irq_enable();
}

static void __noipa latency_preempt_section(u64 loops)
{
	preempt_disable();
	latency_burn(loops);
	preempt_enable();
}

/* Turns interrupts on before preemption: the section lasts until both are on. */
static void __noipa latency_mixed_section(u64 loops)
{
	irq_disable();
	latency_burn(loops / 2);
	preempt_disable();
	irq_enable();
	latency_burn(loops - loops / 2);
	preempt_enable();
}

/* Turns preemption on before interrupts. */
static void __noipa latency_crossed_section(u64 loops)
{
	preempt_disable();
	latency_burn(loops / 2);
	irq_disable();
	preempt_enable();
	latency_burn(loops - loops / 2);
	irq_enable();
}

static void latency_begin(const char *tracer)
{
	trace_fresh();
	EXPECT_EQ(trace_put("options/function-trace", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", tracer), 0);
}

/* False: skip the case, because latencies of other CPUs may have any length. */
static bool latency_begin_exact(const char *tracer)
{
	if (!latency_clock_is_exact()) {
		ktap_skip("the clock does not count instructions");
		return false;
	}
	latency_begin(tracer);
	return true;
}

static void latency_end(void)
{
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	trace_fresh();
}

/* The latency of a section that no interrupt interrupted, in ns. */
static u64 latency_measure(void (*section)(u64), u64 loops)
{
	u64 before, after;

	do {
		trace_put("tracing_max_latency", "0");
		before = latency_interrupts();
		section(loops);
		after = latency_interrupts();
	} while (after != before);
	return READ_ONCE(trace_global->max_latency_ns);
}

/* The header names the section's function, and the lines are its beginning and its end. */
static void latency_expect_shown(const char *function)
{
	char line[80];
	const char *text;

	fmt_snprintf(line, sizeof(line), "started at: %s\n", function);
	text = trace_get("trace", NULL);
	EXPECT(strstr(text, line));
	fmt_snprintf(line, sizeof(line), "ended at:   %s\n", function);
	EXPECT(strstr(text, line));
	fmt_snprintf(line, sizeof(line), "0us!: %s <-latency_measure", function);
	EXPECT(strstr(text, line));
	fmt_snprintf(line, sizeof(line), "us : %s <-latency_measure", function);
	EXPECT(strstr(text, line));
	EXPECT(strstr(text, "<stack trace>\n => "));
}

/* Expects the time of exactly that many instructions, to the nanosecond of a calibrated clock. */
static void latency_expect(u64 ns, u64 instructions)
{
	u64 now = cycles(), wanted = cycles_to_ns(now + instructions) - cycles_to_ns(now);

	EXPECT(ns + 1 - wanted <= 2);
}

static void latency_found(const char *tracer, void (*section)(u64), const char *function)
{
	if (!latency_begin_exact(tracer))
		return;
	u64 once = latency_measure(section, LOOPS), twice = latency_measure(section, 2 * LOOPS);
	trace_put("tracing_on", "0");
	latency_expect_shown(function);
	latency_end();
	latency_expect(twice - once, 2 * LOOPS);
	EXPECT(once - 2 * LOOPS < OVERHEAD);
}

static void latency_irqsoff(void)
{
	latency_found("irqsoff", latency_irqs_section, "latency_irqs_section");
}

static void latency_preemptoff(void)
{
	latency_found("preemptoff", latency_preempt_section, "latency_preempt_section");
}

static void latency_preemptirqsoff(void)
{
	latency_found("preemptirqsoff", latency_mixed_section, "latency_mixed_section");
}

static void latency_preempt_first(void)
{
	latency_found("preemptirqsoff", latency_crossed_section, "latency_crossed_section");
}

static void latency_interrupt(struct irq_work *work)
{
	(void)work;
}

/* An interrupt comes in the middle of a section with preemption off: the section goes on. */
static void latency_interrupted(void)
{
	static const char *const tracers[] = {"preemptoff", "preemptirqsoff"};
	struct irq_work work = {.fn = latency_interrupt};

	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++) {
		if (!latency_begin_exact(tracers[i]))
			return;
		preempt_disable();
		latency_burn(LOOPS);
		irq_work_queue(&work);
		latency_burn(LOOPS);
		preempt_enable();
		irq_work_sync(&work);
		EXPECT(READ_ONCE(trace_global->max_latency_ns) >= 2 * 2 * LOOPS);
		latency_end();
	}
}

/* No section lasts while a CPU is idle: interrupts are on then. */
static void latency_idle(void)
{
	static const char *const tracers[] = {"irqsoff", "preemptoff", "preemptirqsoff"};

	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++) {
		if (!latency_begin_exact(tracers[i]))
			return;
		EXPECT_EQ(trace_put("tracing_max_latency", "0"), 0);
		sleep_ns(IDLE_NS, NULL);
		EXPECT(READ_ONCE(trace_global->max_latency_ns) < IDLE_NS / 4);
		latency_end();
	}
}

static u64 latency_hits(const char *event)
{
	return trace_counts("preemptirq", event).hit;
}

/* Each toggle is an event until the events are off again. */
static void latency_events(void)
{
	static const char *const lines[] = {"irq_disable: caller=latency_irqs_section+",
	    "irq_enable: caller=latency_irqs_section+",
	    "preempt_disable: caller=latency_preempt_section+",
	    "preempt_enable: caller=latency_preempt_section+"};

	char mine[40];

	trace_fresh();
	scnprintf(mine, sizeof(mine), "common_pid == %d", current()->pid);
	EXPECT_EQ(trace_put("events/preemptirq/filter", mine), 0);
	EXPECT_EQ(trace_put("events/preemptirq/enable", "1"), 0);
	latency_irqs_section(1);
	latency_preempt_section(1);
	EXPECT_EQ(trace_put("events/preemptirq/enable", "0"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		EXPECT(strstr(trace_get("trace", NULL), lines[i]));
	EXPECT_EQ(trace_put("trace", ""), 0);
	latency_irqs_section(1);
	EXPECT(!strstr(trace_get("trace", NULL), "latency_irqs_section"));
	EXPECT_EQ(trace_put("events/preemptirq/filter", "0"), 0);
	trace_fresh();
}

/* The same while a tracer watches sections. */
static void latency_events_beside(void)
{
	u64 disables, enables;

	latency_begin("preemptirqsoff");
	EXPECT_EQ(trace_put("events/preemptirq/enable", "1"), 0);
	disables = latency_hits("irq_disable");
	enables = latency_hits("preempt_enable");
	latency_irqs_section(1);
	latency_preempt_section(1);
	EXPECT(latency_hits("irq_disable") > disables);
	EXPECT(latency_hits("preempt_enable") > enables);
	EXPECT_EQ(trace_put("events/preemptirq/enable", "0"), 0);
	disables = latency_hits("irq_disable");
	latency_irqs_section(1);
	EXPECT_EQ(latency_hits("irq_disable"), disables);
	latency_end();
}

/* Neither tracer takes the other's sections for its own. */
static void latency_other_kind(void)
{
	if (!latency_begin_exact("irqsoff"))
		return;
	EXPECT(latency_measure(latency_preempt_section, LOOPS) < 2 * LOOPS);
	EXPECT_EQ(trace_put("current_tracer", "preemptoff"), 0);
	EXPECT(latency_measure(latency_irqs_section, LOOPS) < 2 * LOOPS);
	latency_end();
}

/* The tracer reports no section below tracing_thresh, and every other one, even a shorter one. */
static void latency_thresh(void)
{
	if (!latency_begin_exact("irqsoff"))
		return;
	EXPECT_EQ(trace_put("tracing_thresh", "600"), 0);
	EXPECT_EQ(latency_measure(latency_irqs_section, LOOPS), 0);
	EXPECT(latency_measure(latency_irqs_section, 4 * LOOPS) >= 600000);
	u64 most = READ_ONCE(trace_global->max_latency_ns);
	latency_irqs_section(3 * LOOPS);
	latency_expect(most - READ_ONCE(trace_global->max_latency_ns), 2 * LOOPS);
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	latency_end();
}

static void __noipa latency_inner(void)
{
	barrier();
}

static void __noipa latency_calling_section(u64 loops)
{
	irq_disable();
	latency_inner();
	latency_burn(loops);
	irq_enable();
}

/* With function-trace the functions called in the section are between its records. */
static void latency_functions(void)
{
	static const char *const wanted[] = {"latency_calling_section <-latency_measure",
	    "latency_inner <-latency_calling_section", "latency_calling_section <-latency_measure"};

	if (!latency_begin_exact("irqsoff"))
		return;
	EXPECT_EQ(trace_put("options/function-trace", "1"), 0);
	latency_measure(latency_calling_section, LOOPS);
	trace_put("tracing_on", "0");
	const char *at = trace_get("trace", NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(wanted) && at; i++) {
		at = strstr(at, wanted[i]);
		EXPECT(at);
		at = at ? at + 1 : NULL;
	}
	latency_end();
}

/* ---- wake-ups ---- */

static struct task *latency_sleeper_task; /* [A] */
static u32 latency_sleeper_end;		  /* [A] */

/* Runs on the case's CPU. Real-time: it preempts the case whatever each of them has run before. */
static void latency_sleeper(void *unused)
{
	(void)unused;
	task_set_policy(
	    current(), &(struct task_policy){.policy = SCHED_FIFO, .nice = -1, .rt_priority = 1});
	WRITE_ONCE(latency_sleeper_task, current());
	while (!READ_ONCE(latency_sleeper_end)) {
		WRITE_ONCE(current()->state, TASK_INTERRUPTIBLE);
		schedule();
	}
}

/* Wakes the sleeper, which waits while the loops run and gets the CPU with preemption. */
static void __noipa latency_wakeup_section(u64 loops)
{
	preempt_disable();
	wake_up_process(latency_sleeper_task);
	latency_burn(loops);
	preempt_enable();
}

static void latency_expect_wakeup_shown(void)
{
	const char *text = trace_get("trace", NULL);
	char line[64];

	EXPECT(strstr(text, "task: latency-test-"));
	EXPECT(strstr(text, "nice:-1 policy:1 rt_prio:1)"));
	EXPECT(!strstr(text, "started at"));
	fmt_snprintf(line, sizeof(line), "%d:120:R   + [%03u]", current()->pid, cpu_id());
	EXPECT(strstr(text, line));
	fmt_snprintf(line, sizeof(line), "%d:120:R ==> [%03u]", current()->pid, cpu_id());
	EXPECT(strstr(text, line));
	EXPECT(strstr(text, " => latency_wakeup_section\n"));
	EXPECT(strstr(text, " => preempt_resched\n => latency_wakeup_section\n"));
}

static void latency_wakeup(void)
{
	u64 once, twice;

	if (!latency_begin_exact("wakeup"))
		return;
	task_set_affinity(current(), 1);
	WRITE_ONCE(latency_sleeper_end, 0);
	WRITE_ONCE(latency_sleeper_task, NULL);
	kthread_run(latency_sleeper, NULL, 0, "latency-test");
	while (!READ_ONCE(latency_sleeper_task) ||
	       READ_ONCE(latency_sleeper_task->state) != TASK_INTERRUPTIBLE)
		sched_yield_current();
	once = latency_measure(latency_wakeup_section, LOOPS);
	twice = latency_measure(latency_wakeup_section, 2 * LOOPS);
	trace_put("tracing_on", "0");
	latency_expect_wakeup_shown();
	WRITE_ONCE(latency_sleeper_end, 1);
	wake_up_process(latency_sleeper_task);
	task_set_affinity(current(), ~0UL);
	latency_end();
	latency_expect(twice - once, 2 * LOOPS);
	EXPECT(once - 2 * LOOPS < WAKEUP_OVERHEAD);
}

/* The tracers restore the text. */
static void latency_text_restored(void)
{
	const u8 *at = (const u8 *)latency_irqs_section;
	u8 before[64];

	memcpy(before, at, sizeof(before));
	latency_begin("preemptirqsoff");
	EXPECT(memcmp(before, at, sizeof(before)) != 0);
	latency_end();
	EXPECT(memcmp(before, at, sizeof(before)) == 0);
}

/*
 * Sections run on all CPUs while the tracers come and go. The kernel patches toggles under them,
 * and arch_toggle_at() knows each toggle meanwhile, so that no probe goes there.
 */
static u32 latency_stop; /* [A] */

static u64 latency_first_toggle(u64 addr)
{
	while (!arch_toggle_at(addr))
		addr++;
	return addr;
}

static void latency_toggler(void *toggle)
{
	while (!READ_ONCE(latency_stop)) {
		if (!arch_toggle_at((u64)toggle))
			WRITE_ONCE(latency_stop, 3);
		latency_mixed_section(10);
		latency_irqs_section(10);
		latency_preempt_section(10);
		if (!irqs_enabled() || this_cpu_read(preempt_count))
			WRITE_ONCE(latency_stop, 2);
	}
}

/* Each of those sections ends where it began: the tracer missed no toggle during the patching. */
static void latency_expect_whole(void)
{
	static const char *const sections[] = {
	    "latency_irqs_section", "latency_preempt_section", "latency_mixed_section"};
	const char *text = trace_get("trace", NULL);
	char line[80];

	for (unsigned i = 0; i < ARRAY_SIZE(sections); i++) {
		fmt_snprintf(line, sizeof(line), "started at: %s\n", sections[i]);
		if (!strstr(text, line))
			continue;
		fmt_snprintf(line, sizeof(line), "ended at:   %s\n", sections[i]);
		EXPECT(strstr(text, line));
	}
}

static void latency_come_and_go(void)
{
	static const char *const tracers[] = {"irqsoff", "preemptoff", "preemptirqsoff", "nop"};
	struct threads togglers = {0};
	void *toggle = (void *)latency_first_toggle((u64)latency_irqs_section);

	latency_begin("nop");
	WRITE_ONCE(latency_stop, 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&togglers, latency_toggler, toggle, cpu);
	for (unsigned i = 0; i < ARRAY_SIZE(tracers); i++) {
		EXPECT_EQ(trace_put("current_tracer", tracers[i]), 0);
		latency_expect_whole();
	}
	EXPECT_EQ(READ_ONCE(latency_stop), 0);
	WRITE_ONCE(latency_stop, 1);
	threads_join(&togglers);
	latency_end();
}

static const struct ktap_case cases[] = {
    {"latency.irqsoff", latency_irqsoff},
    {"latency.preemptoff", latency_preemptoff},
    {"latency.preemptirqsoff", latency_preemptirqsoff},
    {"latency.preempt_first", latency_preempt_first},
    {"latency.interrupted", latency_interrupted},
    {"latency.idle", latency_idle},
    {"latency.events", latency_events},
    {"latency.events_beside", latency_events_beside},
    {"latency.other_kind", latency_other_kind},
    {"latency.thresh", latency_thresh},
    {"latency.functions", latency_functions},
    {"latency.wakeup", latency_wakeup},
    {"latency.text_restored", latency_text_restored},
    {"latency.come_and_go", latency_come_and_go},
    {NULL, NULL},
};
const struct ktap_suite suite_latency = {cases};
