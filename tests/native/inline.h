/*
 * The functions of trace/host_context.h that every event passes through, for measuring: a thread
 * that is bound to a CPU and that nobody interrupts has nothing to do in them. trace/host_context.h
 * includes this (TRACE_HOST_INLINE).
 */
#pragma once

#include "trace/host_context.h"
#include "trace/host_probe.h"

extern _Thread_local unsigned native_cpu; /* which lane this thread writes to */

static inline void host_preempt_disable(void)
{
}

static inline void host_preempt_enable(void)
{
}

static inline unsigned long host_cpu(void)
{
	return native_cpu;
}

static inline void host_context(struct host_context *ctx)
{
	*ctx = (struct host_context){.cpu = native_cpu};
}

static inline void host_current_comm(char comm[16])
{
	comm[0] = 0;
}

static inline void host_context_probed(struct host_context *ctx, const void *regs)
{
	(void)regs;
	host_context(ctx);
}

static inline u64 host_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void host_relax(void)
{
	__builtin_ia32_pause();
}
