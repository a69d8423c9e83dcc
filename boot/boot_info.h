/*
 * What any loader hands over to the kernel: plain data, physical addresses, nothing of the loader's own formats. Filled by
 * the PVH entry or by the UEFI loader before paging is the kernel's; read during boot only.
 */
#pragma once

#include <stdint.h>

#define BOOT_MAX_RANGES	 128
#define BOOT_MAX_CMDLINE 4096

enum boot_memory_type { BOOT_MEM_USABLE = 1, BOOT_MEM_RESERVED, BOOT_MEM_ACPI, BOOT_MEM_NVS };

struct boot_range {
	uint64_t base, size;
	uint32_t type; /* enum boot_memory_type */
	uint32_t pad;
};

struct boot_framebuffer {
	uint64_t base;
	uint32_t width, height, pitch; /* pixels, pixels, bytes */
	uint32_t format;	       /* 0: none, 1: BGRX, 2: RGBX */
};

struct boot_info {
	uint64_t rsdp;			   /* ACPI root pointer; 0: none given, search for it */
	uint64_t initrd_base, initrd_size; /* size 0: none */
	uint64_t kernel_base, kernel_size; /* where the image and its bss lie */
	uint64_t entry_tsc;		   /* TSC at the first instruction of the loader or entry */
	struct boot_framebuffer framebuffer;
	uint32_t range_count;
	char loader[28]; /* "pvh", "uefi" */
	struct boot_range
	    ranges[BOOT_MAX_RANGES];	/* as the firmware gave them: may overlap, unsorted */
	char cmdline[BOOT_MAX_CMDLINE]; /* always NUL-terminated */
};

/* Where every loader ends: long mode, the image mapped where it is linked, the first 4 GiB of memory in the direct map, a
 * stack, interrupts off. */
void arch_start(struct boot_info *bi) __attribute__((noreturn));
