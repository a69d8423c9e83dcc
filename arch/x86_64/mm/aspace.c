/*
 * Address spaces of ring 3. Changes to one's tables are made by its owner alone (kernel/task's
 * mm->lock); lookups by the owner too. Task context, but for aspace_switch().
 *
 * A CPU that goes on to a kernel thread keeps the tables loaded. `cpus` says who has them: set
 * before they are loaded, cleared after others are. So whoever changes an entry and then reads
 * `cpus` misses nobody who could have the old one.
 */
#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/irq/interrupt.h"
#include "arch/x86_64/mm/paging.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define USER_SLOTS 256 /* entries of the top table that are ring 3's */
#define LEAF_SPAN  (512 * PAGE_SIZE)

struct aspace {
	u64 top;  /* physical address of the top table */
	u64 cpus; /* [A] a bit for each CPU that has it loaded */
	/*
	 * [owner] The lowest table that was found last, and the first address it maps. What is done
	 * page by page finds it here. Tables are freed with the space, not before.
	 */
	u64 leaf_from;
	u64 *leaf;
};
#define NO_LEAF 1 /* no table begins there */
_Static_assert(sizeof(struct aspace) <= PAGE_SIZE, "an aspace has one page");

struct flush {
	struct aspace *as;
	u64 va, size;
	unsigned from; /* the CPU that asks */
};

struct aspace *aspace_create(void)
{
	u64 pa = arch_page_alloc(), top = arch_page_alloc();
	struct aspace *as = phys_to_virt(pa);

	if (!pa || !top) {
		if (pa)
			arch_page_free(pa);
		if (top)
			arch_page_free(top);
		return NULL;
	}
	paging_freeze_top();
	memcpy((u64 *)phys_to_virt(top) + USER_SLOTS,
	    (u64 *)phys_to_virt(paging_kernel_cr3()) + USER_SLOTS,
	    (512 - USER_SLOTS) * sizeof(u64));
	*as = (struct aspace){.top = top, .leaf_from = NO_LEAF};
	return as;
}

/* Frees a table of `level` and those below it; of the top table the first `entries` only. */
static void aspace_free_tables(u64 pa, unsigned level, unsigned entries)
{
	const u64 *table = phys_to_virt(pa), *end = level ? table + entries : table;

	for (const u64 *e = table; e < end; e++)
		if (*e & PTE_P)
			aspace_free_tables(*e & PTE_ADDR, level - 1, 512);
	arch_page_free(pa);
}

static void aspace_leave(void *arg)
{
	u64 flags = irq_save();

	if (private_read(aspace) == arg)
		aspace_switch(NULL);
	irq_restore(flags);
}

/* Calls fn(arg) on each CPU that has the space loaded, here first. Preemption off. */
static void call_users(struct aspace *as, void (*fn)(void *), void *arg)
{
	u64 cpus = atomic_load(&as->cpus), here = 1UL << cpu_id();

	if (cpus & here)
		fn(arg);
	for (cpus &= ~here; cpus; cpus &= cpus - 1)
		cpu_call(__builtin_ctzl(cpus), fn, arg);
}

void aspace_destroy(struct aspace *as)
{
	preempt_disable();
	call_users(as, aspace_leave, as);
	preempt_enable();
	aspace_free_tables(as->top, 3, USER_SLOTS);
	arch_page_free(virt_to_phys(as));
}

static u64 leaf_bits(unsigned prot)
{
	u64 bits = PTE_P | PTE_U | PTE_A;

	if (!prot)
		return PTE_KEPT;
	if (prot & PROT_W)
		bits |= PTE_W;
	if (!(prot & PROT_X))
		bits |= PTE_NX;
	return bits;
}

static bool is_mapped(u64 entry)
{
	return entry & (PTE_P | PTE_KEPT);
}

/* As paging_walk(), of an address below USER_END. */
static u64 *aspace_walk(struct aspace *as, u64 va, u64 *size)
{
	unsigned i = va / PAGE_SIZE % 512;
	u64 *e;

	*size = PAGE_SIZE;
	if (likely(ALIGN_DOWN(va, LEAF_SPAN) == as->leaf_from))
		return &as->leaf[i];
	e = paging_walk(as->top, va, size);
	if (e) {
		as->leaf_from = ALIGN_DOWN(va, LEAF_SPAN);
		as->leaf = e - i;
	}
	return e;
}

int aspace_map(struct aspace *as, u64 va, u64 pa, unsigned prot)
{
	u64 size, *e;

	if (va >= USER_END)
		return -EINVAL;
	e = aspace_walk(as, va, &size);
	if (!e) {
		/*
		 * Makes the tables; their entries carry PTE_U whatever the page's own protection.
		 */
		if (paging_map(as->top, va, pa, PAGE_SIZE, PTE_U | PTE_KEPT, 0))
			return -ENOMEM;
		e = aspace_walk(as, va, &size);
	}
	WRITE_ONCE(*e, pa | leaf_bits(prot));
	return 0;
}

u64 aspace_unmap(struct aspace *as, u64 va)
{
	u64 size, *e = va < USER_END ? aspace_walk(as, va, &size) : NULL, old;

	if (!e || !is_mapped(*e))
		return 0;
	old = atomic_xchg(e, 0); /* the CPU may be setting its accessed and dirty bits */
	return old & PTE_ADDR;
}

u64 aspace_lookup(struct aspace *as, u64 va, unsigned *prot)
{
	u64 size, *e = va < USER_END ? aspace_walk(as, va, &size) : NULL;

	if (!e || !is_mapped(*e))
		return 0;
	if (prot && !(*e & PTE_P))
		*prot = 0;
	else if (prot)
		*prot = PROT_R | PROT_USER | (*e & PTE_W ? PROT_W : 0) | (*e & PTE_NX ? 0 : PROT_X);
	return *e & PTE_ADDR;
}

/* The first entry that is mapped from *va on to `end` or the end of its table; moves *va there. */
static bool next_in_table(const u64 *e, u64 *va, u64 end)
{
	u64 stop = MIN(end, ALIGN_DOWN(*va, LEAF_SPAN) + LEAF_SPAN);

	for (; *va < stop; *va += PAGE_SIZE, e++)
		if (is_mapped(*e))
			return true;
	return false;
}

u64 aspace_next(struct aspace *as, u64 va, u64 end)
{
	end = MIN(end, USER_END);
	va = ALIGN_DOWN(va, PAGE_SIZE);
	while (va < end) {
		u64 size, *e = aspace_walk(as, va, &size);
		if (!e)
			va = ALIGN_DOWN(va, size) + size;
		else if (next_in_table(e, &va, end))
			return va;
	}
	return end;
}

/* On the CPU that asks and, by an interrupt, on the others that have the space loaded. */
static void aspace_flush_here(void *arg)
{
	const struct flush *f = arg;
	bool remote = f->from != cpu_id();

	if (remote)
		interrupt_count_tlb();
	if (private_read(aspace) != f->as)
		return;
	tlb_flush_local(f->va, f->size);
	kernel_tlb_flushed(remote ? TLB_REMOTE : TLB_LOCAL_MM, tlb_pages(f->va, f->size));
}

void aspace_flush(struct aspace *as, u64 va, u64 size)
{
	preempt_disable();
	struct flush f = {as, va, size, cpu_id()};

	if (atomic_load(&as->cpus) & ~(1UL << f.from))
		kernel_tlb_flushed(TLB_SEND_IPI, tlb_pages(va, size));
	call_users(as, aspace_flush_here, &f);
	preempt_enable();
}

/*
 * Interrupts off, or on (then they are off meanwhile): the tables and the word about them change
 * together.
 */
void aspace_switch(struct aspace *as)
{
	u64 flags = irq_save(), bit = 1UL << cpu_id();
	struct aspace *old = private_read(aspace);

	if (as != old) {
		if (as)
			atomic_or(&as->cpus, bit);
		private_write(aspace, as);
		write_cr3(as ? as->top : paging_kernel_cr3());
		if (old)
			atomic_and(&old->cpus, ~bit);
	}
	irq_restore(flags);
}
