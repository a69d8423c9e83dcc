/*
 * Watchpoints below the tracer: which places may be watched, and that the debug registers of all
 * CPUs follow when one CPU moves a watchpoint or gives it back. Nobody accesses the watched word.
 */
#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/sched.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"

#define DR7_OFF 0x400UL

static u64 word[2] __aligned(16);

/* ---- places ---- */

static const char *on_trap_stack;

/* Runs on a stack of its own. */
static bool on_nmi(struct regs *r)
{
	u64 here = 0;

	(void)r;
	const char *why = arch_watch_refused(ARCH_WATCH_WRITE, ALIGN_DOWN((u64)&here, 8), 8);
	WRITE_ONCE(on_trap_stack, why ? why : "none");
	return true;
}

static void refused_places(void)
{
	static const char needs[] = "The debug trap itself needs this word",
			  length[] = "This memory access length is not supported",
			  multiple[] = "The address is not a multiple of the length",
			  port_length[] = "A port has 1, 2 or 4 bytes";
	const struct {
		enum arch_watch_kind kind;
		u64 addr;
		unsigned len;
		const char *why;
	} rows[] = {
	    {ARCH_WATCH_PORT, 0x80, 1, NULL},
	    {ARCH_WATCH_PORT, 0x80, 4, NULL},
	    {ARCH_WATCH_PORT, 0x80, 8, port_length},
	    {ARCH_WATCH_PORT, 0x80, 3, port_length},
	    {ARCH_WATCH_PORT, 0xffff, 1, NULL},
	    {ARCH_WATCH_PORT, 0x10000, 1, "There is no such port"},
	    {ARCH_WATCH_PORT, 0x82, 4, "The port is not a multiple of the length"},
	    {ARCH_WATCH_PORT, 0x81, 2, "The port is not a multiple of the length"},
	    {ARCH_WATCH_WRITE, (u64)word, 8, NULL},
	    {ARCH_WATCH_WRITE, (u64)word, 3, length},
	    {ARCH_WATCH_WRITE, (u64)word, 16, length},
	    {ARCH_WATCH_WRITE, (u64)word, 0, length},
	    {ARCH_WATCH_WRITE, (u64)word + 4, 8, multiple},
	    {ARCH_WATCH_ACCESS, (u64)word + 2, 4, multiple},
	    {ARCH_WATCH_ACCESS, (u64)word + 7, 1, NULL},
	    {ARCH_WATCH_WRITE, 0x400000, 8, "The address is not the kernel's"},
	    {ARCH_WATCH_WRITE, USER_END - 8, 8, "The address is not the kernel's"},
	    {ARCH_WATCH_WRITE, (u64)this_cpu(), 8, needs},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_STR(
		    arch_watch_refused(rows[i].kind, rows[i].addr, rows[i].len), rows[i].why);
	on_trap_stack = NULL;
	EXPECT_EQ(nmi_handler_add(on_nmi), 0);
	preempt_disable();
	nmi_send(cpu_id());
	while (!READ_ONCE(on_trap_stack))
		cpu_relax();
	preempt_enable();
	nmi_handler_remove(on_nmi);
	EXPECT_STR(on_trap_stack, needs);
}

/* ---- registers ---- */

static u64 read_place(unsigned n)
{
	u64 v;

	switch (n) {
	case 0:
		__asm__ volatile("mov %%dr0, %0" : "=r"(v));
		return v;
	case 1:
		__asm__ volatile("mov %%dr1, %0" : "=r"(v));
		return v;
	case 2:
		__asm__ volatile("mov %%dr2, %0" : "=r"(v));
		return v;
	default:
		__asm__ volatile("mov %%dr3, %0" : "=r"(v));
		return v;
	}
}

static u64 read_control(void)
{
	u64 v;

	__asm__ volatile("mov %%dr7, %0" : "=r"(v));
	return v;
}

static unsigned taken;
static u32 step;	     /* [A] 1: expects word[0], 2: expects word[1], 3: ends */
static u32 followed;	     /* [A] the last step that the CPU has seen */
static u64 control_of_place; /* [A] DR7 then */

/*
 * Another CPU, which takes no part but by its interrupts. It waits for the places that the first
 * one chooses.
 */
static void follows(void *unused)
{
	u32 at;

	(void)unused;
	preempt_disable();
	while ((at = atomic_load(&step)) < 3) {
		if (at > 0 && read_place(taken) == (u64)&word[at - 1]) {
			atomic_store(&control_of_place, read_control());
			atomic_store(&followed, at);
		}
		cpu_relax(); /* the emulator may run the other CPU */
	}
	preempt_enable();
}

static void control_here(void *control)
{
	*(u64 *)control = read_control();
}

#define TRIES 100 /* ticks until the other CPU follows */

/* Moves the watchpoint, and waits for the other CPU without sending it anything else. */
static void expect_followed(u32 at)
{
	arch_watch_move(taken, (u64)&word[at - 1]);
	EXPECT_EQ(read_place(taken), (u64)&word[at - 1]);
	EXPECT(read_control() & 2UL << 2 * taken);
	atomic_store(&step, at);
	for (unsigned i = 0; i < TRIES && atomic_load(&followed) != at; i++)
		sleep_ns(TICK_NS, NULL);
	EXPECT_EQ(atomic_load(&followed), at);
	EXPECT(atomic_load(&control_of_place) & 2UL << 2 * taken);
}

static void all_cpus_follow(void)
{
	struct threads t = {0};
	int n;

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	task_set_affinity(current(), 1);
	atomic_store(&step, 0);
	atomic_store(&followed, 0);
	n = arch_watch_take(ARCH_WATCH_WRITE, 8);
	EXPECT(n >= 0 && n < ARCH_WATCHES);
	taken = n;
	thread_start(&t, follows, NULL, 1);
	expect_followed(1);
	expect_followed(2);
	atomic_store(&step, 3);
	threads_join(&t);
	arch_watch_give(n);
	EXPECT_EQ(arch_watch_take(ARCH_WATCH_WRITE, 8), n);
	arch_watch_give(n);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		u64 control = 0;

		cpu_call(cpu, control_here, &control);
		EXPECT_EQ(control, DR7_OFF);
	}
	task_set_affinity(current(), ~0UL);
}

/* The bits of DR7 for each kind and length (Intel SDM volume 3, 18.2.4), in one register. */
static void kinds_and_lengths(void)
{
	static const struct {
		u8 len, code;
	} lengths[] = {{1, 0}, {2, 1}, {4, 3}, {8, 2}};

	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++)
		for (unsigned kind = ARCH_WATCH_WRITE; kind <= ARCH_WATCH_ACCESS; kind += 2) {
			int n = arch_watch_take(kind, lengths[i].len);

			preempt_disable();
			arch_watch_move(n, (u64)&word[0]);
			u64 bits = read_control() >> (16 + 4 * n) & 15;
			preempt_enable();
			EXPECT_EQ(bits, kind | lengths[i].code << 2);
			arch_watch_give(n);
		}
}

static const struct ktap_case cases[] = {
    {"watch_registers.refused_places", refused_places},
    {"watch_registers.all_cpus_follow", all_cpus_follow},
    {"watch_registers.kinds_and_lengths", kinds_and_lengths},
    {NULL, NULL},
};
const struct ktap_suite suite_watch_registers = {cases};
