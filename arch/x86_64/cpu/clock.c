/*
 * Time from the TSC: rate found at boot, then one multiplication. After boot everything here is
 * read-only: any context. (CPUID leaves: Intel SDM volume 2, CPUID.)
 */
#include "arch/x86_64/cpu/clock.h"

#include "arch/x86_64/cpu/msr.h"
#include "arch/x86_64/irq/apic.h"

#define NS_PER_SECOND	 1000000000UL
#define HYPERVISOR_LEAF	 0x40000000
#define EMULATED_APIC_HZ 1000000000 /* QEMU's APIC timer, by TCG and by KVM */

struct clock_scale clock_scale;
static u64 tsc_hz;
static u64 ticks_per_us; /* rounded up: a delay may be longer, not shorter */
static u64 boot_unix_ns;
static struct clock_info info;

u64 clock_ns(void)
{
	return cycles_to_ns(cycles());
}

u64 clock_boot_unix_ns(void)
{
	return boot_unix_ns;
}

const struct clock_info *clock_info(void)
{
	return &info;
}

void delay_us(unsigned us)
{
	u64 end = cycles() + us * ticks_per_us;
	while ((s64)(end - cycles()) > 0)
		cpu_relax();
}

bool cpu_is_virtual(void)
{
	return cpuid(1, 0).c >> 31;
}

/* Is the hypervisor QEMU, with the timer it gives its guests? */
static bool is_qemu(void)
{
	if (!cpu_is_virtual())
		return false;
	struct cpuid r = cpuid(HYPERVISOR_LEAF, 0);
	char name[12];
	__builtin_memcpy(name, &r.b, 4);
	__builtin_memcpy(name + 4, &r.c, 4);
	__builtin_memcpy(name + 8, &r.d, 4);
	return !__builtin_memcmp(name, "TCGTCGTCGTCG", 12) ||
	       !__builtin_memcmp(name, "KVMKVMKVM\0\0\0", 12);
}

static u64 clock_read_apic_timer(void)
{
	return 0xffffffff - apic_timer_now();
}

static bool by_apic_timer(void)
{
	static const struct ref_clock apic = {
	    "hypervisor", EMULATED_APIC_HZ, 0xffffffff, clock_read_apic_timer};
	struct calibration c;
	if (!is_qemu())
		return false;
	apic_timer_repeat(0xffffffff); /* counts whatever the mode the kernel will run it in */
	bool ok = calibrate_tsc(&apic, &c);
	apic_timer_once();
	if (ok) {
		tsc_hz = c.hz;
		info.reference = apic.name;
		info.error_ppm = c.spread_ppm;
	}
	return ok;
}

static struct cpuid clock_cpuid(u32 leaf, u32 subleaf)
{
	return cpuid(leaf, subleaf);
}

/* An emulator may report the rate of another CPU: a clock must agree, if one runs. */
static bool by_cpuid(const struct ref_clock *const *refs, unsigned n)
{
	u64 told = tsc_hz_told(clock_cpuid, &info.reference);

	if (!told || (n && !tsc_agrees(refs[0], told)))
		return false;
	tsc_hz = told;
	return true;
}

/* The CPU's nominal rate, which is not quite that of the TSC. */
static bool by_nominal_rate(void)
{
	if (cpuid_max(0) >= 0x16)
		tsc_hz = (cpuid(0x16, 0).a & 0xffff) * 1000000UL;
	info.reference = "cpuid";
	return tsc_hz;
}

static bool by_reference(const struct ref_clock *const *refs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct calibration c;
		if (!calibrate_tsc(refs[i], &c))
			continue;
		tsc_hz = c.hz;
		info.reference = refs[i]->name;
		info.error_ppm = c.spread_ppm;
		return true;
	}
	return false;
}

const char *clock_init(const struct ref_clock *const *refs, unsigned n, u64 entry_tsc, u64 unix_ns)
{
	if (!by_cpuid(refs, n) && !by_reference(refs, n) && !by_cpuid(refs, 0) &&
	    !by_nominal_rate() && !by_apic_timer())
		return "no clock of known rate was found: neither HPET nor PM timer nor PIT runs, "
		       "and CPUID tells nothing";
	info.tsc_khz = (tsc_hz + 500) / 1000;
	ticks_per_us = tsc_hz / 1000000 + 1;
	clock_scale.base = entry_tsc;
	clock_scale.ns_per_cycle = (NS_PER_SECOND << 32) / tsc_hz;
	if (unix_ns)
		boot_unix_ns = unix_ns - clock_ns();
	return NULL;
}

/*
 * Skew. Turns alternate: CPU 0 stamps t0 and hands over, the other CPU stamps t and hands back, CPU
 * 0 stamps t1. If the way there takes as long as the way back, t was taken at (t0 + t1) / 2; it
 * cannot be further off than half the round trip. The shortest of all round trips is believed.
 */
#define SKEW_ROUNDS	16
#define SKEW_ROUNDS_MIN 4
#define SKEW_NS		20000000UL /* enough of it, where each turn waits for a busy host */
#define SKEW_TURN_END	(~0u)

static u32 skew_turn;  /* [A] odd: the other CPU's; 0 between measurements */
static u64 skew_stamp; /* whose turn it was writes */

static u32 turn_now(void)
{
	return __atomic_load_n(&skew_turn, __ATOMIC_ACQUIRE);
}

static void give_turn(u32 turn)
{
	__atomic_store_n(&skew_turn, turn, __ATOMIC_RELEASE);
}

static void wait_turn(u32 turn)
{
	while (turn_now() != turn)
		cpu_relax();
}

static bool skew_enough(u32 round, u64 start)
{
	if (round >= SKEW_ROUNDS)
		return true;
	return round >= SKEW_ROUNDS_MIN && clock_ns() - start > SKEW_NS;
}

void clock_skew_measure(unsigned cpu)
{
	u64 best = ~0UL, start = clock_ns();
	for (u32 round = 0; !skew_enough(round, start); round++) {
		u64 t0 = cycles();
		give_turn(round * 2 + 1);
		wait_turn(round * 2 + 2);
		u64 trip = cycles() - t0;
		if (trip >= best)
			continue;
		best = trip;
		info.skew[cpu] = (s64)(skew_stamp - (t0 + trip / 2));
		info.skew_error[cpu] = trip / 2;
	}
	give_turn(SKEW_TURN_END);
	wait_turn(0); /* the other one has seen the end */
}

void clock_skew_answer(void)
{
	u32 turn = 1, now;
	while ((now = turn_now()) != SKEW_TURN_END) {
		if (now == turn) {
			skew_stamp = cycles();
			give_turn(turn + 1);
			turn += 2;
		} else {
			cpu_relax();
		}
	}
	give_turn(0);
}
