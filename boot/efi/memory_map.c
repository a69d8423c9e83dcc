/*
 * From UEFI's memory types to ours. Pure. (UEFI 2.10, section 7.2: memory types before and after
 * ExitBootServices())
 */
#include "boot/efi/memory_map.h"

#define PAGE		 4096
#define SPECIFIC_PURPOSE 0x40000 /* attribute: RAM that is meant for a device or a driver */

enum {
	LOADER_CODE = 1,
	LOADER_DATA,
	BOOT_CODE,
	BOOT_DATA,
	CONVENTIONAL = 7,
	ACPI_RECLAIM = 9,
	ACPI_NVS,
};

/* What the loader and the boot services had is free when these have ended. */
static uint32_t type_of(const struct efi_memory *m)
{
	switch (m->type) {
	case LOADER_CODE:
	case LOADER_DATA:
	case BOOT_CODE:
	case BOOT_DATA:
	case CONVENTIONAL:
		return m->attributes & SPECIFIC_PURPOSE ? BOOT_MEM_RESERVED : BOOT_MEM_USABLE;
	case ACPI_RECLAIM:
		return BOOT_MEM_ACPI;
	case ACPI_NVS:
		return BOOT_MEM_NVS;
	default:
		return BOOT_MEM_RESERVED;
	}
}

/* The range to do without: any reserved one, else the smallest usable. */
static uint32_t least(const struct boot_info *bi)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < bi->range_count; i++) {
		const struct boot_range *r = &bi->ranges[i], *f = &bi->ranges[found];
		if (r->type == BOOT_MEM_RESERVED)
			return i;
		if (r->type == BOOT_MEM_USABLE && (f->type != BOOT_MEM_USABLE || r->size < f->size))
			found = i;
	}
	return found;
}

static void add(struct boot_info *bi, struct boot_range r)
{
	struct boot_range *last = bi->range_count ? &bi->ranges[bi->range_count - 1] : NULL;

	if (last && last->type == r.type && last->base + last->size == r.base) {
		last->size += r.size;
		return;
	}
	if (bi->range_count < BOOT_MAX_RANGES) {
		bi->ranges[bi->range_count++] = r;
		return;
	}
	struct boot_range *worst = &bi->ranges[least(bi)];
	if (r.type == BOOT_MEM_RESERVED)
		return;
	if (worst->type == BOOT_MEM_RESERVED || r.type != BOOT_MEM_USABLE || worst->size < r.size)
		*worst = r;
}

/* Descriptor number i; false: it is past the end, or no range of addresses. */
static bool descriptor(
    const void *map, size_t size, size_t each, size_t i, const struct efi_memory **out)
{
	if (each < sizeof(**out) || (i + 1) * each > size)
		return false;
	*out = (const void *)((const char *)map + i * each);
	return true;
}

static bool is_sane(const struct efi_memory *m)
{
	return m->pages && m->base % PAGE == 0 && m->pages <= (UINT64_MAX - m->base) / PAGE;
}

bool memory_map_take(struct boot_info *bi, const void *map, size_t size, size_t each)
{
	const struct efi_memory *m;

	bi->range_count = 0;
	for (size_t i = 0; descriptor(map, size, each, i, &m); i++)
		if (is_sane(m))
			add(bi, (struct boot_range){
				    .base = m->base, .size = m->pages * PAGE, .type = type_of(m)});
	return bi->range_count;
}

void memory_map_keep(struct boot_info *bi, uint64_t base, uint64_t size)
{
	struct boot_range r = {.base = base, .size = size, .type = BOOT_MEM_KEPT};

	if (bi->range_count == BOOT_MAX_RANGES)
		bi->ranges[least(bi)] = r;
	else
		bi->ranges[bi->range_count++] = r;
}

uint64_t memory_map_end(const void *map, size_t size, size_t each)
{
	const struct efi_memory *m;
	uint64_t end = 0;

	for (size_t i = 0; descriptor(map, size, each, i, &m); i++)
		if (is_sane(m) && type_of(m) != BOOT_MEM_RESERVED &&
		    m->base + m->pages * PAGE > end)
			end = m->base + m->pages * PAGE;
	return end;
}
