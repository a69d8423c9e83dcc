/*
 * Other CPUs and time, on the machine it runs on: these cases are also the self-test of the matrix
 * (ktest=machine). None depends on how fast the machine is: waits end when what is waited for has
 * come, or after a bound that no machine needs.
 */
#include "arch/arch.h"
#include "arch/x86_64/cpu/clock.h"
#include "drivers/acpi/acpi.h"
#include "kernel/base/cmdline.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq.h"
#include "kernel/task/timer.h"

#define MS	1000000UL
#define WAIT_NS (5000 * MS)
#define WAIT(c)                                                                                    \
	({                                                                                         \
		u64 end_ = clock_ns() + WAIT_NS;                                                   \
		while (!(c) && clock_ns() < end_)                                                  \
			cpu_relax();                                                               \
		(bool)(c);                                                                         \
	})

/* For what comes on this CPU: a pause would hand an emulated machine over to each of its CPUs. */
#define WAIT_HERE(c)                                                                               \
	({                                                                                         \
		u64 end_ = clock_ns() + WAIT_NS;                                                   \
		while (!(c) && clock_ns() < end_)                                                  \
			;                                                                          \
		(bool)(c);                                                                         \
	})

/*
 * How often a thing is done with each CPU: it costs the square of their number where all take part.
 */
static unsigned rounds(void)
{
	return cpu_count() > 8 ? 1 : 16;
}

struct seen {
	u32 cpu, calls;
	bool irqs;
};

static void note_call(void *arg)
{
	struct seen *s = arg;
	s->cpu = cpu_id();
	s->irqs = irqs_enabled();
	atomic_add(&s->calls, 1);
}

static void call_each(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		struct seen s = {.cpu = ~0u, .irqs = true};
		cpu_call(cpu, note_call, &s);
		EXPECT_EQ(s.cpu, cpu);
		EXPECT_EQ(s.calls, 1);
		EXPECT(!s.irqs);
	}
	EXPECT(irqs_enabled());
}

static void call_slowly(void *arg)
{
	delay_us(200);
	atomic_store((u32 *)arg, 1);
}

/* Who calls another CPU goes on when that has done what it was called for, not before. */
static void call_is_over(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		for (unsigned i = 0; i < rounds(); i++) {
			u32 done = 0;
			cpu_call(cpu, call_slowly, &done);
			EXPECT_EQ(atomic_load(&done), 1);
		}
}

static u64 called_on; /* [A] a bit per CPU */
static u32 last_called;

static void note_all(void *unused)
{
	(void)unused;
	atomic_or(&called_on, 1UL << cpu_id());
	last_called = cpu_id();
}

static void call_all(void)
{
	for (unsigned round = 0; round < rounds(); round++) {
		atomic_store(&called_on, 0);
		preempt_disable();
		unsigned me = cpu_id();
		cpu_call_all(note_all, NULL);
		preempt_enable();
		EXPECT_EQ(called_on, ~0UL >> (64 - cpu_count()));
		EXPECT_EQ(last_called, me);
	}
}

static void reschedule_each(void)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		const u64 *n = &irq_counts(cpu)->n[VECTOR_RESCHEDULE];
		u64 before = READ_ONCE(*n);
		ipi_send(cpu, IPI_RESCHEDULE);
		EXPECT(WAIT(READ_ONCE(*n) > before));
	}
}

static bool take_nmi(struct regs *r)
{
	(void)r;
	return true;
}

/* Each CPU, this one too: sent to its own number and not by shorthand. */
static void nmi_each(void)
{
	EXPECT_EQ(nmi_handler_add(take_nmi), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		const u64 *n = &irq_counts(cpu)->n[IRQ_COUNT_NMI];
		for (unsigned round = 0; round < rounds(); round++) {
			u64 before = READ_ONCE(*n);
			nmi_send(cpu);
			EXPECT(WAIT(READ_ONCE(*n) != before));
			EXPECT_EQ(READ_ONCE(*n), before + 1);
		}
	}
	nmi_handler_remove(take_nmi);
}

static void nmi_others(void)
{
	u64 before[MAX_CPUS];
	EXPECT_EQ(nmi_handler_add(take_nmi), 0);
	preempt_disable();
	unsigned me = cpu_id();
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		before[cpu] = irq_counts(cpu)->n[IRQ_COUNT_NMI];
	nmi_all_others();
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (cpu != me)
			EXPECT(
			    WAIT(READ_ONCE(irq_counts(cpu)->n[IRQ_COUNT_NMI]) == before[cpu] + 1));
	EXPECT_EQ(irq_counts(me)->n[IRQ_COUNT_NMI], before[me]);
	preempt_enable();
	nmi_handler_remove(take_nmi);
}

/*
 * A message sent by an NMI must not send an interrupted one elsewhere: reschedule IPIs while NMIs
 * come in between.
 */
static void ipi_order(void)
{
	EXPECT_EQ(nmi_handler_add(take_nmi), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		const u64 *n = &irq_counts(cpu)->n[VECTOR_RESCHEDULE];
		for (unsigned i = 0; i < rounds(); i++) {
			u64 before = READ_ONCE(*n);
			nmi_all_others();
			ipi_send(cpu, IPI_RESCHEDULE);
			EXPECT(WAIT(READ_ONCE(*n) > before));
		}
	}
	nmi_handler_remove(take_nmi);
}

static void cpus_numbered(void)
{
	EXPECT(cpu_count() >= 1 && cpu_count() <= MAX_CPUS);
	u64 allowed = MAX(1UL, cmdline_u64("maxcpus", MAX_CPUS));
	EXPECT_EQ(cpu_count(), MIN(allowed, (u64)acpi_madt()->cpu_count));
	EXPECT_EQ(
	    cpu_count(), cmdline_u64("cpus", cpu_count())); /* told by who started the machine */
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		EXPECT_EQ(cpu_local_of(cpu)->cpu, cpu);
		for (unsigned other = 0; other < cpu; other++)
			EXPECT(cpu_local_of(other)->apic_id != cpu_local_of(cpu)->apic_id);
	}
}

static void clock_forward(void)
{
	u64 last = clock_ns();
	for (unsigned i = 0; i < 1000; i++) {
		u64 now = clock_ns();
		EXPECT(now >= last);
		last = now;
	}
	EXPECT(clock_info()->tsc_khz >= 100000);
	u64 t = cycles();
	u64 difference = cycles_to_ns(t + clock_info()->tsc_khz * 1000) - cycles_to_ns(t);
	u64 rounding = 500 * 1000000UL / clock_info()->tsc_khz + 1000; /* of tsc_khz: 500 Hz */
	EXPECT(difference > 1000000000 - rounding &&
	       difference < 1000000000 + rounding); /* a second of ticks */
}

/* A CPU that somebody made up, by its leaves; what is not there is all zeros. */
static const struct leaf {
	u32 leaf;
	struct cpuid r;
} * told_by;

static struct cpuid told_leaf(u32 leaf, u32 subleaf)
{
	const struct leaf *l = told_by;

	while (l->leaf != leaf && l->leaf != ~0u)
		l++;
	return subleaf ? (struct cpuid){.a = 0} : l->r;
}

/* The rate comes from the leaf that has it; a hypervisor knows better than the CPU. */
static void clock_told(void)
{
	static const struct leaf crystal[] = {
	    {0, {.a = 0x16}}, {0x15, {.a = 2, .b = 216, .c = 24000000}}, {~0u, {.a = 0}}};
	static const struct leaf no_crystal[] = {
	    {0, {.a = 0x16}}, {0x15, {.a = 2, .b = 216}}, {~0u, {.a = 0}}};
	static const struct leaf beyond[] = {
	    {0, {.a = 0x14}}, {0x15, {.a = 2, .b = 216, .c = 24000000}}, {~0u, {.a = 0}}};
	static const struct leaf guest[] = {{0, {.a = 0x16}}, {1, {.c = 1u << 31}},
	    {0x15, {.a = 2, .b = 216, .c = 24000000}}, {0x40000000, {.a = 0x40000010}},
	    {0x40000010, {.a = 2800000}}, {~0u, {.a = 0}}};
	static const struct leaf bare[] = {{0, {.a = 0}}, {0x40000000, {.a = 0x40000010}},
	    {0x40000010, {.a = 2800000}}, {~0u, {.a = 0}}};
	static const struct {
		const struct leaf *leaves;
		u64 hz;
		const char *by;
	} rows[] = {{crystal, 2592000000, "cpuid"}, {no_crystal, 0, NULL}, {beyond, 0, NULL},
	    {guest, 2800000000, "hypervisor"}, {bare, 0, NULL}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *by = NULL;

		told_by = rows[i].leaves;
		EXPECT_EQ(tsc_hz_told(told_leaf, &by), rows[i].hz);
		if (rows[i].by)
			EXPECT_STR(by, rows[i].by);
	}
}

/* A clock of 100 MHz that never errs, as this boot has measured the TSC. */
static u64 told_clock_read(void)
{
	return cycles_to_ns(cycles()) / 10;
}

/* What was told is believed if a clock that runs does not contradict it. */
static void clock_told_checked(void)
{
	static const struct ref_clock right = {"right", 100000000, ~0UL, told_clock_read};
	static const struct ref_clock wrong = {"wrong", 125000000, ~0UL, told_clock_read};
	u64 hz = clock_info()->tsc_khz * 1000;
	struct calibration c;
	bool agreed = false;

	irq_disable();
	for (unsigned i = 0; i < 20 && !agreed; i++) /* a busy host stops a CPU for long */
		agreed = tsc_agrees(&right, hz);
	EXPECT(agreed);
	EXPECT(!tsc_agrees(&wrong, hz * 4));
	EXPECT(!tsc_agrees(&right, hz * 4));
	EXPECT(calibrate_tsc(&right, &c));
	irq_enable();
	EXPECT(c.hz > hz / 2 && c.hz < hz * 2);
}

/* A delay of 3 ms by both clocks, in ns. The timer is read first and last. */
static void delay_by_both(u32 port, u64 *by_timer, u64 *by_tsc)
{
	u32 from = port_in32(port);
	u64 start = clock_ns();

	delay_us(3000);
	*by_tsc = clock_ns() - start;
	*by_timer = ((port_in32(port) - from) & 0xffffff) * 1000000000UL / 3579545;
}

/*
 * delay_us() is by the TSC, the PM timer by its own crystal: a delay must not be shorter there. Nor
 * longer, once nothing came between the readings: an emulator's CPU may have to wait for its turn
 * there.
 */
static void clock_against_pm_timer(void)
{
	const struct acpi_fadt *f = acpi_fadt();
	bool close = false;

	if (!f || !f->pm_timer) {
		ktap_skip("no PM timer");
		return;
	}
	for (unsigned tries = 0; tries < 100 && !close; tries++) {
		u64 by_timer, by_tsc;

		delay_by_both(f->pm_timer, &by_timer, &by_tsc);
		EXPECT(by_tsc >= 3 * MS);
		EXPECT(by_timer > 3 * MS - 3 * MS / 100);
		close = by_timer < by_tsc + by_tsc / 100 + 10000;
	}
	EXPECT(close);
}

/*
 * What is shown must be true: readings on two CPUs, ordered by messages, are ordered by the clock
 * within the error shown.
 */
static u64 there;

static void read_there(void *unused)
{
	(void)unused;
	there = cycles();
}

static void clock_skew(void)
{
	const struct clock_info *info = clock_info();
	EXPECT_EQ(info->skew[0], 0);
	for (unsigned cpu = 1; cpu < cpu_count(); cpu++) {
		for (unsigned i = 0; i < rounds(); i++) {
			preempt_disable();
			s64 mine = cpu_id() ? info->skew[cpu_id()] : 0;
			s64 slack = info->skew_error[cpu] + info->skew_error[cpu_id()];
			u64 before = cycles() - mine;
			cpu_call(cpu, read_there, NULL);
			u64 behind = cycles() - mine;
			preempt_enable();
			s64 at = there - info->skew[cpu];
			EXPECT(at - (s64)before >= -slack);
			EXPECT((s64)behind - at >= -slack);
		}
	}
}

/* A clock that was read gives a year this code can have run in; a machine without one says 0. */
static void clock_unix(void)
{
	u64 unix_s = clock_boot_unix_ns() / 1000000000;
	if (!unix_s)
		ktap_skip("no battery clock");
	else
		EXPECT(unix_s > 1700000000 && unix_s < 4102444800);
}

#define TICKS_PER_US 10

static u64 wrapping_from; /* what is added to the time in ticks, so that it soon wraps */

static u64 read_wrapping(void)
{
	return (clock_ns() * TICKS_PER_US / 1000 + wrapping_from) & 0xffffffff;
}

/* A reference may wrap during the measurement: the rate is that of the ticks that have passed. */
static void clock_that_wraps(void)
{
	static const struct ref_clock ref = {
	    "wrapping", TICKS_PER_US * 1000000, 0xffffffff, read_wrapping};
	u64 hz = clock_info()->tsc_khz * 1000UL;
	struct calibration c;

	for (u64 before = 1; before < 10000; before *= 10) { /* ticks before it wraps */
		u64 flags = irq_save();

		wrapping_from = 0;
		wrapping_from = -read_wrapping() - before;
		bool measured = calibrate_tsc(&ref, &c);
		irq_restore(flags);
		EXPECT(measured);
		EXPECT(!measured || (c.hz > hz / 2 && c.hz < hz * 2));
	}
}

static u64 fired_at;

static void fire(struct timer *t)
{
	(void)t;
	atomic_store(&fired_at, clock_ns());
}

static void timer_in_time(void)
{
	static const u64 delays[] = {1000, 50000, MS, 3 * MS, 20 * MS};
	for (unsigned i = 0; i < ARRAY_SIZE(delays); i++) {
		struct timer t;
		timer_setup(&t, fire);
		atomic_store(&fired_at, 0);
		u64 due = clock_ns() + delays[i];
		timer_start(&t, due);
		EXPECT(WAIT_HERE(atomic_load(&fired_at)));
		EXPECT(fired_at >= due);
	}
}

/* A timer that is set to no time at all, or to next to none, comes at once. */
static void timer_at_once(void)
{
	for (u64 ns = 0; ns < 3; ns++) {
		preempt_disable();
		const struct irq_counts *counts = irq_counts(cpu_id());
		u64 flags = irq_save(), before = READ_ONCE(counts->n[VECTOR_TIMER]);
		timer_arm(ns);
		irq_restore(flags);
		EXPECT(WAIT_HERE(READ_ONCE(counts->n[VECTOR_TIMER]) > before));
		preempt_enable();
	}
}

static bool never(void *unused)
{
	(void)unused;
	return false;
}

static void irq_refused(void)
{
	EXPECT_EQ(irq_request(IRQ_LINES, "test", never, NULL), -ENODEV);
	EXPECT_EQ(irq_request(IRQ_LINES - 1, "test", never, NULL), -ENODEV);
	EXPECT(irq_line(IRQ_LINES) == NULL);
	EXPECT(irq_line(IRQ_LINES - 1)->first == NULL); /* nothing stays of a request that failed */
}

/* Of each CPU its own, all 64 bits; no kernel of 64 bits uses this one. */
static void msr_of_each(void)
{
	enum { SYSENTER_RIP = 0x176 };
	u64 before, value;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		u64 wanted = 0x123456789a0 + cpu;

		EXPECT_EQ(arch_msr_read(cpu, SYSENTER_RIP, &before), 0);
		EXPECT_EQ(arch_msr_write(cpu, SYSENTER_RIP, wanted), 0);
		for (unsigned other = 0; other < cpu_count(); other++) {
			EXPECT_EQ(arch_msr_read(other, SYSENTER_RIP, &value), 0);
			EXPECT_EQ(value == wanted, other == cpu);
		}
		EXPECT_EQ(arch_msr_write(cpu, SYSENTER_RIP, before), 0);
	}
	EXPECT_EQ(arch_msr_read(cpu_count(), SYSENTER_RIP, &value), -ENODEV);
	EXPECT_EQ(arch_msr_write(cpu_count(), SYSENTER_RIP, 0), -ENODEV);
}

static const struct ktap_case cases[] = {
    {"machine.cpus_numbered", cpus_numbered},
    {"machine.call_each", call_each},
    {"machine.call_is_over", call_is_over},
    {"machine.call_all", call_all},
    {"machine.reschedule_each", reschedule_each},
    {"machine.nmi_each", nmi_each},
    {"machine.nmi_others", nmi_others},
    {"machine.ipi_order", ipi_order},
    {"machine.clock_forward", clock_forward},
    {"machine.clock_told", clock_told},
    {"machine.clock_told_checked", clock_told_checked},
    {"machine.clock_against_pm_timer", clock_against_pm_timer},
    {"machine.clock_skew", clock_skew},
    {"machine.clock_unix", clock_unix},
    {"machine.clock_that_wraps", clock_that_wraps},
    {"machine.timer_in_time", timer_in_time},
    {"machine.timer_at_once", timer_at_once},
    {"machine.irq_refused", irq_refused},
    {"machine.msr_of_each", msr_of_each},
    {NULL, NULL},
};
extern const struct ktap_suite suite_machine;
const struct ktap_suite suite_machine = {cases};
