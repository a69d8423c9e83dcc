/*
 * The functions of this kernel for the tracer: trace/host_function.h. Contexts are those of that
 * header.
 */
#include "trace/host_function.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/hook.h"

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

_Static_assert(offsetof(struct host_hook, fn) == offsetof(struct hook_user, fn) &&
		   offsetof(struct host_hook, number) == offsetof(struct hook_user, number),
    "host_hook is hook_user");

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

void host_hook_skip(const struct host_hook *hook, bool skip)
{
	hook_user_skip((const struct hook_user *)hook, skip);
}

void host_function_state(unsigned i, struct host_function_state *out)
{
	struct hook_state s = hook_state(i);

	*out = (struct host_function_state){s.users, s.probed, s.touched, s.entry, (u64)s.fn};
}
