/*
 * From PVH's hvm_start_info to struct boot_info. Runs once, on the boot CPU, with the page tables
 * of pvh.S, which map the first 4 GiB one to one; all that PVH hands over lies there.
 */
#include "arch/arch.h"
#include "boot/boot_info.h"

#define PVH_MAGIC 0x336ec578

struct hvm_start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist_paddr, cmdline_paddr, rsdp_paddr;
	uint64_t memmap_paddr; /* version 1 and later */
	uint32_t memmap_entries, reserved;
};

struct hvm_module {
	uint64_t paddr, size, cmdline_paddr, reserved;
};

struct hvm_memmap_entry {
	uint64_t addr, size;
	uint32_t type, reserved;
};

extern char __kernel_start[], __kernel_end[]; /* linker.ld */
void pvh_main(const struct hvm_start_info *si, uint64_t entry_tsc) __attribute__((noreturn));

static struct boot_info boot_info;

static void copy_text(char *dst, uint64_t src, unsigned size)
{
	const char *s = (const char *)src;

	for (unsigned i = 0; s && i + 1 < size && s[i]; i++)
		dst[i] = s[i];
}

/* PVH's types are those of E820; what the kernel has no name for stays reserved. */
static void copy_memmap(const struct hvm_start_info *si)
{
	const struct hvm_memmap_entry *e = (const void *)si->memmap_paddr;

	for (uint32_t i = 0; i < si->memmap_entries && boot_info.range_count < BOOT_MAX_RANGES;
	     i++, e++)
		boot_info.ranges[boot_info.range_count++] = (struct boot_range){
		    .base = e->addr,
		    .size = e->size,
		    .type = e->type >= BOOT_MEM_USABLE && e->type <= BOOT_MEM_NVS
				? e->type
				: BOOT_MEM_RESERVED,
		};
}

void pvh_main(const struct hvm_start_info *si, uint64_t entry_tsc)
{
	const struct hvm_module *initrd = (const void *)si->modlist_paddr;

	boot_info.entry_tsc = entry_tsc;
	copy_text(boot_info.loader, (uint64_t) "pvh", sizeof boot_info.loader);
	boot_info.kernel_base = (uint64_t)__kernel_start - 0xffffffff80000000;
	boot_info.kernel_size = (uint64_t)(__kernel_end - __kernel_start);
	if (si->magic == PVH_MAGIC) {
		boot_info.rsdp = si->rsdp_paddr;
		copy_text(boot_info.cmdline, si->cmdline_paddr, sizeof boot_info.cmdline);
		if (si->nr_modules && initrd) {
			boot_info.initrd_base = initrd->paddr;
			boot_info.initrd_size = initrd->size;
		}
		if (si->version >= 1)
			copy_memmap(si);
	}
	arch_start(&boot_info);
}
