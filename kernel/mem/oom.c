/*
 * What follows when a task can have no more memory: it is refused, or killed, by whoever asks here first; or, as
 * /proc/sys/vm/panic_on_oom says, the kernel ends. Task context; one word, taken as it is.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/panic.h"

static u32 panic_on_oom; /* 2 is Linux's for memory that a policy limits, too: the same here */

void mem_exhausted(void)
{
	u32 how = READ_ONCE(panic_on_oom);

	if (how)
		panic("Out of memory: %s panic_on_oom is enabled",
		    how == 2 ? "compulsory" : "system-wide");
}

static int show(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%u\n", panic_on_oom);
	return 0;
}

static int store(char *line, size_t n, void *ctx)
{
	u64 v;
	int err = parse_u64(strstrip(line), 10, &v);

	(void)n, (void)ctx;
	if (!err && v > 2)
		err = -EINVAL;
	if (!err)
		WRITE_ONCE(panic_on_oom, v);
	return err;
}

void oom_files_init(void)
{
	proc_register("sys/vm/panic_on_oom", show, store, NULL);
}
