/*
 * The one-shot timer of each CPU: its APIC's counter, or the TSC deadline where CPUID has it.
 * timer_arm() is called on the CPU itself with interrupts off.
 */
#include "arch/x86_64/cpu/clock.h"
#include "arch/x86_64/cpu/msr.h"
#include "arch/x86_64/irq/apic.h"

#define CPUID1_C_TSC_DEADLINE (1u << 24)
#define CALIBRATE_US	      50	   /* a timer that comes early is set again */
#define ARM_MAX_NS	      2000000000UL /* for a later deadline the timer is armed again */

static bool deadline_mode;
static u64
    ticks_per_ns; /* 32.32 fixed point: of the TSC in deadline mode, else of the APIC's counter */

/* The counter with the TSC at the same moment: of some tries the one that took shortest. */
static u32 read_pair(u64 *tsc)
{
	u64 best = ~0UL;
	u32 count = 0;
	*tsc = 0;
	for (unsigned i = 0; i < 5; i++) {
		u64 before = cycles();
		u32 now = apic_timer_now();
		u64 took = cycles() - before;
		if (took >= best)
			continue;
		best = took;
		count = now;
		*tsc = before + took / 2;
	}
	return count;
}

static u64 counter_rate(void)
{
	u64 from, to;
	apic_timer_start(0xffffffff);
	u32 start = read_pair(&from);
	delay_us(CALIBRATE_US);
	u32 end = read_pair(&to);
	apic_timer_start(0);
	return ((u64)(start - end) << 32) / (cycles_to_ns(to) - cycles_to_ns(from));
}

void timer_calibrate(void)
{
	deadline_mode = cpuid(1, 0).c & CPUID1_C_TSC_DEADLINE;
	ticks_per_ns = deadline_mode ? (clock_info()->tsc_khz << 32) / 1000000 : counter_rate();
}

void timer_arm(u64 ns)
{
	ns = MIN(ns, ARM_MAX_NS);
	u64 ticks = (u64)((unsigned __int128)ns * ticks_per_ns >> 32);
	if (deadline_mode)
		msr_write(MSR_TSC_DEADLINE, cycles() + ticks);
	else
		apic_timer_start(ticks ? MIN(ticks, 0xffffffffUL) : 1);
}
