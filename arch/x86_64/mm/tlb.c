/*
 * Translation caches: this CPU's, and the others' by call (Intel SDM volume 3, 4.10). Local flushes
 * in any context; those of all CPUs in task context, interrupts on.
 */
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/cpu/regs.h"

#define FLUSH_PAGES_MAX 64 /* beyond it dropping all is cheaper */

struct flush {
	u64 va, size;
};

/* Global entries go only when CR4.PGE changes. */
static void flush_everything(void)
{
	u64 flags = irq_save(), cr4 = read_cr4();

	write_cr4(cr4 & ~(u64)CR4_PGE);
	write_cr4(cr4);
	irq_restore(flags);
}

__notrace u64 tlb_pages(u64 va, u64 size)
{
	if (size > FLUSH_PAGES_MAX * PAGE_SIZE)
		return TLB_ALL_PAGES;
	return (ALIGN_UP(va + size, PAGE_SIZE) - ALIGN_DOWN(va, PAGE_SIZE)) / PAGE_SIZE;
}
NOTRACE(tlb_pages, "hooks are patched by it");

__notrace void tlb_flush_local(u64 va, u64 size)
{
	if (tlb_pages(va, size) == TLB_ALL_PAGES) {
		flush_everything();
		return;
	}
	for (u64 at = ALIGN_DOWN(va, PAGE_SIZE); at < va + size; at += PAGE_SIZE)
		__asm__ volatile("invlpg (%0)" ::"r"(at) : "memory");
}
NOTRACE(tlb_flush_local, "hooks are patched by it");

static void tlb_flush_here(void *arg)
{
	const struct flush *f = arg;

	tlb_flush_local(f->va, f->size);
}

void tlb_flush_all_cpus(u64 va, u64 size)
{
	struct flush f = {va, size};

	if (cpu_count() == 1)
		tlb_flush_here(&f);
	else
		cpu_call_all(tlb_flush_here, &f);
}
