/*
 * Latency tracers: the extra cost of a critical section or a wake-up while it is watched. None is a
 * new maximum. Interrupts are on between the sections: the median leaves them out.
 */
#include "tests/bench/bench.h"
#include "kernel/task/task.h"

#define PASSES 100

BENCH_ROUND(irqs_round, (void)a; irq_disable(); irq_enable())
BENCH_ROUND(preempt_round, (void)a; preempt_disable(); preempt_enable())

static void bench_latency_report(const char *name, const char *tracer, bench_round round)
{
	u64 off = bench_median(round, PASSES), on;

	bench_write("options/function-trace", "0");
	bench_write("current_tracer", tracer);
	bench_write("tracing_max_latency", "100000000");
	on = bench_median(round, PASSES);
	bench_write("current_tracer", "nop");
	bench_write("options/function-trace", "1");
	bench_value(name, (on - off) * 10 / PASSES, "insn");
}

static void run_irqsoff(const char *name)
{
	bench_latency_report(name, "irqsoff", irqs_round);
}

static void run_preemptoff(const char *name)
{
	bench_latency_report(name, "preemptoff", preempt_round);
}

static void run_preemptirqsoff(const char *name)
{
	bench_latency_report(name, "preemptirqsoff", irqs_round);
}

static void run_tracing_off(const char *name)
{
	bench_write("tracing_on", "0");
	run_irqsoff(name);
	bench_write("tracing_on", "1");
}

/* ---- a wake-up ---- */

static struct task *sleeper;
static u32 ended;

static void bench_latency_sleeper(void *unused)
{
	(void)unused;
	task_set_nice(current(), -1);
	WRITE_ONCE(sleeper, current());
	while (!READ_ONCE(ended)) {
		WRITE_ONCE(current()->state, TASK_INTERRUPTIBLE);
		schedule();
	}
}

BENCH_ROUND(wakeup_round, (void)a; wake_up_process(sleeper); sched_yield_current())

/* From the wake-up until the task runs, and back. */
static void run_wakeup(const char *name)
{
	WRITE_ONCE(ended, 0);
	WRITE_ONCE(sleeper, NULL);
	kthread_run(bench_latency_sleeper, NULL, (int)cpu_id(), "bench-sleeper");
	while (!READ_ONCE(sleeper) || READ_ONCE(sleeper->state) != TASK_INTERRUPTIBLE)
		sched_yield_current();
	bench_latency_report(name, "wakeup", wakeup_round);
	WRITE_ONCE(ended, 1);
	wake_up_process(sleeper);
}

const struct bench bench_latency[] = {
    {"lat.irqsoff", run_irqsoff},
    {"lat.preemptoff", run_preemptoff},
    {"lat.preemptirqsoff", run_preemptirqsoff},
    {"lat.wakeup", run_wakeup},
    {"lat.irqsoff.tracing_off", run_tracing_off},
    {NULL, NULL},
};
