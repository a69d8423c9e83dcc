/*
 * Before a task is killed or refused because it can get no more memory, the caller asks here: with
 * /proc/sys/vm/panic_on_oom the kernel panics instead. Task context; one word, taken as it is.
 */
#include "kernel/base/panic.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"

static u32 panic_on_oom; /* 2 is Linux's for memory that a policy limits, too: the same here */

void mem_exhausted(void)
{
	u32 how = READ_ONCE(panic_on_oom);

	if (how)
		panic("Out of memory: %s panic_on_oom is enabled",
		    how == 2 ? "compulsory" : "system-wide");
}

unsigned mem_panic_on_oom(void)
{
	return READ_ONCE(panic_on_oom);
}

int mem_set_panic_on_oom(u64 how)
{
	if (how > 2)
		return -EINVAL;
	WRITE_ONCE(panic_on_oom, how);
	return 0;
}
