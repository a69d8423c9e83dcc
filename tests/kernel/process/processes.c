/*
 * Processes: the programs that test system calls from ring 3, what they leave behind, and signals
 * to kernel threads.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/process.h"
#include "kernel/task/group.h"
#include "kernel/task/timer.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"

/* The program has been waited for; what it leaves to pid 1 may take a moment longer to end. */
static void wait_for_orphans(unsigned processes)
{
	u64 patience = clock_ns() + 10000 * TICK_NS;

	while (process_count() != processes && clock_ns() < patience)
		sleep_ns(TICK_NS, NULL);
}

/*
 * Runs a program; no page and no process may be left of it. The first time may fill caches that
 * stay.
 */
static void run_clean(const char *path, const char *arg)
{
	unsigned processes = process_count();
	u64 before, after;

	EXPECT_EQ(run_program(path, arg), 0);
	wait_for_orphans(processes);
	before = settled_free_pages();
	EXPECT_EQ(run_program(path, arg), 0);
	wait_for_orphans(processes);
	EXPECT_EQ(process_count(), processes);
	after = settled_free_pages();
	if (after + 8 < before)
		ktap_fail(
		    __FILE__, __LINE__, "%s: %ld pages are gone", path, (long)(before - after));
}

/*
 * The program also gets addresses at which the kernel really has something: text, data, the heap,
 * its alias in the direct map, this stack and the page below it. All must be as before.
 */
static void bad_pointers(void)
{
	static u8 data[64];
	u8 *heap = kmalloc(64), on_stack[64];
	const u64 at[] = {(u64)bad_pointers, (u64)data, (u64)heap,
	    (u64)phys_to_virt(virt_to_phys(data)), (u64)on_stack,
	    this_cpu_read(kernel_rsp) - KERNEL_STACK_SIZE - 8};
	char arg[ARRAY_SIZE(at) * 17 + 1];
	size_t n = 0;

	memset(data, 0xa5, sizeof(data));
	memset(heap, 0xa5, 64);
	memset(on_stack, 0xa5, sizeof(on_stack));
	for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
		n += fmt_snprintf(arg + n, sizeof(arg) - n, "%016lx ", (unsigned long)at[i]);
	run_clean("/test/badptr", arg);
	for (unsigned i = 0; i < sizeof(data); i++)
		if (data[i] != 0xa5 || heap[i] != 0xa5 || on_stack[i] != 0xa5)
			ktap_fail(__FILE__, __LINE__, "byte %u was written", i);
	kfree(heap);
}

/* Programs with wrong bytes in their headers; `rounds=500` on the command line: so many. */
static void damaged_programs(void)
{
	run_clean("/test/damaged", cmdline_get("rounds"));
}

static void forged_frames(void)
{
	run_clean("/test/forge", NULL);
}

static void memory(void)
{
	run_clean("/test/memory", NULL);
}

static void signals(void)
{
	run_clean("/test/signals", NULL);
}

static void processes(void)
{
	run_clean("/test/process", NULL);
}

static void threads(void)
{
	run_clean("/test/threads", NULL);
}

static void threads_in_traces(void)
{
	run_clean("/test/tgids", NULL);
}

/*
 * 64 threads of four processes at whatever they can do, twice. `stress=300s` on the command line:
 * for five minutes each.
 */
static void stress(void)
{
	run_clean("/test/stress", cmdline_get("stress"));
}

/* Of its own: a machine with other programs would lose them. */
static void kill_all(void)
{
	run_clean("/test/process", "kill-all");
}

/* A thousand children, twice. */
static void many(void)
{
	run_clean("/test/process", "many");
}

static int slept;

static void sleeper(void *unused)
{
	(void)unused;
	WRITE_ONCE(slept, sleep_ns(50 * TICK_NS, NULL));
	do_exit(0);
}

/* A thread of the kernel hears no signal, to it or to all. */
static void kernel_threads(void)
{
	struct task *t = kthread_run(sleeper, NULL, -1, "sleeper");
	int pid = t->pid;

	slept = 1;
	sleep_ns(2 * TICK_NS, NULL);
	EXPECT_EQ(signal_kill(pid, SIGSTOP), 0);
	EXPECT_EQ(signal_kill(pid, SIGKILL), 0);
	while (READ_ONCE(slept) == 1)
		sleep_ns(TICK_NS, NULL);
	EXPECT_EQ(slept, 0);
}

static void names(void)
{
	EXPECT_STR(signal_name(SIGINT), "INT");
	EXPECT_STR(signal_name(0), "?");
	EXPECT_STR(signal_name(99), "?");
	EXPECT_STR(signal_name(64), "RT");
	for (int i = 1; i < 32; i++)
		EXPECT(signal_name(i));
}

static const struct ktap_case cases[] = {
    {"ring3.bad_pointers", bad_pointers},
    {"ring3.damaged_programs", damaged_programs},
    {"ring3.forged_frames", forged_frames},
    {"ring3.memory", memory},
    {"ring3.signals", signals},
    {"ring3.processes", processes},
    {"ring3.threads", threads},
    {"ring3.threads_in_traces", threads_in_traces},
    {"ring3.stress", stress},
    {"ring3.kill_all", kill_all},
    {"ring3.many", many},
    {"signal.kernel_threads", kernel_threads},
    {"signal.names", names},
    {NULL, NULL},
};
const struct ktap_suite suite_processes = {cases};
