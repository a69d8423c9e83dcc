/* Is something kept there? Pure. */
#include "boot/efi/kept.h"

static int has_magic(const struct boot_kept *k)
{
	for (unsigned i = 0; i < sizeof(k->magic); i++)
		if (k->magic[i] != BOOT_KEPT_MAGIC[i])
			return 0;
	return 1;
}

/* The kernel names the place by its direct map. */
uint64_t kept_bytes(const struct boot_kept *k, uint64_t at, uint64_t room)
{
	if (room < sizeof(*k) || !has_magic(k) || k->base != BOOT_DIRECT_BASE + at ||
	    k->size < sizeof(*k) || k->size > room)
		return 0;
	return k->size;
}
