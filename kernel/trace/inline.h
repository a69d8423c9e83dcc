/*
 * The functions of trace/host_context.h and trace/host_probe.h that every event passes through,
 * inline. trace/host_context.h includes this when the kernel is built (TRACE_HOST_INLINE) and
 * nobody else needs to. Any context.
 */
#pragma once

#ifndef TRACE_HOST_INLINE /* included by itself: host_context.h is to take these as well */
#define TRACE_HOST_INLINE "kernel/trace/inline.h"
#endif

#include "arch/arch.h"
#include "kernel/task/task.h"
#include "trace/host_context.h"
#include "trace/host_probe.h"

#define TRACE_RFLAGS_IF 0x200
#define TRACE_DEPTH_MAX 15 /* what a record can say */

/*
 * The common word's part for a count with interrupt levels in it, or a great depth. No call:
 * host_context() is to need none.
 */
static inline __attribute__((always_inline)) u64 trace_deep_word(u32 count)
{
	u32 depth = count & PREEMPT_MASK;
	u64 flags = count & NMI_MASK ? TRACE_FLAG_NMI : 0;

	if (count & HARDIRQ_MASK)
		flags |= TRACE_FLAG_HARDIRQ;
	if (count & SOFTIRQ_MASK)
		flags |= TRACE_FLAG_SOFTIRQ;
	return (depth < TRACE_DEPTH_MAX ? depth : TRACE_DEPTH_MAX) << 24 | flags << 16;
}

/* A load of 32 bits clears the others: the compiler is told so by the type. */
static inline unsigned long host_cpu(void)
{
	u64 cpu;

	__asm__ volatile("mov %%gs:%c1, %k0" : "=r"(cpu) : "i"(offsetof(struct cpu_local, cpu)));
	return cpu;
}

static inline void host_preempt_disable(void)
{
	preempt_count_add(1);
	barrier();
}

static inline __attribute__((always_inline)) void trace_context(
    struct host_context *ctx, u64 rflags, u32 held)
{
	_Static_assert(
	    TRACE_RFLAGS_IF << 7 == TRACE_FLAG_IRQS_OFF << 16, "IF turned round lands in flags");
	/*
	 * Flags lie at bit 16, the depth at bit 24; interrupts off is bit 9 turned round and moved
	 * there.
	 */
	u64 word = (~rflags & TRACE_RFLAGS_IF) << 7;
	u32 count = this_cpu_read(preempt_count) - held; /* without host_preempt_disable()'s own */
	if (likely(count <= TRACE_DEPTH_MAX))
		word |= count << 24;
	else
		word |= trace_deep_word(count);
	if (unlikely(this_cpu_read(need_resched))) {
		barrier(); /* a branch: shorter than a choice when it is not taken */
		word |= (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 16;
	}
	ctx->common = (u64)(u32)current_task()->pid << 32 | word;
	ctx->cpu = host_cpu();
}

#define TRACE_HOST_CONTEXT(ctx) trace_context(ctx, irq_flags(), 1)
static inline void host_context(struct host_context *ctx)
{
	TRACE_HOST_CONTEXT(ctx);
}

/*
 * A probe's handler has interrupts off, so nothing needs to be held; what counts is what the probed
 * code had.
 */
static inline void host_context_probed(struct host_context *ctx, const void *regs)
{
	trace_context(ctx, ((const struct regs *)regs)->rflags, 0);
}

static inline __attribute__((always_inline)) void host_preempt_enable(void)
{
	barrier();
	preempt_enable_no_resched();
}

static inline void host_current_comm(char comm[16])
{
	__builtin_memcpy(comm, current_task()->comm, 16);
}

static inline u64 host_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void host_relax(void)
{
	__builtin_ia32_pause();
}
