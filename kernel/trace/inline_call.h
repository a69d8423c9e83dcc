/*
 * The functions of trace/host_function.h that every followed call passes through, inline: that
 * header includes this when the kernel is built (TRACE_HOST_INLINE_CALL). Interrupts off.
 */
#pragma once

#include "kernel/kprobe/hook.h"
#include "trace/host_function.h"

static inline __attribute__((always_inline)) const struct host_call *host_call_outer(
    const struct host_hook *hook, const u64 *slot)
{
	return (const struct host_call *)hook_call_outer((const struct hook_user *)hook, slot);
}

static inline __attribute__((always_inline)) bool host_call_follow(
    struct host_hook *hook, u64 *slot, const struct host_call *call)
{
	return hook_call_follow((struct hook_user *)hook, slot, (const struct hook_call *)call);
}

static inline __attribute__((always_inline)) u64 host_call_returns_to(const u64 *slot)
{
	return kernel_probe_real_return((u64)slot);
}

static inline __attribute__((always_inline)) struct host_call *host_call_around(
    const struct host_hook *hook, const struct host_call *call)
{
	return (struct host_call *)hook_call_around(
	    (const struct hook_user *)hook, (const struct hook_call *)call);
}

static inline __attribute__((always_inline)) bool host_calls_top(
    const u64 *slot, struct host_calls *at)
{
	struct hook_calls calls;

	if (!hook_calls_top(slot, &calls))
		return false;
	*at = (struct host_calls){calls.shadow, calls.top};
	return true;
}

static inline __attribute__((always_inline)) const struct host_call *host_call_under(
    const struct host_hook *hook, struct host_calls at)
{
	return (const struct host_call *)hook_call_under(
	    (const struct hook_user *)hook, (struct hook_calls){at.stack, at.top});
}

static inline __attribute__((always_inline)) u64 host_call_next_level(
    const struct host_hook *hook, struct host_calls at)
{
	return hook_call_next_level(
	    (const struct hook_user *)hook, (struct hook_calls){at.stack, at.top});
}

static inline __attribute__((always_inline)) struct host_call *host_call_begin(
    struct host_hook *hook, struct host_calls at, u64 *slot)
{
	return (struct host_call *)hook_call_begin(
	    (struct hook_user *)hook, (struct hook_calls){at.stack, at.top}, slot);
}

static inline __attribute__((always_inline)) void host_call_begun(struct host_call *call, u64 *slot)
{
	hook_call_begun((struct hook_call *)call, slot);
}

static inline __attribute__((always_inline)) void host_call_drop(struct host_call *call)
{
	hook_call_drop((struct hook_call *)call);
}

static inline __attribute__((always_inline)) u64 host_entered_ip(const u64 *slot)
{
	return hook_entered_ip(slot);
}

static inline __attribute__((always_inline)) u64 host_entered_flags(const u64 *slot)
{
	return hook_entered_flags(slot);
}

static inline __attribute__((always_inline)) u64 host_call_ns(u64 clock)
{
	return cycles_to_ns(clock);
}

static inline __attribute__((always_inline)) u64 host_cycles_ns(u64 cycles)
{
	return cycles_in_ns(cycles);
}

static inline __attribute__((always_inline)) void host_context_in(
    struct host_context *ctx, u64 flags)
{
	trace_context(ctx, flags, 0);
}
