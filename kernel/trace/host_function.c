/*
 * The functions of this kernel for the tracer: trace/host_function.h. Contexts are those of that
 * header.
 */
#include "trace/host_function.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/hook.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/sched.h"

unsigned host_function_count(void)
{
	return sym_count();
}

const char *host_function(unsigned i, u64 *addr)
{
	const char *name;
	u64 size;

	return sym_hooked(i) && sym_nth(i, &name, addr, &size) ? name : NULL;
}

#define SAME_PLACE(field) (offsetof(struct host_hook, field) == offsetof(struct hook_user, field))
_Static_assert(SAME_PLACE(fn) && SAME_PLACE(enter) && SAME_PLACE(leave) && SAME_PLACE(number) &&
		   SAME_PLACE(asks) && SAME_PLACE(calls) && SAME_PLACE(missed) &&
		   SAME_PLACE(left) && SAME_PLACE(ended) &&
		   sizeof(struct host_hook) == sizeof(struct hook_user),
    "host_hook is hook_user");
_Static_assert(offsetof(struct host_returned, value) == offsetof(struct hook_returned, value) &&
		   offsetof(struct host_returned, flags) == offsetof(struct hook_returned, flags),
    "host_returned begins hook_returned");
_Static_assert(sizeof(struct host_call) == sizeof(struct hook_call) &&
		   offsetof(struct host_call, level) == offsetof(struct hook_call, level),
    "host_call is hook_call");

int host_hook_add(struct host_hook *hook)
{
	return hook_user_add((struct hook_user *)hook);
}

void host_hook_set(struct host_hook *hook, const u64 *functions)
{
	hook_user_set((struct hook_user *)hook, functions);
}

void host_hook_remove(struct host_hook *hook)
{
	hook_user_remove((struct hook_user *)hook);
}

void host_hook_ask(struct host_hook *hook, bool ask)
{
	hook_user_ask((struct hook_user *)hook, ask);
}

void host_hook_skip(const struct host_hook *hook, bool skip)
{
	hook_user_skip((const struct hook_user *)hook, skip);
}

void host_function_state(unsigned i, struct host_function_state *out)
{
	struct hook_state s = hook_state(i);

	*out = (struct host_function_state){s.users, s.probed, s.touched, s.entry, (u64)s.fn};
}

u64 host_task_ran(void)
{
	return task_runtime_ns(current());
}

/* What entry code calls in an interrupt, and what it calls is hooked. */
bool host_function_of_irq(u64 addr)
{
	return addr == (u64)kernel_timer_tick || addr == (u64)kernel_irq || addr == (u64)kernel_ipi;
}
