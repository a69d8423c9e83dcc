/*
 * A port of the tracer's core, as small as can be, to one CPU and one thread: all it defines of
 * trace/host_*.h is the smallest port of docs/porting.md, with memory.c beside it. What a kernel
 * must do better is said at each place. It serves the program of main.c and the kernel of
 * tests/host/bare.
 */
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

#define EFLAGS_IF 0x200

/* ---- where we are: a kernel has these inline, see TRACE_HOST_INLINE ---- */

void host_preempt_disable(void)
{
	/* a kernel: no preemption from here on */
}

void host_preempt_enable(void)
{
}

unsigned long host_cpu(void)
{
	return 0;
}

void host_context(struct host_context *ctx)
{
	bool irqs_off = !(__builtin_ia32_readeflags_u64() & EFLAGS_IF);

	ctx->common = irqs_off ? TRACE_FLAG_IRQS_OFF << 16 : 0; /* a kernel: which level, too */
	ctx->pid = 1;						/* a kernel: the task's */
	ctx->cpu = 0;
}

unsigned host_cpu_count(void)
{
	return 1;
}

/* ---- time: a kernel measures its TSC ---- */

u64 host_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

void host_relax(void)
{
	__builtin_ia32_pause();
}

u64 host_clock_ns(u64 clock)
{
	return clock;
}

/* ---- the control plane's lock, other CPUs: there is nobody else ---- */

void host_lock(void)
{
}

void host_unlock(void)
{
}

void host_synchronize(void)
{
}

void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	(void)cpu;
	fn(arg);
}

void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	host_on_cpu(cpu, fn, arg);
}
