/*
 * Each CPU's own stacks, side by side in one range of addresses with an unmapped page below each.
 * Made once per CPU, never freed; read-only afterwards.
 *
 *   guard | NMI | guard | #DF | guard | #MC | guard | #BP | guard | #DB | guard | #BP in NMI |
 *   guard | #DB in NMI | guard | idle
 */
#include "arch/x86_64/cpu/stacks.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/tables.h"
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/probe/watch.h"

enum { SLOT_BP_NMI = IST_COUNT + 1, SLOT_DB_NMI, SLOT_IDLE, SLOT_END };

/* Pages of each slot; that of the guard comes on top. */
static const u8 slot_pages[SLOT_END] = {
    [IST_NMI] = 4,
    [IST_DF] = 2,
    [IST_MC] = 2,
    [IST_BP] = 1,
    [IST_DB] = 1,
    [SLOT_BP_NMI] = 1,
    [SLOT_DB_NMI] = 1,
    [SLOT_IDLE] = KERNEL_STACK_SIZE / PAGE_SIZE,
};

static u64 base[MAX_CPUS] __nowatch;
static u64 top_offset[SLOT_END] __nowatch; /* of each slot's top from a CPU's base */
static u64 total;			   /* bytes of one CPU's range */

static inline u64 slot_top(unsigned cpu, unsigned slot)
{
	return base[cpu] + top_offset[slot];
}

static void lay_out(void)
{
	total = 0;
	for (unsigned slot = 1; slot < SLOT_END; slot++) {
		total += (slot_pages[slot] + 1) * PAGE_SIZE;
		top_offset[slot] = total;
	}
}

static bool map_slot(unsigned cpu, unsigned slot)
{
	u64 va = slot_top(cpu, slot);

	for (unsigned i = 0; i < slot_pages[slot]; i++) {
		u64 pa = paging_page_alloc();
		va -= PAGE_SIZE;
		if (!pa || kernel_map(va, pa, PAGE_SIZE, PROT_R | PROT_W))
			return false;
	}
	return true;
}

u64 stacks_prepare(unsigned cpu)
{
	lay_out();
	base[cpu] = paging_reserve(total);
	if (!base[cpu])
		return 0;
	for (unsigned slot = 1; slot < SLOT_END; slot++)
		if (!map_slot(cpu, slot))
			return 0;
	return slot_top(cpu, SLOT_IDLE);
}

u64 stacks_ist_top(unsigned cpu, enum ist which)
{
	return slot_top(cpu, which);
}

static void __noprobe stacks_use_pads(unsigned bp, unsigned db)
{
	unsigned cpu = cpu_id();

	cpu_ist_set(IST_BP, slot_top(cpu, bp));
	cpu_ist_set(IST_DB, slot_top(cpu, db));
}

void __noprobe stacks_nmi_begin(void)
{
	stacks_use_pads(SLOT_BP_NMI, SLOT_DB_NMI);
}

void __noprobe stacks_nmi_end(void)
{
	stacks_use_pads(IST_BP, IST_DB);
}

bool stacks_own(u64 p)
{
	return p - base[cpu_id()] < total;
}

bool stacks_hold(u64 p)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		if (p - base[cpu] < total)
			return true;
	return false;
}

bool stacks_without_guard(unsigned cpu)
{
	for (unsigned slot = 1; slot < SLOT_END; slot++) {
		u64 guard = slot_top(cpu, slot) - (slot_pages[slot] + 1) * PAGE_SIZE;
		if (kernel_readable((void *)guard, 1))
			return true;
	}
	return false;
}

bool stack_guard_hit(u64 addr)
{
	unsigned cpu = cpu_id();

	for (unsigned slot = 1; slot < SLOT_END; slot++) {
		u64 bottom = slot_top(cpu, slot) - slot_pages[slot] * PAGE_SIZE;
		if (addr >= bottom - PAGE_SIZE && addr < bottom)
			return true;
	}
	return false;
}
