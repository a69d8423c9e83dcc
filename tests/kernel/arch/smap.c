/*
 * Flags that ring 3 set are cleared before the first C code of every entry: RFLAGS.AC, which
 * suspends SMAP, DF, NT, TF and IOPL; and %gs is the kernel's. /test/smap enters the kernel in each
 * way with AC, DF and NT set and selectors of its own; probes on what the entry code calls, and a
 * handler of NMIs, look. Handlers run with interrupts off and only add to counts.
 */
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/regs.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/process/process.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/process/run_program.h"

/* Of one program. What was not seen by then does not happen. */
#define MANY_RUNS 10000

static u64 entries;   /* [A] from ring 3 with AC set */
static u64 suspended; /* [A] of them: something of ring 3's was still there */
static u64 nmis, nmis_suspended;

#define RING3_FLAGS (RFLAGS_AC | RFLAGS_DF | RFLAGS_NT | RFLAGS_TF | RFLAGS_IOPL)

/* Is anything of ring 3's left? */
static bool something_is_left(u64 rflags)
{
	return rflags & RING3_FLAGS || rdmsr(MSR_GS_BASE) != (u64)cpu_local_of(cpu_id()) ||
	       this_cpu() != cpu_local_of(cpu_id());
}

static bool from_ac(const struct regs *r)
{
	return regs_user(r) && r->rflags & RFLAGS_AC;
}

/* On a function that takes the entry's registers first. */
static int on_entry(struct kprobe *p __maybe_unused, struct regs *r)
{
	if (from_ac((const struct regs *)r->rdi)) {
		atomic_add(&entries, 1);
		atomic_add(&suspended, something_is_left(r->rflags));
	}
	return 0;
}

static bool on_nmi(struct regs *r)
{
	if (from_ac(r)) {
		atomic_add(&nmis, 1);
		atomic_add(&nmis_suspended, something_is_left(irq_flags()));
	}
	return true;
}

/* Runs /test/smap with a probe on `function`, again until nothing is `missing`; its exit status. */
static int enter_until(const char *how, const char *function, bool (*missing)(void))
{
	struct kprobe probe = {.symbol_name = function, .pre_handler = on_entry};
	unsigned runs = 0;
	int status;

	entries = suspended = 0;
	EXPECT_EQ(register_kprobe(&probe), 0);
	do
		status = run_program("/test/smap", how);
	while (!status && missing() && ++runs < MANY_RUNS);
	unregister_kprobe(&probe);
	if (!entries)
		ktap_note("%s: not seen in %s", how, function);
	if (suspended)
		ktap_note("%s: flags or %%gs of ring 3 in %s", how, function);
	EXPECT(entries > 0);
	EXPECT_EQ(suspended, 0);
	return status;
}

static bool no_entry(void)
{
	return !entries;
}

static int enter(const char *how, const char *function)
{
	return enter_until(how, function, no_entry);
}

static bool has_smap(void)
{
	if (!cpu_features.smap)
		ktap_skip("no SMAP");
	return cpu_features.smap;
}

static void traps(void)
{
	if (!has_smap())
		return;
	EXPECT_EQ(enter("page_fault", "kernel_page_fault"), 0);
	EXPECT_EQ(enter("divide", "kernel_user_trap"), 128 + SIGFPE);
	EXPECT_EQ(enter("protection", "kernel_user_trap"), 128 + SIGSEGV);
	EXPECT_EQ(enter("breakpoint", "kernel_user_trap"), 128 + SIGTRAP);
	EXPECT_EQ(enter("step", "kernel_debug_trap"), 128 + SIGTRAP);
}

static void system_calls(void)
{
	if (has_smap())
		EXPECT_EQ(enter("system_call", "kernel_syscall"), 0);
}

/* Where each CPU is a thread of the host, a whole run may pass before the sender's turn comes. */
static bool no_interrupt_or_nmi(void)
{
	return !atomic_load(&entries) || (!atomic_load(&nmis) && cpu_count() > 1);
}

static void nothing(void *unused)
{
	(void)unused;
}

/* Timers that end here interrupt whatever runs; calls and NMIs go to the other CPUs. */
static bool stop, stopped;

static void interrupt_all(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		sleep_ns(100000, NULL);
		cpu_call_all(nothing, NULL);
		for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
			if (cpu != cpu_id())
				nmi_send(cpu);
	}
	atomic_store(&stopped, true);
	do_exit(0);
}

static void interrupts(void)
{
	if (!has_smap())
		return;
	nmis = nmis_suspended = 0;
	stop = stopped = false;
	EXPECT_EQ(nmi_handler_add(on_nmi), 0);
	struct task *t = kthread_run(interrupt_all, NULL, -1, "interrupt-all");
	EXPECT(t != NULL);
	/* The sender and the program do not share a CPU: no NMI is sent to the sender's own. */
	u64 cpus = current()->cpus_allowed;
	if (t && cpu_count() > 1) {
		task_set_affinity(t, 1);
		task_set_affinity(current(), 2);
	}
	EXPECT_EQ(enter_until("spin", "kernel_irq_enter", no_interrupt_or_nmi), 0);
	task_set_affinity(current(), cpus);
	atomic_store(&stop, true);
	while (t && !atomic_load(&stopped))
		sleep_ns(TICK_NS, NULL);
	nmi_handler_remove(on_nmi);
	ktap_note("%lu interrupts, %lu NMIs", entries, nmis);
	EXPECT(nmis > 0 || cpu_count() == 1);
	EXPECT_EQ(nmis_suspended, 0);
}

static const struct ktap_case cases[] = {
    {"smap.traps", traps},
    {"smap.system_calls", system_calls},
    {"smap.interrupts", interrupts},
    {NULL, NULL},
};
const struct ktap_suite suite_smap = {cases};
