/*
 * What the watchdog sees of CPUs that stand still and of tasks that keep one, in time and each time
 * anew. Only with -icount: there the machine passes over what all CPUs wait. Task context.
 */
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/timer.h"
#include "tests/kernel/fs/tools.h"
#include "tests/kernel/threads.h"

#define SECOND 1000000000UL /* watchdog_thresh */
#define BEAT   (2 * SECOND / 5)

static u64 mark;  /* of the log */
static int level; /* of what the console shows, outside these cases */

/* How many lines since `mark` have the text. */
static unsigned logged(const char *text)
{
	static char lines[4096];
	unsigned n = 0;
	size_t got;

	for (u64 at = mark; (got = printk_read(&at, lines, sizeof(lines) - 1));) {
		lines[got] = '\0';
		for (const char *p = lines; (p = strstr(p, text)); p++)
			n++;
	}
	return n;
}

static void set(const char *name, const char *value)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	EXPECT_EQ(write_text(path, 0, value), 0);
}

static bool begin(void)
{
	static char skipped[4096];

	if (cpu_count() < 2 || cmdline_flag("hosttime")) {
		ktap_skip("this needs two CPUs, and a clock that passes over what they wait");
		return false;
	}
	while (printk_read(&mark, skipped, sizeof(skipped)))
		;
	level = printk_level();
	printk_set_level(0); /* the reports are in the log */
	set("watchdog_thresh", "1");
	set("hardlockup_panic", "0");
	set("watchdog", "1");
	return true;
}

static void end(void)
{
	set("watchdog", "0");
	set("hardlockup_panic", "1");
	set("watchdog_thresh", "10");
	printk_set_level(level);
}

/* ---- a CPU that takes no interrupts ---- */

static u64 standing; /* [A] */

/* Only an NMI ends this. */
static void stand_still(void *unused)
{
	u64 flags = irq_save();

	(void)unused;
	atomic_store(&standing, 1);
	__asm__ volatile("hlt");
	atomic_store(&standing, 0);
	irq_restore(flags);
}

static void stand_still_once(void)
{
	struct threads t = {0};
	u64 began = clock_ns();

	thread_start(&t, stand_still, NULL, 1);
	while (!atomic_load(&standing))
		sleep_ns(BEAT / 100, NULL);
	while (atomic_load(&standing) && clock_ns() - began < 4 * SECOND)
		sleep_ns(BEAT / 10, NULL);
	/* Its last beat was seen a beat before or after it; the third one after that accuses. */
	EXPECT(clock_ns() - began >= 2 * BEAT && clock_ns() - began < 5 * BEAT);
	nmi_send(1); /* else it would stand there for ever */
	threads_join(&t);
}

static void hard_lockup(void)
{
	if (!begin())
		return;
	task_set_affinity(current(), 1);
	for (unsigned i = 1; i <= 2; i++) {
		stand_still_once();
		EXPECT_EQ(logged("Watchdog detected hard LOCKUP on cpu 1"), i);
		sleep_ns(5 * BEAT + BEAT / 2, NULL); /* it is well again, and between two beats */
		EXPECT_EQ(logged("Watchdog detected hard LOCKUP on cpu 1"), i);
	}
	end();
}

/* ---- a task that lets no other run ---- */

static void keep_cpu(void *ns)
{
	u64 until = clock_ns() + (u64)ns;

	preempt_disable();
	while (clock_ns() < until)
		cpu_idle_wait();
	preempt_enable();
}

static void keep_cpu_for(u64 ns)
{
	struct threads t = {0};

	thread_start(&t, keep_cpu, (void *)ns, 1);
	threads_join(&t);
}

static void soft_lockup(void)
{
	if (!begin())
		return;
	task_set_affinity(current(), 1);
	keep_cpu_for(2 * SECOND - 2 * BEAT);
	EXPECT_EQ(logged("soft lockup"), 0);
	keep_cpu_for(4 * SECOND);
	EXPECT_EQ(logged("soft lockup - CPU#1 stuck for 2s! [test:"), 1);
	keep_cpu_for(4 * SECOND);
	EXPECT_EQ(logged("soft lockup - CPU#1 stuck for 2s! [test:"), 2);
	EXPECT_EQ(logged("LOCKUP"), 0); /* it took interrupts */
	end();
}

static const struct ktap_case cases[] = {
    {"watchdog.hard_lockup", hard_lockup},
    {"watchdog.soft_lockup", soft_lockup},
    {NULL, NULL},
};
const struct ktap_suite suite_watchdog = {cases};
