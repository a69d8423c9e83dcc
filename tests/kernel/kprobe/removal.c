/*
 * Removing a probe waits for nobody. All other CPUs run the probed function, and none of them gives
 * up its CPU before the probe is gone: a removal that waited for a task to be switched, or for a
 * call to return, would wait for ever. How long it took is told too, and where the emulator counts
 * instructions, so that it is the same each time, it must be less than a tick of the scheduler.
 *
 * An event's probe is disarmed and removed while the others record with it. Who is found at that is
 * visited, at the latest when the scheduler's next tick takes the CPU away from him.
 */
#include "kernel/base/cmdline.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/sync.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/fs/tools.h"
#include "tests/kernel/kprobe/tools.h"
#include "tests/kernel/threads.h"

static u32 inside; /* [A] tasks that run, or sleep in, the function */
static u32 gone;   /* [A] the probe */

/* Long enough for a jump. One that is asked to sleeps in it until the probe is gone. */
u64 __noipa removal_target(bool sleeps);
u64 __noipa removal_target(bool sleeps)
{
	if (sleeps) {
		atomic_add(&inside, 1);
		while (!atomic_load(&gone))
			sleep_ns(TICK_NS, NULL);
	}
	return sleeps + 1UL;
}

static void runs_it(void *unused)
{
	(void)unused;
	preempt_disable();
	removal_target(false);
	atomic_add(&inside, 1);
	while (!atomic_load(&gone)) {
		removal_target(false);
		cpu_relax(); /* the emulator may run another CPU */
	}
	preempt_enable();
}

static void sleeps_in_it(void *unused)
{
	(void)unused;
	EXPECT_EQ(removal_target(true), 2);
}

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri;
	(void)r;
	return 0;
}

/* The probe is there. remove() takes it out. */
static void expect_no_wait(const char *what, void (*remove)(void *probe), void *probe)
{
	struct threads t = {.n = 0};

	atomic_store(&inside, 0);
	atomic_store(&gone, 0);
	thread_start(&t, sleeps_in_it, NULL, 0);
	for (unsigned cpu = 1; cpu < cpu_count(); cpu++)
		thread_start(&t, runs_it, NULL, cpu);
	while (atomic_load(&inside) < t.n)
		sleep_ns(TICK_NS, NULL);
	u64 before = clock_ns();
	remove(probe);
	u64 took = clock_ns() - before;
	atomic_store(&gone, 1);
	threads_join(&t);
	ktap_note("%s: %lu ns", what, (unsigned long)took);
	if (!cmdline_flag("hosttime"))
		EXPECT(took < TICK_NS);
}

static void remove_kprobe(void *probe)
{
	unregister_kprobe(probe);
}

static void remove_kretprobe(void *probe)
{
	unregister_kretprobe(probe);
}

static void waits_for_nobody(void)
{
	struct kprobe p = {
	    .symbol_name = "removal_target", .offset = HOOK_LEN, .pre_handler = probe_on_hit};
	struct kretprobe rp = {.kp.symbol_name = "removal_target", .handler = on_return};

	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	kprobes_optimization(false);
	EXPECT_EQ(register_kprobe(&p), 0);
	expect_no_wait("a breakpoint", remove_kprobe, &p);
	EXPECT_EQ(register_kretprobe(&rp), 0);
	expect_no_wait("a return", remove_kretprobe, &rp);
	p.addr = NULL;
	p.offset = 0;
	EXPECT_EQ(register_kprobe(&p), 0);
	expect_no_wait("a hook", remove_kprobe, &p);
	p.offset = HOOK_LEN;
	kprobes_optimization(true);
	p.addr = NULL;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	EXPECT_EQ(probe_head(&p), OP_JMP);
	expect_no_wait("a jump", remove_kprobe, &p);
	task_set_affinity(current(), ~0UL);
}

static void records_it(void *unused)
{
	(void)unused;
	atomic_add(&inside, 1);
	while (!atomic_load(&gone)) {
		removal_target(false);
		cpu_relax(); /* as above */
	}
}

#define TRACING "/sys/kernel/tracing/"
#define ROUNDS	20

/* Twice a tick for each CPU: to disarm it and to remove it each CPU may have to be visited. */
static void events_wait_a_tick(void)
{
	struct threads t = {.n = 0};
	u64 longest = 0;

	atomic_store(&inside, 0);
	atomic_store(&gone, 0);
	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	for (unsigned cpu = 1; cpu < cpu_count(); cpu++)
		thread_start(&t, records_it, NULL, cpu);
	while (atomic_load(&inside) < t.n)
		sleep_ns(TICK_NS, NULL);
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(
		    write_text(TRACING "kprobe_events", O_APPEND, "p:gone removal_target %di\n"),
		    0);
		EXPECT_EQ(write_text(TRACING "events/kprobes/gone/enable", 0, "1"), 0);
		sleep_ns(TICK_NS, NULL);
		u64 before = clock_ns();
		EXPECT_EQ(write_text(TRACING "events/kprobes/gone/enable", 0, "0"), 0);
		EXPECT_EQ(write_text(TRACING "kprobe_events", O_APPEND, "-:gone\n"), 0);
		longest = MAX(longest, clock_ns() - before);
	}
	task_set_affinity(current(), ~0UL);
	atomic_store(&gone, 1);
	threads_join(&t);
	ktap_note("an event: %lu ns at most", (unsigned long)longest);
	if (!cmdline_flag("hosttime"))
		EXPECT(longest < 2 * TICK_NS * cpu_count());
}

static const struct ktap_case cases[] = {
    {"kprobe_removal.waits_for_nobody", waits_for_nobody},
    {"kprobe_removal.events_wait_a_tick", events_wait_a_tick},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_removal = {cases};
