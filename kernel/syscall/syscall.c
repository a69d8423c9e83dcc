/*
 * System calls: from number to handler, by the table made from kernel/abi/syscalls.def. Task
 * context; the path every call takes, so it is short: four tracepoints (a nop each when off), one
 * bound, one indirect call. A call's own event comes before the raw one.
 *
 * Handlers copy what ring 3 points at once, check the copy, then act. kernel/trace/events_syscall.c
 * makes the events sys_enter_X and sys_exit_X from the same .def.
 */
/* hot: runs with each event */
#include "kernel/syscall/syscall.h"

#include "arch/arch.h"
#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
#include "kernel/task/explore.h"
#include "kernel/task/task.h"

#define ARG(type, name)
#define SYSCALL(nr, name, args) [nr] = __x64_sys_##name,
static const syscall_fn table[SYSCALL_MAX] = {
#include "kernel/abi/syscalls.def"
};

void kernel_syscall(struct regs *r)
{
	const long nr = (s32)r->error;
	long ret = -ENOSYS;

	explore_call(r);
	if (likely((u64)nr < SYSCALL_MAX && READ_ONCE(table[nr]))) {
		trace_sys_call_enter(r, nr);
		trace_sys_enter(r, nr);
		ret = READ_ONCE(table[nr])(r); /* from memory: no register is saved for it */
		r->rax = ret;
		atomic_add(&syscall_calls[nr], 1);
		if (unlikely((u64)ret >= -4095UL))
			ret = syscall_count_error(nr, ret);
		ret = trace_sys_call_exit(r, nr, ret);
	} else {
		trace_sys_enter(r, nr);
		syscall_missing(nr);
	}
	trace_sys_exit(r, ret, nr);
}
