/*
 * Breakpoint and debug traps, handed to who asked for them. The handlers run in any context; each
 * table is written by single stores [A].
 */
/* hot: runs with each event */
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/task/explore.h"

#define HANDLERS 4

static trap_handler_fn int3_handlers[HANDLERS], debug_handlers[HANDLERS]; /* [A] */

static int handler_add(trap_handler_fn *table, trap_handler_fn fn)
{
	for (unsigned i = 0; i < HANDLERS; i++)
		if (atomic_cas(&table[i], NULL, fn))
			return 0;
	return -EBUSY;
}

static void kprobe_handler_nothing(void *unused)
{
	(void)unused;
}

/* Handlers run with interrupts off, so a CPU that takes a call has left those it was in. */
static void handler_remove(trap_handler_fn *table, trap_handler_fn fn)
{
	for (unsigned i = 0; i < HANDLERS; i++)
		atomic_cas(&table[i], fn, NULL);
	cpu_call_all(kprobe_handler_nothing, NULL);
}

static bool handle(trap_handler_fn *table, struct regs *r)
{
	for (unsigned i = 0; i < HANDLERS; i++) {
		trap_handler_fn fn = atomic_load_acquire(&table[i]);
		if (fn && fn(r))
			return true;
	}
	return false;
}

int int3_handler_add(trap_handler_fn fn)
{
	return handler_add(int3_handlers, fn);
}

void int3_handler_remove(trap_handler_fn fn)
{
	handler_remove(int3_handlers, fn);
}

int debug_handler_add(trap_handler_fn fn)
{
	return handler_add(debug_handlers, fn);
}

void debug_handler_remove(trap_handler_fn fn)
{
	handler_remove(debug_handlers, fn);
}

bool kernel_int3(struct regs *r)
{
	return handle(int3_handlers, r);
}

bool kernel_debug_trap(struct regs *r)
{
	return explore_step(r) || handle(debug_handlers, r);
}
