/*
 * The kernel's page tables after boot: kernel_map() and its relatives, device windows, and looking
 * up what is mapped.
 *
 * Kernel tables are only ever added to; none is freed. So a walk needs no lock and may be done in
 * any context. map_lock (interrupts off) is taken by who adds tables or changes entries.
 */
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/cpu/features.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"

static u32 map_lock;
static u64 device_next = DEVICE_MAP_BASE;
static u32 top_frozen; /* [A] */

static u64 map_lock_take(void)
{
	u64 flags = irq_save();

	while (atomic_xchg(&map_lock, 1))
		cpu_relax();
	return flags;
}

static void map_lock_drop(u64 flags)
{
	atomic_store_release(&map_lock, 0);
	irq_restore(flags);
}

static inline u64 *table_of(u64 entry)
{
	return phys_to_virt(entry & PTE_ADDR);
}

/* Level 3 is the top table, level 0 holds 4 KiB pages. */
static inline unsigned index_at(u64 va, unsigned level)
{
	return va >> (12 + 9 * level) & 511;
}

static inline u64 size_at(unsigned level)
{
	return PAGE_SIZE << (9 * level);
}

u64 *paging_walk(u64 cr3, u64 va, u64 *size)
{
	u64 *table = table_of(cr3);

	for (unsigned level = 3;; level--) {
		u64 *e = &table[index_at(va, level)];
		u64 v = READ_ONCE(*e);
		*size = size_at(level);
		if (level == 0 || (v & PTE_LARGE && v & PTE_P))
			return e;
		if (!(v & PTE_P))
			return NULL;
		table = table_of(v);
	}
}

/*
 * The table below *e, made if there is none; NULL: no memory, or the kernel's top table may not
 * grow any more.
 */
static u64 *table_below(u64 *e, unsigned level, bool user)
{
	u64 pa;

	if (*e & PTE_P)
		return table_of(*e);
	if (level == 3 && !user && top_frozen)
		return NULL;
	pa = paging_page_alloc();
	if (!pa)
		return NULL;
	WRITE_ONCE(*e, pa | PTE_P | PTE_W | (user ? PTE_U : 0));
	return table_of(pa);
}

/* May [va, va + size) begin with one page of this level? */
static bool fits(u64 va, u64 pa, u64 size, unsigned level)
{
	return level < 3 && !((va | pa) & (size_at(level) - 1)) && size >= size_at(level);
}

/* Maps as much as one entry of `level` spans, or to the end; returns bytes done, 0: no memory. */
static u64 paging_map_step(
    u64 *table, unsigned level, u64 va, u64 pa, u64 size, u64 bits, unsigned largest)
{
	u64 *e = &table[index_at(va, level)];
	u64 room = MIN(size, size_at(level) - (va & (size_at(level) - 1)));

	if (level == 0) {
		WRITE_ONCE(*e, pa | bits);
		return room;
	}
	if (*e & PTE_P && *e & PTE_LARGE)
		return room;
	if (!(*e & PTE_P) && level <= largest && fits(va, pa, size, level)) {
		WRITE_ONCE(*e, pa | bits | PTE_LARGE);
		return room;
	}
	table = table_below(e, level, bits & PTE_U);
	if (!table)
		return 0;
	for (u64 done = 0, n; done < room; done += n) {
		n = paging_map_step(
		    table, level - 1, va + done, pa + done, room - done, bits, largest);
		if (!n)
			return 0;
	}
	return room;
}

int paging_map(u64 top, u64 va, u64 pa, u64 size, u64 bits, unsigned largest)
{
	for (u64 done = 0, n; done < size; done += n) {
		n = paging_map_step(
		    phys_to_virt(top), 3, va + done, pa + done, size - done, bits, largest);
		if (!n)
			return -ENOMEM;
	}
	return 0;
}

u64 paging_kernel_bits(unsigned prot)
{
	u64 bits = PTE_P | PTE_A | PTE_D | PTE_G;

	if (prot & PROT_W)
		bits |= PTE_W;
	if (!(prot & PROT_X))
		bits |= PTE_NX;
	if (prot & PROT_NOCACHE)
		bits |= PTE_PCD | PTE_PWT;
	if (prot & PROT_COMBINE)
		bits |= PTE_PWT; /* what that means is in the PAT: arch/x86_64/cpu/cpu.c */
	return bits;
}

void paging_freeze_top(void)
{
	if (atomic_xchg(&top_frozen, 1))
		return;
	paging_seal_top();
}

bool paging_top_is_frozen(void)
{
	return atomic_load(&top_frozen);
}

int kernel_map(u64 va, u64 pa, u64 size, unsigned prot)
{
	u64 flags = map_lock_take();
	int err = paging_map(
	    paging_kernel_cr3(), va, pa, ALIGN_UP(size, PAGE_SIZE), paging_kernel_bits(prot), 0);

	map_lock_drop(flags);
	return err;
}

/* An entry that was not present is cached by no CPU; a removed one may be, until it is flushed. */
void kernel_unmap(u64 va, u64 size)
{
	u64 flags = map_lock_take();

	for (u64 at = va, step; at < va + size; at += step) {
		u64 *e = paging_walk(paging_kernel_cr3(), at, &step);
		if (e && step == PAGE_SIZE)
			WRITE_ONCE(*e, 0);
		step = PAGE_SIZE;
	}
	map_lock_drop(flags);
	tlb_flush_all_cpus(va, size);
}

u64 paging_reserve(u64 size)
{
	u64 flags = map_lock_take();
	u64 va = device_next, room = DEVICE_MAP_BASE + MAP_WINDOW - va;

	size = ALIGN_UP(size, PAGE_SIZE) + PAGE_SIZE;
	if (size > room)
		va = 0;
	else
		device_next += size;
	map_lock_drop(flags);
	return va;
}

static void *map_window(u64 pa, u64 size, unsigned prot)
{
	u64 offset = pa & (PAGE_SIZE - 1), bytes = ALIGN_UP(size + offset, PAGE_SIZE), va;

	if (!size || size > MAP_WINDOW || pa >> cpu_features.phys_bits ||
	    (pa + size - 1) >> cpu_features.phys_bits)
		return NULL;
	va = paging_reserve(bytes);
	if (!va || kernel_map(va, pa - offset, bytes, prot))
		return NULL;
	return (void *)(va + offset);
}

void *device_map(u64 pa, u64 size)
{
	return map_window(pa, size, PROT_R | PROT_W | PROT_NOCACHE);
}

void *screen_map(u64 pa, u64 size)
{
	return map_window(pa, size, PROT_R | PROT_W | PROT_COMBINE);
}

const void *firmware_map(u64 pa, u64 size)
{
	return map_window(pa, size, PROT_R);
}

bool kernel_readable(const void *p, size_t n)
{
	u64 va = (u64)p, last = va + n - 1;

	if (!n)
		return true;
	if (last < va || va < DIRECT_MAP_BASE)
		return false;
	while (va <= last) {
		u64 size, *e = paging_walk(paging_kernel_cr3(), va, &size);
		if (!e || !(READ_ONCE(*e) & PTE_P))
			return false;
		if ((va | (size - 1)) >= last)
			return true;
		va = (va | (size - 1)) + 1;
	}
	return true;
}
