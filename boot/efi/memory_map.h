/* UEFI's memory map as struct boot_info has it. Pure. */
#pragma once

#include "boot/boot_info.h"

#include <stdbool.h>
#include <stddef.h>

/* EFI_MEMORY_DESCRIPTOR (UEFI 2.10, section 7.2.3). The firmware's may be longer. */
struct efi_memory {
	uint32_t type, pad;
	uint64_t base, virtual_base, pages, attributes;
};

/*
 * Fills bi->ranges: neighbours of one type become one; when there are too many, reserved ones are
 * left out first (what is not named is not used), then the smallest usable ones. False: the map
 * cannot be one (`each` too small).
 */
bool memory_map_take(struct boot_info *bi, const void *map, size_t size, size_t each);
/* Marks [base, base + size) as not to be used by anybody but its owner. */
void memory_map_keep(struct boot_info *bi, uint64_t base, uint64_t size);
/* End of the RAM that the map names. */
uint64_t memory_map_end(const void *map, size_t size, size_t each);
