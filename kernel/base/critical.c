/*
 * Reports to the tracer where critical sections begin and end: each change of state that may begin
 * or end one, any number of times in a row; and each change by itself, as the events preemptirq:*.
 * A section begins with the first report. If the tracer watches interrupts and preemption, a
 * section lasts until both are on.
 *
 * Any context but NMI: in an NMI interrupts are off already, and preemption's count is not 0.
 */
/* hot: runs with each event */
#include "kernel/base/critical.h"
#include "kernel/base/events.h"
#include "trace/host_context.h"
#include "trace/host_critical.h"

_Static_assert((u32)HOST_CRITICAL_IRQS == (u32)ARCH_TOGGLE_IRQS &&
		   (u32)HOST_CRITICAL_PREEMPT == (u32)ARCH_TOGGLE_PREEMPT,
    "one word for both");

struct static_key critical_key;
static struct static_key events_key; /* an event preemptirq:* is on, or there is a follower */
static u32 watched;		     /* [A] HOST_CRITICAL_*: sections that the tracer watches */
static u32 events;		     /* the same of the events that are on */
static void (*follower)(u64 ip);     /* [A] see critical_follow_preempt_on() */

static void critical_update(void)
{
	struct static_key *const keys[] = {&critical_key, &events_key};
	u32 which = watched | events;
	u8 on[] = {which != 0, events || follower};

	static_key_set_many(keys, on, ARRAY_SIZE(keys));
	arch_toggles_watch(which | (follower ? HOST_CRITICAL_PREEMPT : 0));
}

void critical_watch(u32 which)
{
	WRITE_ONCE(watched, which);
	critical_update();
}

void critical_follow_preempt_on(void (*fn)(u64 ip))
{
	WRITE_ONCE(follower, fn);
	critical_update();
}

void critical_events_changed(void)
{
	u32 now = 0;

	if (key_irq_disable.enabled || key_irq_enable.enabled)
		now |= HOST_CRITICAL_IRQS;
	if (key_preempt_disable.enabled || key_preempt_enable.enabled)
		now |= HOST_CRITICAL_PREEMPT;
	if (now == events)
		return;
	events = now;
	critical_update();
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

/* ---- the events preemptirq:* ---- */

/*
 * An event reports each change of state. Recording one changes none, but what follows a record may:
 * that is not reported.
 */
#define CRITICAL_EVENT(name)                                                                       \
	static __noinline __trace_text void critical_record_##name(u64 ip, u64 parent)             \
	{                                                                                          \
		static u8 busy[MAX_CPUS];                                                          \
		u64 flags = irq_save();                                                            \
		u8 *mine = &busy[cpu_id()];                                                        \
                                                                                                   \
		if (!*mine && likely(current_task())) {                                            \
			WRITE_ONCE(*mine, 1);                                                      \
			trace_##name(ip, parent);                                                  \
			WRITE_ONCE(*mine, 0);                                                      \
		}                                                                                  \
		irq_restore(flags);                                                                \
	}                                                                                          \
	static inline void critical_##name(u64 ip, u64 parent)                                     \
	{                                                                                          \
		if (static_branch(&key_##name))                                                    \
			critical_record_##name(ip, parent);                                        \
	}
CRITICAL_EVENT(irq_disable)
CRITICAL_EVENT(irq_enable)
CRITICAL_EVENT(preempt_disable)
CRITICAL_EVENT(preempt_enable)
#undef CRITICAL_EVENT

static inline bool critical_is_watched(u32 which)
{
	return READ_ONCE(watched) & which;
}

static inline u64 critical_interrupted(const struct regs *r)
{
	return regs_user(r) ? 0 : r->rip;
}

/* The interrupt is all that preemption's count has: it turned preemption off. */
static inline bool critical_irq_is_first(void)
{
	return this_cpu_read(preempt_count) == HARDIRQ_UNIT;
}

/* ---- while no event is on: toggles are watched for the tracer alone ---- */

static inline void critical_irqs_off(u64 ip, u64 parent)
{
	critical_begin(ip, parent);
}

static inline void critical_irqs_on(u64 ip, u64 parent)
{
	if (!critical_by_preempt())
		trace_critical_end(ip, parent);
}

static inline void critical_preempt_off(u64 ip, u64 parent)
{
	u64 flags = irq_save();

	critical_begin(ip, parent);
	irq_restore(flags);
}

static inline void critical_preempt_on(u64 ip, u64 parent)
{
	u64 flags;

	if (critical_by_irqs())
		return;
	flags = irq_save();
	trace_critical_end(ip, parent);
	irq_restore(flags);
}

/* ---- while one is ---- */

#define CRITICAL_BOTH(name, event, which)                                                          \
	static __noinline __trace_text void critical_tell_##name(u64 ip, u64 parent)               \
	{                                                                                          \
		critical_##event(ip, parent);                                                      \
		if (critical_is_watched(which))                                                    \
			critical_##name(ip, parent);                                               \
	}
CRITICAL_BOTH(irqs_off, irq_disable, HOST_CRITICAL_IRQS)
CRITICAL_BOTH(irqs_on, irq_enable, HOST_CRITICAL_IRQS)
CRITICAL_BOTH(preempt_off, preempt_disable, HOST_CRITICAL_PREEMPT)
CRITICAL_BOTH(preempt_on, preempt_enable, HOST_CRITICAL_PREEMPT)
#undef CRITICAL_BOTH

/* ---- toggles ---- */

#define CRITICAL_TOGGLE(name)                                                                      \
	__trace_text void kernel_##name(u64 ip, u64 frame)                                         \
	{                                                                                          \
		if (static_branch(&events_key))                                                    \
			critical_tell_##name(ip, critical_caller(frame));                          \
		else                                                                               \
			critical_##name(ip, critical_caller(frame));                               \
	}
CRITICAL_TOGGLE(irqs_off)
CRITICAL_TOGGLE(irqs_on)
CRITICAL_TOGGLE(preempt_off)
#undef CRITICAL_TOGGLE

__trace_text void kernel_preempt_on(u64 ip, u64 frame)
{
	void (*follow)(u64 ip) = NULL;

	if (static_branch(&events_key)) {
		critical_tell_preempt_on(ip, critical_caller(frame));
		follow = READ_ONCE(follower);
	} else {
		critical_preempt_on(ip, critical_caller(frame));
	}
	if (follow)
		follow(ip);
}

/* ---- interrupts: the interrupted code had them on ---- */

__trace_text void critical_irq_entered(const struct regs *r)
{
	u64 ip = (u64)kernel_irq_enter;

	critical_irq_disable(ip, critical_interrupted(r));
	if (critical_irq_is_first())
		critical_preempt_disable(ip, critical_interrupted(r));
	if (READ_ONCE(watched))
		critical_begin(ip, critical_interrupted(r));
}

__trace_text void critical_irq_left(const struct regs *r)
{
	u64 ip = (u64)kernel_irq_exit;

	if (!critical_irq_is_first())
		return;
	critical_preempt_enable(ip, critical_interrupted(r));
	if (critical_is_watched(HOST_CRITICAL_PREEMPT) && !critical_by_irqs())
		trace_critical_end(ip, critical_interrupted(r));
}

__trace_text void critical_irq_returns(const struct regs *r)
{
	u64 ip = (u64)kernel_irq_exit;

	critical_irq_enable(ip, critical_interrupted(r));
	if (critical_is_watched(HOST_CRITICAL_IRQS) && !critical_by_preempt())
		trace_critical_end(ip, critical_interrupted(r));
}

/* ---- the idle loop ---- */

__trace_text void critical_idle(bool begins)
{
	u64 ip = (u64)__builtin_return_address(0);
	u64 parent = critical_caller(*(const u64 *)__builtin_frame_address(0)); /* sched_idle()'s */

	if (begins) {
		critical_irq_enable(ip, parent);
		if (READ_ONCE(watched))
			trace_critical_end(ip, parent);
	} else if (critical_by_preempt()) {
		u64 flags = irq_save();

		critical_begin(ip, parent);
		irq_restore(flags);
	}
}
