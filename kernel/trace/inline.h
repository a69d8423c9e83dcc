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
#define TRACE_DEPTH_MAX 15UL /* what a record can say */

/*
 * The common word's part for a count with interrupt levels in it, a great depth, or a task that is
 * to give up the CPU (kernel/trace/host.c). It leaves all registers alone, so that host_context()
 * costs its callers none.
 */
__attribute__((no_caller_saved_registers)) u64 trace_deep_word(u64 count);
static inline __attribute__((always_inline)) u64 trace_call_deep_word(u64 count)
{
	u64 word;

	__asm__ volatile("call trace_deep_word" : "=a"(word) : "D"(count) : "cc");
	return word;
}

/*
 * A load of 32 bits clears the others: the type says so to the compiler. As a read of memory it
 * stays after host_preempt_disable(), and is done once.
 */
typedef u64 trace_two_words __aligned(4);
static inline __attribute__((always_inline)) unsigned long host_cpu(void)
{
	return *(const __seg_gs u32 *)offsetof(struct cpu_local, cpu);
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
	_Static_assert(offsetof(struct cpu_local, preempt_count) + sizeof(u32) ==
			   offsetof(struct cpu_local, need_resched),
	    "one look for both");
	u64 count = *(const __seg_gs trace_two_words *)offsetof(struct cpu_local, preempt_count);
	/*
	 * `held` is host_preempt_disable()'s own. HIDE: the compiler is to shift the count after
	 * the comparison, and not a copy of it before.
	 */
	if (likely(count <= TRACE_DEPTH_MAX + held))
		word += (HIDE(count) << 24) - ((u64)held << 24);
	else
		word |= trace_call_deep_word(count - held);
	ctx->common = *(const __seg_gs u64 *)offsetof(struct cpu_local, pid_common) | word;
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
	preempt_count_sub(1);
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
