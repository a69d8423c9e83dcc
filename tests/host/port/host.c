/*
 * A port of the tracer's core, as small as can be, to a program of one thread. trace/defaults has
 * what such a host need not say. docs/porting.md goes with it. What a kernel must do better is said
 * at each place.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

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
	ctx->common = 0; /* a kernel: interrupts off? which level? */
	ctx->pid = 1;
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

/* ---- memory ---- */

void *host_alloc(size_t size)
{
	return calloc(1, size);
}

void host_free(void *p)
{
	free(p);
}

void *host_page_alloc(void)
{
	void *page = aligned_alloc(PAGE_SIZE, PAGE_SIZE);

	return page ? memset(page, 0, PAGE_SIZE) : NULL;
}

void host_page_free(void *p)
{
	free(p);
}

/* ---- the control plane's lock, other CPUs, waiting: one thread has nothing to wait for ---- */

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
