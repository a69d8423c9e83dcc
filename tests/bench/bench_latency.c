/*
 * Latency tracers: what a critical section costs while it is watched, less what it costs itself.
 * None is a new maximum. Interrupts are on between the sections: the median leaves them out.
 */
#include "tests/bench/bench.h"
#include "arch/arch.h"

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

const struct bench bench_latency[] = {
    {"lat.irqsoff", run_irqsoff},
    {"lat.preemptoff", run_preemptoff},
    {"lat.preemptirqsoff", run_preemptirqsoff},
    {"lat.irqsoff.tracing_off", run_tracing_off},
    {NULL, NULL},
};
