/*
 * The host's functions that can call the tracer when they are called. Any context. Weak: there is
 * none.
 */
#pragma once

#include "trace/host_context.h"

/*
 * Functions have numbers from 0, in the order of their addresses. host_function_count(): one more
 * than the greatest. host_function(): its name and, by addr, where it begins; NULL: it has no hook.
 */
unsigned host_function_count(void);
const char *host_function(unsigned i, u64 *addr);

/*
 * Who is called when functions are. fn: in any context, as after host_preempt_disable(), at the
 * function's beginning; `slot` is where its return address stands.
 *
 * Who follows calls to their returns has enter() and leave() instead. They are called with
 * interrupts off. enter() asks host_entered_ip() which function it is, host_entered_flags() what is
 * for host_context_in(). It may follow the call by host_call_follow(); then leave() is called when
 * it returns, unless it never does.
 *
 * host_hook_set(): a bit for each function that the hook wants, in words of 64; NULL: none. When
 * host_hook_remove() returns nobody is in fn(), enter() or leave(), and nobody will be: calls that
 * were followed return without a word. Task context.
 */
struct host_call {
	u64 ip, start;
	union {
		struct {
			u32 depth, mode;
		};
		u64 level; /* both */
		u64 nested;
	};
};
struct host_returned {
	u64 second; /* the host's */
	u64 value, flags;
};
struct host_hook {
	void (*fn)(struct host_hook *hook, u64 ip, u64 parent_ip, u64 *slot);
	void (*enter)(struct host_hook *hook, u64 *slot);
	void (*leave)(
	    struct host_hook *hook, const struct host_call *call, const struct host_returned *ret);
	int number;	 /* the host's */
	u32 asks;	 /* the host's */
	u64 calls;	 /* the host's */
	u64 missed;	 /* [A] calls that could not be followed: no room */
	u64 left, ended; /* [A] that never returned: left otherwise, or their task ended in them */
};
/* The host's: where it keeps the calls of the current task, and the innermost of them. */
struct host_calls {
	void *stack, *top;
};
int host_hook_add(struct host_hook *hook); /* 0; -ENOMEM; -EBUSY: there are too many */
void host_hook_set(struct host_hook *hook, const u64 *functions);
void host_hook_remove(struct host_hook *hook);
/*
 * host_hook_ask(): from now on calls ask what host_hook_skip() said on their CPU, or no more. Task
 * context. host_hook_skip(): calls on this CPU do not reach fn() or enter() until the hook is told
 * otherwise, or removed. Any context, as after host_preempt_disable(). The hook was added.
 */
void host_hook_ask(struct host_hook *hook, bool ask);
void host_hook_skip(const struct host_hook *hook, bool skip);

/*
 * In enter(): host_call_outer() gives the innermost call that the hook follows, NULL if there is
 * none; host_call_follow() follows the call that is entered, or counts it as missed and returns
 * false; host_call_returns_to() says where that will return to. In leave(): host_call_around()
 * gives the call around the one that returns. A host may have them inline, in a header that
 * TRACE_HOST_INLINE_CALL names.
 */
#ifdef TRACE_HOST_INLINE_CALL
#include TRACE_HOST_INLINE_CALL
#else
const struct host_call *host_call_outer(const struct host_hook *hook, const u64 *slot);
bool host_call_follow(struct host_hook *hook, u64 *slot, const struct host_call *call);
u64 host_call_returns_to(const u64 *slot);
struct host_call *host_call_around(const struct host_hook *hook, const struct host_call *call);
/*
 * The short way of enter(). host_calls_top(): where calls are kept; false: the long way, by the
 * functions above. host_call_under(): as host_call_outer(). host_call_next_level(): one more than
 * that call's, 0 without one. host_call_begin(): room for the call that is entered, NULL: there is
 * none, the long way counts that. The caller fills it in; host_call_begun() then follows it,
 * host_call_drop() does not.
 */
bool host_calls_top(const u64 *slot, struct host_calls *at);
const struct host_call *host_call_under(const struct host_hook *hook, struct host_calls at);
u64 host_call_next_level(const struct host_hook *hook, struct host_calls at);
struct host_call *host_call_begin(struct host_hook *hook, struct host_calls at, u64 *slot);
void host_call_begun(struct host_call *call, u64 *slot);
void host_call_drop(struct host_call *call);
u64 host_entered_ip(const u64 *slot);
u64 host_entered_flags(const u64 *slot);
/*
 * As host_context() and host_clock_ns(), in enter() and leave(); how long so many of
 * host_cycles() last.
 */
void host_context_in(struct host_context *ctx, u64 flags);
u64 host_call_ns(u64 clock);
u64 host_cycles_ns(u64 cycles);
#endif
/* Nanoseconds that the current task has had a CPU. Any context. */
u64 host_task_ran(void);
/* Is that where an interrupt's functions begin? Any context. */
bool host_function_of_irq(u64 addr);

/* Who is called when that function is. Task context. */
struct host_function_state {
	unsigned users;
	bool probed;  /* probes are among them */
	bool touched; /* it has been patched */
	u64 entry;    /* what it calls first; 0: nothing */
	u64 fn;	      /* the only user's; 0: there are none or several */
};
void host_function_state(unsigned i, struct host_function_state *out);
