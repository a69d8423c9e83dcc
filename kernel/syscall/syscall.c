/*
 * System calls: from number to handler, by the table made from kernel/abi/syscalls.def. Task
 * context; the path every call takes, so it is short: two tracepoints (a nop each when off), one
 * bound, one indirect call.
 *
 * Handlers copy what ring 3 points at once, check the copy, then act. kernel/trace/events_syscall.c
 * makes the events sys_enter_X and sys_exit_X from the same .def.
 */
/* hot: runs with each event */
#include "kernel/syscall/syscall.h"

#include "arch/arch.h"
#include "kernel/base/events.h"
#include "kernel/lib/errno.h"
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

	trace_sys_enter(r, nr);
	if (likely((u64)nr < SYSCALL_MAX && table[nr])) {
		ret = table[nr](r);
		r->rax = ret;
		atomic_add(&syscall_calls[nr], 1);
		if (unlikely((u64)ret >= -4095UL))
			ret = syscall_count_error(nr, ret);
	} else {
		syscall_missing(nr);
	}
	trace_sys_exit(r, nr, ret);
}
