/*
 * The data that any loader hands over to the kernel: plain data, physical addresses, nothing of the
 * loader's own formats. Filled by the PVH entry or by the UEFI loader before paging is the
 * kernel's; read during boot only. A value that the loader does not know is 0.
 */
#pragma once

#include <stdint.h>

#define BOOT_MAX_RANGES	 128
#define BOOT_MAX_CMDLINE 4096
#define BOOT_MAX_STAMPS	 32

enum boot_memory_type {
	BOOT_MEM_USABLE = 1,
	BOOT_MEM_RESERVED, /* not even mapped */
	BOOT_MEM_ACPI,
	BOOT_MEM_NVS,
	BOOT_MEM_KEPT, /* RAM that nobody but its owner may touch: lastboot_base */
};

struct boot_range {
	uint64_t base, size;
	uint32_t type; /* enum boot_memory_type */
	uint32_t pad;
};

/* Bytes of a pixel, lowest address first; the fourth is not shown. */
enum boot_pixel_format { BOOT_FB_NONE, BOOT_FB_BGRX, BOOT_FB_RGBX };

struct boot_framebuffer {
	uint64_t base;
	uint32_t width, height, pitch; /* pixels, pixels, bytes from one line to the next */
	uint32_t format;	       /* enum boot_pixel_format */
};

/*
 * A step of the loader, or ("firmware_...") of the firmware, with the time when it was done. Each
 * of the two in the order of time.
 */
struct boot_stamp {
	uint64_t tsc;
	char name[24]; /* NUL-terminated, e.g. "kernel_read" */
};

struct boot_info {
	uint64_t rsdp;			   /* ACPI root pointer; 0: none given, search for it */
	uint64_t smbios;		   /* SMBIOS entry point, "_SM3_" preferred to "_SM_" */
	uint64_t efi_system_table;	   /* boot services have ended */
	uint64_t fpdt;			   /* ACPI table of the firmware's own times, unchecked */
	uint64_t initrd_base, initrd_size; /* size 0: none */
	uint64_t kernel_base, kernel_size; /* where the image and its bss lie, below 4 GiB */
	/*
	 * Free memory after the image, for its first page tables; 0: up to the end of the range.
	 */
	uint64_t kernel_room;
	uint64_t entry_tsc; /* TSC at the first instruction of the loader or entry */
	/*
	 * For a recorder that a warm reset must not erase: a range of BOOT_MEM_KEPT, where the same
	 * loader put it at its last start. size 0: the loader keeps none.
	 */
	uint64_t lastboot_base, lastboot_size;
	struct boot_framebuffer framebuffer;
	uint32_t range_count, stamp_count;
	char loader[28]; /* "pvh", "uefi" */
	uint32_t pad;
	struct boot_range
	    ranges[BOOT_MAX_RANGES]; /* as the firmware gave them: may overlap, unsorted */
	struct boot_stamp stamps[BOOT_MAX_STAMPS];
	char cmdline[BOOT_MAX_CMDLINE]; /* always NUL-terminated */
};

/*
 * How the memory of lastboot_base begins when something is kept in it: as much as a loader must
 * know to save it.
 */
#define BOOT_KEPT_MAGIC "TRAPKEPT"

struct boot_kept {
	char magic[8];
	uint32_t version[4];
	uint64_t size, base; /* of all that is kept; where it lay then, in the direct map */
};

/*
 * The ELF note by which a loader knows this kernel: name BOOT_NOTE_NAME, type BOOT_NOTE_TYPE,
 * described by this. The loader puts the segments somewhere below 4 GiB in one piece, maps that
 * where the image is linked, and the first 4 GiB of memory one to one and at the direct map; it
 * calls `entry` in 64-bit mode, interrupts off, %rdi the physical address of struct boot_info.
 */
#define BOOT_NOTE_NAME	 "Trapline"
#define BOOT_NOTE_TYPE	 1
#define BOOT_LINK_BASE	 0xffffffff80000000
#define BOOT_DIRECT_BASE 0xffff888000000000

struct boot_note {
	uint64_t entry;	    /* linked address */
	uint64_t info_size; /* sizeof(struct boot_info): another one means another version */
};
