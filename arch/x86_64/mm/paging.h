/*
 * Page tables of the kernel, within arch/x86_64. The kernel's half (entries 256..511 of the top
 * table) is one set of tables shared by all address spaces: entries of the top table are only added
 * before the first address space is made, so none ever lacks a kernel mapping.
 */
#pragma once

#include "arch/arch.h"

struct boot_info;

#define PTE_P	  (1UL << 0)
#define PTE_W	  (1UL << 1)
#define PTE_U	  (1UL << 2)
#define PTE_PWT	  (1UL << 3)
#define PTE_PCD	  (1UL << 4)
#define PTE_A	  (1UL << 5)
#define PTE_D	  (1UL << 6)
#define PTE_LARGE (1UL << 7)
#define PTE_G	  (1UL << 8)
#define PTE_KEPT  (1UL << 9) /* ours: not present, but aspace_lookup() finds the page (PROT_NONE) */
#define PTE_NX	  (1UL << 63)
#define PTE_ADDR  0x000ffffffffff000UL

/* The first 512 GiB of the kernel mappings, which this folder hands out. */
#define MAP_WINDOW	(1UL << 39)
#define DEVICE_MAP_BASE KERNEL_MAP_BASE

/* ---- Boot CPU, before kernel_main() ---- */

/*
 * Builds the kernel's tables from the memory after the image (bi->kernel_size grows by it), and
 * loads them.
 */
void paging_init(struct boot_info *bi);

/* ---- For the start of other CPUs ---- */

u64 paging_kernel_cr3(void);
/*
 * Tables below 4 GiB that hold the kernel's half and, one to one, executable and read-only, the
 * page at `pa` (below 2 MiB). Returns their CR3. After paging_trampoline_close() the low page is
 * gone from them.
 */
u64 paging_trampoline_open(u64 pa);
void paging_trampoline_close(void);

/* ---- Any time ---- */

/*
 * Writes kernel text or rodata of the image, mapped read-only everywhere, through an alias only
 * this CPU knows and only during the call. Any context but NMI. n at most PAGE_SIZE.
 */
void paging_poke(void *dst, const void *src, size_t n);
/*
 * The same in steps, interrupts off from open to close: a writable view of the page at `page` and
 * the one after it.
 */
u8 *paging_alias_open(const void *page);
void paging_alias_close(void);
/*
 * Fresh, page-aligned addresses for `size` bytes with an unmapped page after them; 0: none left.
 * Never given back.
 */
u64 paging_reserve(u64 size);
/*
 * The entry that maps va in the tables at `cr3` and how much it maps (4 KiB, 2 MiB, 1 GiB); NULL:
 * no table there.
 */
u64 *paging_walk(u64 cr3, u64 va, u64 *size);
/*
 * One zeroed page for tables and stacks, from the boot memory before kernel_main(), from
 * arch_page_alloc() later. 0: none.
 */
u64 paging_page_alloc(void);
/*
 * Maps [va, va + size) to pa with `bits` of a leaf entry, in tables that may be shared (lock held
 * by the caller or only one CPU runs); with the largest pages that fit up to level `largest` (0: 4
 * KiB, 1: 2 MiB, 2: 1 GiB). What is mapped already by a larger page stays. 0 or -ENOMEM.
 */
int paging_map(u64 top, u64 va, u64 pa, u64 size, u64 bits, unsigned largest);
/* PROT_* of a kernel mapping as entry bits. */
u64 paging_kernel_bits(unsigned prot);
/* Drops this CPU's translations of the range, global ones too. */
void tlb_flush_local(u64 va, u64 size);
/* How many pages tlb_flush_local() drops one by one; TLB_ALL_PAGES: it drops everything. */
u64 tlb_pages(u64 va, u64 size);
/* The same on all CPUs. Task context, interrupts on, once there is more than one CPU. */
void tlb_flush_all_cpus(u64 va, u64 size);
/* From aspace_create() on, the top table of the kernel is fixed. Task context. */
void paging_freeze_top(void);
bool paging_top_is_frozen(void);
/* Is va one of those by which a CPU writes what is read-only? */
bool paging_is_alias(u64 va);

/* ---- paging_seal.c ---- */

/* Boot CPU, before the boot memory is closed: makes the tables read-only that never change. */
void paging_seal(void);
/* The top table, once it is frozen. Task context. */
void paging_seal_top(void);
/* Do the tables below this entry of the top table never change? */
bool paging_is_fixed(unsigned top_index);
