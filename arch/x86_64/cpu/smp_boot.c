/*
 * Bringing up the other CPUs. Runs on the boot CPU with interrupts off; smp_ap_main() on each of
 * the others. (Intel SDM volume 3, 8.4.4 and 11.6.)
 *
 * All CPUs get their INIT at once, and then one after the other is started, set up, measured and
 * let into the kernel, so that never more than one waits by spinning: an emulator on a busy host
 * has few CPUs itself. A number is given when a CPU has come, in the MADT's order, so there are no
 * holes.
 */
#include "arch/x86_64/cpu/smp.h"

#include "arch/x86_64/cpu/clock.h"
#include "arch/x86_64/cpu/cpu.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/irq/apic.h"
#include "arch/x86_64/mm/paging.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"

#define INIT_WAIT_US	  10000 /* what old chips need between INIT and STARTUP */
#define INIT_WAIT_VIRT_US 10
#define STARTUP_WAIT_US	  200
#define CLOCK_EVENT_COUNT 5000 /* of the APIC timer: some microseconds */
#define STARTUP_TRIES	  5000 /* a second in all: a busy host may not get round to a CPU sooner */
#define EFER_LMA	  (1u << 10)

_Static_assert(offsetof(struct smp_slot, apic_id) == SLOT_APIC_ID, "");
_Static_assert(offsetof(struct smp_slot, state) == SLOT_STATE, "");
_Static_assert(offsetof(struct smp_slot, stack) == SLOT_STACK, "");
_Static_assert(offsetof(struct smp_slot, cpu) == SLOT_CPU, "");
_Static_assert(sizeof(struct smp_slot) == SLOT_SIZE, "");

extern const u32 smp_trampoline_fixups[], smp_trampoline_fixups_end[];
extern const char smp_trampoline[], smp_trampoline_end[], smp_trampoline_cr3[],
    smp_trampoline_efer[];

/* Read by the assembly. */
extern struct smp_slot smp_slots[MAX_CPUS];
extern u32 smp_slot_count;
extern u64 smp_cr3;
struct smp_slot smp_slots[MAX_CPUS];
u32 smp_slot_count;
u64 smp_cr3;

static unsigned lint_nmi;
static u32 start_page;
static unsigned cpus_up = 1; /* [A] */

unsigned cpu_count(void)
{
	return atomic_load_relaxed(&cpus_up);
}

void smp_remember(const struct machine_info *mi)
{
	lint_nmi = mi->lint_nmi;
	start_page = mi->start_page;
	for (u32 i = 0; i < mi->cpu_count; i++) {
		u32 id = mi->apic_ids[i];
		if (id != apic_id() && apic_reaches(id) && smp_slot_count < MAX_CPUS - 1)
			smp_slots[smp_slot_count++].apic_id = id;
	}
}

static void install_trampoline(void)
{
	char *page = phys_to_virt(start_page);
	u32 cr3 = paging_trampoline_open(start_page);
	u32 efer = rdmsr(MSR_EFER) & ~EFER_LMA;
	memcpy(page, smp_trampoline, smp_trampoline_end - smp_trampoline);
	for (const u32 *f = smp_trampoline_fixups; f < smp_trampoline_fixups_end; f++)
		*(u32 *)(page + *f) += start_page;
	memcpy(page + (smp_trampoline_cr3 - smp_trampoline), &cr3, sizeof(cr3));
	memcpy(page + (smp_trampoline_efer - smp_trampoline), &efer, sizeof(efer));
	smp_cr3 = paging_kernel_cr3();
}

static u32 state_of(const struct smp_slot *s)
{
	return atomic_load_acquire(&s->state);
}

/*
 * INIT to all. From here on a timer runs though nobody takes its interrupts: QEMU with icount
 * charges the reset of a CPU with all the time up to the next clock event, which would be the 55 ms
 * of the PC's old timer.
 */
static void reset_all(void)
{
	apic_timer_repeat(CLOCK_EVENT_COUNT);
	for (u32 i = 0; i < smp_slot_count; i++)
		apic_send(smp_slots[i].apic_id, APIC_SEND_INIT);
	delay_us(cpu_is_virtual() ? INIT_WAIT_VIRT_US : INIT_WAIT_US);
}

/*
 * STARTUP until it answers. A CPU that runs ignores it; one that had not got round to its INIT
 * missed the one before. False: it did not come, and will park when it does.
 */
static bool wake(struct smp_slot *s)
{
	kernel_boot_cpu(cpu_count(), s->apic_id, "startup_sent");
	for (unsigned try = 0; try < STARTUP_TRIES && state_of(s) != SMP_ALIVE; try++) {
		apic_send(s->apic_id, APIC_SEND_STARTUP | start_page >> 12);
		u64 end = clock_ns() + STARTUP_WAIT_US * 1000UL;
		while (state_of(s) != SMP_ALIVE && clock_ns() < end)
			cpu_relax();
	}
	return !atomic_cas(&s->state, 0, SMP_GIVEN_UP);
}

static void wait_state(const struct smp_slot *s, u32 state)
{
	while (state_of(s) != state)
		cpu_relax();
}

static void start(struct smp_slot *s)
{
	unsigned cpu = cpu_count();
	kernel_boot_cpu(cpu, s->apic_id, "alive");
	s->cpu = cpu;
	s->stack = cpu_prepare(cpu, s->apic_id);
	if (!s->stack) {
		atomic_store(&s->state, SMP_GIVEN_UP);
		return;
	}
	atomic_store(&s->state, SMP_GO);
	wait_state(s, SMP_RUNNING);
	kernel_boot_cpu(cpu, s->apic_id, "running");
	clock_skew_measure(cpu);
	kernel_boot_cpu(cpu, s->apic_id, "released");
	atomic_store(&cpus_up, cpu + 1);
	atomic_store(&s->state, SMP_RELEASED);
}

void smp_ap_main(struct smp_slot *slot)
{
	cpu_setup(slot->cpu, slot->apic_id);
	apic_init_cpu(lint_nmi);
	atomic_store(&slot->state, SMP_RUNNING);
	clock_skew_answer();
	wait_state(slot, SMP_RELEASED);
	kernel_ap_main();
}

unsigned arch_smp_boot(unsigned max)
{
	if (max == 0)
		max = 1;
	smp_slot_count = MIN(smp_slot_count, max - 1);
	if (smp_slot_count == 0 || !start_page)
		return 1;
	install_trampoline();
	reset_all();
	bool all_came = true; /* one that is late still needs the trampoline, to park */
	for (u32 i = 0; i < smp_slot_count; i++) {
		if (wake(&smp_slots[i]))
			start(&smp_slots[i]);
		else
			all_came = false;
	}
	apic_timer_once();
	timer_arm(1000); /* the scheduler's tick was in it */
	if (all_came)
		paging_trampoline_close();
	return cpu_count();
}
