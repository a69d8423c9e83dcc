/*
 * Faults of the kernel itself, one a boot, chosen by crash= on the command line: the end is a
 * panic, whose text the host judges (tests/crash). Skipped when not asked for.
 */
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/panic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "trace/event/array.h"
#include "trace/host_lock.h"
#include "trace/output/printk.h"

static volatile bool endless = true;

static u64 __noinline crash_recurse(volatile char *outer)
{
	volatile char room[256];

	room[0] = outer[0] + 1;
	if (endless)
		return crash_recurse(room) + room[0];
	return 0;
}

static void __noinline crash_stack(void)
{
	volatile char first = 0;

	crash_recurse(&first);
}

static volatile u64 near_null = 8;

static void __noinline crash_null(void)
{
	*(volatile int *)near_null = 1;
}

static void __noinline crash_text(void)
{
	*(volatile char *)crash_null = 1;
}

static void __noinline crash_exec(void)
{
	static u8 code[] = {0xc3};

	((void (*)(void))code)();
}

static void __noinline crash_user(void)
{
	*(volatile char *)0x400000; /* not through the copy functions */
}

static void __noinline crash_gp(void)
{
	*(volatile char *)0xdead000000000000;
}

/* As much as one byte too many, of an array whose end nobody knows. */
static void __noinline crash_canary(void)
{
	volatile char room[32];

	for (u64 i = 0; i < sizeof(room) + near_null; i++)
		room[i] = 'x';
}

static void __noinline crash_ud(void)
{
	__asm__ volatile("ud2");
}

static void __noinline crash_int3(void)
{
	__asm__ volatile("int3");
}

static void __noinline crash_divide(void)
{
	__asm__ volatile("divl %0" ::"r"(0), "a"(1), "d"(0));
}

static void __noinline crash_panic(void)
{
	panic("asked for, %d", 42);
}

static bool fault_in_nmi(struct regs *r)
{
	(void)r;
	crash_null();
	return true;
}

static void __noinline crash_nmi(void)
{
	nmi_handler_add(fault_in_nmi);
	nmi_send(cpu_id());
	for (;;)
		cpu_relax();
}

static bool hang_in_nmi(struct regs *r)
{
	(void)r;
	while (endless)
		__asm__ volatile("hlt");
	return true;
}

/* This CPU takes neither interrupts nor NMIs. */
static void __noinline crash_deaf(void)
{
	nmi_handler_add(hang_in_nmi);
	nmi_send(cpu_id());
	for (;;)
		cpu_relax();
}

static void panic_too(void *unused)
{
	(void)unused;
	panic("on all CPUs at once");
}

static void __noinline crash_all(void)
{
	cpu_call_all(panic_too, NULL);
}

#define USER_AT 0x10000UL

/* A page of ring 3 with a `ret` in it, that ring 3 could read and run. */
static void map_user_page(void)
{
	struct aspace *as = aspace_create();
	u64 pa = page_alloc(0, true);

	*(u8 *)phys_to_virt(pa) = 0xc3;
	aspace_map(as, USER_AT, pa, PROT_R | PROT_X | PROT_USER);
	preempt_disable();
	aspace_switch(as);
}

static void __noinline crash_smap(void)
{
	map_user_page();
	*(volatile char *)USER_AT;
}

static void __noinline crash_smep(void)
{
	map_user_page();
	((void (*)(void))USER_AT)();
}

static void __noinline crash_mark(void *text)
{
	trace_printk("%s", (const char *)text);
}

static void __noinline mark_both(void)
{
	task_set_affinity(current(), 1);
	while (cpu_id())
		sched_yield_current();
	cpu_call(1, crash_mark, "by the other CPU");
	crash_mark("by the one that crashes");
}

static void __noinline crash_dump(void)
{
	mark_both();
	crash_panic();
}

static u32 reading; /* [A] */

/* Stands where a reader would, for ever. */
static void read_for_ever(void *unused)
{
	(void)unused;
	ring_buffer_lock(trace_global->buffer);
	atomic_store(&reading, 1);
	for (;;)
		cpu_relax();
}

static void __noinline crash_reader(void)
{
	mark_both();
	kthread_run(read_for_ever, NULL, 1, "reader");
	while (!atomic_load(&reading))
		sched_yield_current();
	crash_panic();
}

/* Has the tracer's control files for itself, for ever. */
static void lock_for_ever(void *unused)
{
	(void)unused;
	host_lock();
	atomic_store(&reading, 1);
	for (;;)
		cpu_relax();
}

static void __noinline crash_locked(void)
{
	kthread_run(lock_for_ever, NULL, 1, "locker");
	while (!atomic_load(&reading))
		sched_yield_current();
	crash_panic();
}

static const struct {
	const char *name;
	void (*fn)(void);
} crashes[] = {
    {"stack", crash_stack},
    {"null", crash_null},
    {"text", crash_text},
    {"exec", crash_exec},
    {"user", crash_user},
    {"gp", crash_gp},
    {"ud", crash_ud},
    {"canary", crash_canary},
    {"int3", crash_int3},
    {"divide", crash_divide},
    {"panic", crash_panic},
    {"nmi", crash_nmi},
    {"deaf", crash_deaf},
    {"all", crash_all},
    {"dump", crash_dump},
    {"reader", crash_reader},
    {"locked", crash_locked},
    {"smap", crash_smap},
    {"smep", crash_smep},
};

static void as_asked(void)
{
	const char *which = cmdline_get("crash");

	if (!which) {
		ktap_skip("crash= is not given");
		return;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(crashes); i++)
		if (strcmp(which, crashes[i].name) == 0)
			crashes[i].fn();
	ktap_fail(__FILE__, __LINE__, "still here after crash=%s", which);
}

static const struct ktap_case cases[] = {
    {"crash.as_asked", as_asked},
    {NULL, NULL},
};
const struct ktap_suite suite_crash = {cases};
