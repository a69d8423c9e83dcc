/*
 * The stack tracer records the greatest depth of the kernel's stacks, and the call stack there. A
 * hook of the wanted functions compares the place of each call's return address with the maximum so
 * far. It sees the stacks of tasks; interrupts and traps have their own.
 *
 * The file is changed under host_lock. `busy` is a try-lock for the result: a call that finds it
 * taken is ignored, as are calls by the unwinder itself.
 */
/* hot: runs with each event */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/function/priv.h"
#include "trace/host_context.h"
#include "trace/host_memory.h"
#include "trace/host_stack.h"
#include "trace/host_symbol.h"

#define ENTRIES 64

struct trace_stack {
	u32 count;
	u64 ip[ENTRIES];
	u32 depth[ENTRIES]; /* bytes from the place of the return address to the end of the stack */
};

static struct trace_stack found; /* [busy] */
static u64 max_size;		 /* [A] depth of its first */
static u32 busy;		 /* [A] */
static struct host_hook hook;
static bool on; /* [L] */

/*
 * Looks for the return addresses one after the other, from the call of the hook on: as the unwinder
 * found them, they lie in this order. One that does not lie there, but was only in a register, is
 * left out.
 */
static void trace_stack_measure(
    struct trace_stack *s, const u64 *frames, u32 n, const u64 *at, u64 used)
{
	const u64 *end = at + used / sizeof(*at);

	s->count = 0;
	for (u32 i = 0; i < n; i++)
		for (const u64 *p = at; p < end; p++)
			if (*p == frames[i]) {
				s->ip[s->count] = frames[i];
				s->depth[s->count++] = (end - p) * sizeof(*p);
				at = p + 1;
				break;
			}
}

static __noinline void trace_stack_take(const u64 *at, u64 used)
{
	u64 frames[ENTRIES];

	if (atomic_xchg(&busy, 1))
		return;
	if (used > READ_ONCE(max_size)) {
		trace_stack_measure(&found, frames, host_stack(frames, ENTRIES), at, used);
		WRITE_ONCE(max_size, used);
	}
	atomic_store(&busy, 0);
}

/* The hook was called from the function's first instruction: below `slot` lies where it returns. */
static void trace_stack_hit(struct host_hook *h __maybe_unused, u64 ip __maybe_unused,
    u64 parent_ip __maybe_unused, u64 *slot)
{
	u64 used = host_stack_used(slot - 1);

	if (unlikely(used > READ_ONCE(max_size)))
		trace_stack_take(slot - 1, used);
}

/* ---- on and off ---- */

void trace_stack_changed(u64 *room)
{
	trace_functions_fill_set(room, trace_global->functions->lists[TRACE_FUNCTIONS_STACK], NULL);
	if (on)
		host_hook_set(&hook, room);
}

int trace_stack_switch(bool to)
{
	if (to == on)
		return 0;
	if (!to) {
		host_hook_remove(&hook);
		on = false;
		return 0;
	}
	u64 *room = trace_functions_of(trace_global) ? host_alloc(trace_function_set_size()) : NULL;
	int err = room ? 0 : -ENOMEM;

	hook.fn = trace_stack_hit;
	if (!err)
		err = host_hook_add(&hook);
	on = !err;
	if (on)
		trace_stack_changed(room);
	host_free(room);
	return err;
}

/* ---- the files ---- */

u64 trace_stack_max(void)
{
	return READ_ONCE(max_size);
}

void trace_stack_set_max(u64 size)
{
	WRITE_ONCE(max_size, size);
}

static void trace_stack_copy(struct trace_stack *to)
{
	host_preempt_disable();
	while (atomic_xchg(&busy, 1))
		host_relax();
	*to = found;
	atomic_store(&busy, 0);
	host_preempt_enable();
}

static void trace_stack_show_entries(struct seq *s, const struct trace_stack *c)
{
	char name[128];

	for (u32 i = 0; i < c->count; i++) {
		u32 next = i + 1 < c->count ? c->depth[i + 1] : 0;

		host_sym_print(name, sizeof(name), c->ip[i], true);
		seq_printf(s, "%3u) %8u   %5u   %s\n", i, c->depth[i], c->depth[i] - next, name);
	}
}

int trace_stack_show(struct seq *s)
{
	struct trace_stack *c = host_alloc(sizeof(*c));

	if (!c)
		return -ENOMEM;
	trace_stack_copy(c);
	seq_printf(s,
	    "        Depth    Size   Location    (%u entries)\n"
	    "        -----    ----   --------\n",
	    c->count);
	if (!on && !max_size)
		seq_puts(s, "#\n#  Stack tracer disabled\n#\n"
			    "# To enable the stack tracer, either add 'stacktrace' to the\n"
			    "# kernel command line\n"
			    "# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n#\n");
	trace_stack_show_entries(s, c);
	host_free(c);
	return 0;
}
