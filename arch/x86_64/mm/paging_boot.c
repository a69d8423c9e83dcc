/*
 * The kernel's page tables as they are made at boot: the direct map of all RAM, the image by
 * section, the tables other CPUs start on, and the window through which read-only kernel memory is
 * patched. Runs on the boot CPU before kernel_main(), except for paging_page_alloc(), paging_poke()
 * and the trampoline's two functions (task context, one caller).
 */
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/early.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/sections.h"
#include "boot/boot_info.h"
#include "kernel/lib/string.h"

#define POKE_PAGES 2 /* per CPU: what is written may cross a page */

u64 kernel_image_offset;
static u64 kernel_top; /* physical address of the kernel's top table */
static u64 spare,
    spare_end; /* boot memory for tables: [spare, spare_end) is free; both 0 once closed */
static u64 poke_base, *poke_ptes;
static u64 trampoline_top[512] __aligned(4096), trampoline_tables[3][512] __aligned(4096);

u64 paging_kernel_cr3(void)
{
	return kernel_top;
}

u64 paging_page_alloc(void)
{
	if (!spare_end)
		return arch_page_alloc();
	if (spare == spare_end)
		return 0;
	memset(phys_to_virt(spare), 0, PAGE_SIZE);
	spare += PAGE_SIZE;
	return spare - PAGE_SIZE;
}

/* The room after the image that the loader named, else up to the end of its RAM or the initrd. */
static void spare_init(const struct boot_info *bi)
{
	spare = ALIGN_UP(bi->kernel_base + bi->kernel_size, PAGE_SIZE);
	if (bi->kernel_room) {
		spare_end =
		    ALIGN_DOWN(bi->kernel_base + bi->kernel_size + bi->kernel_room, PAGE_SIZE);
		return;
	}
	for (u32 i = 0; i < bi->range_count; i++) {
		const struct boot_range *r = &bi->ranges[i];
		if (r->type == BOOT_MEM_USABLE && r->base <= spare && r->base + r->size > spare)
			spare_end = MAX(spare_end, ALIGN_DOWN(r->base + r->size, PAGE_SIZE));
	}
	if (bi->initrd_size && bi->initrd_base >= spare && bi->initrd_base < spare_end)
		spare_end = ALIGN_DOWN(bi->initrd_base, PAGE_SIZE);
	if (spare_end <= spare)
		early_die("there is no memory behind the kernel image for its page tables");
}

static void map_or_die(u64 va, u64 pa, u64 size, unsigned prot, unsigned largest)
{
	if (size && paging_map(kernel_top, va, pa, size, paging_kernel_bits(prot), largest))
		early_die("there is too little memory for the kernel's page tables");
}

/*
 * [start, end) of RAM into the direct map; text and rodata of the image read-only in 4 KiB pages.
 */
static void map_direct(u64 start, u64 end)
{
	u64 fixed = virt_to_phys(__text_start), fixed_end = virt_to_phys(__rodata_end);
	unsigned largest = cpu_features.pages_1g ? 2 : 1;

	if (start < fixed && end > start)
		map_or_die(DIRECT_MAP_BASE + start, start, MIN(end, fixed) - start, PROT_R | PROT_W,
		    largest);
	if (start < fixed_end && end > fixed) {
		u64 from = MAX(start, fixed), to = MIN(end, fixed_end);
		map_or_die(DIRECT_MAP_BASE + from, from, to - from, PROT_R, 0);
	}
	if (end > fixed_end) {
		u64 from = MAX(start, fixed_end);
		map_or_die(DIRECT_MAP_BASE + from, from, end - from, PROT_R | PROT_W, largest);
	}
}

static void map_ram(const struct boot_info *bi)
{
	for (u32 i = 0; i < bi->range_count; i++) {
		const struct boot_range *r = &bi->ranges[i];
		u64 end = r->base + r->size;
		if (r->type == BOOT_MEM_RESERVED || !r->size || end < r->base ||
		    end >> cpu_features.phys_bits)
			continue;
		map_direct(ALIGN_DOWN(r->base, PAGE_SIZE), ALIGN_UP(end, PAGE_SIZE));
	}
}

static void map_section(const char *start, const char *end, unsigned prot)
{
	u64 from = ALIGN_DOWN((u64)start, PAGE_SIZE);

	map_or_die(from, virt_to_phys((void *)from), ALIGN_UP((u64)end, PAGE_SIZE) - from, prot, 0);
}

static void map_image(void)
{
	map_section(__text_start, __text_end, PROT_R | PROT_X);
	map_section(__slots_start, __slots_end, PROT_R | PROT_X);
	map_section(__rodata_start, __rodata_end, PROT_R);
	map_section(__data_start, __kernel_end, PROT_R | PROT_W);
}

/* Two pages of addresses for each CPU, all within one table, whose entries are kept at hand. */
static void poke_init(void)
{
	u64 size;

	poke_base = ALIGN_UP(paging_reserve(4UL << 20), 2UL << 20); /* aligned: within one table */
	map_or_die(poke_base, 0, PAGE_SIZE, PROT_R, 0);
	poke_ptes = paging_walk(kernel_top, poke_base, &size);
	*poke_ptes = 0;
}

void paging_init(struct boot_info *bi)
{
	spare_init(bi);
	kernel_top = paging_page_alloc();
	map_image();
	map_ram(bi);
	poke_init();
	write_cr4(read_cr4() | CR4_PGE);
	write_cr3(kernel_top);
}

void paging_close_boot_memory(struct boot_info *bi)
{
	bi->kernel_size = spare - bi->kernel_base;
	spare = spare_end = 0;
}

__notrace u8 *paging_alias_open(const void *page)
{
	unsigned slot = cpu_id() * POKE_PAGES;

	for (unsigned i = 0; i < POKE_PAGES; i++)
		poke_ptes[slot + i] = virt_to_phys((const char *)page + i * PAGE_SIZE) | PTE_P |
				      PTE_W | PTE_A | PTE_D | PTE_NX;
	return (u8 *)(poke_base + slot * PAGE_SIZE);
}
NOTRACE(paging_alias_open, "hooks are patched by it");

__notrace void paging_alias_close(void)
{
	unsigned slot = cpu_id() * POKE_PAGES;

	for (unsigned i = 0; i < POKE_PAGES; i++)
		poke_ptes[slot + i] = 0;
	tlb_flush_local(poke_base + slot * PAGE_SIZE, POKE_PAGES * PAGE_SIZE);
}
NOTRACE(paging_alias_close, "hooks are patched by it");

bool paging_is_alias(u64 va)
{
	return va - poke_base < MAX_CPUS * POKE_PAGES * PAGE_SIZE;
}

void paging_poke(void *dst, const void *src, size_t n)
{
	u64 flags = irq_save();
	u64 page = ALIGN_DOWN((u64)dst, PAGE_SIZE);

	memcpy(paging_alias_open((void *)page) + ((u64)dst - page), src, n);
	paging_alias_close();
	irq_restore(flags);
}

u64 paging_trampoline_open(u64 pa)
{
	u64 *top = trampoline_top;

	memcpy(top + 256, (u64 *)phys_to_virt(kernel_top) + 256, 256 * sizeof(u64));
	top[0] = virt_to_phys(trampoline_tables[0]) | PTE_P | PTE_W;
	trampoline_tables[0][0] = virt_to_phys(trampoline_tables[1]) | PTE_P | PTE_W;
	trampoline_tables[1][0] = virt_to_phys(trampoline_tables[2]) | PTE_P | PTE_W;
	trampoline_tables[2][pa >> 12 & 511] = pa | PTE_P | PTE_A;
	return virt_to_phys(top);
}

void paging_trampoline_close(void)
{
	memset(trampoline_tables[2], 0, sizeof trampoline_tables[2]);
}
