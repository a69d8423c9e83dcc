/*
 * All functions traced while everything happens at once: tasks, system calls, interrupts, NMIs,
 * faults, probes at functions that are traced as well, and the tracer switched on and off under
 * them. Afterwards the text is what it was, the ledger balances, and each hit of a probe is
 * counted. With `storm=long` on the command line it lasts a minute.
 */
#include "arch/x86_64/cpu/sections.h"
#include "kernel/base/cmdline.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/fs/tools.h"
#include "tests/kernel/process/run_program.h"
#include "trace/host_clock.h"

#define FILES	  "/sys/kernel/tracing/"
#define LOOPS	  8u
#define MINUTE_NS 60000000000UL

static u64 text_sum(void)
{
	u64 sum = 0;

	for (const u8 *p = (const u8 *)__text_start; p < (const u8 *)__text_end; p++)
		sum = sum * 31 + *p;
	return sum;
}

/* Does a line of the file read so? */
static bool has_line(const char *path, const char *text)
{
	static char line[256];
	bool found = false;
	unsigned n = 0;
	struct file *f;
	char c;

	if (file_open(path, O_RDONLY, 0, &f))
		return false;
	while (kernel_read(f, &c, 1) == 1) {
		if (c != '\n' && n < sizeof(line) - 1) {
			line[n++] = c;
			continue;
		}
		line[n] = '\0';
		n = 0;
		found |= !strcmp(line, text);
	}
	file_put(f);
	return found;
}

/* ---- what runs ---- */

static u64 ran, probed; /* [A] */
static bool stop;	/* [A] */
static u32 running;	/* [A] */

static void __noipa hook_storm_target(void)
{
	atomic_add(&ran, 1);
}

static int on_target(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&probed, 1);
	return 0;
}

static bool on_nmi(struct regs *r)
{
	(void)r;
	hook_storm_target();
	return true;
}

static void hook_storm_task(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		hook_storm_target();
		nmi_send(cpu_id());
		sleep_ns(20000, NULL);
		run_program("/bin/true", NULL);
	}
	atomic_sub(&running, 1);
}

static void switch_tracer(unsigned loop)
{
	static const char *const filters[] = {"\n", "*sys*", "hook_storm_target", "s*"};

	EXPECT_EQ(
	    write_text(FILES "set_ftrace_filter", O_TRUNC, filters[loop % ARRAY_SIZE(filters)]), 0);
	EXPECT_EQ(write_text(FILES "current_tracer", O_TRUNC,
		      loop / 4 % 2 ? "function" : "function_graph"),
	    0);
	run_program("/bin/true", NULL);
	EXPECT_EQ(write_text(FILES "set_ftrace_notrace", O_TRUNC, loop % 2 ? "v*" : "\n"), 0);
	sleep_ns(100000, NULL);
	EXPECT_EQ(write_text(FILES "current_tracer", O_TRUNC, "nop"), 0);
}

static bool is_long(void)
{
	return cmdline_get("storm");
}

static void everything_at_once(void)
{
	struct kprobe p = {.addr = (void *)hook_storm_target, .pre_handler = on_target};
	u64 before = text_sum();

	stop = false;
	ran = probed = 0;
	running = cpu_count();
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(nmi_handler_add(on_nmi), 0);
	EXPECT_EQ(write_text(FILES "events/enable", O_TRUNC, "1"), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		EXPECT(kthread_run(hook_storm_task, NULL, cpu, "hook_storm") != NULL);
	u64 end = host_clock_ns(host_clock()) + (is_long() ? MINUTE_NS : 0);
	for (unsigned i = 0; i < LOOPS || host_clock_ns(host_clock()) < end; i++)
		switch_tracer(i);
	EXPECT(has_line(FILES "trace_ledger", "balanced"));
	atomic_store(&stop, true);
	while (atomic_load(&running))
		sleep_ns(TICK_NS, NULL);
	nmi_handler_remove(on_nmi);
	EXPECT_EQ(write_text(FILES "events/enable", O_TRUNC, "0"), 0);
	EXPECT_EQ(probed + p.nmissed, ran);
	unregister_kprobe(&p);
	EXPECT_EQ(text_sum(), before);
	EXPECT(ran > LOOPS);
	write_text(FILES "set_ftrace_filter", O_TRUNC, "\n");
	write_text(FILES "set_ftrace_notrace", O_TRUNC, "\n");
	write_text(FILES "trace", O_TRUNC, "\n");
}

static const struct ktap_case cases[] = {
    {"hook_storm.everything_at_once", everything_at_once},
    {NULL, NULL},
};
const struct ktap_suite suite_hook_storm = {cases};
