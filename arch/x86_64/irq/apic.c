/*
 * xAPIC registers lie in memory; in x2APIC mode the same ones are MSRs. Nothing here is shared
 * between CPUs but the mode and the mapping, which are set once. Contexts: apic.h.
 */
#include "arch/x86_64/irq/apic.h"

#include "arch/x86_64/cpu/msr.h"
#include "arch/x86_64/irq/interrupt.h"

enum {
	APIC_ID = 0x20,
	APIC_VERSION = 0x30,
	APIC_TPR = 0x80,
	APIC_EOI = 0xb0,
	APIC_SPURIOUS = 0xf0,
	APIC_ERROR_STATUS = 0x280,
	APIC_ICR_LOW = 0x300,
	APIC_ICR_HIGH = 0x310,
	APIC_LVT_TIMER = 0x320,
	APIC_LVT_LINT0 = 0x350, /* LINT1 16 further */
	APIC_LVT_ERROR = 0x370,
	APIC_TIMER_START = 0x380,
	APIC_TIMER_NOW = 0x390,
	APIC_TIMER_DIVIDE = 0x3e0,
};
enum { LVT_MASKED = 1 << 16, LVT_NMI = 4 << 8, LVT_PERIODIC = 1 << 17, LVT_TSC_DEADLINE = 2 << 17 };
enum { SPURIOUS_ENABLE = 1 << 8, ICR_BUSY = 1 << 12, DIVIDE_BY_1 = 0xb };
enum { BASE_X2APIC = 1 << 10, BASE_ENABLE = 1 << 11 };
enum { CPUID1_C_X2APIC = 1 << 21, CPUID1_C_TSC_DEADLINE = 1 << 24, CPUID1_D_APIC = 1 << 9 };

#define XAPIC_ALL 0xff /* as a destination: everybody */

static volatile u32 *registers;
static bool x2apic;

static u32 apic_read(unsigned reg)
{
	return x2apic ? msr_read(MSR_X2APIC + reg / 16) : registers[reg / 4];
}

static void apic_write(unsigned reg, u32 v)
{
	if (x2apic)
		msr_write(MSR_X2APIC + reg / 16, v);
	else
		registers[reg / 4] = v;
}

const char *apic_find(u64 base)
{
	struct cpuid features = cpuid(1, 0);
	if (!(features.d & CPUID1_D_APIC))
		return "this CPU has no local APIC";
	x2apic = features.c & CPUID1_C_X2APIC;
	if (!x2apic && !(registers = device_map(base, PAGE_SIZE)))
		return "there is no memory to map the local APIC";
	return NULL;
}

void apic_init_cpu(unsigned lint_nmi)
{
	u64 base = msr_read(MSR_APIC_BASE) | BASE_ENABLE;
	msr_write(MSR_APIC_BASE, base);
	if (x2apic)
		msr_write(MSR_APIC_BASE, base | BASE_X2APIC);
	apic_write(APIC_TPR, 0);
	apic_write(APIC_SPURIOUS, SPURIOUS_ENABLE | VECTOR_APIC_SPURIOUS);
	for (unsigned lint = 0; lint < 2; lint++)
		apic_write(APIC_LVT_LINT0 + lint * 16, lint == lint_nmi ? LVT_NMI : LVT_MASKED);
	apic_write(APIC_LVT_ERROR, VECTOR_APIC_ERROR);
	apic_clear_errors();
	apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
	apic_timer_once();
	apic_eoi(); /* the firmware may have left one open */
}

u32 apic_id(void)
{
	return x2apic ? apic_read(APIC_ID) : apic_read(APIC_ID) >> 24;
}

bool apic_reaches(u32 id)
{
	return x2apic || id < XAPIC_ALL;
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

/* Written once to take the new bits over, and cleared with that. */
void apic_clear_errors(void)
{
	apic_write(APIC_ERROR_STATUS, 0);
	apic_write(APIC_ERROR_STATUS, 0);
}

static void apic_wait_sent(void)
{
	while (apic_read(APIC_ICR_LOW) & ICR_BUSY)
		cpu_relax();
}

/*
 * Two registers, and an NMI may come between the writes and send a message itself: it puts the high
 * one back as it was, and leaves no message under way.
 */
static void xapic_send(u32 to, u32 what)
{
	u64 flags = irq_save();
	apic_wait_sent();
	u32 interrupted = apic_read(APIC_ICR_HIGH);
	apic_write(APIC_ICR_HIGH, to << 24);
	apic_write(APIC_ICR_LOW, what);
	apic_wait_sent();
	apic_write(APIC_ICR_HIGH, interrupted);
	irq_restore(flags);
}

void apic_send(u32 to_apic_id, u32 what)
{
	if (!x2apic) {
		xapic_send(to_apic_id, what);
		return;
	}
	__asm__ volatile("mfence; lfence" ::
			     : "memory"); /* these MSRs do not wait for earlier stores */
	msr_write(MSR_X2APIC + APIC_ICR_LOW / 16, (u64)to_apic_id << 32 | what);
}

void apic_timer_once(void)
{
	u32 mode = cpuid(1, 0).c & CPUID1_C_TSC_DEADLINE ? LVT_TSC_DEADLINE : 0;
	apic_write(APIC_LVT_TIMER, mode | VECTOR_APIC_TIMER);
	__asm__ volatile("mfence" ::
			     : "memory"); /* the mode is set before a deadline is (SDM 11.5.4.1) */
	apic_timer_start(0);
}

void apic_timer_repeat(u32 count)
{
	apic_write(APIC_LVT_TIMER, LVT_PERIODIC | VECTOR_APIC_TIMER);
	apic_timer_start(count);
}

void apic_timer_start(u32 count)
{
	apic_write(APIC_TIMER_START, count);
}

u32 apic_timer_now(void)
{
	return apic_read(APIC_TIMER_NOW);
}
