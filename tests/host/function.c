/*
 * Functions of the host's tests: trace/host_function.h. Some have a hook; host_function_call() is
 * what a call of one would do.
 */
#include "tests/host/function.h"
#include "kernel/lib/errno.h"
#include "trace/host_context.h"
#include "trace/host_function.h"

#define HOOKS 8

static const struct {
	const char *name;
	bool hooked;
} functions[] = {
    {"first_function", true},
    {"second_function", false},
    {"third_function", true},
    {"fourth_one", true},
};

static struct {
	struct host_hook *hook;
	u64 wanted;
	u64 skipping; /* a bit for each CPU */
} hooks[HOOKS];

unsigned host_function_count(void)
{
	return ARRAY_SIZE(functions);
}

const char *host_function(unsigned i, u64 *addr)
{
	*addr = 0x1000 + 0x100 * (u64)i;
	return functions[i].hooked ? functions[i].name : NULL;
}

int host_hook_add(struct host_hook *hook)
{
	for (int i = 0; i < HOOKS; i++)
		if (!hooks[i].hook) {
			hooks[i].hook = hook;
			hook->number = i;
			return 0;
		}
	return -EBUSY;
}

void host_hook_set(struct host_hook *hook, const u64 *wanted)
{
	hooks[hook->number].wanted = wanted ? wanted[0] : 0;
}

void host_hook_remove(struct host_hook *hook)
{
	hooks[hook->number].hook = NULL;
	hooks[hook->number].wanted = hooks[hook->number].skipping = 0;
}

void host_hook_skip(const struct host_hook *hook, bool skip)
{
	u64 *skipping = &hooks[hook->number].skipping, bit = 1UL << host_cpu();

	*skipping = skip ? *skipping | bit : *skipping & ~bit;
}

void host_function_state(unsigned i, struct host_function_state *out)
{
	*out = (struct host_function_state){0};
	for (unsigned k = 0; k < HOOKS; k++)
		out->users += hooks[k].wanted >> i & 1;
}

void host_function_call(unsigned i, u64 parent)
{
	u64 addr, slot = parent;

	if (!host_function(i, &addr))
		return;
	host_preempt_disable();
	for (unsigned k = 0; k < HOOKS; k++)
		if ((hooks[k].wanted >> i & 1) && !(hooks[k].skipping >> host_cpu() & 1))
			hooks[k].hook->fn(hooks[k].hook, addr, slot, &slot);
	host_preempt_enable();
}
