/*
 * Page tables made read-only. Those of the direct map and of the image never change after boot, nor
 * does the kernel's top table once it is frozen: the direct map shows them read-only, so a stray
 * write cannot take a wall down. Tables of stacks and windows change all the time and stay
 * writable. Runs on one CPU with interrupts off, and writes with CR0.WP off.
 */
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/mm/paging.h"

#define TOP_DIRECT (DIRECT_MAP_BASE >> 39 & 511)
#define TOP_WINDOW (KERNEL_MAP_BASE >> 39 & 511)
#define TOP_IMAGE  (KERNEL_IMAGE_BASE >> 39 & 511)

/* Puts a table in the place of the large page at *e. */
static bool paging_seal_split(u64 *e, u64 size)
{
	u64 pa = paging_page_alloc(), part = size / 512;
	u64 *table = phys_to_virt(pa), bits = *e & ~PTE_ADDR;

	if (!pa)
		return false;
	if (part == PAGE_SIZE)
		bits &= ~PTE_LARGE;
	for (unsigned i = 0; i < 512; i++)
		table[i] = ((*e & PTE_ADDR) + i * part) | bits;
	*e = pa | PTE_P | PTE_W;
	return true;
}

/* Where there is no memory for a finer table the page stays writable, and walls.c reports it. */
static void paging_seal_page(u64 pa)
{
	u64 va = (u64)phys_to_virt(pa), size, *e = paging_walk(paging_kernel_cr3(), va, &size);

	while (e && *e & PTE_P && size > PAGE_SIZE && paging_seal_split(e, size))
		e = paging_walk(paging_kernel_cr3(), va, &size);
	if (e && size == PAGE_SIZE)
		*e &= ~PTE_W;
}

static void paging_seal_table(u64 pa, unsigned level)
{
	const u64 *table = phys_to_virt(pa);

	for (unsigned i = 0; level && i < 512; i++)
		if (table[i] & PTE_P && !(table[i] & PTE_LARGE))
			paging_seal_table(table[i] & PTE_ADDR, level - 1);
	paging_seal_page(pa);
}

bool paging_is_fixed(unsigned top_index)
{
	return (top_index >= TOP_DIRECT && top_index < TOP_WINDOW) || top_index == TOP_IMAGE;
}

void paging_seal(void)
{
	const u64 *top = phys_to_virt(paging_kernel_cr3());
	u64 cr0 = read_cr0();

	write_cr0(cr0 & ~(u64)CR0_WP);
	for (unsigned again = 0; again < 2; again++) /* the tables that the first time made, too */
		for (unsigned i = 0; i < 512; i++)
			if (paging_is_fixed(i) && top[i] & PTE_P)
				paging_seal_table(top[i] & PTE_ADDR, 2);
	write_cr0(cr0);
	tlb_flush_local(DIRECT_MAP_BASE, ~0UL - DIRECT_MAP_BASE);
}

void paging_seal_top(void)
{
	u64 flags = irq_save(), cr0 = read_cr0();

	write_cr0(cr0 & ~(u64)CR0_WP);
	paging_seal_page(paging_kernel_cr3());
	write_cr0(cr0);
	irq_restore(flags);
	tlb_flush_all_cpus((u64)phys_to_virt(paging_kernel_cr3()), PAGE_SIZE);
}
