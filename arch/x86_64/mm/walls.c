/*
 * Are the walls up? Looks at every entry of the kernel's page tables, at the guard pages of the
 * CPUs' stacks and at the registers of each CPU. Changes nothing. Task context, interrupts on: the
 * other CPUs are asked by interrupt.
 *
 * Another CPU may write text meanwhile, through addresses of its own (paging_poke()): those are
 * writable, and nothing else that leads to text or rodata is.
 */
#include "arch/x86_64/cpu/cpu.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/stacks.h"
#include "arch/x86_64/mm/paging.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"

#define KERNEL_HALF 256 /* the top table's first entry of the kernel's */

struct walls {
	struct arch_walls *sum;
	void (*report)(void *arg, const char *text);
	void *arg;
};

static __printf(2, 3) void walls_breach(const struct walls *w, const char *fmt, ...)
{
	char text[120];
	va_list ap;

	va_start(ap, fmt);
	fmt_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	w->sum->breaches++;
	w->report(w->arg, text);
}

/* ---- Page tables ---- */

/* What adds up on the way from the top table: writable if all levels are, executable likewise. */
enum { WALK_W = 1, WALK_X = 2 };

static bool walls_may_run(u64 va, u64 size)
{
	return (va >= (u64)__text_start && va + size <= ALIGN_UP((u64)__text_end, PAGE_SIZE)) ||
	       (va >= (u64)__slots_start && va + size <= (u64)__slots_end);
}

static bool walls_is_fixed(u64 pa, u64 size)
{
	return pa < virt_to_phys(__rodata_end) && pa + size > virt_to_phys(__text_start);
}

static void walls_leaf(const struct walls *w, u64 va, u64 pa, u64 size, unsigned may)
{
	unsigned long at = va;

	w->sum->pages += size / PAGE_SIZE;
	if (may == (WALK_W | WALK_X))
		walls_breach(w, "%#lx is writable and executable", at);
	else if (may & WALK_X && !walls_may_run(va, size))
		walls_breach(w, "%#lx is executable, and no text", at);
	else if (may & WALK_W && walls_is_fixed(pa, size) && !paging_is_alias(va))
		walls_breach(w, "%#lx is writable, and text or rodata", at);
}

static void walls_sealed(const struct walls *w, u64 pa)
{
	u64 size, *e = paging_walk(paging_kernel_cr3(), (u64)phys_to_virt(pa), &size);

	if (e && *e & PTE_P && *e & PTE_W)
		walls_breach(w, "the page table at %#lx is writable", (unsigned long)pa);
}

static void walls_table(
    const struct walls *w, u64 pa, unsigned level, u64 va, unsigned may, bool sealed)
{
	const u64 *table = phys_to_virt(pa);

	w->sum->tables++;
	if (sealed)
		walls_sealed(w, pa);
	for (unsigned i = 0; i < 512; i++) {
		u64 e = READ_ONCE(table[i]), at = va + ((u64)i << (12 + 9 * level));
		unsigned here = may & ((e & PTE_W ? WALK_W : 0) | (e & PTE_NX ? 0 : WALK_X));

		if (!(e & PTE_P))
			continue;
		if (e & PTE_U)
			walls_breach(w, "%#lx is open to ring 3", (unsigned long)at);
		if (level == 0 || e & PTE_LARGE)
			walls_leaf(w, at, e & PTE_ADDR, PAGE_SIZE << (9 * level), here);
		else
			walls_table(w, e & PTE_ADDR, level - 1, at, here, sealed);
	}
}

static void walls_tables(const struct walls *w)
{
	u64 cr3 = paging_kernel_cr3();
	const u64 *top = phys_to_virt(cr3);

	for (unsigned i = 0; i < KERNEL_HALF; i++)
		if (top[i])
			walls_breach(w, "the kernel's own tables have entry %u of ring 3", i);
	for (unsigned i = KERNEL_HALF; i < 512; i++)
		if (top[i] & PTE_P)
			walls_table(w, top[i] & PTE_ADDR, 2, (u64)i << 39 | 0xffffUL << 48,
			    (top[i] & PTE_W ? WALK_W : 0) | (top[i] & PTE_NX ? 0 : WALK_X),
			    paging_is_fixed(i));
	if (paging_top_is_frozen())
		walls_sealed(w, cr3);
}

/* ---- CPUs ---- */

static const char *walls_registers(void)
{
	u64 cr4 = read_cr4(), on = (cpu_features.smep ? CR4_SMEP : 0UL) |
				   (cpu_features.smap ? CR4_SMAP : 0UL) |
				   (cpu_features.umip ? CR4_UMIP : 0UL);

	if (!(read_cr0() & CR0_WP))
		return "CR0.WP is off";
	if ((cr4 & on) != on)
		return "SMEP, SMAP or UMIP is off";
	if (!(rdmsr(MSR_EFER) & EFER_NXE))
		return "EFER.NXE is off";
	return cpu_entries_wrong();
}

/* The kernel's half of the tables that are loaded is the kernel's. */
static const char *walls_loaded(void)
{
	const u64 *top = phys_to_virt(read_cr3() & PTE_ADDR);
	const u64 *own = phys_to_virt(paging_kernel_cr3());

	for (unsigned i = KERNEL_HALF; i < 512; i++)
		if ((top[i] ^ own[i]) & ~(PTE_A | PTE_D))
			return "the tables that are loaded have another kernel";
	return NULL;
}

static void walls_cpu(void *arg)
{
	const char **wrong = arg, *what = walls_registers();

	wrong[cpu_id()] = what ? what : walls_loaded();
}

static void walls_cpus(const struct walls *w)
{
	static const char *wrong[MAX_CPUS]; /* [A] two checks at once write the same */

	preempt_disable();
	cpu_call_all(walls_cpu, wrong);
	preempt_enable();
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		const char *what = READ_ONCE(wrong[cpu]);

		w->sum->cpus++;
		if (what)
			walls_breach(w, "CPU %u: %s", cpu, what);
		if (stacks_without_guard(cpu))
			walls_breach(w, "CPU %u: a stack has no guard page", cpu);
	}
}

void arch_walls_check(
    struct arch_walls *sum, void (*report)(void *arg, const char *text), void *arg)
{
	const struct walls w = {sum, report, arg};

	*sum = (struct arch_walls){0};
	walls_tables(&w);
	walls_cpus(&w);
}
