/*
 * Reports to the tracer where critical sections begin and end: each change of state that may begin
 * or end one, any number of times in a row. A section begins with the first report. If the tracer
 * watches interrupts and preemption, a section lasts until both are on.
 *
 * Any context but NMI: in an NMI interrupts are off already, and preemption's count is not 0.
 */
/* hot: runs with each event */
#include "kernel/base/critical.h"
#include "trace/host_context.h"
#include "trace/host_critical.h"

_Static_assert((u32)HOST_CRITICAL_IRQS == (u32)ARCH_TOGGLE_IRQS &&
		   (u32)HOST_CRITICAL_PREEMPT == (u32)ARCH_TOGGLE_PREEMPT,
    "one word for both");

struct static_key critical_key;
static u32 watched; /* [A] HOST_CRITICAL_* */

void critical_watch(u32 which)
{
	struct static_key *const key = &critical_key;
	u8 on = which != 0;

	WRITE_ONCE(watched, which);
	static_key_set_many(&key, &on, 1);
	arch_toggles_watch(which);
}

/* The return address in that frame; 0 for an odd frame, which stands for entry code. */
static inline u64 critical_caller(u64 frame)
{
	return frame & 1 ? 0 : ((const u64 *)frame)[1];
}

/* A CPU that starts has no task yet. */
static inline void critical_begin(u64 ip, u64 parent)
{
	if (likely(current_task()))
		trace_critical_begin(ip, parent);
}

static inline bool critical_by_preempt(void)
{
	return (READ_ONCE(watched) & HOST_CRITICAL_PREEMPT) && this_cpu_read(preempt_count);
}

static inline bool critical_by_irqs(void)
{
	return (READ_ONCE(watched) & HOST_CRITICAL_IRQS) && !irqs_enabled();
}

/* ---- toggles ---- */

__trace_text void kernel_irqs_off(u64 ip, u64 frame)
{
	critical_begin(ip, critical_caller(frame));
}

__trace_text void kernel_irqs_on(u64 ip, u64 frame)
{
	if (!critical_by_preempt())
		trace_critical_end(ip, critical_caller(frame));
}

__trace_text void kernel_preempt_off(u64 ip, u64 frame)
{
	u64 flags = irq_save();

	critical_begin(ip, critical_caller(frame));
	irq_restore(flags);
}

__trace_text void kernel_preempt_on(u64 ip, u64 frame)
{
	u64 flags;

	if (critical_by_irqs())
		return;
	flags = irq_save();
	trace_critical_end(ip, critical_caller(frame));
	irq_restore(flags);
}

/* ---- interrupts: the interrupted code had them on ---- */

static inline u64 critical_interrupted(const struct regs *r)
{
	return regs_user(r) ? 0 : r->rip;
}

__trace_text void critical_irq_entered(const struct regs *r)
{
	critical_begin((u64)kernel_irq_enter, critical_interrupted(r));
}

__trace_text void critical_irq_left(const struct regs *r)
{
	if (this_cpu_read(preempt_count) == HARDIRQ_UNIT && !critical_by_irqs())
		trace_critical_end((u64)kernel_irq_exit, critical_interrupted(r));
}

__trace_text void critical_irq_returns(const struct regs *r)
{
	if (!critical_by_preempt())
		trace_critical_end((u64)kernel_irq_exit, critical_interrupted(r));
}

/* ---- the idle loop ---- */

__trace_text void critical_idle(bool begins)
{
	u64 ip = (u64)__builtin_return_address(0);

	if (begins)
		trace_critical_end(ip, 0);
	else if (critical_by_preempt())
		kernel_preempt_off(ip, 1);
}
