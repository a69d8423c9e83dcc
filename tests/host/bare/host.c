/*
 * A port of the tracer's core to a bare machine: one CPU, interrupts off, no C library, no
 * allocator that takes memory back. All it defines of trace/host_*.h is the smallest port of
 * docs/porting.md. What a kernel must do better is said at each place.
 */
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

#define ARENA_SIZE (16UL << 20)

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
	ctx->common = TRACE_FLAG_IRQS_OFF << 16;
	ctx->pid = 1; /* a kernel: the task's */
	ctx->cpu = 0;
}

unsigned host_cpu_count(void)
{
	return 1;
}

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
	return clock; /* a kernel measures its TSC */
}

/* ---- memory: from an arena of zeros, and never given back ---- */

static u8 arena[ARENA_SIZE] __attribute__((aligned(PAGE_SIZE)));
static size_t arena_used;

static void *take(size_t size, size_t align)
{
	size_t at = ALIGN_UP(arena_used, align);

	if (size > ARENA_SIZE - at)
		return NULL;
	arena_used = at + size;
	return arena + at;
}

void *host_alloc(size_t size)
{
	return size > ARENA_SIZE ? NULL : take(size, 16);
}

void host_free(void *p)
{
	(void)p; /* a kernel: kfree() */
}

void *host_page_alloc(void)
{
	return take(PAGE_SIZE, PAGE_SIZE);
}

void host_page_free(void *p)
{
	(void)p;
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
