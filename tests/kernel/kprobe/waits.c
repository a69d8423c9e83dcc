/*
 * The waits of removals: a handler may be running on another CPU when its probe or its callback is
 * removed, and the caller frees what the handler uses as soon as the removal returns.
 *
 * One CPU enters a handler that stays for STAY_NS. As soon as it is there, another CPU removes the
 * handler; that must not return before the handler has.
 */
#include "kernel/kprobe/breakpoint.h"
#include "kernel/kprobe/fprobe.h"
#include "kernel/kprobe/ftrace.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/threads.h"

#define STAY_NS 1000000UL

static u32 inside, left; /* [A] the handler was entered; it has returned */

/* Without a hook: a callback at the entry of functions calls it. */
static __notrace void wait_test_stay(void)
{
	u64 end = clock_ns() + STAY_NS;

	atomic_store(&inside, 1);
	while (clock_ns() < end)
		cpu_relax(); /* the emulator may run the CPU that removes it */
	atomic_store(&left, 1);
}
NOTRACE(wait_test_stay, "a test calls it at the entry of functions");

static u64 __noipa wait_test_target(u64 a)
{
	return a + 1;
}

static void wait_test_call(void *unused)
{
	(void)unused;
	EXPECT_EQ(wait_test_target(1), 2);
}

static void wait_test_break(void *unused)
{
	(void)unused;
	__asm__ volatile("int3");
}

/* CPU 1 runs `enter`, which leads to the handler; this CPU removes it meanwhile. */
static void expect_wait(void (*enter)(void *unused), void (*remove)(void))
{
	u64 before = current()->cpus_allowed;
	struct threads t = {0};

	if (cpu_count() < 2) {
		remove();
		ktap_skip("one CPU");
		return;
	}
	task_set_affinity(current(), 1);
	atomic_store(&inside, 0);
	atomic_store(&left, 0);
	thread_start(&t, enter, NULL, 1);
	while (!atomic_load(&inside))
		sched_yield_current();
	remove();
	EXPECT(atomic_load(&left));
	threads_join(&t);
	task_set_affinity(current(), before);
}

/* ---- breakpoints ---- */

static bool on_int3(struct regs *r)
{
	(void)r;
	wait_test_stay();
	return true;
}

static void remove_int3(void)
{
	int3_handler_remove(on_int3);
}

static void of_breakpoint_handlers(void)
{
	EXPECT_EQ(int3_handler_add(on_int3), 0);
	expect_wait(wait_test_break, remove_int3);
}

/* ---- probes ---- */

static int on_probe(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	wait_test_stay();
	return 0;
}

static void on_probe_done(struct kprobe *p, struct regs *r, u64 flags)
{
	(void)p, (void)r, (void)flags;
	wait_test_stay();
}

static int on_probe_nothing(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	return 0;
}

static struct kprobe probe;

static void remove_probe(void)
{
	unregister_kprobe(&probe);
}

/* At the hook, and at a breakpoint; where the last probe of the place goes, and where one stays. */
static void expect_probe_waits(unsigned offset, bool another)
{
	struct kprobe stays = {
	    .symbol_name = "wait_test_target", .offset = offset, .pre_handler = on_probe_nothing};

	if (another)
		EXPECT_EQ(register_kprobe(&stays), 0);
	probe = (struct kprobe){
	    .symbol_name = "wait_test_target", .offset = offset, .pre_handler = on_probe};
	EXPECT_EQ(register_kprobe(&probe), 0);
	expect_wait(wait_test_call, remove_probe);
	probe = (struct kprobe){
	    .symbol_name = "wait_test_target", .offset = offset, .post_handler = on_probe_done};
	EXPECT_EQ(register_kprobe(&probe), 0);
	expect_wait(wait_test_call, remove_probe);
	unregister_kprobe(&stays);
}

static void of_probes(void)
{
	kprobes_optimization(false);
	for (unsigned i = 0; i < 4; i++)
		expect_probe_waits(i & 1 ? HOOK_LEN : 0, i & 2);
	kprobes_optimization(true);
}

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri, (void)r;
	wait_test_stay();
	return 0;
}

static struct kretprobe return_probe;

static void remove_return_probe(void)
{
	unregister_kretprobe(&return_probe);
}

static void of_return_probes(void)
{
	return_probe =
	    (struct kretprobe){.kp.symbol_name = "wait_test_target", .handler = on_return};
	EXPECT_EQ(register_kretprobe(&return_probe), 0);
	expect_wait(wait_test_call, remove_return_probe);
}

/* ---- callbacks ---- */

static __notrace void on_function(u64 ip, u64 parent_ip, struct ftrace_ops *ops, struct regs *regs)
{
	(void)ip, (void)parent_ip, (void)ops, (void)regs;
	wait_test_stay();
}
NOTRACE(on_function, "a test calls it at the entry of functions");

static struct ftrace_ops ops;

static void remove_callback(void)
{
	unregister_ftrace_function(&ops);
}

static void of_callbacks(void)
{
	static const char name[] = "wait_test_target";

	ops = (struct ftrace_ops){.func = on_function};
	EXPECT_EQ(ftrace_set_filter(&ops, name, strlen(name), 1), 0);
	EXPECT_EQ(register_ftrace_function(&ops), 0);
	expect_wait(wait_test_call, remove_callback);
	ftrace_free_filter(&ops);
}

static const struct ktap_case cases[] = {
    {"kprobe_waits.of_breakpoint_handlers", of_breakpoint_handlers},
    {"kprobe_waits.of_probes", of_probes},
    {"kprobe_waits.of_return_probes", of_return_probes},
    {"kprobe_waits.of_callbacks", of_callbacks},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_waits = {cases};
