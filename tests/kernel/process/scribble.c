/*
 * Random writes to every file that there is, from eight tasks, while each CPU gets NMIs
 * (tests/programs/scribble.c). The machine lives on, the walls around the kernel's memory stand,
 * and once everything is put back, nothing is left. `rounds=N` on the command line: N thousand
 * writes.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"

#define NMI_EVERY_NS 200000
#define PAGES_KEPT   64 /* caches: names, saved command lines, the tables of open files */

static u64 nmis;    /* [A] */
static bool stop;   /* [A] */
static u32 senders; /* [A] */

static bool scribble_nmi(struct regs *unused __maybe_unused)
{
	atomic_add(&nmis, 1);
	return true;
}

static void scribble_send(void *unused __maybe_unused)
{
	while (!atomic_load(&stop)) {
		for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
			nmi_send(cpu);
		sleep_ns(NMI_EVERY_NS, NULL);
	}
	atomic_sub(&senders, 1);
}

static u64 pages_after(const char *arg)
{
	EXPECT_EQ(run_program("/test/scribble", arg), 0);
	trace_fresh();
	return settled_free_pages();
}

static void all_files(void)
{
	char arg[64];
	u64 seed = cmdline_u64("seed", 1), before, after;

	stop = false;
	nmis = 0;
	EXPECT_EQ(nmi_handler_add(scribble_nmi), 0);
	senders = 1;
	EXPECT(kthread_run(scribble_send, NULL, -1, "scribble_nmi") != NULL);
	fmt_snprintf(arg, sizeof(arg), "%lu@%lu", cmdline_u64("rounds", 1), seed);
	before = pages_after(arg);
	for (unsigned round = 0; round < 3; round++) { /* what grows each time is lost */
		after = pages_after(arg);
		if (after + PAGES_KEPT >= before)
			break;
		before = after;
	}
	if (after + PAGES_KEPT < before)
		ktap_fail(__FILE__, __LINE__, "%ld pages are gone", (long)(before - after));
	atomic_store(&stop, true);
	while (atomic_load(&senders))
		sleep_ns(1000000, NULL);
	nmi_handler_remove(scribble_nmi);
	EXPECT(atomic_load(&nmis) > 10);
}

static const struct ktap_case cases[] = {
    {"scribble.all_files", all_files},
    {NULL, NULL},
};
const struct ktap_suite suite_scribble = {cases};
