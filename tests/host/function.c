/*
 * Functions of the host's tests: trace/host_function.h. Some have a hook; host_function_call() is
 * what a call of one would do.
 */
#include "tests/host/function.h"
#include "kernel/lib/errno.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_function.h"

#define HOOKS 8
#define CALLS 100

static const struct {
	const char *name;
	bool hooked;
} functions[] = {
    {"first_function", true},
    {"second_function", false},
    {"third_function", true},
    {"fourth_one", true},
    {"of_an_interrupt_that_came_in_between", true},
};

static struct {
	struct host_hook *hook;
	u64 wanted;
	u64 skipping; /* a bit for each CPU */
} hooks[HOOKS];

/* Calls that are followed, the innermost last. */
static struct {
	struct host_hook *hook;
	u64 *slot;
	struct host_call call;
} under_way[CALLS];
static unsigned calls;
static u64 entered; /* the function */
static u64 ran_ns;

unsigned host_function_count(void)
{
	return ARRAY_SIZE(functions);
}

const char *host_function(unsigned i, u64 *addr)
{
	*addr = host_function_address(i);
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

void host_hook_ask(struct host_hook *hook, bool ask)
{
	hook->asks = ask;
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

const struct host_call *host_call_outer(
    const struct host_hook *hook, const u64 *slot __maybe_unused)
{
	for (unsigned i = calls; i-- > 0;)
		if (under_way[i].hook == hook)
			return &under_way[i].call;
	return NULL;
}

/* leave() is called with a copy; the call itself is off the list. */
struct host_call *host_call_around(
    const struct host_hook *hook, const struct host_call *call __maybe_unused)
{
	return (struct host_call *)host_call_outer(hook, NULL);
}

bool host_call_follow(struct host_hook *hook, u64 *slot, const struct host_call *call)
{
	if (calls == CALLS) {
		hook->missed++;
		return false;
	}
	under_way[calls].hook = hook;
	under_way[calls].slot = slot;
	under_way[calls++].call = *call;
	return true;
}

u64 host_call_returns_to(const u64 *slot)
{
	return *slot;
}

/* With calls under way the short way, else the long one. */
bool host_calls_top(const u64 *slot __maybe_unused, struct host_calls *at)
{
	*at = (struct host_calls){under_way, calls ? &under_way[calls - 1] : NULL};
	return calls;
}

const struct host_call *host_call_under(
    const struct host_hook *hook, struct host_calls at __maybe_unused)
{
	return host_call_outer(hook, NULL);
}

u64 host_call_next_level(const struct host_hook *hook, struct host_calls at)
{
	const struct host_call *outer = host_call_under(hook, at);

	return outer ? outer->level + 1 : 0;
}

struct host_call *host_call_begin(
    struct host_hook *hook, struct host_calls at __maybe_unused, u64 *slot)
{
	if (calls == CALLS)
		return NULL;
	under_way[calls].hook = hook;
	under_way[calls].slot = slot;
	return &under_way[calls].call;
}

void host_call_begun(struct host_call *call __maybe_unused, u64 *slot __maybe_unused)
{
	calls++;
}

void host_call_drop(struct host_call *call __maybe_unused)
{
}

u64 host_entered_ip(const u64 *slot __maybe_unused)
{
	return entered;
}

u64 host_entered_flags(const u64 *slot __maybe_unused)
{
	return 0;
}

void host_context_in(struct host_context *ctx, u64 flags __maybe_unused)
{
	host_context(ctx);
}

u64 host_call_ns(u64 clock)
{
	return host_clock_ns(clock);
}

u64 host_cycles_ns(u64 cycles)
{
	return host_clock_ns(cycles) - host_clock_ns(0);
}

u64 host_task_ran(void)
{
	return ran_ns;
}

void host_task_runs(u64 ns)
{
	ran_ns += ns;
}

bool host_function_of_irq(u64 addr)
{
	return addr == host_function_address(HOST_FUNCTION_OF_IRQ);
}

u64 host_function_address(unsigned i)
{
	return 0x1000 + 0x100 * (u64)i;
}

/* As in a kernel, calls of a function that several hooks have look at that bit unasked. */
static bool host_hook_skips(unsigned number, unsigned function)
{
	unsigned users = 0;

	for (unsigned k = 0; k < HOOKS; k++)
		users += hooks[k].wanted >> function & 1;
	return (hooks[number].hook->asks || users > 1) && hooks[number].skipping >> host_cpu() & 1;
}

void host_function_enter(unsigned i, u64 *slot)
{
	u64 addr;

	if (!host_function(i, &addr))
		return;
	host_preempt_disable();
	for (unsigned k = 0; k < HOOKS; k++) {
		struct host_hook *hook = hooks[k].hook;

		if (!(hooks[k].wanted >> i & 1) || host_hook_skips(k, i))
			continue;
		entered = addr;
		if (hook->enter)
			hook->enter(hook, slot);
		else
			hook->fn(hook, addr, *slot, slot);
	}
	host_preempt_enable();
}

void host_function_return(u64 *slot, u64 value)
{
	host_preempt_disable();
	while (calls && under_way[calls - 1].slot == slot) {
		struct host_hook *hook = under_way[--calls].hook;
		struct host_call call = under_way[calls].call;

		for (unsigned k = 0; k < HOOKS; k++)
			if (hooks[k].hook == hook)
				hook->leave(hook, &call, &(struct host_returned){.value = value});
	}
	host_preempt_enable();
}

void host_function_call(unsigned i, u64 parent)
{
	u64 slot = parent;

	host_function_enter(i, &slot);
	host_function_return(&slot, 0);
}
