/*
 * Where the tracer runs: the CPU, the task and the state of interrupts, which open every record.
 * Any context, NMI included.
 */
#pragma once

#include "kernel/lib/types.h"

/*
 * What a record says of the place where its event was hit. One call fills all of it, so that the
 * hot path pays once: `common` is the first eight bytes of every record but for its type, which is
 * 0 here.
 */
struct host_context {
	union {
		struct {
			u16 type_zero;
			u8 flags;	  /* Linux's trace flags: TRACE_FLAG_* */
			u8 preempt_count; /* depth seen by the traced code, at most 15; bits 4-7
					     migrate-disable depth */
			s32 pid;
		};
		u64 common;
	};
	u32 cpu;
};

enum {
	TRACE_FLAG_IRQS_OFF = 0x01,
	TRACE_FLAG_IRQS_NOSUPPORT = 0x02,
	TRACE_FLAG_NEED_RESCHED = 0x04,
	TRACE_FLAG_HARDIRQ = 0x08,
	TRACE_FLAG_SOFTIRQ = 0x10,
	TRACE_FLAG_PREEMPT_RESCHED = 0x20,
	TRACE_FLAG_NMI = 0x40,
	TRACE_FLAG_BH_OFF = 0x80,
};

/*
 * Marks a function outside trace/ that records: a stack trace leaves its frames out, see
 * host_stack().
 */
#define __trace_text __notrace __attribute__((section(".trace.text")))

/*
 * A host may have the seven that every event needs inline, in a header that TRACE_HOST_INLINE
 * names. The task stays on its CPU between host_preempt_disable() and host_preempt_enable(), which
 * nest; host_cpu() is stable only there. host_context() says what the innermost
 * host_preempt_disable() interrupted. host_cycles() is the clock of the rings: 64 bits, and on one
 * CPU it never goes back. host_relax() is what a loop does that waits for another CPU.
 */
#ifdef TRACE_HOST_INLINE
#include TRACE_HOST_INLINE
#else
void host_preempt_disable(void);
void host_preempt_enable(void);
void host_context(struct host_context *ctx);
unsigned long host_cpu(void);
void host_current_comm(char comm[16]);
u64 host_cycles(void);
void host_relax(void);
#endif
#ifndef TRACE_HOST_CONTEXT /* the host's header may have a form that is inline everywhere */
#define TRACE_HOST_CONTEXT(ctx) host_context(ctx)
#endif
static inline __attribute__((always_inline)) void host_enter(struct host_context *ctx)
{
	host_preempt_disable();
	TRACE_HOST_CONTEXT(ctx);
}
