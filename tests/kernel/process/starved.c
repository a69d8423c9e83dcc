/*
 * Memory that runs out in the middle of a system call: /test/starved makes each call with its first
 * allocation failing, then with its second, and so on until the call gets through. It chooses the
 * allocation by /proc/trapline/alloc_fail, and sees by /proc/trapline/alloc_count whether anything
 * was left behind. Task context.
 */
#include "arch/arch.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/page.h"
#include "tests/kernel/objects.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"

static u64 still_to_go; /* allocations before the one that was to fail, when it was called off */

/* "N": the N-th allocation from now on fails, whoever makes it. "0": none does any more. */
static int alloc_fail_store(char *line, size_t n __maybe_unused, void *unused __maybe_unused)
{
	u64 nth;

	if (parse_u64(strstrip(line), 10, &nth))
		return -EINVAL;
	if (!nth)
		still_to_go = READ_ONCE(mem_fail_countdown);
	mem_fail_nth(nth);
	return 0;
}

static int alloc_fail_show(struct seq *s, void *unused __maybe_unused)
{
	seq_printf(s, "%lu\n", still_to_go);
	return 0;
}

static int alloc_count_show(struct seq *s, void *unused __maybe_unused)
{
	u64 free = settled_free_pages();

	seq_printf(s, "%lu %lu\n", objects_in_use(), free);
	return 0;
}

static void starved(void)
{
	static bool registered;

	if (!registered) {
		EXPECT_EQ(
		    proc_register("trapline/alloc_fail", alloc_fail_show, alloc_fail_store, NULL),
		    0);
		EXPECT_EQ(proc_register("trapline/alloc_count", alloc_count_show, NULL, NULL), 0);
		registered = true;
	}
	EXPECT_EQ(run_program("/test/starved", NULL), 0);
	mem_fail_nth(0);
}

static const struct ktap_case cases[] = {
    {"starved.system_calls", starved},
    {NULL, NULL},
};
const struct ktap_suite suite_starved = {cases};
