/*
 * The functions of trace/host_function.h that every followed call passes through, inline: that
 * header includes this when the kernel is built (TRACE_HOST_INLINE_CALL). Interrupts off.
 */
#pragma once

#include "kernel/kprobe/hook.h"
#include "trace/host_function.h"

static inline const struct host_call *host_call_outer(const struct host_hook *hook, const u64 *slot)
{
	return (const struct host_call *)hook_call_outer((const struct hook_user *)hook, slot);
}

static inline bool host_call_follow(struct host_hook *hook, u64 *slot, const struct host_call *call)
{
	return hook_call_follow((struct hook_user *)hook, slot, (const struct hook_call *)call);
}

static inline struct host_call *host_call_around(
    const struct host_hook *hook, const struct host_call *call)
{
	return (struct host_call *)hook_call_around(
	    (const struct hook_user *)hook, (const struct hook_call *)call);
}

static inline u64 host_call_ns(u64 clock)
{
	return cycles_to_ns(clock);
}

static inline void host_context_in(struct host_context *ctx, u64 flags)
{
	trace_context(ctx, flags, 0);
}
