/* See firmware.h. What lies elsewhere cannot be mapped. */
#include "tests/host/firmware.h"
#include "arch/arch.h"
#include "kernel/lib/string.h"

u8 firmware[FIRMWARE_SIZE];
static u8 low_memory[PAGE_SIZE]; /* the BIOS's data: no extended area */

void firmware_clear(void)
{
	memset(firmware, 0, sizeof(firmware));
}

static void *find(u64 pa, u64 size)
{
	if (pa + size <= sizeof(low_memory))
		return low_memory + pa;
	if (pa < FIRMWARE_BASE || size > FIRMWARE_SIZE || pa - FIRMWARE_BASE > FIRMWARE_SIZE - size)
		return NULL;
	return firmware + (pa - FIRMWARE_BASE);
}

void *device_map(u64 pa, u64 size)
{
	return find(pa, size);
}

const void *firmware_map(u64 pa, u64 size)
{
	return find(pa, size);
}
